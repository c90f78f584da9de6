"""H without p x p numbers: a diagonal, and the few directions in which it is far from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aced._types import Float64
from aced.oracles._weights import Weights

if TYPE_CHECKING:
    from aced.oracles.linear import LinearOracle


class LowRank:
    def __init__(self, oracle: LinearOracle, weights: Weights) -> None:
        raise NotImplementedError

    def at(self, r: float) -> Any: ...

    def solve(self, form: Any, gradients: Float64) -> Float64: ...

    def sizes(self, points: Float64) -> Float64: ...

    def leverage(self, r: float) -> Float64: ...
