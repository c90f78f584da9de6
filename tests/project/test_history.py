"""What people answered, newest first; skipped and unsure items that come back into the queue."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced.ledger import replay
from aced.project import (
    KeyTaken,
    Project,
    _history as module,
    history,
    progress,
    rename_class,
    repeat_rounds,
)
from tests.helpers import answer, blobs
from tests.project.places import make


@pytest.fixture
def project(tmp_path):
    project = make(tmp_path / "p")
    for name, role in (("ann", "lead"), ("bob", "annotator"), ("eve", "annotator")):
        project.add_person(name, role)
    project.refill()
    return project


def expected(project):
    """Every answer that stands, from the events alone: the last word of each person about each row."""
    last, gone = {}, set()
    events = [event for event, _ in project.ledger.events()]
    for event in events:
        if event.kind == "undo":
            gone.add(event.body["of"])
    for event in events:
        if event.seq in gone:
            continue
        if event.kind == "returned":
            row, who = event.row, project.state.given[event.body["of"]][2]
            last.pop((row, who), None)
        elif event.kind in ("label", "skip", "unsure"):
            last[event.row, event.who] = event
    return sorted(last.values(), key=lambda event: -event.seq)


def act(project, rng, steps):
    """Answers, undos and returns of all kinds by two people about a few rows."""
    for _ in range(steps):
        who, row = ("ann", "bob")[rng.integers(2)], int(rng.integers(8))
        kind = ("label", "label", "skip", "unsure", "undo", "returned")[rng.integers(6)]
        if kind == "undo":
            project.undo(who)
        elif kind == "returned":
            mine = history(project, who=who, kinds=("skip", "unsure")).answers
            if mine and mine[0].wanted:
                project.put_back(who, mine[0].seq)
        else:
            name = project.classes[rng.integers(2)] if kind == "label" else None
            answer(project, who, row, kind, name, seconds=1.5)


@pytest.mark.parametrize("chunk", [1, 3, 4000])
def test_every_answer_that_stands_is_listed_once_in_pages_of_any_size(project, chunk, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    rng = np.random.default_rng(chunk)
    for _ in range(4):
        act(project, rng, 40)
        for who in (None, "ann", "bob"):
            right = [event for event in expected(project) if who in (None, event.who)]
            for count in (1, 3, 100):
                found, before = [], None
                while True:
                    page = history(project, who=who, before=before, count=count)
                    assert len(page.answers) <= count
                    found += page.answers
                    before = page.more
                    if before is None:
                        break
                assert [one.seq for one in found] == [event.seq for event in right]
                for one, event in zip(found, right, strict=True):
                    assert (one.kind, one.row, one.who) == (event.kind, event.row, event.who)
                    assert (one.at, one.seconds) == (event.at, 1.5)
                    label = None if event.kind != "label" else project.names[event.body["label"]]
                    assert one.label == label
            skips = history(project, who=who, kinds=("skip",), count=100).answers
            assert [one.seq for one in skips] == [e.seq for e in right if e.kind == "skip"]
    assert replay(project.ledger).state.digest() == project.state.digest()


def test_it_is_searched_by_id_and_content_without_regard_to_capitals(project):
    for row in (1, 11, 21, 30):
        answer(project, "ann", row, "label", "yes")
    assert [one.row for one in history(project, text="TEXT 1").answers] == [11, 1]
    assert [one.row for one in history(project, text=" t30 ").answers] == [30]
    assert [one.row for one in history(project, text="text", before=None, count=3).answers] == [
        30,
        21,
        11,
    ]
    assert history(project, text="nothing has this").answers == []


def test_cells_of_a_table_are_searched(tmp_path):
    contents = [{"a": i, "b": None, "c": f"word {i}"} for i in range(61)]
    project = make(tmp_path / "r", kind="row", contents=contents)
    project.add_person("ann")
    for row in (3, 30):
        answer(project, "ann", row, "label", "no")
    assert [one.row for one in history(project, text="Word 3").answers] == [30, 3]
    assert history(project, text="none").answers == []


def test_a_label_is_that_of_the_class_as_it_is_called_now(project):
    answer(project, "ann", 1, "label", "yes")
    rename_class(project.ledger, "ann", "yes", "yeah")
    assert history(project).answers[0].label == "yeah"


def given(project, who):
    return project.give(who)[0].row


def test_a_skipped_item_comes_back_to_its_person_and_the_return_can_be_undone(project):
    row = given(project, "bob")
    event, _ = project.answer("bob", row, "skip")
    assert row not in [item.row for item in project.give("bob", 5)]
    before = progress(project, "bob")
    project.put_back("bob", event.seq, key="k")
    assert project.put_back("bob", event.seq, key="k").row == row  # sent twice, it counts once
    assert history(project, who="bob").answers == []
    undone = project.undo("bob")
    assert (undone.kind, undone.item.row) == ("returned", row)
    assert progress(project, "bob") == before
    assert history(project, who="bob").answers[0].seq == event.seq
    project.put_back("bob", event.seq)
    held = project.state.held_by("bob", project.ledger.now)
    for other in held:
        project.answer("bob", other, "label", "yes")
    assert given(project, "bob") == row
    project.answer("bob", row, "label", "yes")
    assert history(project, who="bob").answers[0].row == row


def test_what_cannot_come_back_is_refused_in_a_sentence(project):
    row = given(project, "bob")
    skip, _ = project.answer("bob", row, "skip")
    other = given(project, "bob")
    label, _ = project.answer("bob", other, "label", "yes")
    seq = project.state.seq
    for who, of, said in (
        ("eve", skip.seq, "another person's"),
        ("bob", label.seq, "is a label"),
        ("bob", 10**9, "does not stand"),
        ("nobody", skip.seq, "may not label here"),
    ):
        with pytest.raises(InvalidInput, match=said):
            project.put_back(who, of)
    assert project.state.seq == seq
    project.put_back("ann", skip.seq, key="k")  # a lead may
    with pytest.raises(InvalidInput, match="does not stand"):
        project.put_back("bob", skip.seq)
    with pytest.raises(KeyTaken):
        project.put_back("ann", label.seq, key="k")
    assert row in [item.row for item in project.give("bob", 5)]
    again, _ = project.answer("bob", row, "unsure")
    answer(project, "eve", row, "label", "no")
    with pytest.raises(InvalidInput, match="no label of its item is wanted now"):
        project.put_back("bob", again.seq)


def test_an_undo_from_the_history_asks_nobody_who_has_still_an_answer(project):
    row = given(project, "bob")
    project.answer("bob", row, "label", "yes")
    project.answer("bob", row, "label", "no")
    project.undo("bob", again=False)
    assert project.state.votes[row]["bob"].code == 1
    assert project.state.held_by("bob", project.ledger.now) == []
    project.undo("bob", again=False)  # now there is none, and the item is given again
    assert project.state.held_by("bob", project.ledger.now) == [row]


def certified(folder, passed):
    """Three rounds. Some rows of the first get their labels after the second: they were skipped and
    brought back, or (``passed`` is None) only left lying. Returns the project and these rows."""
    features, truth = blobs(240, 4, flip=0.0)
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(240)],
        contents=[f"text {i}" for i in range(240)],
        kind="text",
        features=features,
        classes=["no", "yes"],
        batch=30,
        check=0.5,
        seed=5,
        lease=1.0,
    )
    project.add_person("ann")
    say = project.classes
    project.refill(threads=1)
    first = list(project.state.waiting)
    late = first[::5]
    for row in first:
        if row not in late:
            answer(project, "ann", row, "label", say[truth[row]])
        elif passed:
            answer(project, "ann", row, passed)
    project.refill(threads=1)
    for one in history(project, kinds=("skip", "unsure")).answers:
        project.put_back("ann", one.seq)
    for row in list(project.state.waiting):
        answer(project, "ann", row, "label", say[truth[row]])
    project.refill(threads=1)
    return project, late


@pytest.mark.parametrize("passed", ["skip", "unsure"])
def test_a_row_that_came_back_is_drawn_once_and_the_certificate_is_that_of_a_late_label(
    tmp_path, passed
):
    came, late = certified(tmp_path / "came", passed)
    lay, same = certified(tmp_path / "lay", None)
    assert late == same
    assert late
    assert len(came.state.rounds) == 3
    draws = [
        row for event, _ in came.ledger.events() if event.kind == "draw" for row in event.body["rows"]
    ]
    assert len(draws) == len(set(draws))
    assert all(came.state.wanted[row] == 1 for row in late)
    for one, other in zip(came.state.rounds, lay.state.rounds, strict=True):
        assert one["labels"] == other["labels"]
        assert one["accuracy"] == other["accuracy"]
        assert one.get("by_class") == other.get("by_class")
    assert came.state.rounds[-1]["labels"] - came.state.rounds[1]["labels"] > len(late)
    kept = came.brief().memory.arrays["drawn_rows"]
    assert len(kept) == len(set(kept.tolist()))
    assert set(late) <= set(kept.tolist())
    assert [one.differs for one in repeat_rounds(came.ledger, lambda: came.pool, threads=1)] == [
        None
    ] * 3
