"""aced init and aced classify with tables of several columns."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3

import numpy as np
import pytest

from aced.ledger import replay
from aced.project import LEDGER, Project
from tests.cli.test_project import BAD, GOOD, refused
from tests.project.test_before import BEFORE

HEADING = ["key", "title", "abstract", "url", "year", "verdict"]


def write_papers(path, count=60, known=3, heading=HEADING):
    """Papers whose class can be read off their abstracts; every third one is labelled."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, heading, extrasaction="ignore")
        table.writeheader()
        for i in range(count):
            words = GOOD if i % 2 else BAD
            table.writerow(
                {
                    "key": f"k{i}",
                    "title": f"Study {i}",
                    "abstract": f"a {words[i % 4]} and {words[i % 4]} abstract of number {i}",
                    "url": f"https://example.org/{i}",
                    "year": 2000 + i % 20,
                    "verdict": "" if i % known else ("good" if i % 2 else "bad"),
                }
            )
    return path


@pytest.fixture
def papers(tmp_path):
    return write_papers(tmp_path / "papers.csv")


def make(call, folder, items, *options, classes="good,bad"):
    code, out, err = call("init", folder, "--items", items, "--classes", classes, *options)
    assert code == 0, err
    return out, err


def test_init_says_which_column_of_text_it_took_and_which_it_left(call, papers, tmp_path):
    out, _ = make(call, tmp_path / "p", papers)
    assert "60 texts, column title\n" in out
    assert "abstract holds texts too, and is left out; --columns title,abstract makes one text" in out
    out, _ = make(call, tmp_path / "q", papers, "--columns", "title,abstract")
    assert "60 texts, columns title and abstract\n" in out
    assert "left out" not in out
    assert Project(tmp_path / "q").items[1]["content"].startswith("Study 1\n\na great and ")


def test_init_says_so_when_texts_become_categories(call, tmp_path):
    path = tmp_path / "a.csv"
    prose = "this is a rather long remark"
    path.write_text("one,two\n" + "".join(f"{prose} {i},{prose} {i % 3}\n" for i in range(9)))
    out, _ = make(call, tmp_path / "p", path)
    assert "9 rows\n" in out
    assert "one and two hold texts, and each of their values counts as a category" in out
    assert "--columns one,two makes texts of them" in out


def test_people_see_what_is_shown_and_nothing_is_learned_from_it(call, papers, tmp_path, monkeypatch):
    out, _ = make(call, tmp_path / "p", papers, "--column", "abstract", "--show", "url,year")
    assert "column abstract; url and year shown with each\n" in out
    make(call, tmp_path / "q", papers, "--column", "abstract")
    project, other = Project(tmp_path / "p"), Project(tmp_path / "q")
    assert (project.features == other.features).all()
    assert project.item(1).shown == {"url": "https://example.org/1", "year": "2001"}
    assert other.item(1).shown is None
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    seen = call("label", tmp_path / "p")[1]
    assert "https://example.org/" in seen
    assert "url" in seen


def test_rows_show_more_than_is_learned_from(call, papers, tmp_path):
    out, _ = make(
        call, tmp_path / "p", papers, "--kind", "row", "--columns", "year", "--show", "title,url"
    )
    assert "features: 1, 1 number of a table" in out
    item = Project(tmp_path / "p").item(2)
    assert (item.content, item.shown["title"]) == ({"year": "2002"}, "Study 2")


def test_labels_that_are_there_become_labels_of_the_project(call, papers, tmp_path):
    out, err = make(call, tmp_path / "p", papers, "--label-column", "verdict", "--id-column", "key")
    assert "labels: 20 items labelled already, good: 10 · bad: 10" in out
    assert err == ""
    code, out, _ = call("status", tmp_path / "p", "--json")
    found = json.loads(out)
    assert (code, found["progress"]["labelled"], found["balance"]) == (0, 20, {"good": 10, "bad": 10})
    code, out, _ = call("export", tmp_path / "p", "--out", "-")
    lines = list(csv.DictReader(out.splitlines()))
    assert {(line["annotator"], line["draw_probability"]) for line in lines} == {("import", "")}
    assert {line["item"] for line in lines} == {f"k{i}" for i in range(0, 60, 3)}
    assert not replay(tmp_path / "p" / LEDGER).problems
    code, out, _ = call("classify", tmp_path / "p", papers)  # they are enough to train on
    assert (code, out.splitlines()[1].split(",")[0]) == (0, "k0")


def test_labels_that_cannot_be_used_leave_nothing_behind(call, papers, tmp_path):
    words = ("init", tmp_path / "p", "--items", papers, "--label-column", "verdict", "--classes")
    refused(call(*words, "good,fair"), "--label-column", "'1'", "'bad'", "good and fair")
    twice = write_papers(tmp_path / "twice.csv", 4, known=1, heading=["abstract", "verdict"])
    twice.write_text(twice.read_text() + "a awful and awful abstract of number 0,good\n")
    again = ("init", tmp_path / "p", "--items", twice, "--label-column", "verdict", "--classes")
    refused(call(*again, "good,bad"), "--label-column", "'1' and '5' are the same", "'bad' and 'good'")
    refused(call(*words[:4], "--classes", "good,bad", "--label-column", "x"), "--label-column", "'x'")
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("options", "used"),
    [
        (["--kind", "row"], "shown and learned from"),
        (["--columns", "title,abstract"], "not used"),
        (["--columns", "title", "--show", "verdict"], "shown"),
    ],
)
def test_a_column_that_holds_the_classes_is_pointed_out(call, papers, tmp_path, options, used):
    _, err = make(call, tmp_path / "p", papers, *options)
    assert err == (
        f"column verdict of papers.csv holds names of the classes and is {used}: take it as labels "
        "with --label-column, or name it in --exclude\n"
    )
    without = [word for word in options if word not in ("--show", "verdict")]
    for more in (["--exclude", "verdict"], ["--label-column", "verdict"]):
        assert make(call, tmp_path / more[0], papers, *without, *more)[1] == ""


def test_several_such_columns_are_one_sentence(call, tmp_path):
    (tmp_path / "a.csv").write_text(
        "n,x,y\n" + "".join(f"{i / 7},{i % 2},{i % 3 // 2}\n" for i in range(9))
    )
    _, err = make(call, tmp_path / "p", tmp_path / "a.csv", classes="0,1")
    assert err == (
        "columns x and y of a.csv hold names of the classes: take one as labels with --label-column, "
        "or name them in --exclude\n"
    )


def test_excluded_columns_are_neither_shown_nor_learned_from(call, papers, tmp_path):
    make(call, tmp_path / "p", papers, "--kind", "row", "--exclude", "verdict,title,abstract,url,key")
    item = Project(tmp_path / "p").item(0)
    assert (item.content, item.shown) == ({"year": "2000"}, None)


def test_classify_reads_new_files_as_the_project_was_made(call, papers, tmp_path):
    options = ("--columns", "title,abstract", "--show", "url", "--id-column", "key")
    make(call, tmp_path / "p", papers, *options, "--label-column", "verdict")
    new = write_papers(tmp_path / "new.csv", 10, heading=["year", "abstract", "key", "title"])
    code, out, err = call("classify", tmp_path / "p", new)
    lines = list(csv.DictReader(out.splitlines()))
    assert code == 0, err
    assert [line["id"] for line in lines] == [f"k{i}" for i in range(10)]
    assert [line["label"] for line in lines] == ["bad", "good"] * 5
    less = write_papers(tmp_path / "less.csv", 10, heading=["key", "title"])
    refused(call("classify", tmp_path / "p", less), "less.csv has no column 'abstract'", "key, title")
    code, out, _ = call("classify", tmp_path / "p", less, "--columns", "title")
    assert (code, len(out.splitlines())) == (0, 11)


def test_classify_says_so_when_it_reads_another_column(call, papers, tmp_path):
    make(call, tmp_path / "p", papers, "--exclude", "title", "--label-column", "verdict")
    other = tmp_path / "other.csv"
    other.write_text("body\nsome lovely abstract\nsome awful abstract\n")
    code, _, err = call("classify", tmp_path / "p", other)
    assert code == 0
    assert "other.csv has no column 'abstract': column 'body' holds its texts\n" in err


def test_the_settings_say_how_a_table_was_read(call, papers, tmp_path):
    write_papers(papers, heading=["key", "abstract"])
    make(call, tmp_path / "p", papers)
    reading = {"kind": "text", "columns": ["abstract"], "named": False}
    assert Project(tmp_path / "p").settings.reading == reading
    assert json.loads(call("status", tmp_path / "p", "--json")[1])["settings"]["reading"] == reading


def test_a_project_of_before_settings_said_so_classifies_as_ever(call, tmp_path):
    folder = shutil.copytree(BEFORE / "project", tmp_path / "p")
    assert Project(folder).settings.reading is None
    np.save(tmp_path / "x.npy", np.load(folder / "features.npy")[:3])
    (tmp_path / "new.csv").write_text("id,title,body\nx,a,b\ny,c,d\nz,e,f\n")
    code, out, err = call(
        "classify", folder, tmp_path / "new.csv", "--features", tmp_path / "x.npy", "--json"
    )
    assert code == 0, err
    assert [line["id"] for line in json.loads(out)["labels"]] == ["x", "y", "z"]
    assert not replay(folder / LEDGER).problems


def test_a_ledger_that_says_something_odd_about_reading_is_damaged(call, papers, tmp_path):
    make(call, tmp_path / "p", papers)
    base = sqlite3.connect(tmp_path / "p" / LEDGER)
    base.execute("DROP TRIGGER events_stay")
    base.execute("""UPDATE events SET body = replace(body, '"named":false', '"named":7')""")
    base.commit()
    base.close()
    assert any("event 1 is damaged" in one for one in replay(tmp_path / "p" / LEDGER).problems)
