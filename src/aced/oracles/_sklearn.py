"""Any scikit-learn classifier that takes sample weights, one fit per weight vector.

This is the paper's own oracle when the classifier is a logistic regression, and the slow reference for
:mod:`aced.oracles._linear`. Labellings and scores of all B fits are kept, so memory grows with n B.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float32, Float64
from aced._workers import PerRow, Workers
from aced.oracles._base import Candidates, Hypotheses, Oracle, Scorer, given_scores, tally_all
from aced.oracles._weights import Weights
from aced.pool import Pool


class ScoredHypotheses:
    """Labellings given by a score for each row, positive for label 1; shape (B, n)."""

    def __init__(self, pool: Pool, scores: Float32) -> None:
        self.pool, self.scores = pool, scores

    def __len__(self) -> int:
        return len(self.scores)

    def margins(self, index: int) -> Float32:
        return self.scores[:, self.pool.slices[index]].T

    def scorer(self) -> Scorer:
        return given_scores, (PerRow(self.scores.T),)

    def labels(self, index: int) -> Bools:
        return self.margins(index) > 0

    def take(self, which: Array) -> ScoredHypotheses:
        return ScoredHypotheses(self.pool, self.scores[which])

    def to_array(self) -> Array:
        return self.scores


class SklearnOracle(Oracle):
    """Weighted classification by ``classifier`` (default: unpenalised logistic regression)."""

    exact = False

    def __init__(self, pool: Pool, classifier: Any = None, *, workers: Workers | None = None) -> None:
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

    def prepare(self, weights: Weights) -> SklearnMaximiser:
        return SklearnMaximiser(self, weights)

    def initial(self) -> ScoredHypotheses:
        return ScoredHypotheses(self.pool, np.zeros((1, len(self.pool)), np.float32))

    def from_array(self, parameters: Array) -> ScoredHypotheses:
        return ScoredHypotheses(self.pool, np.asarray(parameters, dtype=np.float32))


class SklearnMaximiser:
    """B independent fits."""

    def __init__(self, oracle: SklearnOracle, weights: Weights) -> None:
        self.oracle, self.weights = oracle, weights

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        oracle, weights = self.oracle, self.weights
        blocks = [weights.block(index, r) for index in range(oracle.pool.blocks)]
        vectors = np.concatenate(blocks).T
        fits = Parallel(n_jobs=oracle.workers.threads, prefer="threads")(
            delayed(_scores)(oracle.classifier, oracle.pool.rows(), np.ascontiguousarray(v))
            for v in vectors
        )
        found = ScoredHypotheses(oracle.pool, np.stack(fits))
        return [Candidates(found, tally_all(weights, found, oracle.workers))]

    def leverage(self, r: float, pool: Pool | None = None) -> Float64:
        """Unknown for a general classifier: taken as equal for all rows."""
        return np.ones(len(self.oracle.pool if pool is None else pool))


def _scores(classifier: Any, rows: Float32, v: Float32) -> Float32:
    """Scores of the classifier fitted to the signs of v with weights |v|."""
    target = v > 0
    if target.all() or not target.any():
        return np.where(target, 1, -1).astype(np.float32)
    model = clone(classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, target, sample_weight=np.abs(v).astype(float))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows), dtype=np.float32)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows)[:, 1] - 0.5, dtype=np.float32)
    return np.where(model.predict(rows), 1, -1).astype(np.float32)
