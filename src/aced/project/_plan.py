"""Plan one round: from the labels so far to the next requests. Planning is a pure function, so that
it can run in another process and be repeated from the ledger to the bit.

The strategy draws as it does for a :class:`aced.Learner` that is told the same labels: the brief
holds the memory of the learner of the round before. A round of b requests consists of

- check rows, from which accuracy is estimated: the next rows in one random order of the pool. A row
  that was drawn before its turn becomes a check row without another request. The check rows are
  therefore a random sample of the whole pool, whatever the strategy has drawn;
- second opinions about rows that have a label, drawn with probability ∝ λ times the amount by which
  one more opinion is expected to lower their variance ½(1 - Σ_c η_c²);
- rows that the strategy draws.

If a round has check rows or second opinions, its requests are put in random order. As many rows again
are drawn from the same design and kept in reserve, for people who would have to wait for the next round.

To estimate accuracy, the check rows are split into five parts. Each part is predicted by a classifier
trained on all other labels. The interval is Wilson's 95 % interval.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from aced._types import Float64, Ints
from aced.crowd import second_opinion_gain
from aced.design import draw
from aced.learner import Learner
from aced.pool import Pool
from aced.project._round import Brief, PlannedRound, wilson

RIVALS = 64
FOLDS = 5
FEWEST_CHECKS = 10


def plan(pool: Pool, brief: Brief, threads: int | None = None) -> PlannedRound:
    began = time.perf_counter()
    rng = np.random.default_rng([brief.seed, brief.round])
    learner = _learner(pool, brief, threads)
    turns = _next_checks(len(pool), brief)
    new = ~np.isin(turns, brief.drawn)
    by_turn = 1.0 / (len(pool) - len(brief.checked) - np.arange(len(turns)))
    checks = turns[new], by_turn[new]
    unlabelled = np.setdiff1d(np.union1d(brief.drawn, checks[0]), brief.rows).astype(np.int64)
    learner.exclude(pool.ids[unlabelled], awaited=True)
    again = round(brief.overlap * brief.size) if len(brief.single) else 0
    designed = _designed(learner, brief.size - len(checks[0]) - again)
    opinions = _second_opinions(brief, learner.design, again, rng)
    rows = np.concatenate([checks[0], opinions[0], designed[0]]).astype(np.int64)
    probabilities = np.concatenate([checks[1], opinions[1], designed[1]])
    order = rng.permutation(len(rows)) if len(designed[0]) < len(rows) else np.arange(len(rows))
    record = learner.history[-1] if learner.history else {}
    accuracy, confusion = _accuracy(learner, brief)
    return PlannedRound(
        rows=rows[order].tolist(),
        probabilities=probabilities[order].tolist(),
        checks=turns.tolist(),
        notes=_notes(learner, rows[order], rng),
        accuracy=accuracy,
        confusion=confusion,
        design={k: v for k, v in record.items() if k != "seconds" and v == v},
        seconds=time.perf_counter() - began,
        memory=learner.memory,
        reserve=_reserve(learner, brief, rows),
    )


def _reserve(learner: Learner, brief: Brief, rows: Ints) -> dict[str, list[Any]]:
    """Rows that no round has asked for, drawn from the design with random numbers of their own."""
    rng = np.random.default_rng([brief.seed, brief.round, 1])
    left = np.ones(len(learner.pool), dtype=bool)
    for asked in (brief.drawn, brief.rows, rows):
        left[asked] = False
    evenly = np.ones(len(left))
    tiers = [evenly] if learner.design is None else [learner.design, evenly]
    found, probabilities = draw(tiers, left, brief.size, rng)
    return {"rows": found.tolist(), "probabilities": probabilities.tolist()}


def _learner(pool: Pool, brief: Brief, threads: int | None) -> Learner:
    """The learner of the round before, told the labels of the brief."""
    learner = Learner(
        pool,
        strategy=brief.strategy,
        classes=brief.classes,
        l2=brief.l2,
        representation=brief.representation,
        batch_size=min(brief.batch, len(pool)),
        seed=brief.seed,
        threads=threads,
    )
    learner.tell(pool.ids[brief.rows], brief.codes)
    if brief.memory is not None:
        learner.recall(brief.memory)
    return learner


def train(pool: Pool, brief: Brief) -> Any:
    """The classifier with which a round would begin."""
    return _learner(pool, brief, None).classifier


def _designed(learner: Learner, wanted: int) -> tuple[Ints, Float64]:
    """The rows that the strategy draws."""
    if wanted <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    queries = learner.ask(wanted, fresh=True)
    return learner.pool.positions(queries.ids), queries.probabilities


def _next_checks(n: int, brief: Brief) -> Ints:
    """The next check rows, in an order that depends on the seed alone."""
    order = np.random.default_rng([brief.seed, 0]).permutation(n)
    rest = order[~np.isin(order, brief.checked)]
    return rest[: round(brief.check * brief.size)].astype(np.int64)


def _second_opinions(
    brief: Brief, lam: Float64 | None, count: int, rng: np.random.Generator
) -> tuple[Ints, Float64]:
    if count <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    at = np.searchsorted(brief.rows, brief.single)
    worth = np.zeros(int(brief.single.max()) + 1)
    gain = second_opinion_gain(brief.eta[at], np.full(len(at), 0.85)) + 1e-9
    worth[brief.single] = gain * (1.0 if lam is None else lam[brief.single] + 1e-6 / len(lam))
    return draw([worth], worth > 0, count, rng)


def _notes(learner: Learner, rows: Ints, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Why each row is asked for: its λ relative to a uniform draw, what the classifier and the incumbent
    say of it, and how many of 64 rivals disagree with the incumbent about it."""
    if not len(rows):  # the strategy has nothing more to ask
        return []
    columns: dict[str, list[Any]] = {}
    if learner.design is not None:
        columns["lam"] = (learner.design[rows] * len(learner.pool)).round(4).tolist()
    model = learner.classifier
    if model is not None and len(getattr(model, "classes_", [])) > 1:
        shares = model.predict_proba(learner.pool.rows(rows))
        columns["says"] = model.classes_[shares.argmax(axis=1)].tolist()
        columns["sure"] = shares.max(axis=1).round(4).tolist()
    if learner.incumbent is not None and learner.round is not None:
        columns["incumbent"] = learner.incumbent[rows].tolist()
        columns["separates"] = learner.round.separated(rows, RIVALS, rng).tolist()
        columns["of"] = [RIVALS] * len(rows)
    return [{name: values[i] for name, values in columns.items()} for i in range(len(rows))]


def _accuracy(learner: Learner, brief: Brief) -> tuple[dict[str, float] | None, list[list[int]]]:
    """The estimate of accuracy, and the counts behind it by class: of people and of a classifier."""
    at = np.flatnonzero(np.isin(brief.rows, brief.checked))
    if len(at) < FEWEST_CHECKS:
        return None, []
    said = np.empty(len(at), np.int64)
    for fold in range(FOLDS):
        held = at[fold::FOLDS]
        rest = np.setdiff1d(np.arange(len(brief.rows)), held)
        model = learner.train(brief.rows[rest], brief.codes[rest])
        said[fold::FOLDS] = model.predict(learner.pool.rows(brief.rows[held]))
    right = int((said == brief.codes[at]).sum())
    low, high = wilson(right, len(at))
    pairs, counts = np.unique(np.stack([brief.codes[at], said], axis=1), axis=0, return_counts=True)
    estimate = {"estimate": right / len(at), "low": low, "high": high, "checked": len(at)}
    return estimate, np.column_stack([pairs, counts]).tolist()
