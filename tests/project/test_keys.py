"""Which key means which class, and which classes a few letters may mean."""

from __future__ import annotations

import itertools
import random
import string

import pytest

from aced.project import COMMANDS, class_keys, command_key, named, narrow, picked_by_digits

ANIMALS = ["cat", "cow", "dog", "sheep", "goat", "horse", "hen", "duck", "swan"]


def letters(keys: dict[str, str]) -> dict[str, str]:
    return {name: key for key, name in keys.items() if not key.isdigit()}


def test_nine_classes_have_a_digit_and_a_letter_each():
    keys = class_keys(ANIMALS)
    assert [keys[str(place)] for place in range(1, 10)] == ANIMALS
    assert set(letters(keys)) == set(ANIMALS)
    assert all(letter in name for name, letter in letters(keys).items())


def test_of_equal_first_letters_the_first_class_has_it():
    assert letters(class_keys(["cat", "cow", "crow"])) == {"cat": "c", "cow": "o", "crow": "r"}
    assert letters(class_keys(["aa", "aaa", "aaaa"])) == {"aa": "a"}  # no letter is left for the others


@pytest.mark.parametrize("command", COMMANDS)
def test_a_class_that_begins_with_the_letter_of_a_command_has_it_and_no_other_class(command: str):
    names = [f"{command}{rest}" for rest in ("ab", "bc", "cd")]
    assert letters(class_keys(names)) == dict(zip(names, f"{command}bc", strict=True))
    inside = [f"x{command}", f"xx{command}", f"{command}x"]  # within a name it is the command's
    assert letters(class_keys(inside)) == {f"x{command}": "x", f"{command}x": command}
    for two in ([f"{command}ab", "xa"], ["xa", f"{command}ab"]):
        keys = class_keys(two)
        assert keys[command] == f"{command}ab"
        assert command_key(command, keys) == f"/{command}"
    assert command_key(command, class_keys(["ab", "xa"])) == command


def test_names_without_a_free_letter_have_only_a_digit():
    assert letters(class_keys(["suz", "wqm", "swu", "!?"])) == {"suz": "s", "wqm": "w"}


def test_letters_of_any_language():
    keys = class_keys(["Ärger", "Ångst", "愛", "Éte\u0301", "İx"])
    assert letters(keys) == {"Ärger": "ä", "Ångst": "å", "愛": "愛", "Éte\u0301": "é", "İx": "i"}
    decomposed = class_keys(["a\u0308rger", "b", "c"])
    assert decomposed["ä"] == "a\u0308rger"


def test_a_digit_that_a_name_begins_with_is_its_key():
    assert class_keys([str(digit) for digit in range(10)]) == {str(d): str(d) for d in range(10)}
    stars = ["5 stars", "1 star", "none"]
    assert class_keys(stars) == {"1": "1 star", "3": "none", "5": "5 stars", "t": "5 stars"} | {
        "a": "1 star",
        "n": "none",
    }
    assert class_keys(["10", "11", "x"])["1"] == "10"  # the digit of two names is nobody's own


def test_a_digit_or_a_letter_that_is_a_name_means_no_other_class():
    numbers = class_keys(["1", "10", "2", "20", "3"])
    assert numbers == {"1": "1", "2": "2", "3": "3", "4": "20", "5": "10"}
    assert letters(class_keys(["ba", "b", "c"])) == {"ba": "a", "b": "b", "c": "c"}
    rng = random.Random(2)
    for _ in range(500):
        names = sorted(
            {str(rng.randint(0, 30)) for _ in range(rng.randint(2, 9))}, key=lambda _: rng.random()
        )
        keys = class_keys(names)
        if len(names) > 1:
            assert set(keys.values()) == set(names)
            assert all(name == key for key, name in keys.items() if key in names)


def test_more_than_nine_are_typed():
    assert class_keys([*ANIMALS, "ape"]) == {}
    assert class_keys([str(number) for number in range(11)]) == {}


def test_a_class_added_changes_no_key_and_one_that_goes_changes_no_digit():
    rng = random.Random(0)
    for _ in range(300):
        many = rng.randint(4, 9)
        names = list(dict.fromkeys("".join(rng.choices("abcdefstu", k=4)) for _ in range(many)))
        if len(names) < 4:
            continue
        keys = class_keys(names)
        before = class_keys(names[:-1]) if len(names) > 3 else {}
        assert before.items() <= keys.items()
        gone = rng.randrange(len(names))
        codes = [code for code in range(len(names)) if code != gone]
        rest = class_keys([names[code] for code in codes], codes)
        assert all(rest[str(code + 1)] == names[code] for code in codes)


def test_a_key_never_means_two_classes_and_every_class_has_one():
    rng = random.Random(1)
    for many in range(3, 10):
        for _ in range(100):
            letters_of = string.ascii_letters + "0123456789 äß-"
            names = ["x" + "".join(rng.choices(letters_of, k=5)) + str(place) for place in range(many)]
            names[0] = rng.choice("0123456789") + names[0]
            keys = class_keys(names)
            assert set(keys.values()) == set(names)
            assert all(name[0].lower() == key for key, name in keys.items() if key in COMMANDS)
            assert all(len(key) == 1 for key in keys)


def test_codes_beyond_the_digits_take_what_is_free():
    digits = {"1": "a", "2": "b", "3": "c"}
    assert class_keys(["a", "b", "c"], [0, 11, 40]) == digits | {"a": "a", "b": "b", "c": "c"}


# -- typing -----------------------------------------------------------------------------


def test_a_list_narrows_to_names_and_words_that_begin_so():
    names = ["red deer", "Reh", "roe deer", "Deerhound", "e-mail"]
    assert narrow(names, "") == names
    assert narrow(names, " ") == names
    assert narrow(names, "r") == ["red deer", "Reh", "roe deer"]
    assert narrow(names, "RE") == ["red deer", "Reh"]
    assert narrow(names, "deer") == ["Deerhound", "red deer", "roe deer"]
    assert narrow(names, "roe d") == ["roe deer"]
    assert narrow(names, "mail") == ["e-mail"]
    assert narrow(names, "ed") == []


def test_the_name_itself_comes_first():
    assert narrow(["reddish", "infra red", "Red", "reed"], "red") == ["Red", "reddish", "infra red"]
    kinds = [f"kind {number}" for number in range(30, 0, -1)]
    assert narrow(kinds, "KIND 1")[:3] == ["kind 1", "kind 19", "kind 18"]
    assert narrow(["äb", "Ä", "a"], "a") == ["Ä", "a", "äb"]


def test_a_full_name_in_another_case_or_without_accents():
    assert named(["Ärgerlich", "Ärger"], "arger") == "Ärger"
    assert named(["Ä", "A", "b"], "a") == "A"
    assert named(["Äb", "Àb", "b"], "ab") is None  # only accents tell them apart
    assert named(["Äb", "Àb", "b"], "àB") == "Àb"
    assert named(["abc"], "ab") is None


def test_accents_and_compositions_do_not_matter():
    for name, typed in itertools.product(["Ärger", "a\u0308rger"], ["ä", "A", "a\u0308r"]):
        assert narrow([name, "b"], typed) == [name]
    assert narrow(["ﬁne", "b"], "fi") == ["ﬁne"]


def test_a_digit_picks_only_if_no_name_has_one():
    assert picked_by_digits(ANIMALS)
    assert not picked_by_digits([*ANIMALS, "type 2"])
