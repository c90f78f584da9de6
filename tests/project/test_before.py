"""A project of an earlier version: its ledger replays, and work on it goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from aced.ledger import replay
from aced.project import LEDGER, Project, add_class, merge_class, repeat_rounds

BEFORE = Path(__file__).parents[1] / "data" / "before"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(BEFORE / "project", tmp_path / "p")


def test_its_ledger_replays_to_the_same_state(folder):
    expected = json.loads((BEFORE / "expected.json").read_text())
    found = replay(folder / LEDGER)
    assert found.problems == []
    assert (found.state.seq, found.state.digest()) == (expected["seq"], expected["digest"])
    labels = Project(folder).opinions()
    assert (
        dict(zip(map(str, labels.rows.tolist()), labels.codes.tolist(), strict=True))
        == expected["labels"]
    )


def test_its_rounds_stand_as_recorded_and_new_ones_can_be_repeated(folder):
    project = Project(folder)
    older = len(project.state.rounds)
    for _ in range(20):
        for item in project.give("ann", 5):
            project.answer("ann", item.row, "label", "no")
        project.refill(threads=1)
    rounds = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert [one.older for one in rounds] == [True] * older + [False] * (len(rounds) - older)
    assert len(rounds) >= older + 2
    assert all(one.differs is None for one in rounds)


def test_it_takes_a_third_class_and_gives_it_back(folder):
    """The classes have codes 0 and 1, the new one has code 2, and counts in the rounds that follow."""
    project = Project(folder)
    first, second = project.classes
    before = {row: dict(said) for row, said in project.state.votes.items()}
    add_class(project.ledger, "ann", "a third")
    for turn in range(20):
        for item in project.give("ann", 5):
            project.answer("ann", item.row, "label", ("a third", first, second)[turn % 3])
        project.refill(threads=1)
    assert project.state.rounds[-1]["classes"] == [0, 1, 2]
    assert all(
        project.state.votes[row][who] == vote for row in before for who, vote in before[row].items()
    )
    merge_class(project.ledger, "ann", second, first)
    assert project.classes == [first, "a third"]
    project.refill(threads=1)
    rounds = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert all(one.differs is None for one in rounds)
    digest = project.state.digest()
    project.close()
    found = replay(folder / LEDGER)
    assert (found.problems, found.state.digest()) == ([], digest)
    again = Project(folder)
    assert again.opinions().classes.tolist() == [0, 2]
    assert {again.names[vote.code] for said in again.state.votes.values() for vote in said.values()} == {
        first,
        "a third",
    }
