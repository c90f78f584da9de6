"""What a saved learner must hold, checked before a learner is made of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from aced._errors import InvalidInput, reason
from aced._types import Array
from aced.learner._labels import Classes, plain
from aced.learner._memory import PREFIX
from aced.learner._rows import EXCLUDED, LABELLED, UNASKED
from aced.representations import Choice

NEEDED = {
    "pool", "strategy", "options", "classes", "classes_fixed", "l2", "budget", "batch_size",
    "tolerance", "rng", "history", "status", "codes", "queue",
}  # fmt: skip

_ROWS: dict[str, str] = {
    "status": "i1", "codes": "i8", "probabilities": "f8", "lam": "f8", "incumbent": "i8",
    PREFIX + "spent": "f8", "proposed": "i8", "proposed_sure": "f8",
}  # fmt: skip
"""Arrays with a number for each row, and their types; the last is one of aced's strategies."""

_POSITIONS = ("queue", "landmarks", PREFIX + "order", PREFIX + "rows")
"""Arrays of positions of rows."""


def check(meta: dict[str, Any], arrays: dict[str, Array], rows: int, own: bool) -> None:
    """A ValueError if these are not the parts of a learner over ``rows`` rows.

    ``own`` says that the strategy is one of aced's, whose arrays are known by name.
    """
    known = {name for name in arrays if own or not name.startswith(PREFIX)}
    for name in known & set(_ROWS):
        _require(arrays[name].shape == (rows,) and arrays[name].dtype == np.dtype(_ROWS[name]), name)
    for name in known & set(_POSITIONS):
        _require(arrays[name].ndim == 1 and arrays[name].dtype.kind == "i", name)
        _require(_within(arrays[name], rows - 1), name)
    if "choice" in arrays:
        _require(arrays["choice"].shape == (11,) and arrays["choice"].dtype == np.float64, "choice")
        _require(Choice.of_arrays(arrays) is not None, "choice")
    if "forest" in arrays:
        _require(arrays["forest"].shape == (4,) and arrays["forest"].dtype == np.float64, "forest")
        _require(bool(np.isfinite(arrays["forest"]).all()), "forest")
    order, luck = PREFIX + "order", PREFIX + "luck"
    if own and luck in arrays:  # a stream that passes the pool again grows longer than the pool
        _require(order in arrays and arrays[luck].shape == arrays[order].shape, luck)
    _check_values(arrays, {PREFIX + "spent"} if own else set())
    _check_classes(meta["classes"], arrays)
    history = meta["history"]
    _require(isinstance(history, list) and all(isinstance(r, dict) for r in history), "history")


def _check_values(arrays: dict[str, Array], masses: set[str]) -> None:
    status, queue, chances = arrays["status"], arrays["queue"], arrays["probabilities"]
    _require(_within(status, EXCLUDED), "status")
    _require(len(np.unique(queue)) == len(queue) and bool((status[queue] == UNASKED).all()), "queue")
    _require(bool((np.isnan(chances) | ((chances >= 0) & (chances <= 1))).all()), "probabilities")
    for name in {"lam", *masses} & set(arrays):
        _require(bool((np.isfinite(arrays[name]) & (arrays[name] >= 0)).all()), name)


def _check_classes(values: Any, arrays: dict[str, Array]) -> None:
    _require(isinstance(values, list), "classes")
    if len(values) >= 2:
        Classes(values)
    _require(all(type(value) is type(plain(value, "classes")) for value in values), "classes")
    codes, labelled = arrays["codes"], arrays["status"] == LABELLED
    last = max(1, len(values) - 1)
    _require(_within(codes, last) and _within(codes[labelled], len(values) - 1), "codes")
    _require(("proposed" in arrays) == ("proposed_sure" in arrays), "proposed")
    if "proposed" in arrays:
        _require(_within(arrays["proposed"], last), "proposed")
        sure = arrays["proposed_sure"]
        _require(bool(((sure > 0) & (sure < 1)).all()), "proposed_sure")
    _require("incumbent" not in arrays or _within(arrays["incumbent"], last), "incumbent")


def _within(numbers: Array, last: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() <= last)


def _require(good: bool, name: str) -> None:
    if not good:
        raise ValueError(f"{name} is not what a learner saves")


@contextmanager
def damaged(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say that a file is not a saved learner, whatever is wrong with its parts."""
    try:
        yield
    except InvalidInput:
        raise
    except Exception as error:
        sentence = f"{os.fspath(path)} is not a saved learner: {reason(error)}"
        raise InvalidInput("path", sentence) from error
