"""Hypothesis classes: argmax over h of Σ v_i h(x_i), for many v at once."""

from aced.oracles._base import (
    Candidates,
    Hypotheses,
    Maximiser,
    Oracle,
    argmax,
    best_per_draw,
    labels_of,
    select,
)
from aced.oracles._weights import GaussianNoise, GivenNoise, Noise, Weights, tally_all, value
from aced.oracles.finite import FiniteOracle
from aced.oracles.linear import LinearOracle
from aced.oracles.sklearn import SklearnOracle

__all__ = [
    "Candidates",
    "FiniteOracle",
    "GaussianNoise",
    "GivenNoise",
    "Hypotheses",
    "LinearOracle",
    "Maximiser",
    "Noise",
    "Oracle",
    "SklearnOracle",
    "Weights",
    "argmax",
    "best_per_draw",
    "labels_of",
    "select",
    "tally_all",
    "value",
]
