"""Minimisers and rivals for any scikit-learn classifier with sample weights.

The classifier is refitted each time. For a rival, x itself is added with the other label and a
weight that outvotes all examples. (The appendix's penalty form has the sign of the penalty
reversed: it must punish agreement.)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aced._types import Array, Float64, Ints
from aced.pool import Pool


class Refitted:
    """Keeps examples; all else is fitted anew from them, so there is nothing to save."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.labels: list[int] = []
        self.weights: list[float] = []

    def add(self, row: int, label: int, weight: float) -> None:
        self.rows.append(row)
        self.labels.append(label)
        self.weights.append(weight)

    def state(self) -> dict[str, Array]:
        return {}

    def restore(self, state: Mapping[str, Array]) -> None:
        return


class PenaltyErm(Refitted):
    """Any scikit-learn classifier with sample weights, refitted for every question."""

    def __init__(self, pool: Pool, classifier: Any) -> None:
        super().__init__()
        self.pool, self.classifier = pool, classifier
        self._model: tuple[int, Any] = (-1, None)  # with the number of examples it was fitted to

    def _fit(self, rows: list[int], labels: list[int], weights: list[float]) -> Any:
        if len(set(labels)) < 2:
            return labels[0] if labels else 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(self.classifier).fit(
                self.pool.rows(np.array(rows)), np.array(labels), sample_weight=np.array(weights)
            )

    def _labels(self, model: Any, rows: Array) -> Ints:
        if isinstance(model, int):
            return np.full(len(rows), model)
        return np.asarray(model.predict(self.pool.rows(rows)), dtype=np.int64)

    def _error(self, model: Any) -> float:
        wrong = self._labels(model, np.array(self.rows, dtype=np.int64)) != np.array(self.labels)
        return float(np.array(self.weights)[wrong].sum())

    def _current(self) -> Any:
        if self._model[0] != len(self.rows):
            self._model = len(self.rows), self._fit(self.rows, self.labels, self.weights)
        return self._model[1]

    def error(self) -> float:
        return self._error(self._current()) if self.rows else 0.0

    def predict(self, rows: Ints) -> Ints:
        return self._labels(self._current(), rows)

    def rivals(self, rows: Ints, limit: float | None = None) -> Float64:
        if not self.rows:
            return np.zeros(len(rows))
        outvotes = 10 * sum(self.weights)
        found = []
        for row, label in zip(rows.tolist(), self.predict(rows).tolist(), strict=True):
            other = 1 - label
            model = self._fit([*self.rows, row], [*self.labels, other], [*self.weights, outvotes])
            agrees = self._labels(model, np.array([row]))[0] == label
            found.append(np.inf if agrees else self._error(model))
        return np.array(found)
