"""ACED as it was printed and run (the paper's practical algorithm and its experiments).

μ̂ is 0 where no label is known, shift is n 2^(1-k), water-filling gives mass to all rows, and the first
batch is drawn uniformly. The default solver, search and oracle are those of ``Aced``;
``solver="mirror"``, ``search="grid"`` and ``oracle="sklearn"`` are the published ones.
"""

from __future__ import annotations

from typing import Any

from aced.design import Solver
from aced.oracles import Oracle
from aced.strategies._aced import Aced


class AcedPaper(Aced):
    """``Aced`` with the paper's estimator, shift, water-filling and start; its options are as there."""

    name = "aced-paper"
    represented = False

    def __init__(
        self,
        *,
        oracle: str | Oracle = "linear",
        solver: str | Solver = "fixed-point",
        search: str | None = None,
        classifier: Any = None,
    ) -> None:
        super().__init__(
            oracle=oracle,
            solver=solver,
            search=search,
            classifier=classifier,
            estimator="naive",
            shift="pool",
            fill="all",
            start="uniform",
        )
