"""Any scikit-learn classifier that takes sample weights, one fit per weight vector.

This is the paper's own oracle when the classifier is a logistic regression, and the slow reference for
:mod:`aced.oracles._linear`. Labellings and scores of all B fits are kept, so memory grows with n B K.

A fit sees K - 1 weighted copies of each row: with class c for a label, the weight is v_c - min_c v_c
(the least class needs no copy). For two classes that is the sign of v with the weight |v|. One fit
against the rest for each class would be smaller, but its K scores are not made to be compared with one
another: copies keep the loss of the classifier itself, so that a consistent one finds the class with the
largest E[v_c | x].
"""

from __future__ import annotations

import copy
import inspect
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aced._check import class_count, whole
from aced._errors import InvalidInput
from aced._types import Array, Codes, Float32, Float64
from aced._workers import PerRow, Workers
from aced.oracles._base import Candidates, Hypotheses, Oracle, Scorer, given_scores, tally_all
from aced.oracles._passes import best_class
from aced.oracles._weights import Weights
from aced.pool import Pool


class ScoredHypotheses:
    """Labellings given by scores of each row, (B, n, K - 1): the largest of them and of 0 decides."""

    def __init__(self, pool: Pool, scores: Float32) -> None:
        self.pool, self.scores = pool, scores

    def __len__(self) -> int:
        return len(self.scores)

    def scorer(self) -> Scorer:
        return given_scores, (PerRow(self._by_row(slice(None))),)

    def labeller(self) -> Scorer:
        return best_given, (PerRow(self._by_row(slice(None))), len(self))

    def labels(self, index: int) -> Codes:
        return best_class(self._by_row(self.pool.slices[index]), len(self))

    def _by_row(self, rows: slice) -> Float32:
        """Scores of these rows, (rows, (K - 1) B)."""
        part = self.scores[:, rows].transpose(1, 2, 0)
        return np.ascontiguousarray(part).reshape(len(part), -1)

    def take(self, which: Array) -> ScoredHypotheses:
        return ScoredHypotheses(self.pool, self.scores[which])

    def to_array(self) -> Array:
        return self.scores


def best_given(block: Any, scores: Float32, draws: int) -> Codes:
    """The labels of scores that a :class:`PerRow` holds for every row."""
    return best_class(scores, draws)


class SklearnOracle(Oracle):
    """Weighted classification by ``classifier`` (default: unpenalised logistic regression)."""

    exact = False

    def __init__(
        self,
        pool: Pool,
        classifier: Any = None,
        *,
        classes: int = 2,
        workers: Workers | None = None,
    ) -> None:
        self.classes = class_count("classes", whole("classes", classes, 2))
        if classifier is None:
            classifier = LogisticRegression(C=np.inf, tol=1e-3)
        if "sample_weight" not in inspect.signature(classifier.fit).parameters:
            raise InvalidInput(
                "classifier",
                f"{type(classifier).__name__}.fit takes no sample_weight, "
                "which the oracle needs; choose another classifier",
            )
        classifier = clone(classifier)
        if classifier.get_params().get("random_state", 0) is None:
            classifier.set_params(random_state=0)
        self.pool, self.classifier = pool, classifier
        self.workers = workers or Workers()

    def with_classes(self, classes: int) -> SklearnOracle:
        """The same for another number of classes."""
        other = copy.copy(self)
        other.classes = class_count("classes", whole("classes", classes, 2))
        return other

    def prepare(self, weights: Weights) -> SklearnMaximiser:
        return SklearnMaximiser(self, weights)

    def initial(self) -> ScoredHypotheses:
        shape = (1, len(self.pool), self.classes - 1)
        return ScoredHypotheses(self.pool, np.zeros(shape, np.float32))

    def from_array(self, parameters: Array) -> ScoredHypotheses:
        return ScoredHypotheses(self.pool, np.asarray(parameters, dtype=np.float32))


class SklearnMaximiser:
    """B independent fits."""

    def __init__(self, oracle: SklearnOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle, weights = self.oracle, self.weights
        blocks = [weights.block(index, r) for index in range(oracle.pool.blocks)]
        vectors = np.concatenate(blocks).reshape(len(oracle.pool), -1, len(r)).transpose(2, 0, 1)
        fits = Parallel(n_jobs=oracle.workers.threads, prefer="threads")(
            delayed(_scores)(oracle.classifier, oracle.pool.rows(), np.ascontiguousarray(v))
            for v in vectors
        )
        found = ScoredHypotheses(oracle.pool, np.stack(fits))
        return [Candidates(found, tally_all(weights, found, oracle.workers))]

    def leverage(self, r: float, pool: Pool | None = None) -> Float64:
        """Unknown for a general classifier: taken as equal for all rows."""
        return np.ones(len(self.oracle.pool if pool is None else pool))


def _scores(classifier: Any, rows: Any, v: Float32) -> Float32:
    """Scores (n, K - 1) of the classifier fitted to weighted copies of the rows; v is (n, K - 1)."""
    least = np.minimum(v.min(axis=1), 0)
    costs = np.column_stack([np.zeros(len(v), np.float32), v]) - least[:, None]  # (n, K), at least 0
    used = np.flatnonzero((costs > 0).any(axis=0))
    if len(used) < 2:  # one class is the best everywhere
        only = int(used[0]) if len(used) else 0
        return np.tile(_one_hot(np.array([only]), v.shape[1] + 1), (len(v), 1))
    which, label = np.nonzero(costs > 0)
    model = clone(classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows[which], label, sample_weight=costs[which, label].astype(float))
    found = np.full((len(v), v.shape[1] + 1), -np.inf)
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(rows), dtype=float)
        found[:, used] = np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores
    elif hasattr(model, "predict_proba"):
        found[:, used] = model.predict_proba(rows)
    else:
        return _one_hot(np.asarray(model.predict(rows)), v.shape[1] + 1)
    lowest = found[:, used].min(axis=1, keepdims=True) - 1
    return _relative(np.where(np.isneginf(found), lowest, found))


def _one_hot(labels: Array, classes: int) -> Float32:
    return _relative(np.where(labels[:, None] == np.arange(classes), 1.0, -1.0))


def _relative(scores: Array) -> Float32:
    """Scores of K classes, less that of class 0, for the other classes."""
    return np.asarray(scores[:, 1:] - scores[:, :1], dtype=np.float32)
