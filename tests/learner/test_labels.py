"""Labels keep their values on the way in, through a file, and out again."""

from enum import Enum, IntEnum

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aced import InvalidInput, Learner, Pool
from tests.helpers import blobs

ROWS, CODES = blobs(n=60, p=3)


class Colour(str, Enum):
    RED = "red"
    RUBY = "ruby"


class Size(IntEnum):
    SMALL = 3
    LARGE = 4


class Animal(Enum):
    CAT = "cat"
    DOG = "dog"


class Loud(str):
    def __str__(self):
        return "same"


def told(labels, **arguments):
    learner = Learner(Pool(ROWS), batch_size=10, **arguments)
    learner.tell(np.arange(60), labels)
    return learner


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        (list(Colour), ["red", "ruby"]),
        (list(Size), [3, 4]),
        (list(Animal), ["cat", "dog"]),
        ([Loud("a"), Loud("b")], ["a", "b"]),
        ([np.str_("a"), np.str_("ab")], ["a", "ab"]),
        ([np.bool_(False), np.bool_(True)], [False, True]),
        ([-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        ([np.uint64(1), np.float32(2)], [1, 2]),
        ([2**53 + 1, 2**53], [2**53, 2**53 + 1]),
        (["", "a b\ud800 "], ["", "a b\ud800 "]),
    ],
)
@pytest.mark.parametrize("given", [False, True], ids=["learnt", "given"])
def test_what_was_told_is_what_is_predicted_also_after_loading(values, plain, given, tmp_path):
    learner = told([values[code] for code in CODES], classes=values if given else None)
    learner.save(tmp_path / "saved")
    for held in (learner, Learner.load(tmp_path / "saved", Pool(ROWS))):
        assert sorted(held.classes) == plain
        assert [type(value) for value in held.classes] == [type(value) for value in learner.classes]
        truth = [
            values[code].value if isinstance(values[code], Enum) else values[code] for code in CODES
        ]
        assert held.labelled()[1].tolist() == truth
        assert set(held.classifier.predict(ROWS).tolist()) == set(plain)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"])[CODES],
        np.array(["no", "yes"], dtype=object)[CODES],
        pd.Categorical.from_codes(CODES, ["no", "yes"]),
        pd.Series(np.array(["no", "yes"])[CODES], dtype="string"),
        np.ma.masked_array(np.array(["no", "yes"])[CODES]),
    ],
    ids=["U", "object", "categorical", "pandas string", "nothing masked"],
)
def test_arrays_of_texts_are_read_as_they_are(labels):
    assert told(labels).labelled()[1].tolist() == np.array(["no", "yes"])[CODES].tolist()


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("a\0", r"labels\[0\] is 'a\\x00'; leave out the NUL character: numpy cuts it off"),
        (2**63, "does not fit in 64 bits; use a string instead"),
        pytest.param(10**5000, "does not fit in 64 bits", id="5000 digits"),
        (np.uint64(2**63), "does not fit in 64 bits"),
        (1e300, "does not fit in 64 bits"),
        (float("inf"), "use strings, bools or whole numbers"),
        (b"a", "got bytes; decode it first"),
        (np.bytes_(b"a"), "got bytes; decode it first"),
        (pd.NA, "is missing"),
        (np.datetime64("2020-01-01", "ns"), "got datetime64"),
        (Enum("Odd", {"A": (1, 2)}).A, "got tuple"),
        (1 + 2j, "got complex"),
    ],
)
def test_a_value_that_numpy_would_change_is_refused_as_label_and_as_class(label, sentence):
    learner = Learner(Pool(ROWS))
    with pytest.raises(InvalidInput, match=sentence):
        learner.tell([0], [label])
    with pytest.raises(InvalidInput, match=sentence):
        learner.tell(0, label)
    with pytest.raises(InvalidInput, match=sentence.replace("labels", "classes")):
        Learner(Pool(ROWS), classes=[label, "b"])
    assert learner.classes == []


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.array([b"a", b"b"]), "got bytes"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"), "got datetime64"),
        (np.ma.masked_array([0, 1], [False, True]), r"labels\[1\] is missing"),
        ({1: "a", 2: "b"}, "must be a list, in the order of the ids"),
        ({"a", "b"}, "must be a list, in the order of the ids"),
        (b"ab", "got bytes"),
        (bytearray(b"ab"), "got bytes"),
        (memoryview(b"ab"), "got bytes"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}), "one column, got a whole frame"),
        (pl.DataFrame({"label": ["x", "y"]}), "one column, got a whole frame"),
        ([2**53 + 1, 1.0], "pass integers or floats, not both"),
    ],
)
def test_labels_that_would_be_read_as_something_else_are_refused(labels, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Learner(Pool(ROWS)).tell([1, 2], labels)


def test_a_classifier_trained_on_labels_of_an_enum_predicts_its_values():
    learner = Learner(Pool(ROWS))
    model = learner.train(np.arange(60), [list(Colour)[code] for code in CODES])
    assert set(model.predict(ROWS).tolist()) == {"red", "ruby"}


@pytest.mark.parametrize(
    "classes", [{"yes", "no"}, frozenset(["yes", "no"]), {"yes": 1, "no": 2}, b"ab"]
)
def test_classes_without_an_order_are_refused(classes):
    """The order of a set differs from run to run, and so would the rows that the same seed draws."""
    with pytest.raises(InvalidInput, match="classes must be a list of two or more values"):
        Learner(Pool(ROWS), classes=classes)
