"""A model as scikit-learn's own objects, which can be stored and used without this package.

A linear model is a LogisticRegression, a lifted one a pipeline of StandardScaler, Nystroem and
LogisticRegression. Their fitted attributes are set to what was found here; nothing is fitted again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aced._types import Array
from aced.representations._lift import Lift
from aced.representations._model import Model

FAR = 10.0
"""Rows whose mean is farther from zero than this, in widths of the kernel, are centred."""


def as_linear(model: Model, classes: Array) -> Any:
    """Classifies rows in the representation; ``classes`` (K,) are sorted and in the model's order."""
    found = LogisticRegression()
    whole = model.coefficients if len(classes) > 2 else model.coefficients[1:] - model.coefficients[:1]
    found.coef_, found.intercept_ = whole[:, :-1].copy(), whole[:, -1].copy()
    found.classes_, found.n_features_in_ = classes, whole.shape[1] - 1
    found.n_iter_ = np.zeros(1, np.int32)
    return found


def as_classifier(model: Model, classes: Array, lift: Lift | None) -> Any:
    """Classifies rows of the pool."""
    last = as_linear(model, classes)
    if lift is None:
        return last
    features = len(lift.centre)
    # Distances do not see the centre, so sparse rows may stay sparse. Far from zero they lose digits.
    middle = lift.centre.astype(float) * lift.factor
    far = bool(np.linalg.norm(middle) > FAR)
    scaler = StandardScaler(with_mean=far)
    with np.errstate(divide="ignore"):
        scaler.scale_ = 1 / lift.factor.astype(float)  # infinite for columns that do not count
    scaler.mean_, scaler.var_ = lift.centre.astype(float), np.square(scaler.scale_)
    middle = np.zeros_like(middle) if far else middle
    scaler.n_features_in_, scaler.n_samples_seen_ = features, len(model.pool)
    kernel = Nystroem(kernel="rbf", gamma=1.0, n_components=len(lift.landmarks))
    kernel.components_ = lift.landmarks + middle
    kernel.normalization_ = lift.mapping.T.astype(float)
    kernel.component_indices_ = np.arange(len(lift.landmarks))
    kernel.n_features_in_, kernel._n_features_out = features, lift.columns
    return make_pipeline(scaler, kernel, last)
