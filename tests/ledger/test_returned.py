"""Skipped and unsure rows that come back into the queue: undone, replayed, kept in a snapshot."""

from __future__ import annotations

import sqlite3
from copy import deepcopy

import pytest
from hypothesis import given, strategies as st

from aced.ledger import Ledger, replay
from aced.ledger._snapshot import freeze, thaw
from tests.ledger.test_file import begin, label
from tests.ledger.test_state import Story, drawn, people

steps = st.lists(
    st.tuples(
        st.sampled_from(["label", "skip", "unsure", "returned", "returned", "undo"]),
        st.sampled_from(["ann", "bob"]),
        st.integers(0, 3),
    ),
    max_size=50,
)


@given(steps)
def test_what_stands_is_that_of_a_model_that_forgets_what_was_undone(history):
    """The model goes through all events that were not undone, from the first one on."""
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [0, 1, 2, 3, 3])
    kept = []  # number, kind, who, row, of
    for kind, who, row in history:
        if kind == "undo":
            mine = [one for one in kept if one[2] == who]
            if mine:
                kept.remove(mine[-1])
                story("undo", who, mine[-1][3], {"of": mine[-1][0], "until": story.state.at + 5})
        elif kind == "returned":
            passed = [one for one in kept if one[2:4] == (who, row) and one[1] in ("skip", "unsure")]
            if passed and story.state.standing(passed[-1][0]):
                event = story(kind, who, row, {"of": passed[-1][0]})
                kept.append((event.seq, kind, who, row, passed[-1][0]))
        else:
            event = story(kind, who, row, {"label": 1} if kind == "label" else {})
            kept.append((event.seq, kind, who, row, None))
    stands = {}
    for seq, kind, who, row, _ in kept:
        stands.pop((row, who), None)
        if kind != "returned":
            stands[row, who] = seq, kind
    state = story.state
    found = {(row, who): kind for row, said in state.passed.items() for who, kind in said.items()}
    found |= {(row, who): "label" for row, said in state.votes.items() for who in said}
    assert found == {place: kind for place, (_, kind) in stands.items()}
    answers = {seq for seq, (kind, _, _) in state.given.items() if kind != "returned"}
    assert {seq for seq in answers if state.standing(seq)} == {seq for seq, _ in stands.values()}
    assert freeze(thaw(freeze(state))) == freeze(state)
    assert state.wanted == {0: 1, 1: 1, 2: 1, 3: 2}


def test_a_row_that_comes_back_is_given_again_and_asked_for_once():
    story = Story()
    people(story, "ann")
    drawn(story, [1, 2])
    skip = story("skip", "ann", 1)
    before = story.state.digest()
    assert list(story.state.ready("ann", 10)) == [2]
    back = story("returned", "ann", 1, {"of": skip.seq})
    assert list(story.state.ready("ann", 10)) == [1, 2]
    assert story.state.untouched() == 2
    assert story.state.wanted == {1: 1, 2: 1}
    assert len(story.state.draws) == 2
    assert story.state.digest() != before
    story("undo", "ann", 1, {"of": back.seq})
    assert story.state.passed == {1: {"ann": "skip"}}
    assert list(story.state.ready("ann", 10)) == [2]
    again = story("returned", "ann", 1, {"of": skip.seq})  # the same answer can come back anew
    story("label", "ann", 1, {"label": 1})
    assert 1 not in story.state.waiting
    assert again.seq in story.state.people["ann"].done


def test_a_lead_who_takes_a_return_back_takes_no_answer_back():
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [1, 2])
    skip = story("skip", "bob", 1)
    back = story("returned", "ann", 1, {"of": skip.seq})
    assert story.state.people["bob"].done == [skip.seq]
    story("lease", "bob", 1, {"until": 100.0})
    story("undo", "ann", 1, {"of": back.seq})
    assert story.state.held_by("bob", 10) == []  # it is out of the queue
    back = story("returned", "ann", 1, {"of": skip.seq})
    story("label", "bob", 1, {"label": 1})
    story("undo", "ann", 1, {"of": back.seq})
    assert story.state.votes[1]["bob"].code == 1
    assert not story.state.passed[1]


def test_a_skip_that_was_undone_does_not_stand_again():
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [1])
    skip = story("skip", "bob", 1)
    back = story("returned", "ann", 1, {"of": skip.seq})
    story("undo", "bob", 1, {"of": skip.seq})
    story("undo", "ann", 1, {"of": back.seq})
    assert not story.state.passed[1]
    assert list(story.state.ready("bob", 10)) == [1]


@pytest.mark.parametrize(
    ("row", "of"),
    [(1, 99), (1, "x"), (1, 3), (2, 4), (2, 5), (None, 5)],
    ids=["no event", "no number", "no answer", "a label", "another row", "no row"],
)
def test_what_cannot_come_back_is_damage(row, of):
    story = Story()
    people(story, "ann")
    drawn(story, [1, 2])
    label_of = story("label", "ann", 2, {"label": 1})
    skip = story("skip", "ann", 1)
    assert (label_of.seq, skip.seq) == (4, 5)
    with pytest.raises(ValueError, match=r"is no skip or unsure|there is no row|wrong"):
        story("returned", "ann", row, {"of": of})
    story("returned", "ann", 1, {"of": 5})
    with pytest.raises(ValueError, match="is no skip or unsure"):
        story("returned", "ann", 1, {"of": 5})


def test_replay_and_an_older_ledger_that_opens(tmp_path):
    ledger = begin(tmp_path / "l")
    label(ledger, 1)
    ledger.close()
    base = sqlite3.connect(tmp_path / "l")
    base.execute("PRAGMA user_version = 5")
    base.close()
    ledger = Ledger(tmp_path / "l")
    assert ledger._base.execute("PRAGMA user_version").fetchone() == (6,)
    with ledger.writing() as writing:
        skip = writing.append("skip", "ann", 2)
        writing.append("returned", "ann", 2, {"of": skip.seq})
    ledger.keep_snapshot()
    found = replay(ledger)
    assert found.problems == []
    assert found.state.digest() == ledger.state.digest()
    assert list(ledger.named([skip.seq, 10**6, skip.seq])) == [skip.seq]
    assert freeze(Ledger(tmp_path / "l").state) == freeze(found.state)


def test_a_transaction_with_a_return_that_fails_leaves_no_trace(tmp_path):
    ledger = begin(tmp_path / "l")
    with ledger.writing() as writing:
        skip = writing.append("skip", "ann", 2)
    before = deepcopy(freeze(ledger.state))
    for kind, body in (("returned", {"of": skip.seq}), ("returned", {"of": 10**6})):
        with pytest.raises((RuntimeError, ValueError)), ledger.writing() as writing:  # noqa: PT012
            writing.append(kind, "ann", 2, body)
            raise RuntimeError
        assert freeze(ledger.state) == before
