"""Classifiers with a fixed penalty, and any of scikit-learn's.

The default is another: the model of :mod:`aced.representations`.
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aced._errors import InvalidInput
from aced._types import Array, Float32
from aced.pool import Pool


def default_classifier(l2: Any) -> LogisticRegression:
    """Logistic regression with penalty ½ l2 |w|² on the summed loss; the paper has l2 = 0.

    On separable labels an unpenalised fit never converges, so its tolerance matters. It is 0.001 as in
    the paper's experiments, but of the mean loss, where theirs is of the sum (``benchmarks/scored.py``).
    """
    if isinstance(l2, bool) or not isinstance(l2, Real) or not 0 <= float(l2) < np.inf:
        raise InvalidInput("l2", f"must be a number from 0 up, got {l2!r}")
    return LogisticRegression(C=np.inf if l2 == 0 else 1 / float(l2), tol=1e-3, max_iter=1000)


class Fixed:
    """Logistic regression with a fixed penalty, for rows as they are but for the pool's unit."""

    def __init__(self, pool: Pool, l2: Any) -> None:
        self._template, self._scale = default_classifier(l2), unit(pool)

    def fit(self, rows: Any, labels: Array) -> Any:
        return fit_scaled(self._template, rows, labels, self._scale)


class Own:
    """A classifier of the user's, for rows as they are."""

    def __init__(self, classifier: Any) -> None:
        self._template = check_classifier(classifier)

    def fit(self, rows: Any, labels: Array) -> Any:
        return fit(self._template, rows, labels)


def check_classifier(classifier: Any) -> Any:
    """A copy to train, with every unset random_state set to 0; only classifiers are accepted."""
    whole = not isinstance(classifier, type) and hasattr(classifier, "fit")
    if not (whole and hasattr(classifier, "get_params") and is_classifier(classifier)):
        given = classifier if isinstance(classifier, type) else type(classifier)
        raise InvalidInput(
            "classifier", f"must be a scikit-learn classifier object, got {given.__name__}"
        )
    copy = clone(classifier)
    unset = [
        name
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return copy.set_params(**dict.fromkeys(unset, 0))


SMALL = 1.0
"""Where the largest number of a pool is below this, a penalty of 1 draws classifiers to a constant."""


def unit(pool: Pool) -> float:
    """What a fixed penalty's classifier multiplies the rows by: 1, or what makes small numbers about 1.

    >>> unit(Pool([[0.001], [-3.0]])), unit(Pool([[0.1], [-0.3]])), unit(Pool([[1e-10], [-3e-10]]))
    (1.0, 4.0, 4294967296.0)
    """
    exponent = int(np.frexp(pool.largest)[1])
    return 2.0 ** (1 - exponent) if 0 < pool.largest < SMALL else 1.0


def fit_scaled(template: Any, rows: Any, labels: Array, scale: float) -> Any:
    """The classifier fitted to ``scale`` x rows; its coefficients are those for the rows.

    The scale is a power of two, so that nothing is rounded.
    """
    model = fit(template, rows if scale == 1 else rows * np.float32(scale), labels)
    if scale != 1 and hasattr(model, "coef_"):
        model.coef_ = model.coef_ * scale
    return model


def fit(template: Any, rows: Float32, labels: Array) -> Any:
    """A copy of ``template`` fitted to these rows; a constant classifier if they have only one class."""
    if len(np.unique(labels)) < 2:
        return DummyClassifier(strategy="most_frequent").fit(rows, labels)
    model = clone(template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The number of unique classes")  # few labels of many classes
        return model.fit(rows, labels)
