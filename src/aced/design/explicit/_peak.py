"""min over λ of max_i c_i / λ_i: in closed form, λ ∝ c with value Σ c."""

from __future__ import annotations

from aced._errors import InvalidInput
from aced._types import Float64
from aced.design.explicit._allocation import Allocation


def peak(costs: Float64) -> Allocation:
    """The design that levels c_i / λ_i.

    >>> import numpy as np
    >>> peak(np.array([1.0, 3.0, 0.0])).lam
    array([0.25, 0.75, 0.  ])
    """
    total = float(costs.sum())
    if not total > 0:
        raise InvalidInput("costs", "must have a positive entry: no row tells two hypotheses apart")
    return Allocation(costs / total, total, total)
