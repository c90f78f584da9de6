"""Model-assisted by a logistic regression: the label where there is one, elsewhere its probabilities.

    η̂_i = the label, one-hot, on labelled rows,   η̂_i = softmax(W x_i + b) elsewhere,

with the classifier that the labels themselves penalise (:mod:`aced.estimators._chosen`). Least squares
on one-hot labels (:mod:`aced.estimators._assisted`) are as good for two classes. With more they mask a
class that lies between others (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning,
4.2), which the logistic loss does not.

The regression also says which hypotheses are within reach. A penalty whose size relative to the data is
ρ_j along column j keeps the fit off directions that m labels cannot tell. The design looks farther, to
REACH times as many labels: it adds ρ_j / REACH of H's diagonal to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from aced._types import Array, Float32, Float64, Ints
from aced._workers import Workers
from aced.estimators._assisted import relative_one_hot
from aced.estimators._chosen import Chosen
from aced.oracles import LinearHypotheses
from aced.pool import Pool

REACH = 10.0
"""The design compares hypotheses as this many times the labels would."""


def logistic(
    pool: Pool, workers: Workers, positions: Ints, codes: Ints, chosen: Chosen
) -> tuple[Float32, Float32, Float64]:
    """μ̂ (n, K - 1), the regression as a hypothesis, and the ridge of H for each column, (p + 1,).

    ``codes`` 0 … K-1 are labels of distinct rows, and each of them occurs.
    """
    rows = pool.rows(positions)
    model, relative = chosen.fit_with_penalty(rows, codes)
    found, classes = relative_to_first(model), len(model.classes_)
    hypothesis = LinearHypotheses(pool, found, classes)
    score, args = hypothesis.scorer()
    (mu,) = workers.each(_estimates, pool, score, *args)
    mu[positions] = relative_one_hot(codes, classes)
    return mu, hypothesis.to_array(), np.append(relative / REACH, 0.0)


def relative_to_first(model: Any) -> Float32:
    """Weights and biases (K - 1, p + 1) of a fitted linear classifier, less those of its first class."""
    whole = np.column_stack([model.coef_, model.intercept_])
    return np.asarray(whole if len(whole) == 1 else whole[1:] - whole[:1], dtype=np.float32)


def _estimates(block: Any, score: Any, *args: Any) -> tuple[Array]:
    scores = score(block, *args)
    whole = np.concatenate([np.zeros((len(scores), 1), scores.dtype), scores], axis=1)
    eta = softmax(whole, axis=1)
    return (eta[:, 1:] - eta[:, :1],)
