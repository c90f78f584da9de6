"""Labels as a table: every column, no formula, never half a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import datetime, timezone

import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from aced import InvalidInput
from aced.ledger import replay
from aced.project import (
    export_rows,
    import_labels,
    neutral,
    write_csv,
    write_jsonl,
    write_parquet,
)
from aced.project._export import COLUMNS, FORMULA, original
from tests.helpers import answer
from tests.project.places import make


class Clock:
    now = 1_700_000_000.0

    def __call__(self):
        self.now += 0.5
        return self.now


@pytest.fixture
def project(tmp_path):
    project = make(tmp_path / "p", clock=Clock())
    for name in ("ann", "bob"):
        project.add_person(name)
    return project


def as_csv(rows):
    file = io.BytesIO()
    write_csv(rows, file)
    return list(csv.DictReader(io.StringIO(file.getvalue().decode(), newline="")))


def test_a_line_for_each_item_and_annotator(project):
    project.refill()
    first = project.give("ann")[0]
    answer(project, "ann", first.row, "label", "yes", seconds=2.25)
    answer(project, "bob", first.row, "label", "no", seconds=1.0)
    answer(project, "bob", project.give("bob")[0].row, "skip")
    found = [row for row in export_rows(project) if row["item"] == first.id and row["label"]]
    draw = project.state.draws[first.row]
    assert [(row["annotator"], row["label"], row["seconds"]) for row in found] == [
        ("ann", "yes", 2.25),
        ("bob", "no", 1.0),
    ]
    for row in found:
        assert list(row) == list(COLUMNS)
        assert row["content"] == first.content
        assert (row["draw_probability"], row["round"]) == (draw.probability, 1)
        assert row["check"] == draw.check
        assert row["combined_label"] in ("no", "yes")
    vote = project.state.votes[first.row]["ann"]
    assert datetime.fromisoformat(found[0]["at"]) == datetime.fromtimestamp(vote.at, timezone.utc)


def test_skips_and_unsures_that_stand_have_a_line_without_a_label(project):
    project.refill()
    first, second, third = project.give("ann", 3)
    answer(project, "ann", first.row, "skip", seconds=1.5)
    answer(project, "ann", second.row, "unsure", seconds=0.5)
    answer(project, "ann", third.row, "skip")
    answer(project, "ann", third.row, "label", "yes")  # the skip no longer stands
    answer(project, "bob", second.row, "label", "no")
    answer(project, "bob", first.row, "skip")
    found = {(row["item"], row["annotator"]): row for row in export_rows(project)}
    assert {place: (row["answer"], row["label"]) for place, row in found.items()} == {
        (first.id, "ann"): ("skip", None),
        (first.id, "bob"): ("skip", None),
        (second.id, "ann"): ("unsure", None),
        (second.id, "bob"): ("label", "no"),
        (third.id, "ann"): ("label", "yes"),
    }
    events = {(event.kind, event.row, event.who): event for event, _ in project.ledger.events()}
    skip = found[first.id, "ann"]
    assert list(skip) == list(COLUMNS)
    assert skip["seconds"] == 1.5
    at = events["skip", first.row, "ann"].at
    assert datetime.fromisoformat(skip["at"]) == datetime.fromtimestamp(at, timezone.utc)
    assert skip["draw_probability"] == project.state.draws[first.row].probability
    assert skip["combined_label"] is skip["combined_probability"] is None
    assert found[second.id, "ann"]["combined_label"] == "no"
    (of_class,) = {
        tuple(row["probabilities"].values())
        for row in export_rows(project, probabilities=True)
        if row["item"] == first.id
    }
    assert of_class == (None, None)
    project.put_back("ann", events["skip", first.row, "ann"].seq)
    assert (first.id, "ann") not in {(row["item"], row["annotator"]) for row in export_rows(project)}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_skips_come_through_an_export_and_an_import(project, tmp_path, ending):
    for row, kind in ((1, "skip"), (2, "unsure"), (3, "label"), (0, "skip")):
        answer(project, "ann", row, kind, "no" if kind == "label" else None, seconds=2.0)
    rows = export_rows(project, probabilities=True)
    path = tmp_path / f"x.{ending}"
    write = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}[ending]
    write(rows, path, project.classes)
    other = make(tmp_path / "other")
    found = import_labels(other, path)
    assert (found.taken, found.known) == (4, 0)
    passed = {row: said["ann"] for row, said in other.state.passed.items() if said}
    assert passed == {1: "skip", 2: "unsure", 0: "skip"}
    told = [(row["item"], row["answer"], row["label"], row["seconds"]) for row in export_rows(other)]
    assert told == [(row["item"], row["answer"], row["label"], row["seconds"]) for row in rows]
    third = make(tmp_path / "third")
    third.add_person("ann")
    answer(third, "ann", 1, "label", "yes")
    assert import_labels(third, path).taken == 3  # a skip takes no label away
    assert third.state.votes[1]["ann"].code == 1


def test_combined_label_and_its_probability_are_the_projects(project):
    for row, label in enumerate(["yes", "yes", "no", "no", "yes", "no"]):
        answer(project, "ann", row, "label", label)
        answer(project, "bob", row, "label", "yes" if row < 5 else "no")
    opinions = project.opinions()
    for row in export_rows(project):
        at = opinions.rows.tolist().index(int(row["item"][1:]) % 60)
        assert row["combined_label"] == project.classes[opinions.codes[at]]
        share = opinions.eta[at, project.classes.index(row["combined_label"])]
        assert row["combined_probability"] == pytest.approx(share, abs=1e-6)
        assert row["combined_probability"] >= 0.5
    assert {row["combined_label"] for row in export_rows(project)} == {"no", "yes"}


def test_duplicates_have_the_label_of_their_row_and_undrawn_items_no_probability(project):
    answer(project, "ann", 0, "label", "yes")
    found = export_rows(project)
    assert [row["item"] for row in found] == ["t0", "t60"]
    for row in found:
        assert (row["label"], row["draw_probability"], row["round"]) == ("yes", None, None)
        assert row["check"] is False


def test_undone_labels_are_gone_and_a_past_state_has_them(project):
    answer(project, "ann", 3, "label", "yes")
    then = project.state.seq
    project.undo("ann")
    assert export_rows(project) == []
    assert [row["item"] for row in export_rows(project, replay(project.ledger, then).state)] == ["t3"]


def test_rows_of_a_table_are_json_without_nan(tmp_path):
    contents = [{"a": float("nan"), "b": "x"}] + [{"a": i, "b": "y"} for i in range(60)]
    project = make(tmp_path / "r", kind="row", contents=contents)
    project.add_person("ann")
    answer(project, "ann", 0, "label", "no")
    assert json.loads(export_rows(project)[0]["content"]) == {"a": None, "b": "x"}


def test_csv_jsonl_and_parquet_say_the_same(project, tmp_path):
    project.refill()
    for item in project.give("ann", 5):
        answer(project, "ann", item.row, "label", "yes", seconds=0.125)
    answer(project, "ann", 0, "label", "no")
    rows = export_rows(project)
    write_jsonl(rows, tmp_path / "x.jsonl")
    write_parquet(rows, tmp_path / "x.parquet")
    write_csv(rows, str(tmp_path / "x.csv"))
    assert [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()] == rows
    assert pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist() == rows
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        for read, row in zip(csv.DictReader(file), rows, strict=True):
            for name, value in row.items():
                cell = read[name]
                if value is None:
                    assert cell == ""
                elif isinstance(value, bool):
                    assert cell == str(value).lower()
                else:
                    assert type(value)(cell) == value


def test_tables_without_labels_have_their_columns(tmp_path, project):
    write_parquet([], tmp_path / "x.parquet")
    write_csv([], tmp_path / "x.csv")
    assert pyarrow.parquet.read_table(tmp_path / "x.parquet").column_names == list(COLUMNS)
    assert (tmp_path / "x.csv").read_text().strip() == ",".join(COLUMNS)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", '=HYPERLINK("http://x","y")'],
)
def test_no_cell_of_a_csv_is_a_formula(tmp_path, text):
    project = make(tmp_path / "p", contents=[text] * 61, ids=[f"{text}{i}" for i in range(61)])
    project.add_person("ann")
    answer(project, "ann", 1, "label", "yes")
    (read,) = as_csv(export_rows(project))
    assert read["content"] == f"'{text}"
    assert not any(cell.startswith(FORMULA) for cell in read.values())


def test_classes_and_names_are_neutralised_too(tmp_path):
    project = make(tmp_path / "p", classes=["-", "+"])
    project.add_person("=ann")
    answer(project, "=ann", 1, "label", "-")
    (read,) = as_csv(export_rows(project))
    assert (read["label"], read["combined_label"], read["annotator"]) == ("'-", "'-", "'=ann")


@given(st.text(st.sampled_from("'=+-@x\t\r\n＝")) | st.text())
def test_neutral_is_never_a_formula_and_loses_nothing(text):
    safe = neutral(text)
    assert not safe.startswith(FORMULA)
    assert safe == text or (safe == f"'{text}" and text.lstrip("'").startswith(FORMULA))
    assert original(safe) == text


@given(st.one_of(st.integers(), st.floats(), st.booleans(), st.none()))
def test_neutral_leaves_what_is_no_text(value):
    assert neutral(value) is value


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), max_size=4))
def test_any_text_comes_back_from_a_csv(texts):
    """Separators, quotes and line ends of all kinds; one line in, one record out."""
    row = dict.fromkeys(COLUMNS)
    found = as_csv([{**row, "content": text} for text in texts])
    assert [read["content"] for read in found] == [neutral(text) for text in texts]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    for write in (write_csv, write_jsonl, write_parquet):
        path = tmp_path / "labels"
        path.write_text("old")
        row = dict.fromkeys(COLUMNS)
        with pytest.raises(Exception, match=r"."):
            write([row, {**row, "content": object(), "seconds": object(), "item": Odd()}], path)
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]


class Odd:
    def __str__(self):
        raise RuntimeError("cannot be written")


def test_parquet_without_pyarrow_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInput, match=r"aced\[tables\]"):
        write_parquet([], tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())
