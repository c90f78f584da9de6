"""init, status, replay and classify: what they make and say, and what they refuse."""

from __future__ import annotations

import csv
import json
import os
import random
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from aced.ledger import replay
from aced.project import EMBEDDING, LEDGER, Project
from aced.project._round import PLANNER
from tests.helpers import answer

GOOD, BAD = ("lovely", "great", "happy", "superb"), ("awful", "poor", "sad", "dreadful")


def write_texts(path, n=80, seed=0, repeats=0):
    """Texts whose class can be read off them; the last ``repeats`` repeat the first."""
    chance = random.Random(seed)
    texts = []
    for i in range(n):
        words = GOOD if i % 2 else BAD
        texts.append(f"{' '.join(chance.choices(words, k=3))} story number {i} of {chance.randrange(9)}")
    texts += texts[:repeats]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        table.writerows([f"t{i}", text] for i, text in enumerate(texts))
    return texts


def truth(text):
    return "good" if text.split()[0] in GOOD else "bad"


@pytest.fixture
def texts(tmp_path):
    write_texts(tmp_path / "texts.csv", repeats=3)
    return tmp_path / "texts.csv"


@pytest.fixture
def made(call, texts, tmp_path):
    code, _, err = call(
        "init", tmp_path / "p", "--items", texts, "--classes", "good,bad", "--batch", 10, "--check", 0.3
    )
    assert (code, err) == (0, "")
    return tmp_path / "p"


def label_some(folder, count, who="ann"):
    project = Project(folder)
    project.add_person(who, token=False)
    for _ in range(count):
        project.refill()
        item = project.give(who)[0]
        answer(project, who, item.row, "label", truth(item.content), seconds=2.0)
    project.close()


def refused(result, *words):
    """One sentence on stderr, exit code 2, nothing on stdout."""
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("aced: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


# -- init ---------------------------------------------------------------------------


def test_init_makes_a_project_and_says_what_it_found(call, texts, tmp_path):
    code, out, _ = call(
        "init", tmp_path / "p", "--items", texts, "--classes", "good", "--classes", "bad"
    )
    assert code == 0
    assert "83 texts, column text; 3 duplicates" in out
    assert f"aced label {tmp_path / 'p'}" in out
    project = Project(tmp_path / "p")
    assert project.classes == ["good", "bad"]
    assert (project.settings.items, project.settings.rows) == (83, 80)
    assert [item["row"] for item in project.items[80:]] == [0, 1, 2]
    assert project.features.shape[0] == 80
    assert (tmp_path / "p" / EMBEDDING).exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "texts.csv"]


def test_init_passes_every_setting_on(call, texts, tmp_path):
    options = {"strategy": "margin", "batch": 7, "check": 0.2, "overlap": 0.3, "lease": 60.0}
    options |= {"combine": "majority", "seed": 5, "l2": 0.5}
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    assert call("init", tmp_path / "p", "--items", texts, "--classes", "a,b", *flags)[0] == 0
    settings = Project(tmp_path / "p").settings
    assert {name: getattr(settings, name) for name in options} == options
    assert settings.representation == "linear"  # the only one with a fixed penalty


@pytest.mark.parametrize("representation", [None, "auto", "linear", "rbf"])
def test_init_keeps_the_representation(call, texts, tmp_path, representation):
    given = [] if representation is None else ["--representation", representation]
    assert call("init", tmp_path / "p", "--items", texts, "--classes", "a,b", *given)[0] == 0
    assert Project(tmp_path / "p").settings.representation == (representation or "auto")


def test_init_takes_features_of_ones_own_and_classify_asks_for_them(call, texts, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(83, 5)).astype(np.float32)
    np.save(tmp_path / "x.npy", rows)
    code, out, _ = call(
        "init", tmp_path / "p", "--items", texts, "--classes", "a,b", "--features", tmp_path / "x.npy"
    )
    assert code == 0
    assert "features: 5, your own" in out
    project = Project(tmp_path / "p")
    np.testing.assert_array_equal(project.features, rows[:80])
    assert not (tmp_path / "p" / EMBEDDING).exists()
    project.add_person("ann", token=False)
    for row in range(40):
        answer(project, "ann", row, "label", "ab"[int(rows[row, 0] > 0)])
    refused(call("classify", tmp_path / "p", texts), "--features")
    code, out, _ = call("classify", tmp_path / "p", texts, "--features", tmp_path / "x.npy")
    said = [line["label"] for line in csv.DictReader(out.splitlines())]
    assert code == 0
    assert np.mean([name == "ab"[int(row[0] > 0)] for name, row in zip(said, rows, strict=True)]) > 0.8
    np.save(tmp_path / "narrow.npy", rows[:, :3])
    refused(
        call("classify", tmp_path / "p", texts, "--features", tmp_path / "narrow.npy"), "3 columns", "5"
    )


def test_init_with_a_function_of_ones_own(call, texts, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "def lengths(texts): return [[len(t), t.count('a')] for t in texts]"
    )
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("init", "p", "--items", texts, "--classes", "a,b", "--embed", "mine:lengths")
    assert code == 0
    assert "features: 2, from mine:lengths" in out
    label_rows("p", {0: "a", 1: "b", 2: "a", 3: "b"})
    refused(call("classify", "p", texts), "--embed")  # a folder never says which code to run
    assert call("classify", "p", texts, "--embed", "mine:lengths")[0] == 0


FUNCTIONS = """
import os

def lengths(texts):
    return [[len(text), text.count("a")] for text in texts]

def lengths_in_metres(texts):
    return [[len(text), text.count("a")] for text in texts]

def vowels(texts):
    return [[text.count("e"), text.count("i")] for text in texts]

def three(texts):
    return [[1.0, 2.0, len(text)] for text in texts]

def sizes(paths):
    return [[os.path.getsize(path)] for path in paths]

def twice(paths):
    return [[2 * os.path.getsize(path)] for path in paths]
"""


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "own_functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")  # forgets what import has cached
    yield
    sys.modules.pop("own_functions", None)


@pytest.mark.usefixtures("functions")
def test_classify_refuses_another_function_of_the_same_width(call, texts):
    embed = ("--embed", "own_functions:lengths")
    assert call("init", "p", "--items", texts, "--classes", "a,b", *embed)[0] == 0
    label_rows("p", {0: "a", 1: "b", 2: "a", 3: "b"})
    code, out, _ = call("classify", "p", texts, *embed)
    assert code == 0
    other = ("classify", "p", texts, "--embed", "own_functions:vowels")
    differs = ("own_functions:vowels gives item 't0' the value", "in column 0", "where the project has")
    refused(call(*other), "--embed: ", *differs, "name own_functions:lengths, which made")
    refused(call("classify", "p", texts, "--embed", "own_functions:three"), "3 columns", "has 2")
    # what counts is what it gives, not what it is called
    same = call("classify", "p", texts, "--embed", "own_functions:lengths_in_metres")
    assert same[:2] == (code, out)
    os.remove("p/embed.json")  # as projects made before the name was kept
    refused(call(*other), *differs, "must be the unchanged function that made the project's features")
    assert call("classify", "p", texts, *embed)[:2] == (code, out)


@pytest.mark.usefixtures("functions")
def test_classify_refuses_another_function_of_images_and_says_when_they_are_gone(call, tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for size in range(4, 14):
        noise = np.random.default_rng(size).integers(0, 255, (size, size), dtype=np.uint8)
        Image.fromarray(noise).save(pictures / f"{size}.png")
    embed = ("--embed", "own_functions:sizes")
    assert call("init", "p", "--items", "pictures", "--classes", "a,b", *embed)[0] == 0
    label_rows("p", {0: "a", 1: "b", 2: "a", 3: "b"})
    code, out, _ = call("classify", "p", "pictures", *embed)
    assert code == 0
    other = ("--embed", "own_functions:twice")
    refused(call("classify", "p", "pictures", *other), "own_functions:twice gives item '10.png'")
    pictures.rename(tmp_path / "moved")
    gone = f"cannot be checked: {pictures} no longer holds the image 10.png"
    refused(call("classify", "p", "moved", *other), gone, "name own_functions:sizes")
    code, moved, said = call("classify", "p", "moved", *embed)
    assert (code, moved) == (0, out)
    assert f"own_functions:sizes {gone}\n" in said


def label_rows(folder, labels):
    project = Project(folder)
    project.add_person("ann", token=False)
    for row, name in labels.items():
        answer(project, "ann", row, "label", name)
    project.close()


def test_an_empty_folder_may_be_used(call, texts, tmp_path):
    (tmp_path / "p").mkdir()
    assert call("init", tmp_path / "p", "--items", texts, "--classes", "a,b")[0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--classes", "a"], ["--classes", "two different"]),
        (["--classes", "a,a"], ["--classes"]),
        (["--classes", "a,b,A"], ["--classes", "'A'", "'a'"]),
        (["--classes", "a"], ["--classes", "two"]),
        (["--classes", ",".join(f"c{i}" for i in range(101))], ["--classes", "101", "100"]),
        (["--classes", "a,b,c", "--strategy", "iwal0"], ["--classes", "iwal0", "two"]),
        (["--classes", "a,"], ["--classes"]),
        (["--classes", "a,b", "--items", "absent.csv"], ["--items", "absent.csv"]),
        (["--classes", "a,b", "--items", "empty.csv"], ["--items"]),
        (["--classes", "a,b", "--items", "."], ["--items", "no images"]),
        (["--classes", "a,b", "--column", "body"], ["body", "id, text"]),
        (["--classes", "a,b", "--id-column", "key"], ["key"]),
        (["--classes", "a,b", "--kind", "song"], ["song"]),
        (["--classes", "a,b", "--embed", "hog"], ["--embed", "hog", "tfidf-svd"]),
        (["--classes", "a,b", "--embed", "nowhere:f"], ["--embed", "nowhere"]),
        (["--classes", "a,b", "--features", "short.npy"], ["--features", "5 rows for 83"]),
        (["--classes", "a,b", "--features", "nan.npy"], ["--features", "row 3, column 1"]),
        (["--classes", "a,b", "--features", "absent.npy"], ["--features", "absent.npy"]),
        (["--classes", "a,b", "--features", "nan.npy", "--embed", "auto"], ["--features", "--embed"]),
        (["--classes", "a,b", "--strategy", "magic"], ["magic"]),
        (["--classes", "a,b", "--batch", "0"], ["--batch"]),
        (["--classes", "a,b", "--batch", "81"], ["--batch", "80"]),
        (["--classes", "a,b", "--check", "nan"], ["--check"]),
        (["--classes", "a,b", "--check", "1"], ["--check"]),
        (["--classes", "a,b", "--overlap", "-0.1"], ["--overlap"]),
        (["--classes", "a,b", "--check", "0.5", "--overlap", "0.5"], ["--check", "--overlap"]),
        (["--classes", "a,b", "--lease", "0"], ["--lease"]),
        (["--classes", "a,b", "--lease", "inf"], ["--lease"]),
        (["--classes", "a,b", "--combine", "lottery"], ["--combine"]),
        (["--classes", "a,b", "--seed", "-1"], ["seed"]),
        (["--classes", "a,b", "--l2", "-1"], ["l2"]),
        (["--classes", "a,b", "--l2", "nan"], ["l2"]),
        (["--classes", "a,b", "--representation", "cubic"], ["--representation", "auto, linear, rbf"]),
        (["--classes", "a,b", "--representation", "rbf", "--l2", "1"], ["--representation", "l2"]),
    ],
)
def test_init_refuses_in_one_sentence_and_leaves_nothing(
    call, texts, tmp_path, monkeypatch, options, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("")
    np.save("short.npy", np.zeros((5, 2)))
    holed = np.zeros((83, 2))
    holed[3, 1] = np.nan
    np.save("nan.npy", holed)
    before = sorted(os.listdir())
    items = [] if "--items" in options else ["--items", texts.name]
    refused(call("init", "p", *items, *options), *words)
    assert sorted(os.listdir()) == before


def test_init_refuses_a_place_that_is_taken_or_absent(call, made, texts):
    before = replay(made / LEDGER).state.digest()
    for place in (made, texts, made / "x" / "y"):
        refused(call("init", place, "--items", texts, "--classes", "a,b"), "PROJECT")
    assert replay(made / LEDGER).state.digest() == before


def test_a_disk_that_fails_leaves_nothing_behind(call, texts, tmp_path, monkeypatch):
    """The last step before the folder gets its name fails."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("aced.cli._init.os.replace", full)
    refused(call("init", tmp_path / "p", "--items", texts, "--classes", "a,b"), "No space left")
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]


def test_duplicates_are_embedded_once(call, tmp_path):
    """A word of a duplicate alone does not count twice: features are those without it."""
    texts = write_texts(tmp_path / "once.csv", 40)
    with (tmp_path / "twice.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts + texts[:20])])
    for name in ("once", "twice"):
        assert (
            call("init", tmp_path / name, "--items", tmp_path / f"{name}.csv", "--classes", "a,b")[0]
            == 0
        )
    once, twice = (Project(tmp_path / name) for name in ("once", "twice"))
    np.testing.assert_array_equal(once.features, twice.features)


# -- status -------------------------------------------------------------------------


def test_status_before_and_after_labels(call, made):
    code, out, _ = call("status", made)
    assert code == 0
    assert "0 of 80 items" in out
    label_some(made, 60)
    code, out, _ = call("status", made)
    assert code == 0
    for words in ("60 of 80 items (75.0 %), 3 more are", "95 % interval from", "ann", "2.0"):
        assert words in out
    code, out, _ = call("status", made, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["progress"]["labelled"] == sum(found["balance"].values()) == 60
    low, high = (found["progress"]["accuracy"][key] for key in ("low", "high"))
    assert low <= found["progress"]["accuracy"]["estimate"] <= high
    assert found["last"]["kind"] in ("label", "draw", "lease")
    assert found["people"][0]["median_seconds"] == 2.0


def test_status_says_in_a_sentence_how_rows_are_compared(call, made):
    assert "not known yet" in call("status", made)[1]
    label_some(made, 60)
    found = json.loads(call("status", made, "--json")[1])
    seen = found["representation"]
    assert (seen["wanted"], found["settings"]["representation"]) == ("auto", "auto")
    assert seen["used"] in seen["errors"]
    assert f"(left-out error {seen['errors'][seen['used']]:.3f})" in seen["sentence"]
    assert f"since round {seen['since']['round']} ({seen['since']['labels']} label" in seen["sentence"]
    shown = call("status", made)[1]
    assert "representation" in shown
    assert "left-out error" in " ".join(shown.split())


# -- replay -------------------------------------------------------------------------


def test_replay_checks_the_file_and_its_rounds(call, made):
    label_some(made, 45)
    code, out, _ = call("replay", made, "--designs", "--json")
    found = json.loads(out)
    assert (code, found["problems"]) == (0, [])
    assert found["digest"] == Project(made).state.digest()
    assert len(found["rounds"]) == len(Project(made).state.rounds) >= 4
    assert all(one["same"] for one in found["rounds"])
    code, out, _ = call("replay", made, "--until", 3, "--json")
    assert (code, json.loads(out)["events"]) == (0, 3)
    refused(call("replay", made, "--until", -1), "--until")


def test_replay_repeats_rounds_with_second_opinions(call, texts, tmp_path):
    call(
        "init",
        tmp_path / "p",
        "--items",
        texts,
        "--classes",
        "good,bad",
        "--batch",
        10,
        "--overlap",
        0.3,
    )
    for _ in range(8):
        for who in ("ann", "bob"):
            label_some(tmp_path / "p", 3, who)
    assert any(len(votes) > 1 for votes in Project(tmp_path / "p").state.votes.values())
    code, out, _ = call("replay", tmp_path / "p", "--designs")
    assert code == 0
    assert "rounds repeated to the bit" in out


def test_replay_sees_a_round_that_was_not_designed_so(call, made):
    """A round with honest hashes and other probabilities than the design's."""
    project = Project(made)
    asked = project.brief()
    with project.ledger.writing() as writing:
        writing.append(
            "draw",
            "",
            body={
                "planner": PLANNER,
                "round": 1,
                "based_on": asked.based_on,
                "labels": 0,
                "rows": list(range(10)),
                "probabilities": [0.1] * 10,
                "checks": [],
                "notes": [{}] * 10,
                "accuracy": None,
                "design": {},
                "seconds": 0.0,
            },
        )
    project.close()
    assert call("replay", made)[0] == 0
    code, out, _ = call("replay", made, "--designs")
    assert code == 1
    assert "round 1: other rows were drawn this time" in out


def test_a_damaged_file_is_exit_code_1_with_what_is_wrong(call, made):
    label_some(made, 5)
    base = sqlite3.connect(made / LEDGER)
    base.execute("DROP TRIGGER events_stay")
    base.execute("UPDATE events SET who = 'eve' WHERE seq = 5")
    base.commit()
    base.close()
    code, out, _ = call("replay", made, "--designs")
    assert code == 1
    assert "event 5 is damaged: it was changed after it was written" in out
    base = sqlite3.connect(made / LEDGER)
    base.execute("DROP TRIGGER events_remain")
    base.execute("DELETE FROM events WHERE seq = 6")
    base.commit()
    base.close()
    code, out, _ = call("replay", made, "--json")
    assert code == 1
    assert "event 6 is missing" in json.loads(out)["problems"]
    code, out, err = call("status", made)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "event 5 is damaged" in err


# -- classify -----------------------------------------------------------------------


def test_classify_new_texts(call, made, tmp_path):
    label_some(made, 50)
    new = write_texts(tmp_path / "new.csv", 40, seed=9)
    for ending in ("csv", "jsonl"):
        out = tmp_path / f"said.{ending}"
        code, text, _ = call("classify", made, tmp_path / "new.csv", "--out", out)
        assert code == 0
        assert "40 items" in text
        lines = out.read_text().splitlines()
        found = list(csv.DictReader(lines)) if ending == "csv" else [json.loads(line) for line in lines]
        assert [line["id"] for line in found] == [f"t{i}" for i in range(40)]
        right = [line["label"] == truth(text) for line, text in zip(found, new, strict=True)]
        assert np.mean(right) > 0.9
        assert all(0.5 <= float(line["probability"]) <= 1 for line in found)
    code, text, _ = call("classify", made, tmp_path / "new.csv", "--json")
    record = json.loads(text)
    assert sum(record["counts"].values()) == record["items"] == len(record["labels"]) == 40


def test_no_cell_of_the_csv_is_a_formula(call, made, tmp_path):
    label_some(made, 30)
    names = ["=1+1", "+1", "-1", "@x", "plain"]
    with (tmp_path / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["id", "text"], *([name, f"a lovely {i}"] for i, name in enumerate(names))]
        )
    code, out, _ = call("classify", made, tmp_path / "new.csv")
    assert code == 0
    found = [line["id"] for line in csv.DictReader(out.splitlines())]
    assert found == ["'=1+1", "'+1", "'-1", "'@x", "plain"]


def test_classify_refuses_in_one_sentence(call, made, texts, tmp_path):
    refused(call("classify", made, texts), "no labels yet", "aced label")
    label_rows(made, {1: "good", 2: "good"})
    refused(call("classify", made, texts), "labels of one class only, 'good'")
    label_rows(made, {3: "bad"})
    refused(call("classify", made, tmp_path / "absent.csv"), "absent.csv")
    refused(call("classify", made, tmp_path), "folder")
    refused(call("classify", made, texts, "--out", tmp_path / "said.txt"), "--out", ".csv")
    refused(call("classify", made, texts, "--out", tmp_path / "no" / "said.csv"), "--out", "no folder")
    np.save(tmp_path / "x.npy", np.zeros((83, 2)))
    refused(
        call("classify", made, texts, "--features", tmp_path / "x.npy"), "aced: --features is not needed"
    )


@pytest.mark.parametrize("command", ["label", "status", "replay", "classify"])
def test_a_folder_that_is_no_project_is_refused(call, tmp_path, texts, command):
    more = [texts] if command == "classify" else []
    for folder in (tmp_path, tmp_path / "absent"):
        refused(call(command, folder, *more), "not a project", "aced init")


def test_the_installed_command_works_from_another_folder(made, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from aced.cli import main; main()", "status", "p"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "0 of 80 items" in done.stdout


def test_a_refusal_that_quotes_a_file_is_one_line_and_steers_no_terminal(call, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('x,"a\x1b[2J\nb"\n1,2\n')
    code, _, err = call("run", path, "--label", "y")
    assert code == 2
    assert "it has x, a␛[2J␊b" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("damage", ["broken", "missing", "a folder"])
def test_a_damaged_embedding_is_exit_code_1_and_costs_no_label(call, made, texts, tmp_path, damage):
    label_rows(made, {5: "good", 6: "bad"})
    kept = (made / EMBEDDING).read_bytes()
    (made / EMBEDDING).unlink()
    if damage == "broken":
        (made / EMBEDDING).write_bytes(kept[:-1] + b"?")
    elif damage == "a folder":
        (made / EMBEDDING).mkdir()
    for words in (("classify", made, texts), ("replay", made)):
        code, out, err = call(*words)
        assert code == 1
        assert "embedding.npz" in out + err
        assert "restore a copy" in out + err
    assert call("export", made, "--out", tmp_path / "labels.csv")[0] == 0
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 3


def test_a_project_without_its_ledger_is_damaged_and_not_taken_for_none(call, made, texts):
    (made / LEDGER).unlink()
    for words in (("status", made), ("replay", made), ("label", made), ("classify", made, texts)):
        code, _, err = call(*words)
        assert code == 1
        assert "ledger.sqlite is missing; restore a copy" in err
