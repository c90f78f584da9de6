"""Which columns are constant: those whose numbers differ from their mean by no more than rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aced._types import Bools, Float64

SINGLE = 1e-6
"""Rounding of float32 numbers relative to their mean: about eight units in the last place."""

NOISE = 2e-11
"""A column of a pool whose spread is below this share of the widest column's has only rounding errors,
as the last principal axes do. This is not for tables, where units alone may make such a difference."""


def constant(spread: ArrayLike, centre: ArrayLike, rounding: float = SINGLE) -> Bools:
    """Whether numbers with this mean and standard deviation are equal, up to ``rounding`` of their mean.

    >>> constant(np.array([0.0, 0.0, 0.4, 3.0]), np.array([0.0, 7.0, 1e6, 1e6]))
    array([ True,  True,  True, False])
    """
    return np.asarray(np.less_equal(spread, rounding * np.abs(centre)))


def inverse_spread(spread: Float64, centre: Float64) -> Float64:
    """1 / spread of each column of a pool; 0 for constant columns, which carry no information."""
    flat = constant(spread, centre) | (spread <= NOISE * spread.max())
    return np.where(flat, 0.0, 1 / np.where(flat, 1.0, spread))


def unit(spread: Float64, centre: Float64, rows: int) -> Float64:
    """What to divide columns of doubles by: their spread, or 1 for constant columns.

    The sum of n doubles is wrong by at most n units in the last place, and so is their mean.
    """
    return np.where(constant(spread, centre, rows * float(np.finfo(float).eps)), 1.0, spread)
