"""While the next round is late nobody waits: rows come from the last design, or evenly from the pool."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from aced.ledger import State, replay
from aced.project import KeyTaken, Project, plan_round, repeat_rounds
from aced.project._spare import spare_row
from tests.ledger.test_state import Story, drawn
from tests.project.test_project import make


def label_all_given(project, labels, who="ann", **options):
    while items := project.give(who, 5, **options):
        for item in items:
            project.answer(who, item.row, "label", project.classes[labels[item.row]])


def test_without_a_round_in_sight_there_is_nothing_to_give(tmp_path):
    project, _ = make(tmp_path / "p")
    assert project.give("ann") == []


def test_rows_come_from_the_reserve_of_the_last_design_and_then_from_the_pool(tmp_path):
    project, labels = make(tmp_path / "p")
    project.refill(threads=1)
    label_all_given(project, labels)
    reserve = list(project.state.reserve.items())
    assert len(reserve) == 20
    assert not set(dict(reserve)) & set(project.state.draws)
    given = []
    for _ in range(25):
        (item,) = project.give("ann", 3, late=True)
        given.append(item.row)
        project.answer("ann", item.row, "label", project.classes[labels[item.row]])
    assert given[:20] == [row for row, _ in reserve]
    assert [project.state.draws[row].probability for row in given[:20]] == [p for _, p in reserve]
    assert len(set(given)) == 25
    assert {project.state.draws[row].note["spare"] for row in given[20:]} == {"pool"}
    again = Project(tmp_path / "p")
    assert replay(again.ledger).problems == []
    assert again.state.digest() == project.state.digest()


def test_everybody_gets_every_row_of_a_pool_once_though_no_round_ever_comes(tmp_path):
    project, labels = make(tmp_path / "p", n=40)
    turns = ["ann", "bob"]
    while items := project.give(turns[0], 2, late=True):
        project.answer(turns[0], items[0].row, "label", project.classes[labels[items[0].row]])
        turns.reverse()
    assert len(project.state.labelled()) == 40
    assert all(len(votes) == 1 for votes in project.state.votes.values())


def test_a_row_given_while_a_round_was_planned_is_not_asked_for_twice(tmp_path):
    project, labels = make(tmp_path / "p", check=0.2)
    project.refill(threads=1)
    label_all_given(project, labels)
    brief = project.brief()
    planned = plan_round(project.pool, brief, 1)
    while not set(project.state.spared) & set(planned.rows):
        (item,) = project.give("ann", late=True)
        project.answer("ann", item.row, "label", project.classes[labels[item.row]])
    project.record(brief, planned)
    twice = set(project.state.spared) & set(planned.rows)
    assert twice
    assert all(project.state.wanted[row] == 1 for row in twice)
    assert not twice & set(project.state.waiting)
    label_all_given(project, labels)
    project.refill(threads=1)
    rounds = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert len(rounds) == 3
    assert all(one.differs is None for one in rounds)


def test_rows_of_the_pool_are_drawn_evenly():
    """4000 spare rows of ten open ones, by a chi-squared test that errs once in a million."""
    counts = np.zeros(50, dtype=int)
    for seq in range(4000):
        story = Story()
        drawn(story, list(range(40)))
        story.state.seq = seq
        found = spare_row(story.state)
        assert found is not None
        counts[found[0]] += 1
        assert found[1] == pytest.approx(0.1)
    assert counts[:40].sum() == 0
    assert chisquare(counts[40:]).pvalue > 1e-6


def test_a_state_without_open_rows_has_no_spare_row():
    story = Story()
    drawn(story, list(range(50)))
    assert isinstance(story.state, State)
    assert spare_row(story.state) is None


def test_a_key_used_again_with_another_answer_is_a_conflict(tmp_path):
    project, _ = make(tmp_path / "p")
    project.refill(threads=1)
    first, second = project.give("ann", 2)
    event, _ = project.answer("ann", first.row, "label", "no", key="k")
    again, _ = project.answer("ann", first.row, "label", "no", key="k", seconds=3.0)
    assert again.seq == event.seq
    for row, kind, label in (
        (first.row, "label", "yes"),
        (first.row, "skip", None),
        (second.row, "label", "no"),
    ):
        with pytest.raises(KeyTaken, match="another answer"):
            project.answer("ann", row, kind, label, key="k")
    assert project.state.seq == event.seq
    project.undo("ann", key="u")
    with pytest.raises(KeyTaken):
        project.answer("ann", first.row, "label", "no", key="u")
