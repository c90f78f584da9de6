"""Plan one round: from the labels so far to the next requests. Planning is a pure function, so that
it can run in another process and be repeated from the ledger to the bit.

The strategy draws as it does for a :class:`aced.Learner` that is told the same labels: the brief
holds the memory of the learner of the round before, with all draws so far. The share ``check`` of the
draws is uniform, so that every row has a chance, and the draws say how accurate the classifier is on the
whole pool (:mod:`aced.certificates`). A round of b requests consists of

- rows that the strategy draws, in the order in which they were drawn;
- at places among them, second opinions about rows that have a label, drawn with probability ∝ λ times
  the amount by which one more opinion is expected to lower their variance ½(1 - Σ_c η_c²).

As many rows again are drawn from the same design and kept in reserve, for people who would have to wait
for the next round. Their labels count, but the certificate does not take them for draws.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from aced._types import Float64, Ints
from aced.certificates import claimed
from aced.crowd import second_opinion_gain
from aced.design import draw
from aced.learner import Learner
from aced.pool import Pool
from aced.project._floor import floored
from aced.project._numbers import numbers
from aced.project._round import Brief, PlannedRound
from aced.project._savings import recorded

RIVALS = 64
SAVINGS_GROWTH = 1.3
"""What random labelling takes is estimated when there are this many times the labels of last time."""
CONFIDENCE = 0.95


def plan(pool: Pool, brief: Brief, threads: int | None = None) -> PlannedRound:
    began = time.perf_counter()
    rng = np.random.default_rng([brief.seed, brief.round])
    learner = _learner(pool, brief, threads)
    certified = _certified(learner, brief)
    unlabelled = np.setdiff1d(brief.drawn, brief.rows).astype(np.int64)
    learner.exclude(pool.ids[unlabelled], awaited=True)
    again = round(brief.overlap * brief.size) if len(brief.single) else 0
    designed = _designed(learner, brief.size - again)
    opinions = _second_opinions(brief, learner.design, again, rng)
    rows = np.concatenate([designed[0], opinions[0]]).astype(np.int64)
    probabilities = np.concatenate([designed[1], opinions[1]])
    order = _mixed(len(designed[0]), len(opinions[0]), rng)
    record = learner.history[-1] if learner.history else {}
    return PlannedRound(
        rows=rows[order].tolist(),
        probabilities=probabilities[order].tolist(),
        notes=_notes(learner, rows[order], rng, brief.proposals is not None),
        design={k: v for k, v in record.items() if k != "seconds" and v == v},
        seconds=time.perf_counter() - began,
        memory=learner.memory,
        reserve=_reserve(learner, brief, rows),
        **certified,
    )


def _mixed(designed: int, opinions: int, rng: np.random.Generator) -> Ints:
    """The order of a round: designed rows keep theirs, second opinions come at random places."""
    if not opinions:
        return np.arange(designed)
    places = np.full(designed + opinions, -1, np.int64)
    places[rng.permutation(len(places))[:opinions]] = designed + np.arange(opinions)
    places[places < 0] = np.arange(designed)
    return places


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
        strategy=floored(brief.strategy, brief.check),
        classes=brief.classes,
        l2=brief.l2,
        representation=brief.representation,
        proposals=None if brief.proposals is None else brief.proposals[0],
        proposals_confidence=None if brief.proposals is None else brief.proposals[1],
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


def _notes(
    learner: Learner, rows: Ints, rng: np.random.Generator, proposed: bool
) -> list[dict[str, Any]]:
    """Why each row is asked for: its λ relative to a uniform draw, what the classifier and the incumbent
    say of it, and how many of 64 rivals disagree with the incumbent about it."""
    if not len(rows):  # the strategy has nothing more to ask
        return []
    columns: dict[str, list[Any]] = {}
    if learner.design is not None:
        columns["lam"] = (learner.design[rows] * len(learner.pool)).round(4).tolist()
    model = learner.classifier
    if proposed:
        together = learner.predict_proba()[rows]
        columns["says"] = np.asarray(learner.classes)[together.argmax(axis=1)].tolist()
        columns["sure"] = together.max(axis=1).round(4).tolist()
    elif model is not None and len(getattr(model, "classes_", [])) > 1:
        shares = model.predict_proba(learner.pool.rows(rows))
        columns["says"] = model.classes_[shares.argmax(axis=1)].tolist()
        columns["sure"] = shares.max(axis=1).round(4).tolist()
    if learner.incumbent is not None and learner.round is not None:
        columns["incumbent"] = learner.incumbent[rows].tolist()
        columns["separates"] = learner.round.separated(rows, RIVALS, rng).tolist()
        columns["of"] = [RIVALS] * len(rows)
    return [{name: values[i] for name, values in columns.items()} for i in range(len(rows))]


def _certified(learner: Learner, brief: Brief) -> dict[str, Any]:
    """What the draws say of the classifier that the round begins with, in all and by class."""
    if not learner.strategy.floor or len(np.unique(brief.codes)) < 2:
        return {"accuracy": None}
    counts = learner.confusion()
    pairs = np.argwhere(counts > 0)
    classes = np.asarray(brief.classes)
    table = np.column_stack([classes[pairs], counts[tuple(pairs.T)]])
    by_class = [
        {
            "code": int(code),
            "recall": numbers(learner.accuracy(CONFIDENCE, of="recall", label=code)),
            "precision": numbers(learner.accuracy(CONFIDENCE, of="precision", label=code)),
        }
        for code in brief.classes
    ]
    stop = None if brief.stop is None else _stop(learner, brief.stop)
    due = len(brief.rows) >= SAVINGS_GROWTH * brief.saved_at
    return {
        "stop": stop,
        "savings": recorded(learner.savings()) if due else None,
        "accuracy": numbers(learner.accuracy(CONFIDENCE)),
        "confusion": table.astype(int).tolist(),
        "by_class": by_class,
    }


def _stop(learner: Learner, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Whether labelling may stop, and the labels that it may still take."""
    found = learner.reached(
        wanted["wanted"], of=wanted["of"], label=wanted.get("code"), confidence=wanted["confidence"]
    )
    ahead = found.outlook
    return {
        "reached": found.reached,
        "claim": claimed(found.certificate, wanted.get("name", "")),
        "ahead": None if ahead is None else [ahead.least, ahead.middle, ahead.most],
    }
