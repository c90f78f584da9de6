"""small-text's strategies, in its own loop or around our classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from aced._optional import needed
from aced._types import Array, Ints
from aced.bench._peers import Peer, Setting, constant, probabilities
from aced.bench._suites import OURS

STRATEGIES = {
    "breaking-ties": "BreakingTies",
    "least-confidence": "LeastConfidence",
    "core-set": "GreedyCoreset",
    "lightweight-core-set": "LightweightCoreset",
    "k-means": "EmbeddingKMeans",
}
EMBEDDED = ("core-set", "lightweight-core-set", "k-means")
"""The strategies that look at vectors of the rows. Without a network these are the rows themselves."""


class SmallText(Peer):
    """One of small-text's strategies, with its linear support vector machine or with ours."""

    needs_two = True

    def __init__(self, setting: Setting, strategy: str) -> None:
        super().__init__(setting)
        self._library = needed("strategies", "small_text", f"small-text-{strategy}", "peers")
        self._embedded = strategy in EMBEDDED
        self._query = getattr(self._library, STRATEGIES[strategy])()
        self.start = 0 if setting.classifier == OURS else 20
        rows, targets = setting.rows, np.arange(setting.classes)
        nothing = np.zeros(rows.shape[0], dtype=int)
        self._data = self._library.SklearnDataset(rows, nothing, target_labels=targets)
        self._loop: Any = None  # its active learner, once two classes have labels
        self._model: Any = None  # what predicts until then

    def query(self, known: Ints, codes: Ints, size: int) -> Array:
        unknown = np.setdiff1d(np.arange(self.setting.rows.shape[0]), known)
        how = {"embeddings": self._vectors(np.concatenate([unknown, known]))} if self._embedded else {}
        if self._loop is not None:
            return np.asarray(self._loop.query(num_samples=size, query_strategy_kwargs=how))
        given = _Given(self.setting)
        return np.asarray(self._query.query(given, self._data, unknown, known, codes, n=size, **how))

    def learn(self, known: Ints, codes: Ints) -> None:
        if self._loop is not None:
            self._loop.update(codes[-len(self._loop.indices_queried) :])
        elif len(np.unique(codes)) < 2:
            self._model = constant(codes)
        else:
            self._loop = self._started()
            self._loop.initialize_data(known, codes)

    def _started(self) -> Any:
        library, classes = self._library, self.setting.classes
        factory = library.SklearnClassifierFactory(library.ConfidenceEnhancedLinearSVC(), classes)
        return library.PoolBasedActiveLearner(factory, self._query, self._data)

    def predict(self, rows: Any) -> Array:
        if self._loop is None:
            return np.asarray(self._model.predict(np.zeros((rows.shape[0], 1))))
        return np.asarray(self._loop.classifier.model.predict(rows))

    def _vectors(self, at: Ints) -> Array:
        rows = self.setting.rows[at]
        return np.asarray(rows.toarray() if issparse(rows) else rows)


class _Given:
    """Our classifier, with the one method that its strategies call."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def predict_proba(self, data: Any) -> Array:
        learner = self._setting.learner
        assert learner is not None
        return probabilities(learner.classifier, data.x, learner.classes)
