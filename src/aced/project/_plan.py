"""One round: from the labels so far to the next requests. A pure function, so that it can run in
another process and be repeated from the ledger to the bit.

A round of b requests holds, in random order,

- check rows, the next of one random order of the pool: what accuracy is estimated from. A row
  whose turn comes after it was drawn for another reason is a check without another request, so
  that the checks are a random sample of the whole pool whatever the strategy left of it;
- second opinions, rows that have a label, drawn with probability ∝ λ times what one more opinion
  is expected to take from their variance η(1 - η);
- and rows that the strategy draws.

Estimated accuracy: the check rows in five parts, each predicted by a classifier trained on all
other labels; Wilson's 95 % interval.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from aced._types import Float64, Ints
from aced.crowd import second_opinion_gain
from aced.design import Dinkelbach, Problem, draw, initial_incumbent
from aced.design.solver import draw_noise
from aced.estimators import naive
from aced.learner import Learner
from aced.oracles import labels_of
from aced.pool import Pool
from aced.project._round import Answer, Question, wilson
from aced.strategies import Aced, make_strategy

RIVALS = 64
FOLDS = 5
FEWEST_CHECKS = 10


def plan(pool: Pool, asked: Question, threads: int | None = None) -> Answer:
    began = time.perf_counter()
    seeds = np.random.SeedSequence([asked.seed, asked.round]).generate_state(2)
    rng = np.random.default_rng(seeds[0])
    learner = Learner(
        pool,
        strategy=Aced(fill="all") if asked.strategy == "aced" else make_strategy(asked.strategy),
        classes=[0, 1],
        l2=asked.l2,
        batch_size=min(asked.batch, len(pool)),
        seed=int(seeds[1]),
        threads=threads,
    )
    learner.tell(pool.ids[asked.rows], asked.codes)
    turns = _next_checks(len(pool), asked)
    new = ~np.isin(turns, asked.drawn)
    checks = turns[new]
    chances = (1.0 / (len(pool) - len(asked.checked) - np.arange(len(turns))))[new]
    taken = np.union1d(asked.drawn, checks).astype(np.int64)
    learner.exclude(pool.ids[taken])
    if isinstance(learner.strategy, Aced) and len(asked.drawn):
        # the ledger knows which rows were drawn, not the mass that others had
        spent = np.bincount(asked.drawn, minlength=len(pool)) / asked.batch
        learner.strategy.restore({"spent": spent})
    again = round(asked.again * asked.size) if len(asked.single) else 0
    wanted = max(0, asked.size - len(checks) - again)
    queries = learner.ask(wanted) if wanted else None
    found = [pool.positions(queries.ids)] if queries else []
    odds = [queries.probabilities] if queries else []
    seconds = _second_opinions(asked, learner.design, again, rng)
    rows = np.concatenate([checks, seconds[0], *found]).astype(np.int64)
    chance = np.concatenate([chances, seconds[1], *odds])
    order = rng.permutation(len(rows))
    record = learner.history[-1] if learner.history else {}
    return Answer(
        rows=rows[order].tolist(),
        chances=chance[order].tolist(),
        checks=turns.tolist(),
        notes=_notes(learner, rows[order], rng),
        accuracy=_accuracy(learner, asked),
        design={k: v for k, v in record.items() if k != "seconds" and v == v},
        seconds=time.perf_counter() - began,
    )


def _next_checks(n: int, asked: Question) -> Ints:
    """The first rows, in an order that the seed alone decides, that were no checks yet."""
    order = np.random.default_rng([asked.seed, 0]).permutation(n)
    rest = order[~np.isin(order, asked.checked)]
    return rest[: round(asked.check * asked.size)].astype(np.int64)


def _second_opinions(
    asked: Question, lam: Float64 | None, count: int, rng: np.random.Generator
) -> tuple[Ints, Float64]:
    if count <= 0:
        return np.zeros(0, np.int64), np.zeros(0)
    at = np.searchsorted(asked.rows, asked.single)
    worth = np.zeros(int(asked.single.max()) + 1)
    gain = second_opinion_gain(asked.eta[at], np.full(len(at), 0.85)) + 1e-9
    worth[asked.single] = gain * (1.0 if lam is None else lam[asked.single] + 1e-6 / len(lam))
    return draw([worth], worth > 0, count, rng)


def _notes(learner: Learner, rows: Ints, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Why each row is asked for: λ against uniform, the classifier's and the incumbent's view,
    and how many of 64 rivals of the incumbent it tells apart from it."""
    model, pool = learner.classifier, learner.pool
    shares = None
    if model is not None and len(getattr(model, "classes_", [])) == 2:
        shares = model.predict_proba(pool.rows(rows))[:, 1]
    lam, incumbent = learner.design, None
    separated = None
    strategy = learner.strategy
    if isinstance(strategy, Aced) and strategy.design is not None and strategy.oracle is not None:
        oracle = strategy.oracle
        known, labels, _ = learner.labelled()
        mu = naive(len(pool), pool.positions(known), labels.astype(np.int64))
        assert lam is not None
        with learner.workers.session():
            hypothesis = strategy.design.incumbent.hypothesis
            problem = Problem(oracle, mu, len(pool) / 2, initial_incumbent(oracle, mu, hypothesis))
            rivals = Dinkelbach()(problem, lam, draw_noise(problem, RIVALS, rng))
            said = labels_of(oracle, rivals.hypotheses)[:, rows]
            incumbent = labels_of(oracle, hypothesis)[0][rows]
        separated = (said != incumbent).sum(axis=0)
    notes = []
    for i, row in enumerate(rows.tolist()):
        note: dict[str, Any] = {}
        if lam is not None:
            note["lam"] = round(float(lam[row] * len(pool)), 4)
        if shares is not None:
            note["p"] = round(float(shares[i]), 4)
        if incumbent is not None and separated is not None:
            note["incumbent"] = int(incumbent[i])
            note["separates"], note["of"] = int(separated[i]), RIVALS
        notes.append(note)
    return notes


def _accuracy(learner: Learner, asked: Question) -> dict[str, float] | None:
    at = np.flatnonzero(np.isin(asked.rows, asked.checked))
    if len(at) < FEWEST_CHECKS:
        return None
    right = 0
    for fold in range(FOLDS):
        held = at[fold::FOLDS]
        rest = np.setdiff1d(np.arange(len(asked.rows)), held)
        model = learner.train(asked.rows[rest], asked.codes[rest])
        said = model.predict(learner.pool.rows(asked.rows[held]))
        right += int((said == asked.codes[held]).sum())
    low, high = wilson(right, len(at))
    return {"estimate": right / len(at), "low": low, "high": high, "checked": len(at)}
