"""scikit-activeml's strategies for pools."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from aced._optional import needed
from aced._types import Array, Ints
from aced.bench._peers import LOGISTIC, OWN, Peer, Setting, probabilities
from aced.bench._suites import OURS

MEMBERS = 5
"""Classifiers of ours in a committee, each trained on the different rows of a bootstrap sample."""
LOOKING = ("badge", "committee", "margin")
"""The strategies that look at a classifier."""


class Skactiveml(Peer):
    """One of scikit-activeml's strategies, with its Parzen windows, a logistic regression, or ours."""

    def __init__(self, setting: Setting, strategy: str) -> None:
        super().__init__(setting)
        rows = setting.rows
        self._rows = rows.toarray() if issparse(rows) else rows  # it takes no sparse rows
        self._strategy, self._rng = strategy, np.random.default_rng(setting.seed)
        self._query = _make(strategy, setting)
        self._model = _classifier(strategy, setting)
        self.start = 10 if setting.classifier == LOGISTIC else 0
        bagged = strategy == "committee" and setting.classifier == LOGISTIC
        self.needs_two = bagged or (setting.classifier == OURS and strategy in LOOKING)

    def query(self, known: Ints, codes: Ints, size: int) -> Array:
        labels = self._labels(known, codes)
        how: dict[str, Any] = {"X": self._rows, "y": labels, "batch_size": size}
        if self._strategy == "committee":
            how |= {"ensemble": self._committee(known, codes), "fit_ensemble": False}
        elif self._strategy in LOOKING:
            how |= {"clf": self._looked_at(known, codes), "fit_clf": False}
        return np.asarray(self._query.query(**how))

    def learn(self, known: Ints, codes: Ints) -> None:
        self._fitted(self._model, known, codes)

    def _fitted(self, model: Any, known: Ints, codes: Ints) -> Any:
        """Trained on the labelled rows alone. Its own loop passes all rows, which gives the same
        classifier, but Parzen windows then compare each row with each. Without labels it needs them."""
        if len(known):
            return model.fit(self._rows[known], codes.astype(float))
        return model.fit(self._rows, self._labels(known, codes))

    def predict(self, rows: Any) -> Array:
        found = self._model.predict(rows.toarray() if issparse(rows) else rows)
        return np.asarray(found).astype(np.int64)

    def _labels(self, known: Ints, codes: Ints) -> Array:
        labels = np.full(len(self._rows), np.nan)
        labels[known] = codes
        return labels

    def _looked_at(self, known: Ints, codes: Ints) -> Any:
        if (learner := self.setting.learner) is None:
            return self._model if len(known) else self._fitted(self._model, known, codes)
        return _given()(learner.classifier, np.arange(self.setting.classes), learner.classes)

    def _committee(self, known: Ints, codes: Ints) -> Any:
        """Ours: bootstraps. Logistic: scikit-learn's bagging. Its own: samples of Parzen windows."""
        if (learner := self.setting.learner) is None:
            if self.setting.classifier == LOGISTIC:
                return self._fitted(_bagged(self.setting), known, codes)
            return self._looked_at(known, codes)
        values, found = np.asarray(learner.classes), []
        for _ in range(MEMBERS):
            # every row once: a copy of a label left out would make the left-out errors look small
            at = np.unique(self._rng.choice(len(known), len(known)))
            model = learner.train(learner.pool.ids[known[at]], values[codes[at]])
            found.append(_given()(model, np.arange(self.setting.classes), learner.classes))
        return found


def _make(strategy: str, setting: Setting) -> Any:
    pool = needed("strategies", "skactiveml.pool", f"skactiveml-{strategy}", "peers")
    seed = setting.seed
    clusters = {"random_state": seed}
    if strategy == "badge":
        return pool.Badge(random_state=seed)
    if strategy == "core-set":
        return pool.CoreSet(random_state=seed)
    if strategy == "typiclust":
        return pool.TypiClust(random_state=seed, cluster_algo_dict=clusters)
    if strategy == "probcover":
        classes = setting.classes
        return pool.ProbCover(n_classes=classes, random_state=seed, cluster_algo_dict=clusters)
    if strategy == "committee":
        sampled = {
            "sample_predictions_method_name": "sample_proba",
            "sample_predictions_dict": {"n_samples": 100},
        }
        how = sampled if setting.classifier == OWN else {}
        return pool.QueryByCommittee(method="KL_divergence", random_state=seed, **how)
    return pool.UncertaintySampling(method="margin_sampling", random_state=seed)


def _classifier(strategy: str, setting: Setting) -> Any:
    """The classifier of the strategy's page among the examples, or a logistic regression."""
    module = needed("strategies", "skactiveml.classifier", f"skactiveml-{strategy}", "peers")
    classes = np.arange(setting.classes)
    if setting.classifier == LOGISTIC:
        from sklearn.linear_model import LogisticRegression

        return module.SklearnClassifier(LogisticRegression(), classes=classes)
    prior = {"class_prior": 0.1} if strategy == "committee" else {}
    return module.ParzenWindowClassifier(classes=classes, random_state=setting.seed, **prior)


def _bagged(setting: Setting) -> Any:
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import LogisticRegression

    module = needed("strategies", "skactiveml.classifier", "skactiveml-committee", "peers")
    bagged = BaggingClassifier(LogisticRegression(), random_state=setting.seed)
    return module.SklearnClassifier(bagged, classes=np.arange(setting.classes))


@lru_cache(maxsize=1)
def _given() -> Any:
    """A class of scikit-activeml's kind around a trained classifier of ours."""
    base = needed("strategies", "skactiveml.base", "skactiveml", "peers")

    class Given(base.SkactivemlClassifier):  # type: ignore[misc, name-defined]
        def __init__(self, model: Any, classes: Any, values: Any, missing_label: Any = np.nan) -> None:
            super().__init__(classes=classes, missing_label=missing_label)
            self.model, self.values = model, values
            self.classes_ = classes  # scikit-learn's sign that it is trained

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return self  # it is trained already

        def predict_proba(self, X: Any) -> Array:
            return probabilities(self.model, X, self.values)

        def predict(self, X: Any) -> Array:
            return np.asarray(self.predict_proba(X).argmax(axis=1))

    return Given
