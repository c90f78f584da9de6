"""Estimates of the label probabilities from the labels seen.

All of them estimate μ = 2 η - 1. They differ in what they need to know of the draws and
in the confidence width that comes with them.
"""

from aced.estimators.assisted import assisted, predict, regress
from aced.estimators.chaining import Chaining, Estimate
from aced.estimators.combination import combine, scales
from aced.estimators.ips import ips, ips_width
from aced.estimators.naive import averages, naive, naive_width
from aced.estimators.ridge import CONSTANT, pair_estimates, ridge, ridge_bias, ridge_for, ridge_width
from aced.estimators.sample import Sample

__all__ = [
    "CONSTANT",
    "Chaining",
    "Estimate",
    "Sample",
    "assisted",
    "averages",
    "combine",
    "ips",
    "ips_width",
    "naive",
    "naive_width",
    "pair_estimates",
    "predict",
    "regress",
    "ridge",
    "ridge_bias",
    "ridge_for",
    "ridge_width",
    "scales",
]
