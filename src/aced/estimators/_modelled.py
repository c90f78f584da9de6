"""Model-assisted by the one model: the label where there is one, elsewhere its probabilities.

    η̂_i = the label, one-hot, on labelled rows,   η̂_i = p(· | x_i) elsewhere,

with the model of :mod:`aced.representations`, which is also the classifier that people get.

The model also says which hypotheses are within reach. Its penalty α / m, relative to the data along each
column, keeps the fit off directions that m labels cannot tell. The design looks farther, to REACH times
as many labels: it adds the share α / (m REACH spread²) of H's diagonal to it. So the spreads of lifted
columns, which the design standardises, count as they do in the fit.
"""

from __future__ import annotations

import numpy as np

from aced._types import Float32, Float64, Ints
from aced._workers import Workers
from aced.estimators._assisted import relative_one_hot
from aced.oracles import LinearHypotheses
from aced.representations import Model

REACH = 10.0
"""The design compares hypotheses as this many times the labels would."""


def modelled(model: Model, workers: Workers, positions: Ints, codes: Ints) -> tuple[Float32, Float32]:
    """μ̂ (n, K - 1), and the model as a hypothesis; ``codes`` 0 … K-1 are labels of distinct rows."""
    classes = len(model.codes)
    hypothesis = LinearHypotheses(model.pool, model.relative(), classes)
    eta = model.probabilities(workers)
    mu = eta[:, 1:] - eta[:, :1]
    mu[positions] = relative_one_hot(codes, classes)
    return mu, hypothesis.to_array()


def reach(model: Model, inverse_spread: Float64) -> Float64:
    """What the design adds to H's diagonal, relative to it: (r + 1,); nothing for the constant."""
    return np.append(model.penalty * np.square(inverse_spread) / REACH, 0.0)
