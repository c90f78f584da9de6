"""The regret of a learner's classifier, from its model and its draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Ints
from aced._workers import Workers
from aced.certificates import Certificate, Drawn, Known, Losses, losses_of, regret
from aced.learner._trainer import Fitted
from aced.oracles import LinearOracle
from aced.pool import Pool

MOST_ROWS = 20_000
"""From so many rows the best classifier is searched; of a larger pool others stand for several."""


def regret_of(
    drawn: Drawn, now: Known, fitted: Fitted, codes: Ints, workers: Workers, confidence: float
) -> Certificate:
    """The bound for the ``fitted`` classifier; ``codes`` are those of its classes."""
    model, positions = fitted.model, fitted.positions
    if model is None or positions is None:
        raise InvalidInput(
            "classifier",
            "the regret is that of the learner's own model with two classes or more; leave classifier "
            "and l2 out, and tell labels of two classes",
        )
    shares = model.probabilities(workers).astype(float)
    if len(model.left_out) == len(positions):  # else there are so many labels that it hardly matters
        shares[positions] = model.left_out
    found, pool = losses_of(drawn, now, codes, shares), model.pool
    if len(pool) > MOST_ROWS:
        found, pool = _some(found, pool, positions, seed=len(drawn))
    oracle = LinearOracle(pool, classes=len(codes), workers=workers)
    present = oracle.from_array(model.relative().reshape(1, -1))
    return regret(found, oracle, present, confidence, now.labels, seed=len(drawn))


def _some(found: Losses, pool: Pool, positions: Ints, seed: int) -> tuple[Losses, Pool]:
    """All rows with a label, and some of the others in place of all."""
    others = np.setdiff1d(np.arange(len(pool)), positions)
    size = max(MOST_ROWS - len(positions), MOST_ROWS // 2)
    if size >= len(others):
        return found, pool
    rows = np.sort(np.random.default_rng(seed).choice(others, size, replace=False))
    share = len(others) / size
    chosen = np.concatenate([positions, rows])
    worth = np.append(np.ones(len(positions)), np.full(size, share))
    some = Losses(
        found.losses[chosen] * worth[:, None],
        found.scale[chosen] * np.sqrt(worth),
        found.own + float((found.present[chosen] * worth).sum() - found.present.sum()),
        found.present[chosen] * worth,
    )
    return some, Pool(pool.rows(chosen))


def codes_of(hypotheses: Any, classes: list[Any], rows: int) -> Array:
    """Hypotheses that are given by the class of every row, as codes (H, n)."""
    given = np.asarray(hypotheses)
    if given.ndim != 2 or given.shape[1] != rows or not len(given):
        raise InvalidInput(
            "hypotheses", f"must have a row for each, with {rows} classes; its shape is {given.shape}"
        )
    known, places = np.unique(given, return_inverse=True)
    other = next((one for one in known.tolist() if one not in classes), None)
    if other is not None:
        raise InvalidInput("hypotheses", f"predict {other!r}, which is no class; known are {classes}")
    table = np.array([classes.index(one) for one in known.tolist()], np.int64)
    return np.asarray(table[places].reshape(given.shape))
