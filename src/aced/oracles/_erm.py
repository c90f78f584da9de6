"""Weighted empirical risk minimisers that grow by one example at a time, and their rivals.

Streams need two classifiers at every row x: h, which has the least weighted loss on the
examples so far, and h', the best of those that label x the other way.

``LinearErm`` is logistic regression with a small penalty. Its solution is carried along: after
a new example, a few conjugate gradient steps start from the old solution, preconditioned by a
factorised Hessian that is renewed only when the examples have grown by a share. A rival
at x is the minimiser under the constraint w·x = 0 (the appendix fits X - x without an
intercept, which is the same), tipped to the other side of x. Its first guess costs one product,

    w' = w - u (w·x) / (u·x),   u = H⁻¹ x,

the constrained minimum of the quadratic model; the same steps follow, projected on the
constraint. Rivals of many rows are found together, by matrix products.

Other classes: :mod:`aced.oracles._penalty_erm`.

Notation: X (m, p + 1) examples with a last column of ones, y = ±1, c weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import scipy.linalg

from aced._errors import InvalidInput
from aced._types import Array, Float32, Float64, Ints
from aced.oracles._kernels import logistic_residual, logistic_step
from aced.pool import Pool, inverse_spread

GROWTH = 0.03
"""H is renewed when the examples have grown by this share since it was made."""
PATIENCE = 8
"""H is renewed as well after this many steps of one fit."""
MOST_STEPS = 40
LOOK_BACK, FAR = 3, 5.0
"""A rival is given up if its error is above a limit by FAR times what LOOK_BACK steps took off it."""


class Erm(Protocol):
    """h on the examples so far, and h' for rows of the pool."""

    def add(self, row: int, label: int, weight: float) -> None:
        """One more example: a row of the pool with label 0 or 1."""

    def error(self) -> float:
        """Σ c 1{h(x) ≠ y} over the examples."""

    def predict(self, rows: Ints) -> Ints:
        """Labels 0 or 1 that h gives to rows."""

    def rivals(self, rows: Ints, limit: float | None = None) -> Float64:
        """Σ c 1{h'(x) ≠ y} for each row's h'; with a ``limit``, only its side of the limit is sure."""

    def state(self) -> dict[str, Array]:
        """What ``restore`` needs, once the same examples were added, to go on to the bit."""

    def restore(self, state: Mapping[str, Array]) -> None: ...


class LinearErm:
    """Logistic regression with penalty ½ l2 |w|² on the summed loss, rows standardised,
    the bias nearly free.

    The penalty ``l2`` keeps the solution within reach when examples can nearly be fitted perfectly.
    ``steps`` bounds the steps of a rival; ``tolerance`` is the share of the loss that is left to gain
    when a fit ends. A fit without errors ends as well, because its loss could fall for ever.
    """

    def __init__(
        self, pool: Pool, *, l2: float = 1e-4, steps: int = 30, tolerance: float = 1e-6
    ) -> None:
        if pool.sparse:
            raise InvalidInput(
                "pool",
                "the linear class of iwal and cal needs dense rows, and this pool is sparse; use "
                "another strategy, such as aced, or pass them a classifier that takes sparse rows",
            )
        rows = pool.rows()
        self.centre = rows.mean(axis=0, dtype=float)
        self.inverse = inverse_spread(rows.std(axis=0, dtype=float), self.centre)
        self.pool, self.steps, self.tolerance = pool, steps, tolerance
        self.l2 = np.full(pool.features + 1, float(l2))
        self.l2[-1] *= 1e-3  # the bias is nearly free; a single class must not send it to infinity
        width = pool.features + 1
        self._x = np.empty((256, width), np.float32)
        self._row = np.empty(256, np.int64)
        self._y = np.empty(256, np.float32)
        self._c = np.empty(256, np.float32)
        self._m = np.zeros(256, np.float32)  # margins of h
        self.count = 0
        self.w = np.zeros(width)
        self._factor: Float32 | None = None
        self._made_for = 0
        self._fitted = True

    def standard(self, rows: Ints) -> Float32:
        """Rows in standardised coordinates, a one at the end; (len(rows), p + 1)."""
        out = np.ones((len(rows), self.pool.features + 1), np.float32)
        out[:, :-1] = (self.pool.rows(rows) - self.centre) * self.inverse
        return out

    def add(self, row: int, label: int, weight: float) -> None:
        if self.count == len(self._y):
            self._x = np.concatenate([self._x, np.empty_like(self._x)])
            self._row, self._y, self._c, self._m = (
                np.concatenate([a, np.empty_like(a)]) for a in (self._row, self._y, self._c, self._m)
            )
        x = self.standard(np.array([row]))[0]
        k = self.count
        self._row[k], self._x[k], self._y[k], self._c[k] = row, x, 2 * label - 1, weight
        self._m[k] = float(x @ self.w.astype(np.float32))
        self.count += 1
        self._fitted = False

    def error(self) -> float:
        self._fit()
        wrong = self._m[: self.count] * self._y[: self.count] <= 0
        return float(self._c[: self.count][wrong].sum(dtype=float))

    def predict(self, rows: Ints) -> Ints:
        self._fit()
        return (self.standard(rows) @ self.w.astype(np.float32) > 0).astype(np.int64)

    def state(self) -> dict[str, Array]:
        if self._factor is None:
            return {}
        return {
            "w": self.w,
            "margins": self._m[: self.count],
            "factor": self._factor,
            "counts": np.array([self._made_for, self._fitted]),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        if state:
            self.w, self._factor = state["w"].copy(), np.asfortranarray(state["factor"])
            self._m[: self.count] = state["margins"]
            self._made_for, self._fitted = int(state["counts"][0]), bool(state["counts"][1])

    def _examples(self) -> tuple[Float32, Float32, Float32]:
        return self._x[: self.count], self._y[: self.count], self._c[: self.count]

    def _hessian(self, m: Float32, safe: bool = False) -> Float32:
        """H = Σ c σ(1 - σ) x xᵀ + l2 at margins m, factorised.

        An example far on the wrong side has a gradient but no curvature, which would send the
        step beyond all bounds. It gets tanh(m/2) / (2m) instead, the curvature of the parabola
        that touches its loss at m and lies above it. With ``safe`` every example gets that, and then
        a full step never makes things worse.
        """
        x, y, c = self._examples()
        sigma = 1 / (1 + np.exp(-np.abs(m)))
        above = np.tanh(m / 2) / np.where(np.abs(m) < 1e-3, 1.0, 2 * m)
        above[np.abs(m) < 1e-3] = 0.25
        curvature = above if safe else np.where(m * y < 0, above, sigma * (1 - sigma))
        scaled = x * np.sqrt(c * curvature)[:, None]
        gram = scipy.linalg.blas.ssyrk(1.0, scaled.T, lower=1)  # half a product: H is symmetric
        diagonal = np.einsum("ii->i", gram)
        diagonal += (self.l2 + 1e-6 * float(diagonal.mean())).astype(np.float32)
        factor, info = scipy.linalg.lapack.spotrf(gram, lower=1, clean=0)
        if info != 0:  # rounding: its diagonal serves as well, if more slowly
            factor = np.asfortranarray(np.diag(np.sqrt(diagonal)))
        return np.asarray(factor)

    def _renew(self, safe: bool = False) -> None:
        self._factor = self._hessian(self._m[: self.count], safe)
        self._made_for = self.count

    # -- h, h' ----------------------------------------------------------------------

    def _fit(self) -> None:
        if self._fitted or self.count == 0:
            return
        self._fitted = True
        if self._factor is None or self.count > (1 + GROWTH) * self._made_for:
            self._renew()
        w, m = self.w[None], self._m[None, : self.count]  # views: both are moved in place
        for attempt in range(MOST_STEPS // PATIENCE):
            if self._descend(w, m, PATIENCE):
                break
            self._renew(safe=attempt % 2 == 1)

    def rivals(self, rows: Ints, limit: float | None = None) -> Float64:
        self._fit()
        if self.count == 0:
            return np.zeros(len(rows))
        x, y, c = self._examples()
        at = self.standard(rows)  # (B, p + 1)
        u = _solve(self._factor, at)
        back = (self.w @ at.T) / np.maximum(np.einsum("bp,bp->b", at, u), 1e-30)
        w = self.w - u * back[:, None]
        m = self._m[: self.count] - (u * back[:, None].astype(np.float32)) @ x.T
        self._descend(w, m, self.steps, at, u, limit)
        wrong = m * y <= 0
        own = np.isin(self._row[: self.count], rows)  # at x itself h' says what h does not
        same = rows[:, None] == self._row[: self.count][own]
        wrong[:, own] = np.where(same, (self.w @ at.T > 0)[:, None] == (y[own] > 0), wrong[:, own])
        return np.asarray(wrong @ c.astype(float))

    def _descend(
        self,
        w: Float64,
        m: Float32,
        steps: int,
        at: Float32 | None = None,
        u: Float32 | None = None,
        limit: float | None = None,
    ) -> bool:
        """Conjugate gradient steps for each row of w (B, p + 1) and its margins m (B, count), in place.

        H preconditions the steps. Each row of w stays orthogonal to that of ``at``; u = H⁻¹ at. A row
        ends when little is left to gain, when it has no error, or when no step helps. With a ``limit``
        it also ends when its last steps were too slow to reach the limit. False if some did not end.
        """
        x, y, c = self._examples()
        left = np.arange(len(w))
        search, norm = np.zeros(w.shape, np.float32), np.full(len(w), np.inf, np.float32)
        errors = np.full((LOOK_BACK, len(w)), np.inf, np.float32)
        for _ in range(steps):
            here = m[left]
            residual, tally = np.empty_like(here), np.empty((len(left), 2), np.float32)
            logistic_residual(here, y, c, residual, tally)
            gradient = residual @ x - (self.l2 * w[left]).astype(np.float32)
            step = _solve(self._factor, gradient)
            if at is not None and u is not None:
                reach = np.maximum(np.einsum("bp,bp->b", at[left], u[left]), 1e-30)
                step -= u[left] * (np.einsum("bp,bp->b", at[left], step) / reach)[:, None]
            decrement = np.einsum("bp,bp->b", gradient, step)
            live = (decrement > self.tolerance * tally[:, 0]) & (tally[:, 1] > 0)
            if limit is not None:
                fallen = errors[0, left] - tally[:, 1]
                errors[:, left] = np.concatenate([errors[1:, left], tally[None, :, 1]])
                live &= tally[:, 1] - limit <= FAR * np.maximum(fallen, 1.0)
            if not live.any():
                return True
            left, here, gradient, step = left[live], here[live], gradient[live], step[live]
            search = search[live] * np.minimum(decrement / norm, 1.0)[live, None]  # Fletcher, Reeves
            search[np.einsum("bp,bp->b", gradient, step + search) <= 0] = 0
            search, norm = search + step, decrement[live]
            change = search @ x.T
            pull = np.stack(
                [(self.l2 * w[left] * search).sum(axis=1), (self.l2 * search**2).sum(axis=1)], 1
            )
            size = np.empty(len(left), np.float32)
            slope = np.einsum("bp,bp->b", gradient, search)
            logistic_step(here, change, y, c, pull.astype(np.float32), slope, size)
            w[left] += size[:, None] * search
            m[left] = here + size[:, None] * change
            fresh = (search == step).all(axis=1)
            search[size == 0] = 0  # next time, try the plain step
            able = (size > 0) | ~fresh
            left, search, norm = left[able], search[able], norm[able]
            if not len(left):
                return False
        return False


def _solve(factor: Float32 | None, right: Float32) -> Float32:
    """H⁻¹ times the rows of ``right``. Single precision serves: H only shapes the steps."""
    assert factor is not None
    found, _ = scipy.linalg.lapack.spotrs(factor, right.T, lower=1)
    return np.ascontiguousarray(found.T)
