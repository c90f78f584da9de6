"""The report, as a page and as a command."""

from __future__ import annotations

import errno
import json
import os

import pytest

from aced.bench import Job, Records, run_jobs
from aced.bench._report import build, to_html, to_markdown


def test_the_report_is_one_page_that_stands_alone(records):
    blocks = build(records, "aced report x")
    page = to_html(blocks)
    assert page.count("<img") == 2  # the curves, and the C0 grid
    assert "http" not in page.replace("https://", "").replace("http-equiv", "")
    assert "C0 grids" in page
    text, pictures = to_markdown(blocks, "figures")
    assert "figures/breast.png" in text
    assert pictures["breast.png"].startswith(b"\x89PNG")


def test_the_command_writes_the_page_and_its_figures(call, tmp_path, records):
    folder = tmp_path / "some"
    folder.mkdir()
    book = Records(folder)
    for record in records:
        book.append(json.loads(json.dumps(record)))
    assert call("report", folder)[0] == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "figures" / "breast.png").exists()


def renamed(records, name, strategy="aced"):
    """The records of one strategy under another name of a data set."""
    found = [
        json.loads(json.dumps(record)) for record in records if record["job"]["strategy"] == strategy
    ]
    return [{**record, "dataset": name, "key": f"{name} {record['key']}"} for record in found]


def written(folder, records):
    folder.mkdir(parents=True)
    book = Records(folder)
    for record in records:
        book.append(record)
    return folder


def test_no_name_of_a_data_set_leads_a_picture_out_of_the_folder(call, tmp_path, records):
    names = ["../../x", "a/b", "", "long" * 300, "x", "X!", "a$b$^", "|<img>|", "名"]
    folder = written(
        tmp_path / "deep" / "some", [one for name in names for one in renamed(records, name)]
    )
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    code, _, err = call("report", folder)
    assert code == 0, err
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    pictures = made - {folder / "report.md", folder / "report.html"}
    assert {path.parent for path in pictures} == {folder / "figures"}
    assert len(pictures) == len(names)
    page = (folder / "report.md").read_text()
    assert all(f"figures/{path.name}" in page for path in pictures)
    assert r"## \|\<img\>\|" in page
    assert "<img>" not in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("dataset", ["x"], "the field 'dataset' of the record"),
        ("dataset", "half \ud800", "not as aced bench writes it"),
        ("job", {}, "not as aced bench writes it"),
        ("curve", [{"labels": "many"}], "not as aced bench writes it"),
    ],
)
def test_a_record_written_by_hand_is_refused_in_a_sentence(call, tmp_path, records, field, value, said):
    changed = {**renamed(records, "x")[0], field: value}
    folder = written(tmp_path / "some", [changed])
    code, _, err = call("report", folder)
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert said in err
    assert not (folder / "report.md").exists()


def test_on_a_full_disk_the_old_report_stays(call, tmp_path, records, monkeypatch):
    folder = written(tmp_path / "some", renamed(records, "x"))
    assert call("report", folder)[0] == 0
    old = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = call("report", folder)
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert "No space left on device" in err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == old


def test_a_report_into_a_file_is_refused(call, tmp_path, records):
    folder = written(tmp_path / "some", renamed(records, "x"))
    (tmp_path / "file").write_text("mine")
    code, _, err = call("report", folder, "--out", tmp_path / "file")
    assert (code, len(err.strip().splitlines())) == (2, 1)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_report_of_ten_classes_with_the_default_classifier(tmp_path):
    records = Records(tmp_path)
    run_jobs([Job("digits10", "passive", s, 60, 30, None) for s in (0, 1)], records, processes=1)
    text, pictures = to_markdown(build(records.all(), "aced report x"), "figures")
    assert "## digits10" in text
    assert list(pictures) == ["digits10.png"]
