"""Many classes on the command line: init, classes, export, import, classify, status."""

from __future__ import annotations

import csv
import io
import json
import re
import sys

import pytest

from aced.project import Project
from tests.cli.test_project import refused, write_texts
from tests.helpers import answer

ODD = ["a, b", 'say "no"', "日本語", "=1+1", "<&>"]


@pytest.fixture
def named(tmp_path):
    (tmp_path / "classes.txt").write_text("\ufeff" + "\r\n".join([*ODD[:2], "", "  ", *ODD[2:]]) + "\n")
    return tmp_path / "classes.txt"


@pytest.fixture
def made(call, named, tmp_path):
    """A project whose first 30 items have a label of each class but the last in turn."""
    write_texts(tmp_path / "texts.csv")
    code, _, err = call(
        "init",
        tmp_path / "p",
        "--items",
        tmp_path / "texts.csv",
        "--classes-file",
        named,
        "--batch",
        10,
        "--check",
        0.5,
    )
    assert (code, err) == (0, "")
    project = Project(tmp_path / "p")
    project.add_person("ann", token=False)
    for row in range(30):
        answer(project, "ann", row, "label", ODD[row % 4])
    project.close()
    return tmp_path / "p"


def names_of(folder):
    project = Project(folder)
    found = project.classes
    project.close()
    return found


# -- init -------------------------------------------------------------------------------


def test_a_file_of_names_may_hold_commas_and_empty_lines(made):
    assert names_of(made) == ODD


def test_five_classes_in_one_word(call, tmp_path):
    write_texts(tmp_path / "texts.csv")
    assert (
        call("init", tmp_path / "p", "--items", tmp_path / "texts.csv", "--classes", "a,b,c,d,e")[0] == 0
    )
    assert names_of(tmp_path / "p") == list("abcde")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["two different names, got none"]),
        (b"\n\n", ["two different names, got none"]),
        (b"one\n", ["two different names, got 'one'"]),
        (b"one\ntwo\none\n", ["'one' is there twice"]),
        (b"one\ntwo\nOne\n", ["'One' looks like 'one'"]),
        (b"one\ntwo\x00\n", ["names: the classes: a name is 1 to 100 printable characters, got"]),
        (b"one\n/two\n", ["names: the classes: '/two' begins with /, as commands do"]),
        (b"one\n\xff\xfe\n", ["UTF-8"]),
        ("\n".join(map(str, range(1000))).encode(), ["1000", "at most 100"]),
        (("x" * 101 + "\ny").encode(), ["1 to 100 printable characters"]),
    ],
)
def test_a_file_of_names_is_refused_in_one_sentence(call, tmp_path, content, words):
    write_texts(tmp_path / "texts.csv")
    (tmp_path / "names").write_bytes(content)
    items = ["--items", tmp_path / "texts.csv"]
    found = call("init", tmp_path / "p", *items, "--classes-file", tmp_path / "names")
    refused(found, "--classes-file", *words)
    assert not (tmp_path / "p").exists()


def test_classes_are_named_once(call, tmp_path, named):
    write_texts(tmp_path / "texts.csv")
    start = ["init", tmp_path / "p", "--items", tmp_path / "texts.csv"]
    refused(call(*start), "--classes", "--classes-file", "both missing")
    refused(call(*start, "--classes", "a,b", "--classes-file", named), "both given")
    refused(call(*start, "--classes-file", tmp_path / "absent"), "absent")
    refused(call(*start, "--classes-file", tmp_path), "--classes-file")


def test_repeated_classes_hold_no_commas(call, tmp_path):
    write_texts(tmp_path / "texts.csv")
    start = ["init", tmp_path / "p", "--items", tmp_path / "texts.csv"]
    said = call(*start, "--classes", "a,b", "--classes", "c")
    refused(said, "--classes is given 2 times, and 'a,b' holds a comma", "--classes-file")
    assert not (tmp_path / "p").exists()
    code, out, _ = call(*start, "--classes", "a", "--classes", "b", "--classes", "c")
    assert (code, out.splitlines()[1]) == (0, "classes: a, b, c")


def test_init_prints_names_with_commas_in_quotes(call, named, tmp_path):
    write_texts(tmp_path / "texts.csv")
    start = ["init", tmp_path / "p", "--items", tmp_path / "texts.csv"]
    out = call(*start, "--classes-file", named)[1]
    assert out.splitlines()[1] == 'classes: "a, b", say "no", 日本語, =1+1, <&>'


# -- classes ----------------------------------------------------------------------------


def test_classes_are_listed_with_their_items(call, made):
    code, out, _ = call("classes", made)
    assert code == 0
    assert out.splitlines() == ["a, b: 8 items", 'say "no": 8 items', "日本語: 7 items", "=1+1: 7 items",
                                "<&>: 0 items"]  # fmt: skip
    found = json.loads(call("classes", made, "--json")[1])["classes"]
    assert [one["name"] for one in found] == ODD
    assert [one["labels"] for one in found] == [8, 8, 7, 7, 0]


def test_add_rename_merge_and_undo(call, made):
    assert call("classes", made, "--add", "new, one")[1].splitlines()[-1] == "new, one: 0 items"
    code, out, _ = call("classes", made, "--rename", "a, b", "ab")
    assert (code, out.splitlines()[0]) == (0, "ab (was a, b): 8 items")
    code, out, err = call("classes", made, "--merge", "日本語", "ab")
    assert code == 2
    assert err == "aced: --yes is needed: this changes 7 labels\n"
    assert out.splitlines()[0] == "t2: 日本語, by ann"
    planned = json.loads(call("classes", made, "--merge", "日本語", "ab", "--json")[1])
    assert (planned["done"], planned["count"], len(planned["classes"])) == (False, 7, 6)
    done = json.loads(call("classes", made, "--merge", "日本語", "ab", "--yes", "--json")[1])
    assert done["done"]
    assert done["labels"] == planned["labels"]
    assert [one["item"] for one in done["labels"]] == [f"t{row}" for row in range(2, 30, 4)]
    assert done["classes"][0]["labels"] == 15
    assert call("classes", made, "--undo")[0] == 0
    assert names_of(made) == ["ab", *ODD[1:], "new, one"]
    assert call("replay", made, "--designs")[0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--add", "A, B"], ["--add", "there is a class 'a, b' already"]),
        (["--add", ""], ["--add", "printable"]),
        (["--rename", "x", "y"], ["--rename", "there is no class 'x'", "the classes are a, b"]),
        (["--rename", "=1+1", "<&>"], ["--rename", "merge them"]),
        (["--merge", "=1+1", "x", "--yes"], ["--merge", "there is no class 'x'"]),
        (["--merge", "=1+1", "=1+1", "--yes"], ["--merge", "itself"]),
        (["--undo"], ["--undo", "no change"]),
        (["--undo", "--add", "x"], ["--add and --undo", "one change at a time"]),
        (["--yes"], ["--yes", "--merge"]),
    ],
)
def test_classes_refuses_in_one_sentence(call, made, options, words):
    refused(call("classes", made, *options), *words)
    assert names_of(made) == ODD


# -- export, import, classify, status ---------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_labels_with_any_names_come_back(call, made, named, tmp_path, ending):
    out = tmp_path / f"x.{ending}"
    for more in ([], ["--probabilities"]):
        assert call("export", made, "--out", out, *more)[0] == 0
        folder = tmp_path / f"q{len(more)}"
        items = ["--items", tmp_path / "texts.csv"]
        assert call("init", folder, *items, "--classes-file", named)[0] == 0
        assert call("import", folder, out)[0] == 0
        lines = [json.loads(call("status", one, "--json")[1])["balance"] for one in (made, folder)]
        assert lines[0] == lines[1] == dict(zip(ODD, [8, 8, 7, 7, 0], strict=True))


def test_probabilities_of_all_classes(call, made, tmp_path):
    plain = list(csv.DictReader(io.StringIO(call("export", made, "--out", "-")[1])))
    table = list(csv.DictReader(io.StringIO(call("export", made, "--out", "-", "--probabilities")[1])))
    columns = [f"probability_{name}" for name in ODD]
    assert [name for name in table[0] if name not in plain[0]] == columns
    lines = call("export", made, "--out", "-", "--format", "jsonl", "--probabilities")[1].splitlines()
    for cells, line in zip(table, map(json.loads, lines), strict=True):
        assert list(line["probabilities"]) == ODD
        assert [float(cells[name]) for name in columns] == list(line["probabilities"].values())
        assert sum(line["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert max(line["probabilities"], key=line["probabilities"].get) == line["combined_label"]
        assert line["probabilities"][line["combined_label"]] == line["combined_probability"]
    pq = pytest.importorskip("pyarrow.parquet")
    call("export", made, "--out", tmp_path / "x.parquet", "--probabilities")
    stored = pq.read_table(tmp_path / "x.parquet").to_pylist()
    assert [one[columns[0]] for one in stored] == [float(one[columns[0]]) for one in table]
    found = call(
        "export", made, "--out", tmp_path / "x.json", "--format", "label-studio", "--probabilities"
    )
    refused(found, "--probabilities")


def test_classify_with_probabilities(call, made, tmp_path):
    write_texts(tmp_path / "new.csv", 12, seed=5)
    code, out, err = call("classify", made, tmp_path / "new.csv", "--probabilities")
    assert code == 0
    assert "no label yet, so never predicted: <&>" in err
    table = list(csv.DictReader(io.StringIO(out)))
    columns = [f"probability_{name}" for name in ODD]
    assert list(table[0]) == ["id", "label", "probability", *columns]
    for line in table:
        shares = [float(line[name]) for name in columns]
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert shares[4] == 0
        label = line["label"].removeprefix("'")
        assert max(shares) == float(line["probability"]) == shares[ODD.index(label)]
    call("classify", made, tmp_path / "new.csv", "--probabilities", "--out", tmp_path / "x.jsonl")
    first = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])
    assert list(first["probabilities"]) == ODD
    record = json.loads(call("classify", made, tmp_path / "new.csv", "--json")[1])
    assert sum(record["counts"].values()) == 12
    assert "probabilities" not in record["labels"][0]


def test_classify_follows_a_merge(call, made, tmp_path):
    write_texts(tmp_path / "new.csv", 12, seed=5)
    for old in ODD[1:4]:
        assert call("classes", made, "--merge", old, ODD[4], "--yes")[0] == 0
    code, out, err = call("classify", made, tmp_path / "new.csv", "--probabilities")
    assert (code, err.count("never")) == (0, 0)
    table = list(csv.DictReader(io.StringIO(out)))
    assert list(table[0]) == ["id", "label", "probability", "probability_a, b", "probability_<&>"]
    assert {line["label"] for line in table} <= {ODD[0], ODD[4]}


def test_classify_names_the_classes_that_wait_for_labels(call, named, tmp_path):
    write_texts(tmp_path / "texts.csv")
    items = ["--items", tmp_path / "texts.csv"]
    call("init", tmp_path / "p", *items, "--classes-file", named)
    project = Project(tmp_path / "p")
    project.add_person("ann", token=False)
    answer(project, "ann", 0, "label", ODD[0])
    project.close()
    said = call("classify", tmp_path / "p", tmp_path / "texts.csv")
    refused(said, "has labels of one class only, 'a, b'; label some items of another class, too")


def test_numbers_of_one_are_singular(call, named, tmp_path):
    write_texts(tmp_path / "texts.csv")
    call("init", tmp_path / "p", "--items", tmp_path / "texts.csv", "--classes-file", named)
    project = Project(tmp_path / "p")
    project.add_person("ann", token=False)
    answer(project, "ann", 0, "label", ODD[0])
    project.close()
    assert call("classes", tmp_path / "p")[1].startswith("a, b: 1 item\n")
    assert call("export", tmp_path / "p", "--out", tmp_path / "x.csv")[1].endswith("x.csv: 1 label\n")
    said = call("classes", tmp_path / "p", "--merge", ODD[0], ODD[1])
    assert said[2] == "aced: --yes is needed: this changes 1 label\n"
    call("init", tmp_path / "q", "--items", tmp_path / "texts.csv", "--classes-file", named)
    said = call("import", tmp_path / "q", tmp_path / "x.csv")[1]
    assert said.startswith("1 answer taken, 0 were known already")


def test_of_many_classes_only_those_with_labels_are_shown(call, tmp_path):
    write_texts(tmp_path / "texts.csv")
    names = ",".join(f"c{i}" for i in range(100))
    items = ["--items", tmp_path / "texts.csv"]
    code, out, _ = call("init", tmp_path / "p", *items, "--classes", names)
    assert (code, out.splitlines()[1]) == (0, "classes: 100, the first are c0, c1, c2, c3, c4")
    assert "all 100 without labels" in call("status", tmp_path / "p")[1]
    project = Project(tmp_path / "p")
    project.add_person("ann", token=False)
    for row in range(20):
        answer(project, "ann", row, "label", "c7" if row % 4 else "c3")
    project.close()
    assert "c7: 15 · c3: 5 · and 98 without labels" in call("status", tmp_path / "p")[1]
    assert len(json.loads(call("status", tmp_path / "p", "--json")[1])["balance"]) == 100
    _, _, err = call("classify", tmp_path / "p", tmp_path / "texts.csv")
    assert re.search(r"items · c\d: \d+ · (c\d: \d+ · )?and 9[89] never named\n", err)


def test_status_names_every_class(call, made):
    shown = json.loads(call("status", made, "--json")[1])
    assert shown["settings"]["classes"] == list(shown["balance"]) == ODD
    call("classes", made, "--rename", "a, b", "ab")
    shown = json.loads(call("status", made, "--json")[1])
    assert shown["settings"]["classes"] == ["ab", *ODD[1:]]
    code, out, _ = call("status", made)
    assert (code, "ab: 8 · " in out) == (0, True)


def test_status_shows_accuracy_by_class(call, made):
    project = Project(made)
    for _ in range(6):
        project.refill(threads=1)
        while items := project.give("ann"):
            project.answer("ann", items[0].row, "label", ODD[items[0].row % 4])
    project.refill(threads=1)
    project.close()
    found = json.loads(call("status", made, "--json")[1])["accuracy_by_class"]
    assert [one["class"] for one in found] == ODD
    first = next(one for one in found if one["checked"])
    shown = " ".join(call("status", made)[1].replace("│", " ").split())
    assert f"{first['class']}: {100 * first['estimate']:.1f} %" in shown


class Terminal(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("said", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_a_merge_asks_the_person_at_the_terminal(call, made, monkeypatch, said, code):
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    found, out, _ = call("classes", made, "--merge", "=1+1", "<&>")
    assert found == code
    assert "t3: =1+1, by ann" in out
    assert "Change these 7 labels? [y/N]" in out
    assert names_of(made) == (ODD[:3] + ODD[4:] if code == 0 else ODD)
