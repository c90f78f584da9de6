"""Checks of a project's settings, made before anything is read or computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aced._check import choice, fraction, probability, share, whole
from aced._errors import InvalidInput
from aced.project._classes import check_classes
from aced.project._floor import floored

MOST_FEATURES = 5000
"""The time of a round grows with the cube of the features; with more than this it takes minutes."""


def check_settings(
    classes: Sequence[str],
    *,
    strategy: str = "blend",
    seed: int = 0,
    check: float = 0.1,
    overlap: float = 0.0,
    lease: float = 600.0,
    l2: float | None = None,
    representation: str | None = None,
    combine: str = "dawid-skene",
    audit: Mapping[str, float] | None = None,
    stop: Mapping[str, Any] | None = None,
    cost_per_label: float | None = None,
) -> None:
    """Refuse settings that cannot be used, whatever the items are."""
    check_classes(classes)
    for option, value in (("check", check), ("overlap", overlap)):
        fraction(option, value)
    if check + overlap >= 1:
        raise InvalidInput("check and overlap", "leave no room for new items; make them smaller")
    if not 0 < lease < np.inf:
        raise InvalidInput("lease", f"must be a positive number of seconds, got {lease}")
    whole("seed", seed, 0)
    if combine not in ("dawid-skene", "majority"):
        raise InvalidInput("combine", f"must be dawid-skene or majority, got {combine!r}")
    check_cost(cost_per_label)
    if audit is not None:
        for name in ("explore", "within"):
            probability(name, audit[name])
        return
    from aced.learner import Learner  # takes long to load, and only new projects need it
    from aced.pool import Pool

    learner = Learner(  # refuses what it cannot use
        Pool(np.eye(2)),
        strategy=strategy,
        classes=range(len(classes)),
        l2=l2,
        representation=representation,
    )
    if learner.strategy.needs_all_labels:
        raise InvalidInput("strategy", f"{strategy} needs every label at once; choose another")
    if stop is not None:
        _check_stop(stop, len(classes), floored(strategy, check).floor, l2)


def _check_stop(stop: Mapping[str, Any], classes: int, floor: float, l2: float | None) -> None:
    choice("stop", stop["of"], ("accuracy", "recall", "regret"))
    share("stop", stop["wanted"])
    probability("confidence", stop["confidence"])
    if stop["of"] == "recall" and not 0 <= stop["code"] < classes:
        raise InvalidInput("stop", f"speaks of class {stop['code']}; there are {classes}")
    if stop["of"] == "regret" and l2 is not None:
        raise InvalidInput("l2", "leaves out the model that a regret is about; leave l2 out")
    if not floor:
        raise InvalidInput("check", "is 0, and without uniform draws nobody knows when to stop; use 0.1")


def check_cost(cost_per_label: float | None) -> None:
    if cost_per_label is not None and not 0 < cost_per_label < np.inf:
        raise InvalidInput("cost_per_label", f"must be a positive number, got {cost_per_label}")


def check_batch(batch: int | None, rows: int) -> None:
    if batch is not None and not 1 <= batch <= rows:
        raise InvalidInput("batch", f"must be from 1 to the number of items, {rows}, got {batch}")


def check_features(count: int) -> None:
    """Refuse more features than rounds can be planned with while people wait."""
    if count > MOST_FEATURES:
        raise InvalidInput(
            "features",
            f"there are {count} for each item, and a project takes at most {MOST_FEATURES}; "
            "reduce them first, for example to 500 principal components",
        )


def check_rows(ids: int, contents: int, rows: Sequence[int], pool: int) -> None:
    """Refuse items that do not go with the rows of a pool: each row has an item, and each item a row."""
    if not ids == contents == len(rows) or set(rows) != set(range(pool)):
        raise InvalidInput(
            "features", f"has {pool} rows for {len(set(rows))} distinct items; give one row an item"
        )
