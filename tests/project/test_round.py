"""A project draws what a learner would draw, and explains it by the problem it was drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from aced import Learner, Pool
from aced.design import Problem
from aced.project import MEMORY, Brief, Project, plan_round, repeat_rounds
from tests.helpers import blobs

ROWS, TRUTH = blobs(120, 5, flip=0.1)


def make(folder, **options):
    given = {"batch": 10, "check": 0.0, "seed": 4, **options}
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(len(ROWS))],
        contents=[f"text {i}" for i in range(len(ROWS))],
        kind="text",
        features=ROWS,
        classes=["no", "yes"],
        **given,
    )
    project.add_person("ann", token=False)
    return project


def label_all_given(project):
    """The rows of the round, in the order given."""
    rows = []
    while items := project.give("ann", 1):
        project.answer("ann", items[0].row, "label", project.classes[TRUTH[items[0].row]])
        rows.append(items[0].row)
    return rows


@pytest.mark.parametrize("strategy", ["aced", "aced-paper", "passive", "ridge-margin", "badge"])
def test_a_project_draws_what_a_learner_draws_to_the_bit(tmp_path, strategy):
    project = make(tmp_path / "p", strategy=strategy)
    learner = Learner(
        Pool(project.features), strategy=strategy, classes=[0, 1], batch_size=10, seed=4, threads=1
    )
    for _ in range(5):
        assert project.refill(threads=1)
        queries = learner.ask()
        drawn = label_all_given(project)
        learner.tell(queries.ids, TRUTH[queries.ids])
        assert drawn == queries.ids.tolist()
        probabilities = [project.state.draws[row].probability for row in drawn]
        assert probabilities == queries.probabilities.tolist()


def test_the_memory_of_a_round_follows_from_the_ledger(tmp_path):
    """Without its file the next round is the same."""
    found = []
    for lose in (False, True):
        project = make(tmp_path / f"p{lose}")
        for _ in range(3):
            assert project.refill(threads=1)
            label_all_given(project)
            if lose:
                (project.folder / MEMORY).unlink()
        found.append(list(project.state.draws))
        assert all(r.differs is None for r in repeat_rounds(project.ledger, lambda p=project: p.pool))
    assert found[0] == found[1]


@pytest.mark.parametrize("l2", [1.0, None])
def test_why_comes_from_the_problem_that_drew_the_row(monkeypatch, l2):
    """λ, incumbent and rivals in the notes are those of the round, computed here by hand; one problem
    is posed for it and no other."""
    known = np.arange(0, 60, 2)
    brief = Brief(
        round=2, seed=3, size=10, batch=10, strategy="aced", l2=l2, check=0.0, overlap=0.0,
        rows=known, codes=TRUTH[known].astype(np.int64), eta=np.eye(2)[TRUTH[known].astype(int)],
        single=known[:0], drawn=known, based_on=1,
        representation="auto" if l2 is None else None,
    )  # fmt: skip
    posed = []
    made = Problem.__post_init__
    monkeypatch.setattr(Problem, "__post_init__", lambda self: (posed.append(self), made(self))[1])
    planned = plan_round(Pool(ROWS), brief, threads=1)
    shifts = {problem.shift for problem in posed}
    monkeypatch.undo()
    assert shifts == {1.0}  # one row: that of the assisted estimate, not of another problem
    assert len({problem.mu.tobytes() for problem in posed}) == 1

    how = {"strategy": "aced", "l2": l2, "batch_size": 10, "seed": 3, "threads": 1}
    learner = Learner(Pool(ROWS), classes=[0, 1], **how)
    learner.tell(known, TRUTH[known])
    queries = learner.ask(10)
    assert planned.rows == queries.ids.tolist()
    rows = np.array(planned.rows)
    assert learner.round is not None
    assert [note["lam"] for note in planned.notes] == (learner.design[rows] * 120).round(4).tolist()
    assert [note["incumbent"] for note in planned.notes] == learner.incumbent[rows].tolist()
    rng = np.random.default_rng([3, 2])
    rivals = learner.round.rivals(64, rng)
    said = np.concatenate([rivals.labels(b) for b in range(learner.pool.blocks)])  # (n, 64)
    separates = (said[rows] != learner.round.incumbent[rows, None]).sum(axis=1)
    assert [note["separates"] for note in planned.notes] == separates.tolist()
    assert separates.max() > 0


def test_a_stream_that_has_ended_plans_a_round_without_rows(tmp_path):
    """It goes on from round to round, and ends when it has passed over the pool."""
    project = make(tmp_path / "p", strategy="iwal0")
    while project.refill(threads=1):
        label_all_given(project)
    assert len(project.state.rounds) >= 2
    brief = project.brief()
    assert brief.size > 0  # rows are left that it did not want
    assert plan_round(project.pool, brief, threads=1).rows == []
    assert all(one.differs is None for one in repeat_rounds(project.ledger, lambda: project.pool))
