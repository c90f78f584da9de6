"""Linear separators: B weighted logistic problems solved side by side.

Maximising Σ v_i h(x_i) over half-spaces is replaced, as in the paper, by the weighted
logistic loss  L_b(w) = Σ_i |v_ib| log(1 + exp(-sign(v_ib) w·x_i)). Features are
standardised on the pool (folded into w, never copied); a constant column drops out.

All B problems share the rows, so one preconditioner H = ¼ Σ_i E|v_i| x_i x_iᵀ serves all. A Newton
step from zero comes first, then steps shaped by H⁻¹, with the gradients Xᵀ (v σ(-sign(v) X w)). The
form of H, the kind of steps and the iterates that are offered as candidates depend on the rows:
:mod:`aced.oracles._dense`, :mod:`aced.oracles._sparse`. The last iterate is always offered.

With an anchor w̃ the last iterate also gives hypotheses w̃ + τ w on the way to it. Their
margins cost no further product, and they reach separators that differ from the anchor
on a few rows only, which the surrogate loss misses.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from aced._types import Array, Bools, Float32, Float64
from aced._workers import Workers
from aced.oracles import _passes
from aced.oracles._base import Candidates, Hypotheses, Oracle, Scorer
from aced.oracles._dense import DenseGeometry
from aced.oracles._geometry import Geometry, Walk, fold
from aced.oracles._sparse import SparseGeometry
from aced.oracles._weights import Weights, value
from aced.pool import Pool

TOWARDS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The τ tried between anchor and iterate, after both are scaled alike."""


class LinearHypotheses:
    """Half-spaces, given by weights and a bias in the pool's own coordinates."""

    def __init__(self, pool: Pool, coefficients: Float32) -> None:
        self.pool = pool
        # (B, p + 1), the bias last; in the order in which products with the rows read it
        self.coefficients = np.asfortranarray(coefficients) if pool.sparse else coefficients

    def __len__(self) -> int:
        return len(self.coefficients)

    def scorer(self) -> Scorer:
        return _passes.margins, (self.to_array(),)

    def margins(self, index: int) -> Float32:
        return _passes.margins(self.pool.block(index), self.to_array())

    def labels(self, index: int) -> Bools:
        return self.margins(index) > 0

    def take(self, which: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, self.coefficients[which])

    def to_array(self) -> Array:
        return self.coefficients


class _Between(LinearHypotheses):
    """The half-spaces start + τ_b w_b, computed only when they are used: most are not."""

    def __init__(self, pool: Pool, start: Float32, by: Float32, coefficients: Float32) -> None:
        super().__init__(pool, coefficients)
        self._start, self._by = start, by

    def take(self, which: Array) -> LinearHypotheses:
        moved = self._start + self._by[which, None] * self.coefficients[which]
        return LinearHypotheses(self.pool, moved)

    def to_array(self) -> Array:
        return self.take(np.arange(len(self))).coefficients


class LinearOracle(Oracle):
    """Argmax over linear separators with intercept, many weight vectors at once.

    ``steps`` steps follow the first. On dense rows the default is one step: it comes within half a
    percent of the value of the converged logistic fit, and more steps are rarely worth their time. On
    sparse rows it is eight. ``momentum`` is for dense rows; ``ridge`` is relative to H's diagonal.
    """

    exact = False

    def __init__(
        self,
        pool: Pool,
        *,
        steps: int | None = None,
        momentum: float = 0.5,
        ridge: float = 1e-5,
        workers: Workers | None = None,
    ) -> None:
        self.pool = pool
        self.workers = workers or Workers()
        self._given = steps
        self.momentum, self.ridge = momentum, ridge
        geometry: type[Geometry] = SparseGeometry if pool.sparse else DenseGeometry
        self.geometry = geometry(pool, self.workers)
        self.steps = self.geometry.steps if steps is None else steps

    def over(self, pool: Pool) -> LinearOracle:
        """The same class over other rows with the same features."""
        return LinearOracle(
            pool, steps=self._given, momentum=self.momentum, ridge=self.ridge, workers=self.workers
        )

    def prepare(self, weights: Weights) -> LinearMaximiser:
        return LinearMaximiser(self, weights)

    def initial(self) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.zeros((1, self.pool.features + 1), np.float32))

    def from_array(self, parameters: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.asarray(parameters, dtype=np.float32))


class LinearMaximiser:
    """The logistic problems of one family of weights."""

    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        self.oracle, self.weights, self.geometry = oracle, weights, oracle.geometry
        self.metric = self.geometry.metric(weights, oracle.ridge)
        self._pull: Array | None = None
        self._started: tuple[Any, Array] | None = None

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle = self.oracle
        walk = self._walk(r)
        found: list[Candidates] = []
        for _ in range(oracle.steps):
            coefficients = self.geometry.unfold(walk.point)
            tally, gradient = self._pass(coefficients, r)
            met = Candidates(LinearHypotheses(oracle.pool, coefficients), tally)
            found = [*found, met] if self.geometry.offers_all else [_better(r, found, met)]
            walk.on(gradient)
        return found + self._last(walk.point, r, anchor)

    def _walk(self, r: Float32) -> Walk:
        """A walk from the Newton step at w = 0, H⁻¹ g with g = (r_b Σ μ̂_i x_i - Σ s_i ζ_ib x_i) / 2.

        The two sums do not depend on r; H⁻¹ times each does not either, as long as H is kept.
        """
        form = self.metric.at(float(np.median(r)))
        if self._pull is None:
            sums = self.oracle.workers.fold(_passes.pulls, self.oracle.pool, *self.weights.rows)
            parts = self.geometry.fold_gradient(*sums[:2]), self.geometry.fold_gradient(*sums[2:])
            self._pull = np.concatenate(parts)
        if self._started is None or self._started[0] is not form:
            self._started = (form, self.metric.solve(form, self._pull))
        solve = partial(self.metric.solve, form)
        return self.geometry.walk(r, self._pull, self._started[1], solve, self.oracle.momentum)

    def _pass(self, coefficients: Float32, r: Float32) -> tuple[Float64, Array]:
        oracle = self.oracle
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        tally, raw, total = oracle.workers.fold(
            _passes.descent, oracle.pool, *self.weights.rows, slopes, bias, r
        )
        return tally, self.geometry.fold_gradient(raw, total)

    def _last(self, point: Array, r: Float32, anchor: Hypotheses | None) -> list[Candidates]:
        """The last iterate and, with an anchor, those between the two."""
        oracle = self.oracle
        coefficients = self.geometry.unfold(point)
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        steps = np.zeros((0, len(r)), np.float32)
        start = np.zeros(oracle.pool.features + 1, np.float32)
        if anchor is not None:
            start = anchor.to_array()[0]
            steps = self._towards(point, start)
        (tally,) = oracle.workers.fold(
            _passes.towards, oracle.pool, *self.weights.rows, slopes, bias, start, steps
        )
        found = [Candidates(LinearHypotheses(oracle.pool, coefficients), tally[0])]
        for q, by in enumerate(steps):
            between = _Between(oracle.pool, start, by, coefficients)
            found.append(Candidates(between, tally[q + 1]))
        return found

    def _towards(self, point: Array, start: Float32) -> Float32:
        """Steps (Q, B) that scale each iterate to the anchor's size in the norm of H."""
        anchor_size = float(self.metric.sizes(fold(self.geometry, start)[None])[0])
        if anchor_size <= 0:
            return np.zeros((0, len(point)), np.float32)
        sizes = self.metric.sizes(point)
        ratio = np.sqrt(anchor_size / np.maximum(sizes, np.finfo(float).tiny))
        return np.asarray(np.array(TOWARDS)[:, None] * ratio, dtype=np.float32)

    def leverage(self, r: float, pool: Pool | None = None) -> Float64:
        """x_iᵀ H⁻¹ x_i, the movement of margin i with its own weight; shape (n,)."""
        return self.metric.leverage(r, self.oracle.pool if pool is None else pool)


def _better(r: Float32, found: list[Candidates], met: Candidates) -> Candidates:
    """For each draw, the better of the candidate found before and the one met now."""
    if not found:
        return met
    (old,) = found
    keep = value(r, old.tally) > value(r, met.tally)
    if not keep.any():
        return met
    assert isinstance(old.hypotheses, LinearHypotheses)
    assert isinstance(met.hypotheses, LinearHypotheses)
    which, pool = keep[:, None], met.hypotheses.pool
    both = np.where(which, old.hypotheses.coefficients, met.hypotheses.coefficients)
    return Candidates(LinearHypotheses(pool, both), np.where(keep, old.tally, met.tally))
