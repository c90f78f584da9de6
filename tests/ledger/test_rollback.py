"""A transaction that fails leaves the state as it was, without reading the ledger again."""

from __future__ import annotations

from copy import deepcopy

import pytest
from hypothesis import given, settings, strategies as st

from aced.ledger import Ledger, _verify
from aced.ledger._rollback import Checkpoint
from aced.ledger._snapshot import freeze, thaw
from tests.ledger.test_file import begin, label
from tests.ledger.test_state import Story, drawn, people

KINDS = [
    "label", "skip", "unsure", "returned", "undo", "lease", "draw", "spare", "revoked", "annotator",
    "imported", "sealed", "accepted", "class-added", "class-renamed", "class-merged", "class-undone",
]  # fmt: skip
steps = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(["ann", "bob"]), st.integers(0, 9), st.integers(0, 1)
    ),
    max_size=40,
)


def happen(story, kind, who, row, code):
    """One event of this kind, if there can be one."""
    state, until = story.state, story.state.at + 3
    if kind == "undo":
        done = state.people[who].done
        if done:
            story("undo", who, state.given[done[-1]][1], {"of": done[-1], "until": until})
    elif kind == "returned":
        passed = [seq for seq in state.given if state.standing(seq) and state.given[seq][0] != "label"]
        if passed:
            story(kind, who, state.given[passed[-1]][1], {"of": passed[-1]})
    elif kind == "draw":
        reserve = {"rows": [9 - row], "probabilities": [0.5]}
        rows = [row, (row + code) % 10]
        drawn(story, rows, checks=[row] * code, reserve=reserve, notes=[{"lam": 1.0}, {}])
    elif kind == "spare":
        story("spare", body={"rows": [row], "probabilities": [0.1]})
    elif kind in ("revoked", "annotator"):
        story(kind, who, body={"name": who, "role": "lead" if code else "annotator", "token": None})
    elif kind == "imported":
        story(kind, who, body={"labels": row})
    elif kind == "sealed":
        story(kind, body={"files": {"items.jsonl": str(row)}})
    elif kind == "accepted":
        story(kind, body={"lost": str(row)})
    elif kind.startswith("class-"):
        change_classes(story, kind, who, row, code)
    elif kind == "lease":
        story("lease", who, row, {"until": until})
    elif kind == "label":
        chosen = state.codes[(row + code) % len(state.codes)]
        story(kind, who, row, {"label": chosen, "seconds": float(row)})
    else:
        story(kind, who, row, {})


def change_classes(story, kind, who, row, code):
    """One change of the classes, if there can be one."""
    state = story.state
    one, other = state.codes[row % len(state.codes)], state.codes[(row + 1) % len(state.codes)]
    fresh = f"class of event {state.seq}"
    if kind == "class-added":
        gone = [place for place, found in enumerate(state.classes) if found.withdrawn]
        again = gone[0] if gone and code else len(state.classes)
        name = state.classes[again].name if gone and code else fresh
        story(kind, who, body={"code": again, "name": name})
    elif kind == "class-renamed":
        found = state.classes[one]
        new = found.former[0] if found.former and code else fresh
        story(kind, who, body={"code": one, "from": found.name, "to": new})
    elif kind == "class-merged" and len(state.codes) > 2:
        labels = state.labels_of_class(one)
        story(kind, who, body={"code": one, "into": other, "labels": labels})
    elif kind == "class-undone" and state.changes:
        last = state.changes[-1]
        if last.kind != "class-added" or not state.names_class(last.code):
            story(kind, who, body={"of": last.seq})


class Watched(Story):
    """Notes every event in a checkpoint before it is applied."""

    checkpoint = None

    def __call__(self, kind, who="", item=None, body=None, at=None):
        state, apply = self.state, self.state.apply

        def noted(event):
            if self.checkpoint is not None:
                self.checkpoint.note(event)
            apply(event)

        state.apply = noted
        try:
            return super().__call__(kind, who, item, body, at)
        finally:
            del state.apply


@settings(max_examples=200)
@given(steps, steps)
def test_restoring_gives_the_state_before_in_every_field(before, failed):
    story = Watched()
    people(story, "ann", "bob")
    for step in before:
        happen(story, *step)
    expected = freeze(deepcopy(story.state))
    story.checkpoint = Checkpoint(story.state)
    for step in failed:
        happen(story, *step)
    story.checkpoint.restore()
    assert freeze(story.state) == expected


@settings(max_examples=200)
@given(steps)
def test_a_frozen_state_thaws_to_the_same_state(history):
    story = Story()
    people(story, "ann", "bob")
    for step in history:
        happen(story, *step)
    again = thaw(freeze(story.state))
    assert again == story.state
    assert again.digest() == story.state.digest()
    assert freeze(again) == freeze(story.state)  # the order of every table, too


def test_a_refused_write_reads_no_event_again(tmp_path, monkeypatch):
    ledger = begin(tmp_path / "l")
    for row in range(30):
        label(ledger, row)
    digest, read = ledger.state.digest(), []
    monkeypatch.setattr(
        _verify, "as_event", lambda *columns: read.append(columns) or pytest.fail("read again")
    )
    for row in range(5):
        with pytest.raises(RuntimeError), ledger.writing() as writing:  # noqa: PT012
            writing.append("label", "ann", row, {"label": 0})
            writing.append("skip", "ann", 7)
            raise RuntimeError
    assert ledger.state.digest() == digest
    monkeypatch.undo()
    label(ledger, 40)
    assert Ledger(tmp_path / "l").state.digest() == ledger.state.digest()
