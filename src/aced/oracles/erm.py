"""Weighted empirical risk minimisers that grow by one example at a time, and their rivals.

What stream-based methods ask for at every row x: h, the classifier of least weighted loss
on the examples so far, and h', the best of those that label x the other way.

``LinearErm`` is logistic regression with a small penalty. Its solution is carried along:
a new example is followed by a few Newton steps from where it was, with a factorised Hessian
that is renewed only when the examples have grown by a share. A rival at x is the minimiser
under the constraint w·x = 0 (the appendix fits X - x without an intercept, which is the
same), tipped to the other side of x. Its first guess costs one product,

    w' = w - u (w·x) / (u·x),   u = H⁻¹ x,

the constrained minimum of the quadratic model; conjugate gradient steps follow, projected
on the constraint and preconditioned by H. Rivals of many rows are found together, by matrix
products.

Other classes: :mod:`aced.oracles.penalty_erm`.

Notation: X (m, p + 1) examples with a last column of ones, y = ±1, c weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import scipy.linalg

from aced._types import Array, Float32, Float64, Ints
from aced.pool import Pool

GROWTH = 0.03
"""H is renewed when the examples have grown by this share since it was made."""
PATIENCE = 3
"""It is renewed as well after so many steps of one fit."""
MOST_STEPS = 40
CLOSER = 0.01
"""Rivals are followed further than h by this factor: a single error decides about a row."""


class Erm(Protocol):
    """h on the examples so far, and h' for rows of the pool."""

    def add(self, row: int, label: int, weight: float) -> None:
        """One more example: a row of the pool with label 0 or 1."""

    def error(self) -> float:
        """Σ c 1{h(x) ≠ y} over the examples."""

    def predict(self, rows: Ints) -> Ints:
        """Labels 0 or 1 that h gives to rows."""

    def rivals(self, rows: Ints, enough: float) -> Float64:
        """Σ c 1{h'(x) ≠ y} for the h' of each row; a value at most ``enough`` need not be exact."""

    def state(self) -> dict[str, Array]:
        """What, after the same examples were added, restores it to the bit."""

    def restore(self, state: Mapping[str, Array]) -> None: ...


class LinearErm:
    """Logistic regression with penalty ½ l2 |w|² on the summed loss, rows standardised,
    the bias nearly free.

    The penalty is there to give examples that can be fitted perfectly a solution at all;
    the smaller it is the longer that one takes to find. ``steps`` bounds the steps of
    a rival, ``tolerance`` is the share of the loss that is left to gain when a fit ends.

    A rival is the one a full refit would give; with ``refit=False`` it is the best, by its
    weighted errors, of those met on the way there, and the search ends as soon as one is
    good enough: nearer to what the theory asks for, faster, and not what was published.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        l2: float = 0.1,
        steps: int = 30,
        tolerance: float = 1e-4,
        refit: bool = True,
    ) -> None:
        rows = pool.rows()
        self.centre = rows.mean(axis=0, dtype=float)
        spread = rows.std(axis=0, dtype=float)
        flat = spread <= 1e-6 * max(float(spread.max(initial=0.0)), 1e-30)
        self.inverse = np.where(flat, 0.0, 1 / np.where(flat, 1.0, spread))
        self.pool, self.steps, self.tolerance = pool, steps, tolerance
        self.l2 = np.full((pool.features + 1, 1), float(l2))
        self.l2[-1] *= 1e-3  # the bias is nearly free; a single class must not send it to infinity
        self.refit = refit
        width = pool.features + 1
        self._x = np.empty((256, width), np.float32)
        self._y = np.empty(256, np.float32)
        self._c = np.empty(256, np.float32)
        self._m = np.zeros(256, np.float32)  # margins of h
        self.count = 0
        self.w = np.zeros(width)
        self._factor: Float32 | None = None
        self._made_for = 0
        self._fitted = True
        self.stats = {"fits": 0, "fit_steps": 0, "factors": 0, "rivals": 0, "rival_steps": 0}

    def standard(self, rows: Ints) -> Float32:
        """Rows in standardised coordinates, a one at the end; (len(rows), p + 1)."""
        out = np.ones((len(rows), self.pool.features + 1), np.float32)
        out[:, :-1] = (self.pool.rows(rows) - self.centre) * self.inverse
        return out

    def add(self, row: int, label: int, weight: float) -> None:
        if self.count == len(self._y):
            self._x = np.concatenate([self._x, np.empty_like(self._x)])
            self._y, self._c, self._m = (
                np.concatenate([a, np.empty_like(a)]) for a in (self._y, self._c, self._m)
            )
        x = self.standard(np.array([row]))[0]
        k = self.count
        self._x[k], self._y[k], self._c[k] = x, 2 * label - 1, weight
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
        that touches its loss at m and lies above it; with ``safe`` all do, and then a full step
        never makes things worse.
        """
        x, y, c = self._examples()
        sigma = 1 / (1 + np.exp(-np.abs(m)))
        above = np.tanh(m / 2) / np.where(np.abs(m) < 1e-3, 1.0, 2 * m)
        above[np.abs(m) < 1e-3] = 0.25
        curvature = above if safe else np.where(m * y < 0, above, sigma * (1 - sigma))
        scaled = x * np.sqrt(c * curvature)[:, None]
        gram = scipy.linalg.blas.ssyrk(1.0, scaled.T, lower=1)  # half a product: H is symmetric
        diagonal = np.einsum("ii->i", gram)
        diagonal += (self.l2[:, 0] + 1e-6 * float(diagonal.mean())).astype(np.float32)
        self.stats["factors"] += 1
        factor, info = scipy.linalg.lapack.spotrf(gram, lower=1, clean=0)
        if info != 0:  # rounding: its diagonal serves as well, if more slowly
            factor = np.asfortranarray(np.diag(np.sqrt(diagonal)))
        return np.asarray(factor)

    def _renew(self, safe: bool = False) -> None:
        self._factor = self._hessian(self._m[: self.count], safe)
        self._made_for = self.count

    # -- h ------------------------------------------------------------------------

    def _fit(self) -> None:
        """Newton steps, with the factor at hand as long as they do what they promise."""
        if self._fitted or self.count == 0:
            return
        self._fitted = True
        self.stats["fits"] += 1
        if self._factor is None or self.count > (1 + GROWTH) * self._made_for:
            self._renew()
        x, y, c = self._examples()
        m, w = self._m[: self.count, None], self.w[:, None]  # views: both are moved in place
        value = self._value(m, w, y, c)
        since = 0 if self._made_for == self.count else 1  # steps taken with this factor
        tried = False
        for _ in range(MOST_STEPS):
            gradient = (x.T @ _residual(m, y, c)).astype(float) - self.l2 * w
            direction = _solve(self._factor, gradient)
            decrement = float((gradient * direction).sum())
            self.stats["fit_steps"] += 1
            if decrement <= self.tolerance * float(value[0]):
                break
            change = x @ direction.astype(np.float32)
            size, after = self._backtrack(m, change, w, direction, y, c, value)
            if size[0] == 0 and since == 0:
                if tried:
                    break  # rounding: nothing is left to gain
                self._renew(safe=True)
                tried = True
                continue
            w += size * direction
            m += size.astype(np.float32) * change
            gain, value = float(value[0] - after[0]), after
            since += 1
            if since >= PATIENCE or gain < 0.25 * decrement:  # half of it, were the model right
                self._renew()
                since = 0

    # -- h' -----------------------------------------------------------------------

    def rivals(self, rows: Ints, enough: float) -> Float64:
        self._fit()
        if self.count == 0:
            return np.zeros(len(rows))
        assert self._factor is not None
        x, y, c = self._examples()
        at = self.standard(rows).T.astype(float)  # (p + 1, B)
        u = _solve(self._factor, at)
        back = (self.w @ at) / np.maximum(np.einsum("pb,pb->b", at, u), 1e-30)
        w = self.w[:, None] - u * back
        m = self._m[: self.count, None] - (x @ u.astype(np.float32)) * back.astype(np.float32)
        errors = _errors(m, y, c)
        enough = -1.0 if self.refit else enough
        self.stats["rivals"] += len(rows)
        left = np.flatnonzero(errors > enough)
        search: Float64 | None = None  # the directions of the last step, and H-norms of its gradients
        norm = np.zeros(len(rows))
        for _ in range(self.steps):
            if len(left) == 0:
                break
            self.stats["rival_steps"] += len(left)
            here, point, across = m[:, left], w[:, left], at[:, left]
            gradient = (x.T @ _residual(here, y, c)).astype(float) - self.l2 * point
            step = _solve(self._factor, gradient)
            reach = np.maximum(np.einsum("pb,pb->b", across, u[:, left]), 1e-30)
            step -= u[:, left] * (np.einsum("pb,pb->b", across, step) / reach)
            decrement = np.einsum("pb,pb->b", gradient, step)
            value = self._value(here, point, y, c)
            live = decrement > CLOSER * self.tolerance * value
            if search is not None:  # conjugate to the last step (Fletcher and Reeves)
                step += search * np.minimum(decrement / norm[left], 1.0)
                uphill = np.einsum("pb,pb->b", gradient, step) <= 0
                step[:, uphill] -= (search * np.minimum(decrement / norm[left], 1.0))[:, uphill]
            norm[left] = np.maximum(decrement, 1e-300)
            change = x @ step.astype(np.float32)
            size = self._along(here, change, point, step, y, c)
            size[~live] = 0.0
            m[:, left] = here + size.astype(np.float32) * change
            w[:, left] = point + size * step
            now = _errors(m[:, left], y, c)
            errors[left] = now if self.refit else np.minimum(errors[left], now)
            live &= errors[left] > enough
            left, search = left[live], step[:, live]
        return errors

    # -- the objective ----------------------------------------------------------------

    def _along(
        self, m: Float32, change: Float32, w: Float64, step: Float64, y: Float32, c: Float32
    ) -> Float64:
        """The step size that makes each column's value least, by Newton's method in one variable."""
        size = np.zeros(m.shape[1])
        signed, by = m * y[:, None], change * y[:, None]
        linear, square = (self.l2 * w * step).sum(axis=0), (self.l2 * step * step).sum(axis=0)
        low, high = np.zeros(m.shape[1]), np.full(m.shape[1], np.inf)
        trial = np.ones(m.shape[1])
        for _ in range(5):
            with np.errstate(over="ignore"):
                sigma = 1 / (1 + np.exp(signed + trial.astype(np.float32) * by))
            slope = -(c.astype(float) @ (by * sigma)) + linear + trial * square
            curve = c.astype(float) @ (by * by * sigma * (1 - sigma)) + square
            low, high = np.where(slope < 0, trial, low), np.where(slope < 0, high, trial)
            size = trial
            newton = trial - slope / np.maximum(curve, 1e-30)
            middle = np.where(np.isfinite(high), (low + high) / 2, 4 * trial)
            inside = (newton > low) & (newton < high) & (newton < 16 * np.maximum(trial, 1e-3))
            trial = np.where(inside, newton, middle)
        return np.where(low > 0, low, size * (low > 0))

    def _value(self, m: Float32, w: Float64, y: Float32, c: Float32) -> Float64:
        """Σ c log(1 + exp(-y m)) + ½ l2 |w|² of each column."""
        signed = m * y[:, None]
        each = np.log1p(np.exp(-np.abs(signed))) + np.maximum(-signed, 0)
        loss = c.astype(float) @ each
        return np.asarray(loss + 0.5 * (self.l2 * w * w).sum(axis=0))

    def _backtrack(
        self,
        m: Float32,
        change: Float32,
        w: Float64,
        direction: Float64,
        y: Float32,
        c: Float32,
        value: Float64,
    ) -> tuple[Float64, Float64]:
        """For each column the first of the steps 1, ½, … , 1/64 that lowers its value; 0 if none."""
        size = np.ones(m.shape[1])
        after = self._value(m + change, w + direction, y, c)
        for _ in range(6):
            worse = ~(after < value)
            if not worse.any():
                return size, after
            size[worse] /= 2
            by = size[worse]
            after[worse] = self._value(
                m[:, worse] + by.astype(np.float32) * change[:, worse],
                w[:, worse] + by * direction[:, worse],
                y,
                c,
            )
        worse = ~(after < value)
        size[worse], after[worse] = 0.0, value[worse]
        return size, after


def _solve(factor: Float32 | None, right: Float64) -> Float64:
    """H⁻¹ times the columns of ``right``. Single precision serves: H only shapes the steps."""
    assert factor is not None
    found, _ = scipy.linalg.lapack.spotrs(factor, right.astype(np.float32), lower=1)
    return np.asarray(found, dtype=float)


def _residual(m: Float32, y: Float32, c: Float32) -> Float32:
    """c y σ(-y m), minus the gradient of the loss in the margins; (m, B)."""
    with np.errstate(over="ignore"):
        return np.asarray((c * y)[:, None] / (1 + np.exp(m * y[:, None])), dtype=np.float32)


def _errors(m: Float32, y: Float32, c: Float32) -> Float64:
    """Σ c 1{y m ≤ 0} of each column."""
    return np.asarray(c.astype(float) @ (m * y[:, None] <= 0))
