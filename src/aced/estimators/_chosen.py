"""The default classifier: logistic regression on scaled rows, with a penalty that the labels choose.

    minimise  Σ_i -log softmax_{y_i}(W z_i) + ½ l2 |W|²,      l2 = α e,

where z are scaled rows (:mod:`aced.estimators._scaling`) with a constant column, α is the penalty of the
ridge regression that predicts left-out labels best, and e is its mean square error on them, a class
(:mod:`aced.estimators._left_out`). A ridge penalty α shrinks directions with α / (d + α), d = |Z v|².
The logistic loss has the curvature p (1 - p) instead of 1, whose mean over the rows is about e. So
l2 = α e shrinks alike. The same errors choose between two scalings. All of this is one
eigendecomposition for each scaling; the fit itself is scikit-learn's. ``benchmarks/classifier.py``
measures the rule.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aced._types import Array, Float64
from aced._workers import Workers
from aced.estimators._left_out import best_penalty
from aced.estimators._scaling import Scaling, scalings
from aced.pool import Pool

PREFERRED = 0.02
"""The first scaling is kept unless another one's error on left-out labels is lower by this share."""
SHARE = 64
"""The constant column has this part of a scaled row's mean squared length, and at least 1."""
LEAST = 1e-12
"""The smallest l2."""
MOST_LABELS = 4096
"""The penalty, which does not depend on their number, is chosen by at most this many of the labels;"""
MOST_WIDE = 1024
"""and by at most this many where there are more columns than that."""


class Chosen:
    """Fits the default classifier of one pool; the pool is looked at once, when it is first needed."""

    def __init__(self, pool: Pool, workers: Workers) -> None:
        self.pool, self.workers = pool, workers
        self._scalings: tuple[Scaling, ...] | None = None

    def fit(self, rows: Any, labels: Array) -> Any:
        """A LogisticRegression whose coefficients are those for the pool's own columns.

        Its C is 1 / l2, for scaled rows. With labels of one class it is a constant classifier.
        """
        if len(np.unique(labels)) < 2:
            return DummyClassifier(strategy="most_frequent").fit(rows, labels)
        return self.fit_with_penalty(rows, labels)[0]

    def fit_with_penalty(self, rows: Any, labels: Array) -> tuple[Any, Float64]:
        """The classifier for labels of two classes or more, and its penalty along each column, (p,).

        This is the penalty relative to what the labels say along a column in standard units.
        """
        if self._scalings is None:
            self._scalings = scalings(self.pool, self.workers)
        classes, codes = np.unique(labels, return_inverse=True)
        targets = np.eye(len(classes))[codes] - 1 / len(classes)
        constant = float(np.sqrt(max(1.0, self._scalings[0].columns / SHARE)))
        scaling, penalty, relative = choose(self._scalings, rows, targets, constant)
        model = _fitted(scaling, penalty, constant, rows, labels)
        return model, relative * self._in_standard_units(scaling)

    def _in_standard_units(self, scaling: Scaling) -> Float64:
        """1 / (factor · spread)²: what a penalty on a scaled column is on the same in standard units."""
        assert self._scalings is not None
        ratio = np.ones(len(scaling.factor))
        own = self._scalings[0].factor.astype(float)  # 1 / spread
        used = own > 0
        ratio[used] = np.square(own[used] / scaling.factor[used])
        return ratio


def choose(
    known: tuple[Scaling, ...], rows: Any, targets: Array, constant: float
) -> tuple[Scaling, float, float]:
    """The scaling and the penalty l2 for these rows (m, p) with these targets (m, K).

    The last number is α relative to the rows it was chosen by: α / m, a scaled column's square being 1.
    """
    m, p = rows.shape
    some = slice(None, None, -(-m // (MOST_WIDE if min(m, p) > MOST_WIDE else MOST_LABELS)))
    rows, targets = rows[some], targets[some]
    best: tuple[Scaling, float, float] | None = None
    for scaling in known:
        alpha, error = best_penalty(scaling.apply(rows), targets, constant)
        if best is None or error < (1 - PREFERRED) * best[2]:
            best = scaling, alpha, error
    assert best is not None
    scaling, alpha, error = best
    share = 1 / targets.shape[1]
    # to know nothing errs by share (1 - share); where nothing errs at all, some penalty is left
    penalty = max(LEAST, alpha * min(error, share * (1 - share)))
    return scaling, penalty, alpha / rows.shape[0]


def _fitted(scaling: Scaling, penalty: float, constant: float, rows: Any, labels: Array) -> Any:
    whole = scaling.beside(rows, constant)
    model = LogisticRegression(C=1 / penalty, tol=1e-4, max_iter=1000, fit_intercept=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # few labels of many classes
        model.fit(whole, labels)
    weights = model.coef_.astype(float)
    own, moved = scaling.undo(weights[:, :-1])
    model.coef_, model.intercept_ = own, constant * weights[:, -1] + moved
    model.n_features_in_ = own.shape[1]
    return model.set_params(fit_intercept=True)
