"""What a learner carries from one round to the next beside its labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aced._types import Array
from aced.learner._rows import EXCLUDED, PENDING
from aced.oracles import LinearOracle, labels_of
from aced.pool import Pool

PREFIX = "strategy_"


@dataclass(frozen=True)
class Memory:
    """The generator's state, the last design with its incumbent, and what the strategy remembers."""

    rng: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @property
    def strategy(self) -> dict[str, Array]:
        """The strategy's own part."""
        return {name[len(PREFIX) :]: a for name, a in self.arrays.items() if name.startswith(PREFIX)}


def modern(meta: dict[str, Any], arrays: dict[str, Array], pool: Pool) -> None:
    """Change what an earlier version saved to the names that this version uses, in place."""
    _modern_names(meta, arrays, pool)
    if "incumbent" in arrays and arrays["incumbent"].dtype == bool:  # there were two classes then
        arrays["incumbent"] = arrays["incumbent"].astype(np.int64)
    if meta["strategy"] == "blend" and meta["options"] is not None:
        meta["options"].setdefault("tell", 0.0)  # there was no such share then


def _modern_names(meta: dict[str, Any], arrays: dict[str, Array], pool: Pool) -> None:
    if "probabilities" in arrays:
        return
    arrays["probabilities"] = arrays.pop("drawn_with")
    unasked = (arrays["status"] == PENDING) & np.isnan(arrays["probabilities"])
    arrays["status"][unasked] = EXCLUDED  # excluded rows counted as pending then
    if meta["strategy"] == "aced":
        meta["options"] = {"estimator": "naive", **(meta["options"] or {})}  # the only one then
    if "strategy_lam" in arrays:
        arrays["lam"] = arrays.pop("strategy_lam")
    best = arrays.pop("strategy_best", None)
    if best is not None and (meta["options"] or {}).get("oracle") == "linear":
        oracle = LinearOracle(pool)
        arrays["incumbent"] = labels_of(oracle, oracle.from_array(best))[0].astype(np.int64)
