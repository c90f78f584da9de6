"""Linear classes: B problems with (K - 1) B weighted columns, solved side by side.

A hypothesis has a score w_c·x for each class but class 0, whose score is 0; the largest score decides.
Maximising Σ_i v_{i,h(x_i)} over these is replaced by a convex, consistent surrogate,

    L_b(w) = Σ_i Σ_c a_ibc (-log softmax_c(w·x_i)),   a_c = v_c - min_c v_c,

which for two classes is, as in the paper, the weighted logistic loss Σ_i |v_ib| log(1 + exp(-sign(v_ib)
w·x_i)). Features are standardised on the pool (folded into w, never copied); a constant column drops
out.

All problems share the rows, so one preconditioner serves all. With A = Σ_c a_c the Hessian at w = 0 is
(1/K)(I - 11ᵀ/K) ⊗ Σ_i A_i x_i x_iᵀ over the K - 1 classes; its inverse is K (I + 11ᵀ) ⊗ (Σ A x xᵀ)⁻¹.
So H = ¼ Σ_i E A_i x_i x_iᵀ (E|v| for two classes) is factorised once, and classes are mixed afterwards:

    first step (Newton from zero)   w_c = (K/4) H⁻¹ Σ_i v_ic x_i,
    steps along the gradient g      d_c = (κ/4) H⁻¹ (g_c + Σ_c' g_c').

With κ = 2 (Böhning 1992) the form is an upper bound of every Hessian, and a full step cannot go too far;
κ = K is the Hessian at zero. The gradients are Xᵀ (a_c - A softmax_c(X w)). The form of H, the kind of
steps and the iterates that are offered as candidates depend on the rows: :mod:`aced.oracles._dense`,
:mod:`aced.oracles._sparse`. The last iterate is always offered.

With an anchor w̃ the last iterate also gives hypotheses w̃ + τ w on the way to it. Their
margins cost no further product, and they reach separators that differ from the anchor
on a few rows only, which the surrogate loss misses.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from aced._check import class_count, whole
from aced._types import Array, Codes, Float32, Float64
from aced._workers import Workers
from aced.oracles import _passes
from aced.oracles._base import Candidates, Hypotheses, Oracle, Scorer
from aced.oracles._dense import DenseGeometry
from aced.oracles._geometry import Geometry, Start, Walk, fold, mix_classes, over_classes
from aced.oracles._sparse import SparseGeometry
from aced.oracles._weights import Weights, value
from aced.pool import Pool

TOWARDS = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The τ tried between anchor and iterate, after both are scaled alike."""


KAPPA = 2.0
"""κ: how the classes' curvature is taken in steps after the first."""


class LinearHypotheses:
    """Linear scores of the classes 1 … K-1: weights and biases in the pool's own coordinates."""

    def __init__(self, pool: Pool, coefficients: Float32, classes: int = 2) -> None:
        self.pool, self.classes = pool, classes
        # ((K - 1) B, p + 1), class by class, the bias last; in the order in which products read it
        self.coefficients = np.asfortranarray(coefficients) if pool.sparse else coefficients

    def __len__(self) -> int:
        return len(self.coefficients) // (self.classes - 1)

    def scorer(self) -> Scorer:
        return _passes.margins, (self._whole(),)

    def labeller(self) -> Scorer:
        return _passes.labels, (self._whole(), len(self))

    def labels(self, index: int) -> Codes:
        return _passes.labels(self.pool.block(index), self._whole(), len(self))

    def take(self, which: Array) -> LinearHypotheses:
        return LinearHypotheses(self.pool, self.coefficients[self._places(which)], self.classes)

    def to_array(self) -> Array:
        """One row for each hypothesis: the coefficients of class 1, of class 2, …"""
        by_class = self._whole().reshape(self.classes - 1, len(self), -1)
        return by_class.transpose(1, 0, 2).reshape(len(self), -1)

    def _whole(self) -> Float32:
        return self.coefficients

    def _places(self, which: Array) -> Array:
        """Where the coefficients of these hypotheses stand, class by class."""
        starts = len(self) * np.arange(self.classes - 1)
        return np.asarray((starts[:, None] + np.asarray(which)).ravel())


class _Between(LinearHypotheses):
    """The hypotheses start + τ_b w_b, computed only when they are used: most are not."""

    def __init__(
        self, pool: Pool, start: Float32, by: Float32, coefficients: Float32, classes: int
    ) -> None:
        super().__init__(pool, coefficients, classes)
        self._start, self._by = start, by  # (K - 1, p + 1) and (B,)

    def take(self, which: Array) -> LinearHypotheses:
        which, others = np.asarray(which), self.classes - 1
        start = self._start if others == 1 else np.repeat(self._start, len(which), axis=0)
        moved = (
            start + np.tile(self._by[which], others)[:, None] * self.coefficients[self._places(which)]
        )
        return LinearHypotheses(self.pool, moved, self.classes)

    def _whole(self) -> Float32:
        return self.take(np.arange(len(self))).coefficients


class LinearOracle(Oracle):
    """Argmax over linear scores with intercept for ``classes`` classes, many weight vectors at once.

    ``steps`` steps follow the first. On dense rows the default is one step: with two classes it comes
    within half a percent of the value of the converged logistic fit, with more within two percent while
    noise weighs as much as the estimate, and within an eighth where the estimate alone decides. More
    steps did not make designs better. On sparse rows it is eight. ``momentum`` is for dense rows;
    ``ridge`` is relative to H's diagonal.
    """

    exact = False

    def __init__(
        self,
        pool: Pool,
        *,
        classes: int = 2,
        steps: int | None = None,
        momentum: float = 0.5,
        ridge: float = 1e-5,
        workers: Workers | None = None,
    ) -> None:
        self.pool, self.classes = pool, class_count("classes", whole("classes", classes, 2))
        self.workers = workers or Workers()
        self._given = steps
        self.momentum = momentum
        self.ridge: float | Float64 = ridge
        geometry: type[Geometry] = SparseGeometry if pool.sparse else DenseGeometry
        self.geometry = geometry(pool, self.workers)
        self.steps = self.geometry.steps if steps is None else steps

    def over(self, pool: Pool) -> LinearOracle:
        """The same class over other rows with the same features."""
        other = LinearOracle(
            pool,
            classes=self.classes,
            steps=self._given,
            momentum=self.momentum,
            workers=self.workers,
        )
        other.ridge = self.ridge
        return other

    def with_classes(self, classes: int) -> LinearOracle:
        """The same for another number of classes; what is known of the rows is kept."""
        other = copy.copy(self)
        other.classes = class_count("classes", whole("classes", classes, 2))
        return other

    def with_ridge(self, ridge: Float64) -> LinearOracle:
        """The same with more on H's diagonal: ``ridge`` (p + 1,) times the diagonal. For dense rows."""
        other = copy.copy(self)
        other.ridge = ridge + self.ridge
        return other

    def prepare(self, weights: Weights) -> LinearMaximiser:
        return LinearMaximiser(self, weights)

    def initial(self) -> LinearHypotheses:
        return self.from_array(np.zeros((1, (self.classes - 1) * (self.pool.features + 1))))

    def from_array(self, parameters: Array) -> LinearHypotheses:
        rows = np.asarray(parameters, dtype=np.float32)
        by_class = rows.reshape(len(rows), self.classes - 1, -1).transpose(1, 0, 2)
        flat = by_class.reshape(-1, self.pool.features + 1)
        return LinearHypotheses(self.pool, flat, self.classes)


class LinearMaximiser:
    """The surrogate problems of one family of weights."""

    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        self.oracle, self.weights, self.geometry = oracle, weights, oracle.geometry
        self.metric = self.geometry.metric(weights, oracle.ridge)
        self._pull: Array | None = None
        self._started: tuple[Any, Array] | None = None

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        walk = self._walk(r)
        found: list[Candidates] = []
        for _ in range(self.oracle.steps):
            coefficients = self.geometry.unfold(walk.point)
            tally, gradient = self._pass(coefficients, r)
            met = Candidates(self._hypotheses(coefficients), tally)
            found = [*found, met] if self.geometry.offers_all else [_better(r, found, met)]
            walk.on(gradient)
        return found + self._last(walk.point, r, anchor)

    def _hypotheses(self, coefficients: Float32) -> LinearHypotheses:
        return LinearHypotheses(self.oracle.pool, coefficients, self.oracle.classes)

    def _walk(self, r: Float32) -> Walk:
        """A walk from the Newton step at w = 0, where g_c = Σ_i (v_ic - mean_c v_ic) x_i.

        The sums over μ̂ and over s ζ do not depend on r; H⁻¹ times each does not either, as long as H is
        kept.
        """
        form = self.metric.at(float(np.median(r)))
        if self._pull is None:
            sums = self.oracle.workers.fold(_passes.pulls, self.oracle.pool, *self.weights.rows)
            parts = self.geometry.fold_gradient(*sums[:2]), self.geometry.fold_gradient(*sums[2:])
            self._pull = np.concatenate(parts)
        if self._started is None or self._started[0] is not form:
            self._started = (form, self.metric.solve(form, self._pull))

        def solve(gradients: Array) -> Array:
            return mix_classes(self.metric.solve(form, gradients), len(r), KAPPA)

        start = Start(r, self._pull, self._started[1], self.oracle.classes)
        return self.geometry.walk(start, solve, self.oracle.momentum)

    def _pass(self, coefficients: Float32, r: Float32) -> tuple[Float64, Array]:
        oracle = self.oracle
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        tally, raw, total = oracle.workers.fold(
            _passes.descent, oracle.pool, *self.weights.rows, slopes, bias, r
        )
        return tally, self.geometry.fold_gradient(raw, total)

    def _last(self, point: Array, r: Float32, anchor: Hypotheses | None) -> list[Candidates]:
        """The last iterate and, with an anchor, those between the two."""
        oracle, others = self.oracle, self.oracle.classes - 1
        coefficients = self.geometry.unfold(point)
        slopes, bias = np.ascontiguousarray(coefficients[:, :-1].T), coefficients[:, -1].copy()
        steps = np.zeros((0, len(r)), np.float32)
        start = np.zeros((others, oracle.pool.features + 1), np.float32)
        if anchor is not None:
            start = np.ascontiguousarray(anchor.to_array()[0].reshape(others, -1))
            steps = self._towards(point, start)
        (tally,) = oracle.workers.fold(
            _passes.towards, oracle.pool, *self.weights.rows, slopes, bias, start, steps
        )
        found = [Candidates(self._hypotheses(coefficients), tally[0])]
        for q, by in enumerate(steps):
            between = _Between(oracle.pool, start, by, coefficients, oracle.classes)
            found.append(Candidates(between, tally[q + 1]))
        return found

    def _towards(self, point: Array, start: Float32) -> Float32:
        """Steps (Q, B) that scale each iterate to the anchor's size in the norm of H."""
        folded = np.stack([fold(self.geometry, one) for one in start])
        anchor_size = float(self.sizes(folded)[0])
        draws = len(point) // len(start)
        if anchor_size <= 0:
            return np.zeros((0, draws), np.float32)
        ratio = np.sqrt(anchor_size / np.maximum(self.sizes(point), np.finfo(float).tiny))
        return np.asarray(np.array(TOWARDS)[:, None] * ratio, dtype=np.float32)

    def sizes(self, points: Array) -> Float64:
        """wᵀ ((I - 11ᵀ/K) ⊗ H) w of each hypothesis up to a common factor; points ((K - 1) B, p + 1)."""
        each, classes = self.metric.sizes(points), self.oracle.classes
        if classes == 2:
            return each
        draws = len(points) // (classes - 1)
        together = self.metric.sizes(over_classes(points, draws))
        return np.asarray(over_classes(each, draws) - together / classes)

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
    pool, classes = met.hypotheses.pool, met.hypotheses.classes
    which = np.tile(keep, classes - 1)[:, None]
    both = np.where(which, old.hypotheses.coefficients, met.hypotheses.coefficients)
    return Candidates(LinearHypotheses(pool, both, classes), np.where(keep, old.tally, met.tally))
