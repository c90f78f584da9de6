"""Projects of .txt and .xlsx files, from aced init to aced classify."""

from __future__ import annotations

import csv

import openpyxl

from aced.project import Project
from tests.cli.test_project import BAD, GOOD, label_some, refused, truth
from tests.project.places import make


def lines(count=40):
    """Texts whose class can be read off them."""
    return [f"{(GOOD if i % 2 else BAD)[i % 4]} story of number {i}" for i in range(count)]


def test_a_text_file_has_an_item_on_each_line(call, tmp_path):
    (tmp_path / "a.txt").write_text("\n\n".join(lines()) + "\n")
    words = ("init", tmp_path / "p", "--items", tmp_path / "a.txt", "--classes", "good,bad")
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    assert "40 texts; 39 blank lines left out\n" in out
    label_some(tmp_path / "p", 20)
    (tmp_path / "new.txt").write_text("\n".join([*lines(4), "", *lines(2)]))
    code, out, err = call("classify", tmp_path / "p", tmp_path / "new.txt")
    said = list(csv.DictReader(out.splitlines()))
    assert (code, [line["id"] for line in said]) == (0, ["1", "2", "3", "4", "6", "7"])
    assert "1 blank line left out\n" in err
    new = [*lines(4), *lines(2)]
    assert [line["label"] for line in said] == [truth(text) for text in new]
    refused(call("init", tmp_path / "q", *words[2:], "--column", "text"), "a.txt", "no column 'text'")


def workbook(path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_workbook_is_a_table(call, tmp_path):
    rows = [[f"k{i}", text, truth(text) if i < 20 else None] for i, text in enumerate(lines())]
    path = workbook(tmp_path / "a.xlsx", ["key", "text", "verdict"], *rows)
    words = ("init", tmp_path / "p", "--items", path, "--classes", "good,bad")
    code, out, err = call(*words, "--id-column", "key", "--label-column", "verdict")
    assert (code, err) == (0, "")
    assert "40 texts, column text\n" in out
    assert "20 items labelled already" in out
    new = workbook(tmp_path / "new.xlsx", ["text", "key"], ["some great story", "n1"])
    code, out, _ = call("classify", tmp_path / "p", new)
    assert (code, out.splitlines()[1].split(",")[:2]) == (0, ["n1", "good"])


def test_labels_come_in_from_a_workbook(call, tmp_path):
    make(tmp_path / "p").close()
    path = workbook(tmp_path / "x.xlsx", ["item", "label"], ["t1", "yes"], ["t2", "maybe"])
    refused(call("import", tmp_path / "p", path), "row 3: label must be one of no and yes")
    code, out, _ = call("import", tmp_path / "p", path, "--skip-bad")
    assert (code, out.splitlines()[0].split(",")[0]) == (0, "1 answer taken")
    assert Project(tmp_path / "p").state.labelled() == [1]
