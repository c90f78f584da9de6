"""Minimisers and rivals of logistic regression by refitting, the published procedure.

Every question is answered by fits from scratch with scikit-learn: h on the examples, a rival
at x on X - x without an intercept, which makes its decision value at x 0. This is slow;
:class:`aced.oracles._erm.LinearErm` is checked against it, on the same objective.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from aced._types import Float64, Ints
from aced.oracles._erm import LinearErm
from aced.oracles._penalty_erm import Refitted
from aced.pool import Pool


class RefitErm(Refitted):
    """The objective of ``LinearErm``, solved anew for every row."""

    def __init__(self, pool: Pool, l2: float = 1e-4) -> None:
        super().__init__()
        self.l2 = l2
        self._standard = LinearErm(pool).standard

    def error(self) -> float:
        x = self._at(self.rows)
        w, b = self._fit(x, intercept=True)
        return self._wrong(x @ w + b)

    def predict(self, rows: Ints) -> Ints:
        w, b = self._fit(self._at(self.rows), intercept=True)
        return (self._at(rows) @ w + b > 0).astype(np.int64)

    def rivals(self, rows: Ints, limit: float | None = None) -> Float64:
        x, said = self._at(self.rows), self.predict(rows)
        found = []
        for row, at, label in zip(rows, self._at(rows), said, strict=True):
            shifted = x - at
            margins = shifted @ self._fit(shifted, intercept=False)[0]
            margins[np.array(self.rows) == row] = 1 - 2 * label  # tipped to the other side
            found.append(self._wrong(margins))
        return np.array(found)

    def _at(self, rows: list[int] | Ints) -> Float64:
        return self._standard(np.asarray(rows, dtype=np.int64))[:, :-1].astype(float)

    def _fit(self, x: Float64, *, intercept: bool) -> tuple[Float64, float]:
        if len(set(self.labels)) < 2:
            return np.zeros(x.shape[1]), 0.0
        model = LogisticRegression(
            C=1 / self.l2, tol=1e-10, max_iter=200, solver="newton-cholesky", fit_intercept=intercept
        )
        model.fit(x, np.array(self.labels), sample_weight=np.array(self.weights))
        return model.coef_[0], float(model.intercept_[0]) if intercept else 0.0

    def _wrong(self, margins: Float64) -> float:
        signs = 2 * np.array(self.labels) - 1
        return float(np.array(self.weights)[margins * signs <= 0].sum())
