"""The state: leases, opinions, undo; checked against a plain model over random histories."""

from __future__ import annotations

from hypothesis import given, strategies as st

from aced.ledger import Event, State
from tests.helpers import SETTINGS


class Story:
    """Appends events with numbers and times of their own."""

    def __init__(self):
        self.state = State()
        self("created", body=SETTINGS)

    def __call__(self, kind, who="", item=None, body=None, at=None):
        state = self.state
        event = Event(
            state.seq + 1,
            max(state.at, at if at is not None else state.at + 1),
            kind,
            who,
            item,
            body or {},
        )
        state.apply(event)
        return event


def people(story, *names):
    for name in names:
        story("annotator", name, body={"name": name, "role": "annotator", "token": None})


def drawn(story, rows, **more):
    story("draw", body={"round": 1, "rows": rows, "probabilities": [0.1] * len(rows), **more})


def test_rows_come_in_the_order_drawn_and_only_once():
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [7, 3, 5])
    assert list(story.state.ready("ann", 10)) == [7, 3, 5]
    story("lease", "ann", 7, {"until": 100.0})
    assert list(story.state.ready("bob", 10)) == [3, 5]
    assert story.state.held_by("ann", 10) == [7]
    assert list(story.state.ready("bob", 101)) == [7, 3, 5]  # the lease has run out
    story("label", "ann", 7, {"label": 1})
    assert list(story.state.ready("bob", 101)) == [3, 5]
    assert story.state.held_by("ann", 10) == []


def test_a_row_named_twice_wants_two_opinions_of_two_people():
    story = Story()
    people(story, "ann", "bob", "eve")
    drawn(story, [4, 4])
    story("label", "ann", 4, {"label": 1})
    assert list(story.state.ready("ann", 1)) == []
    assert list(story.state.ready("bob", 1)) == [4]
    story("lease", "bob", 4, {"until": 100.0})
    assert list(story.state.ready("eve", 50)) == []
    story("label", "bob", 4, {"label": 0})
    assert list(story.state.ready("eve", 50)) == []
    assert {who: vote.code for who, vote in story.state.votes[4].items()} == {"ann": 1, "bob": 0}


def test_skipped_rows_go_to_others_and_unsure_is_kept():
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [1, 2])
    story("skip", "ann", 1)
    story("unsure", "ann", 2)
    assert list(story.state.ready("ann", 1)) == []
    assert list(story.state.ready("bob", 1)) == [1, 2]
    assert story.state.passed == {1: {"ann": "skip"}, 2: {"ann": "unsure"}}


def test_undo_brings_back_what_was_before():
    story = Story()
    people(story, "ann")
    drawn(story, [1, 2])
    story("label", "ann", 1, {"label": 1})
    change = story("label", "ann", 1, {"label": 0})
    story("undo", "ann", 1, {"of": change.seq, "until": 100.0})
    assert story.state.votes[1]["ann"].code == 1
    assert story.state.held_by("ann", 50) == [1]
    first = story.state.people["ann"].done[-1]
    story("undo", "ann", 1, {"of": first, "until": 100.0})
    assert story.state.votes[1] == {}
    assert story.state.people["ann"].done == []
    assert 1 in story.state.waiting


def test_a_skip_after_a_label_withdraws_it_and_undo_restores_it():
    story = Story()
    people(story, "ann")
    drawn(story, [1])
    story("label", "ann", 1, {"label": 1})
    skip = story("skip", "ann", 1)
    assert story.state.votes[1] == {}
    story("undo", "ann", 1, {"of": skip.seq})
    assert story.state.votes[1]["ann"].code == 1
    assert story.state.passed[1] == {}


def test_undoing_a_label_that_followed_a_skip_brings_the_skip_back():
    story = Story()
    people(story, "ann")
    drawn(story, [1])
    story("skip", "ann", 1)
    label = story("label", "ann", 1, {"label": 1})
    story("undo", "ann", 1, {"of": label.seq})
    assert story.state.passed[1] == {"ann": "skip"}
    assert story.state.votes[1] == {}


def test_the_revoked_hold_nothing():
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [1])
    story("lease", "ann", 1, {"until": 100.0})
    story("revoked", "ann", body={"name": "ann"})
    assert list(story.state.ready("bob", story.state.at)) == [1]
    assert not story.state.people["ann"].active


steps = st.lists(
    st.tuples(
        st.sampled_from(["label", "skip", "unsure", "undo", "lease"]),
        st.sampled_from(["ann", "bob"]),
        st.integers(0, 4),
        st.integers(0, 1),
    ),
    max_size=60,
)


@given(steps)
def test_votes_are_those_of_a_model_that_keeps_every_answer(history):
    """The model keeps, for each person, the answers in order, and takes the last one off at
    each undo; a row's vote is the last answer left, if that is a label."""
    story = Story()
    people(story, "ann", "bob")
    drawn(story, [0, 1, 2, 3, 4, 4])
    kept = {"ann": [], "bob": []}
    for kind, who, row, code in history:
        if kind == "undo":
            done = story.state.people[who].done
            if done:
                story("undo", who, kept[who][-1][0], {"of": done[-1], "until": story.state.at + 5})
                kept[who].pop()
        elif kind == "lease":
            story("lease", who, row, {"until": story.state.at + 3})
        else:
            story(kind, who, row, {"label": code} if kind == "label" else {})
            kept[who].append((row, kind, code))
    for row in range(5):
        expected = {}
        for who, answers in kept.items():
            last = [answer for answer in answers if answer[0] == row][-1:]
            if last and last[0][1] == "label":
                expected[who] = last[0][2]
        found = {who: vote.code for who, vote in story.state.votes.get(row, {}).items()}
        assert found == expected
        assert (row in story.state.waiting) == (len(expected) < (2 if row == 4 else 1))


def test_a_late_answer_of_someone_revoked_and_let_in_again_is_known_to_be_theirs():
    story = Story()
    people(story, "ann")
    drawn(story, [1])
    story("lease", "ann", 1, {"until": 100.0})
    story("revoked", "ann", body={"name": "ann"})
    people(story, "ann")
    assert "ann" in story.state.leases[1]
    assert story.state.held_by("ann", story.state.at) == []
