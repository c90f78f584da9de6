"""Linear separators: B weighted logistic problems solved side by side.

Maximising Σ v_i h(x_i) over half-spaces is replaced, as in the paper, by the weighted
logistic loss  L_b(w) = Σ_i |v_ib| log(1 + exp(-sign(v_ib) w·x_i)). Features are
standardised on the pool (folded into w, never copied), a constant column drops out.

All B problems share the rows, hence one preconditioner
H = ¼ Σ_i E|v_i| x_i x_iᵀ serves all: a Newton step from zero, then accelerated steps

    w ← y + H⁻¹ Xᵀ (v σ(-sign(v) X y)),    y ← w + momentum (w - w_previous).

H need not majorise each L_b, so a draw whose gradient grew (in the norm of H⁻¹) goes
back to where it was and halves its step. Every iterate is offered as a candidate.

With an anchor w̃ the last iterate also gives hypotheses w̃ + τ w on the way to it. Their
margins cost no further product, and they reach separators that differ from the anchor
on a few rows only, which the surrogate loss misses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from aced._types import Array, Bools, Float32, Float64
from aced._workers import Workers
from aced.oracles._base import Candidates, Hypotheses
from aced.oracles._kernels import residual, shifted_tally
from aced.oracles._lapack import solve_rows
from aced.oracles._weights import Weights
from aced.pool import Pool

TOWARDS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The τ tried between anchor and iterate, after both are scaled alike."""

REUSE = 2.0
"""H is factorised anew when the weights of the labelled rows changed by more than this."""

SKETCH = 128
"""Leverages of more features than this are estimated from so many random directions."""

FLAT = 2e-11
"""A column whose spread is below this fraction of the widest one's is rounding, so constant."""


class LinearHypotheses:
    """Half-spaces, given by weights and a bias in the pool's own coordinates."""

    def __init__(self, pool: Pool, coefficients: Float32) -> None:
        self.pool = pool
        self.coefficients = coefficients  # (B, p + 1), the bias last

    def __len__(self) -> int:
        return len(self.coefficients)

    def margins(self, index: int) -> Float32:
        product = self.pool.block(index) @ self.coefficients[:, :-1].T
        product += self.coefficients[:, -1]
        return product

    def labels(self, index: int) -> Bools:
        return self.margins(index) > 0

    def take(self, which: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, self.coefficients[which])

    def to_array(self) -> Array:
        return self.coefficients


class LinearOracle:
    """Argmax over linear separators with intercept, many weight vectors at once.

    ``steps`` accelerated steps follow the first: one comes within half a percent of the
    value of the converged logistic fit, more are rarely worth their time.
    ``ridge`` is relative to H's diagonal.
    """

    exact = False

    def __init__(
        self,
        pool: Pool,
        *,
        steps: int = 1,
        momentum: float = 0.5,
        ridge: float = 1e-5,
        workers: Workers | None = None,
    ) -> None:
        self.pool = pool
        self.workers = workers or Workers()
        self.steps, self.momentum, self.ridge = steps, momentum, ridge
        self.centre, self.inverse_spread = self._standardise()

    def _standardise(self) -> tuple[Float64, Float64]:
        pool = self.pool

        def first(index: int) -> tuple[Array]:
            return (pool.block(index).sum(axis=0, dtype=np.float64),)

        centre = self.workers.sum(first, pool.blocks)[0] / len(pool)

        def second(index: int) -> tuple[Array]:
            return (np.square(pool.block(index) - centre).sum(axis=0),)

        spread = np.sqrt(self.workers.sum(second, pool.blocks)[0] / len(pool))
        flat = (spread <= FLAT * spread.max()) | (spread <= 1e-6 * np.abs(centre))
        inverse = np.zeros_like(spread)
        inverse[~flat] = 1 / spread[~flat]
        return centre, inverse

    def prepare(self, weights: Weights) -> LinearMaximiser:
        return LinearMaximiser(self, weights)

    def initial(self) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.zeros((1, self.pool.features + 1), np.float32))

    def gather(self, parts: Sequence[Hypotheses]) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.concatenate([part.to_array() for part in parts]))

    def from_array(self, parameters: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, np.asarray(parameters, dtype=np.float32))

    def unfold(self, standard: Float64) -> Float32:
        """Weights for standardised features (…, p + 1) to weights for the pool's own."""
        raw = standard[:, :-1] * self.inverse_spread
        bias = standard[:, -1] - raw @ self.centre
        return np.concatenate([raw, bias[:, None]], axis=1).astype(np.float32)

    def fold_gradient(self, raw: Float64, total: Float64) -> Float64:
        """Σ_i r_ib x_i (p, B) and Σ_i r_ib (B,) to the gradients in standardised coordinates."""
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


class LinearMaximiser:
    """The logistic problems of one family of weights."""

    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights
        self._free, self._coupled = self._gram()
        self._held: tuple[float, Float64] | None = None
        self._pull: Float64 | None = None
        self._started: tuple[Float64, Float64] | None = None

    def _gram(self) -> tuple[Float64, Float64]:
        """Σ E|v_i| x_i x_iᵀ at r = 0 over the rows free of r and over those coupled to it."""
        oracle, pool, weights = self.oracle, self.oracle.pool, self.weights
        root = np.sqrt(weights.base).astype(np.float32)
        multiplier = oracle.inverse_spread.astype(np.float32)
        offset = (oracle.centre * oracle.inverse_spread).astype(np.float32)
        p = pool.features

        def one(index: int) -> tuple[Array, Array]:
            rows = pool.slices[index]
            standard = np.empty((rows.stop - rows.start, p + 1), np.float32)
            np.multiply(pool.block(index), multiplier, out=standard[:, :p])
            standard[:, :p] -= offset
            standard[:, p] = 1
            standard *= root[rows, None]
            coupled = weights.coupled[rows]
            if not coupled.any():
                return standard.T @ standard, np.zeros((), np.float32)
            free, tied = standard[~coupled], standard[coupled]
            return free.T @ free, tied.T @ tied

        free = np.zeros((p + 1, p + 1))
        tied = np.zeros((p + 1, p + 1))
        for part in oracle.workers.stream(one, pool.blocks):
            free += part[0]
            tied += part[1]
        return free, tied

    def _factor(self, r: float) -> Float64:
        """The Cholesky factor of H at level r, lower, shape (p + 1, p + 1)."""
        growth = self.weights.growth(r)
        if self._held is not None and 1 / REUSE < growth / self._held[0] < REUSE:
            return self._held[1]
        gram = np.asfortranarray(self._free + growth * self._coupled)
        gram /= 4
        diagonal = np.einsum("ii->i", gram)
        dead = diagonal <= 0
        diagonal += self.oracle.ridge * diagonal
        diagonal[dead] = diagonal[~dead].mean() if (~dead).any() else 1.0
        plain = np.sqrt(diagonal)
        factor, info = scipy.linalg.lapack.dpotrf(gram, lower=1, overwrite_a=1)
        if info != 0:  # rounding ate the ridge: precondition by the diagonal alone
            factor = np.diag(plain)
        factor = np.asfortranarray(factor)
        self._held = (growth, factor)
        return factor

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle = self.oracle
        factor = self._factor(float(np.median(r)))
        point = self._start(r, factor)
        previous, step = point, np.ones((len(r), 1))
        kept: _Iterate | None = None
        found: list[Candidates] = []
        for _ in range(oracle.steps):
            coefficients = oracle.unfold(point)
            tally, gradient = self._pass(coefficients, r)
            found.append(Candidates(LinearHypotheses(oracle.pool, coefficients), tally))
            here = _Iterate(point, self._solve(factor, gradient), gradient)
            momentum: float | Float64 = oracle.momentum
            if kept is not None:
                grew = here.norm > kept.norm
                here = here.where(~grew, kept)
                previous = np.where(grew[:, None], here.point, previous)
                step = np.where(grew[:, None], step / 2, step)
                momentum = np.where(grew[:, None], 0.0, oracle.momentum)
            moved = here.point + step * here.direction
            point = moved + momentum * (moved - previous)
            previous = moved
            kept = here
        return found + self._last(point, r, anchor)

    def _solve(self, factor: Float64, gradients: Float64) -> Float64:
        """H⁻¹ g for each row g; how it is split does not depend on the number of threads."""
        width = max(25, -(-len(gradients) // 8))

        def one(index: int) -> Float64:
            return solve_rows(factor, gradients[index * width : (index + 1) * width])

        return np.concatenate(self.oracle.workers.map(one, -(-len(gradients) // width)))

    def _start(self, r: Float32, factor: Float64) -> Float64:
        """The Newton step from w = 0, H⁻¹ g with g = (r_b Σ μ̂_i x_i - Σ s_i ζ_ib x_i) / 2.

        Its two sums do not depend on r, nor do their solutions while H is kept.
        """
        if self._pull is None:
            self._pull = self._pulls()
        if self._started is None or self._started[0] is not factor:
            self._started = (factor, self._solve(factor, self._pull))
        solved = self._started[1]
        return np.asarray((r[:, None] * solved[:1] - solved[1:]) / 2)

    def _pulls(self) -> Float64:
        """Σ μ̂_i x_i in the first row, Σ s_i ζ_ib x_i below it; shape (1 + B, p + 1)."""
        oracle, weights = self.oracle, self.weights

        def one(index: int) -> tuple[Array, ...]:
            rows = oracle.pool.slices[index]
            block, mu = oracle.pool.block(index), weights.mu[rows, None]
            spread = weights.noise.block(index) * weights.scale[rows, None]
            return block.T @ mu, mu.sum(axis=0), block.T @ spread, spread.sum(axis=0)

        sums = oracle.workers.sum(one, oracle.pool.blocks)
        parts = oracle.fold_gradient(*sums[:2]), oracle.fold_gradient(*sums[2:])
        return np.concatenate(parts)

    def _pass(self, coefficients: Float32, r: Float32) -> tuple[Float64, Float64]:
        """Tally and gradient of B separators: two products and one fused sweep a block."""
        oracle, weights = self.oracle, self.weights
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()

        def one(index: int) -> tuple[Array, Array, Array]:
            rows = oracle.pool.slices[index]
            block = oracle.pool.block(index)
            margins = block @ slopes
            tally = np.zeros((2, len(r)), np.float32)
            zeta = weights.noise.block(index)
            residual(margins, bias, zeta, weights.scale[rows], weights.mu[rows], r, tally)
            return tally, block.T @ margins, margins.sum(axis=0)

        tally, raw, total = oracle.workers.sum(one, oracle.pool.blocks)
        return tally, oracle.fold_gradient(raw, total)

    def _last(self, point: Float64, r: Float32, anchor: Hypotheses | None) -> list[Candidates]:
        """The last iterate and, with an anchor, those between the two."""
        oracle, weights = self.oracle, self.weights
        coefficients = oracle.unfold(point)
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        steps = np.zeros((0, len(r)), np.float32)
        start = np.zeros(oracle.pool.features + 1, np.float32)
        if anchor is not None:
            start = anchor.to_array()[0]
            steps = self._towards(point, start)
        base = np.zeros((1, len(r)), np.float32)
        all_steps = np.concatenate([base + 1, steps])  # the iterate itself is anchor 0, step 1

        def one(index: int) -> tuple[Array]:
            rows = oracle.pool.slices[index]
            block = oracle.pool.block(index)
            margins = block @ slopes
            zeta, scale, mu = weights.noise.block(index), weights.scale[rows], weights.mu[rows]
            tally = np.zeros((len(all_steps), 2, len(r)), np.float32)
            origin = np.zeros(len(block), np.float32)
            shifted_tally(margins, bias, origin, all_steps[:1], zeta, scale, mu, tally[:1])
            if len(steps):
                origin = block @ start[:-1] + start[-1]
                shifted_tally(margins, bias, origin, steps, zeta, scale, mu, tally[1:])
            return (tally,)

        (tally,) = oracle.workers.sum(one, oracle.pool.blocks)
        found = [Candidates(LinearHypotheses(oracle.pool, coefficients), tally[0])]
        for q, by in enumerate(steps):
            between = start + by[:, None] * coefficients
            found.append(Candidates(LinearHypotheses(oracle.pool, between), tally[q + 1]))
        return found

    def _towards(self, point: Float64, start: Float32) -> Float32:
        """Steps (Q, B) that scale each iterate to the anchor's size in the norm of H."""
        slopes = start[:-1].astype(float)
        folded = np.divide(
            slopes,
            self.oracle.inverse_spread,
            out=np.zeros_like(slopes),
            where=self.oracle.inverse_spread > 0,
        )
        standard = np.append(folded, float(start[-1]) + slopes @ self.oracle.centre)
        metric = self._free + self._coupled
        anchor_size = float(standard @ metric @ standard)
        if anchor_size <= 0:
            return np.zeros((0, len(point)), np.float32)
        sizes = np.einsum("bp,bp->b", point @ metric, point)
        ratio = np.sqrt(anchor_size / np.maximum(sizes, np.finfo(float).tiny))
        return np.asarray(np.array(TOWARDS)[:, None] * ratio, dtype=np.float32)

    def leverage(self, r: float) -> Float64:
        """x_iᵀ H⁻¹ x_i, the movement of margin i with its own weight; shape (n,).

        With H = L Lᵀ it is |L⁻¹ x_i|². Beyond SKETCH features that vector is projected by a
        fixed random matrix that keeps lengths to about 12 % (Johnson and Lindenstrauss).
        """
        oracle = self.oracle
        factor = self._factor(r)
        probes = np.eye(len(factor))
        if len(factor) > SKETCH:
            signs = np.random.default_rng(0).integers(0, 2, (len(factor), SKETCH)) * 2 - 1
            probes = signs / np.sqrt(SKETCH)
        upper = scipy.linalg.solve_triangular(factor, probes, lower=True, trans="T")
        directions = oracle.unfold(upper.T)  # (directions, p + 1)

        def one(index: int) -> Float64:
            image = oracle.pool.block(index) @ directions[:, :-1].T
            image += directions[:, -1]
            return np.asarray(np.einsum("ij,ij->i", image, image), dtype=float)

        return np.concatenate(oracle.workers.map(one, oracle.pool.blocks))
