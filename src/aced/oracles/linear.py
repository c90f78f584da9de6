"""Linear separators: B weighted logistic problems solved side by side.

Maximising Σ v_i h(x_i) over half-spaces is replaced, as in the paper, by the weighted
logistic loss  L_b(w) = Σ_i |v_ib| log(1 + exp(-sign(v_ib) w·x_i)). Features are
standardised on the pool (folded into w, never copied), a constant column drops out.

All B problems share the rows, hence one preconditioner
H = ¼ Σ_i E|v_i| x_i x_iᵀ serves all: a Newton step from zero, then accelerated steps

    w ← y + H⁻¹ Xᵀ (v σ(-sign(v) X y)),    y ← w + momentum (w - w_previous).

H need not majorise each L_b, so a draw whose gradient grew (in the norm of H⁻¹) goes
back to where it was and halves its step. Every iterate is offered as a candidate.
H is factorised (:mod:`aced.oracles._cholesky`). On sparse pools, where p x p numbers are too many,
it is a diagonal and a few directions (:mod:`aced.oracles._low_rank`), the steps are others
(:mod:`aced.oracles._secant`), and of the iterates the best of each draw and the last are offered.

With an anchor w̃ the last iterate also gives hypotheses w̃ + τ w on the way to it. Their
margins cost no further product, and they reach separators that differ from the anchor
on a few rows only, which the surrogate loss misses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from aced._types import Array, Bools, Float32, Float64
from aced._workers import Workers
from aced.oracles import _passes, _sparse_kernels
from aced.oracles._base import Candidates, Hypotheses, Scorer
from aced.oracles._cholesky import Cholesky
from aced.oracles._low_rank import LowRank
from aced.oracles._secant import Secant
from aced.oracles._weights import Weights, value
from aced.pool import Pool

TOWARDS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The τ tried between anchor and iterate, after both are scaled alike."""

FLAT = 2e-11
"""A column whose spread is below this fraction of the widest one's is rounding, so constant."""

STEPS, SPARSE_STEPS = 1, 8
"""Steps after the first, by default: with H as a whole, and with H as a diagonal and some directions."""


class Metric(Protocol):
    """H for one family of weights."""

    def at(self, r: float) -> Any:
        """H at level r, in the form that ``solve`` takes; the same object while it is the same."""

    def solve(self, form: Any, gradients: Array) -> Array:
        """H⁻¹ g for each row g, (B, p + 1)."""

    def sizes(self, points: Array) -> Float64:
        """wᵀ H w at r = 0 for each row w, up to a common factor."""

    def leverage(self, r: float, pool: Pool) -> Float64:
        """x_iᵀ H⁻¹ x_i for every row of a pool, (n,)."""


class Walk(Protocol):
    """B points on their way to the maxima."""

    @property
    def point(self) -> Array:
        """Where they are, (B, p + 1)."""

    def on(self, gradient: Array) -> None:
        """Go on, with the gradients there."""


class LinearHypotheses:
    """Half-spaces, given by weights and a bias in the pool's own coordinates."""

    def __init__(self, pool: Pool, coefficients: Float32) -> None:
        self.pool = pool
        if pool.sparse:  # products with CSR rows read B numbers of a feature at a time
            coefficients = np.asfortranarray(coefficients)
        self.coefficients = coefficients  # (B, p + 1), the bias last

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
    """start + τ_b w_b, computed when asked for: most are not."""

    def __init__(self, pool: Pool, start: Float32, by: Float32, coefficients: Float32) -> None:
        super().__init__(pool, coefficients)
        self._start, self._by = start, by

    def take(self, which: Array) -> LinearHypotheses:
        moved = self._start + self._by[which, None] * self.coefficients[which]
        return LinearHypotheses(self.pool, moved)

    def to_array(self) -> Array:
        return self.take(np.arange(len(self))).coefficients


class LinearOracle:
    """Argmax over linear separators with intercept, many weight vectors at once.

    ``steps`` steps follow the first. On dense rows the default is one: it comes within half a
    percent of the value of the converged logistic fit, more are rarely worth their time. On sparse
    rows it is eight. ``momentum`` is that of the dense steps, ``ridge`` is relative to H's diagonal.
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
        self.steps = (SPARSE_STEPS if pool.sparse else STEPS) if steps is None else steps
        self.momentum, self.ridge = momentum, ridge
        self.centre, self.inverse_spread = self._standardise()

    def _standardise(self) -> tuple[Float64, Float64]:
        pool, n = self.pool, len(self.pool)
        centre = self.workers.fold(_passes.total, pool)[0] / n
        if pool.sparse:
            mean_square = self.workers.fold(_passes.squares, pool)[0] / n
            spread = np.sqrt(np.maximum(mean_square - np.square(centre), 0.0))
        else:
            spread = np.sqrt(self.workers.fold(_passes.squared_deviation, pool, centre)[0] / n)
        flat = (spread <= FLAT * spread.max()) | (spread <= 1e-6 * np.abs(centre))
        inverse = np.zeros_like(spread)
        inverse[~flat] = 1 / spread[~flat]
        return centre, inverse

    def over(self, pool: Pool) -> LinearOracle:
        """The same class over other rows with the same features."""
        return LinearOracle(
            pool, steps=self._given, momentum=self.momentum, ridge=self.ridge, workers=self.workers
        )

    def prepare(self, weights: Weights) -> LinearMaximiser:
        return LinearMaximiser(self, weights)

    def metric(self, weights: Weights) -> Metric:
        return LowRank(self, weights) if self.pool.sparse else Cholesky(self, weights)

    def initial(self) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.zeros((1, self.pool.features + 1), np.float32))

    def gather(self, parts: Sequence[Hypotheses]) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.concatenate([part.to_array() for part in parts]))

    def from_array(self, parameters: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.asarray(parameters, dtype=np.float32))

    def unfold(self, standard: Array) -> Float32:
        """Weights for standardised features (…, p + 1) to weights for the pool's own."""
        if self.pool.sparse:
            return _sparse_kernels.unfold(standard.T, self.centre, self.inverse_spread).T
        raw = standard[:, :-1] * self.inverse_spread
        bias = standard[:, -1] - raw @ self.centre
        return np.concatenate([raw, bias[:, None]], axis=1).astype(np.float32)

    def fold(self, coefficients: Float32) -> Float64:
        """The inverse of ``unfold``, for one hypothesis (p + 1,)."""
        slopes = coefficients[:-1].astype(float)
        kept = self.inverse_spread > 0
        standard = np.divide(slopes, self.inverse_spread, out=np.zeros_like(slopes), where=kept)
        return np.append(standard, float(coefficients[-1]) + slopes @ self.centre)

    def fold_gradient(self, raw: Float64, total: Float64) -> Array:
        """Σ_i r_ib x_i (p, B) and Σ_i r_ib (B,) to the gradients in standardised coordinates."""
        if self.pool.sparse:
            return _sparse_kernels.centre(raw, total, self.centre, self.inverse_spread).T
        centred = (raw.T - total[:, None] * self.centre) * self.inverse_spread
        return np.concatenate([centred, total[:, None]], axis=1)


@dataclass(frozen=True)
class _Iterate:
    """B points (B, p + 1) with their gradients and H⁻¹ times those."""

    point: Float64
    direction: Float64
    gradient: Float64

    @cached_property
    def norm(self) -> Float64:
        """Squared length of the gradient in the norm of H⁻¹, shape (B,)."""
        return np.asarray(np.einsum("bp,bp->b", self.gradient, self.direction))

    def where(self, keep: Bools, other: _Iterate) -> _Iterate:
        """These rows where ``keep``, the other's elsewhere."""
        if keep.all():
            return self
        mine = keep[:, None]
        return _Iterate(
            np.where(mine, self.point, other.point),
            np.where(mine, self.direction, other.direction),
            np.where(mine, self.gradient, other.gradient),
        )


class _Accelerated:
    """Steps with momentum; a draw whose gradient grew goes back and halves its step."""

    def __init__(self, solve: Callable[[Float64], Float64], point: Float64, momentum: float) -> None:
        self._solve, self._momentum = solve, momentum
        self.point = self._previous = point
        self._step = np.ones((len(point), 1))
        self._kept: _Iterate | None = None

    def on(self, gradient: Float64) -> None:
        here = _Iterate(self.point, self._solve(gradient), gradient)
        momentum: float | Float64 = self._momentum
        previous = self._previous
        if self._kept is not None:
            grew = here.norm > self._kept.norm
            here = here.where(~grew, self._kept)
            previous = np.where(grew[:, None], here.point, previous)
            self._step = np.where(grew[:, None], self._step / 2, self._step)
            momentum = np.where(grew[:, None], 0.0, self._momentum)
        moved = here.point + self._step * here.direction
        self.point = moved + momentum * (moved - previous)
        self._previous, self._kept = moved, here


class LinearMaximiser:
    """The logistic problems of one family of weights."""

    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights
        self.metric = oracle.metric(weights)
        self._pull: Array | None = None
        self._started: tuple[Any, Array] | None = None

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle = self.oracle
        walk = self._walk(r)
        found: list[Candidates] = []
        for _ in range(oracle.steps):
            coefficients = oracle.unfold(walk.point)
            tally, gradient = self._pass(coefficients, r)
            met = Candidates(LinearHypotheses(oracle.pool, coefficients), tally)
            found = [_better(r, found, met)] if oracle.pool.sparse else [*found, met]
            walk.on(gradient)
        return found + self._last(walk.point, r, anchor)

    def _walk(self, r: Float32) -> Walk:
        """From the Newton step from w = 0, H⁻¹ g with g = (r_b Σ μ̂_i x_i - Σ s_i ζ_ib x_i) / 2.

        Its two sums do not depend on r, nor do their solutions while H is kept.
        """
        form = self.metric.at(float(np.median(r)))
        if self._pull is None:
            sums = self.oracle.workers.fold(_passes.pulls, self.oracle.pool, *self.weights.rows)
            parts = self.oracle.fold_gradient(*sums[:2]), self.oracle.fold_gradient(*sums[2:])
            self._pull = np.concatenate(parts)
        if self._started is None or self._started[0] is not form:
            self._started = (form, self.metric.solve(form, self._pull))
        solve = partial(self.metric.solve, form)
        if self.oracle.pool.sparse:
            both = (_at_level(r, sums.T).T for sums in (self._pull, self._started[1]))
            return Secant(self.oracle.workers, solve, *both)
        solved = self._started[1]
        start = np.asarray((r[:, None] * solved[:1] - solved[1:]) / 2)
        return _Accelerated(solve, start, self.oracle.momentum)

    def _pass(self, coefficients: Float32, r: Float32) -> tuple[Float64, Array]:
        oracle = self.oracle
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        tally, raw, total = oracle.workers.fold(
            _passes.descent, oracle.pool, *self.weights.rows, slopes, bias, r
        )
        return tally, oracle.fold_gradient(raw, total)

    def _last(self, point: Array, r: Float32, anchor: Hypotheses | None) -> list[Candidates]:
        """The last iterate and, with an anchor, those between the two."""
        oracle = self.oracle
        coefficients = oracle.unfold(point)
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
        anchor_size = float(self.metric.sizes(self.oracle.fold(start)[None])[0])
        if anchor_size <= 0:
            return np.zeros((0, len(point)), np.float32)
        sizes = self.metric.sizes(point)
        ratio = np.sqrt(anchor_size / np.maximum(sizes, np.finfo(float).tiny))
        return np.asarray(np.array(TOWARDS)[:, None] * ratio, dtype=np.float32)

    def leverage(self, r: float, pool: Pool | None = None) -> Float64:
        """x_iᵀ H⁻¹ x_i, the movement of margin i with its own weight; shape (n,)."""
        return self.metric.leverage(r, self.oracle.pool if pool is None else pool)


def _at_level(r: Float32, sums: Float32) -> Float32:
    """(r_b u - z_b) / 2 of the columns u, z_1 … z_B; (p + 1, B)."""
    return np.asarray((sums[:, :1] * r - sums[:, 1:]) * np.float32(0.5))


def _better(r: Float32, found: list[Candidates], met: Candidates) -> Candidates:
    """The better for each draw, of those found before and those met now: to keep all takes much room."""
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
