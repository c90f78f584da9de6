"""Proposed classes of a project: a file with a code, and how sure it is, for each row of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import Damaged, InvalidInput
from aced._types import Float64, Ints
from aced.ledger import State
from aced.project._files import PROPOSALS, RESTORE, read_features

SURE = 0.9
"""How sure a proposal is that does not say."""

Proposed = tuple[Ints, Float64]
"""The proposed code of every row, and how sure it is."""


def checked(codes: Any, sure: Any, rows: int, classes: int) -> Float64:
    """What the file of a new project holds, (rows, 2)."""
    codes = np.asarray(codes)
    sure = np.full(rows, SURE) if sure is None else np.asarray(sure, dtype=float)
    if codes.shape != (rows,) or sure.shape != (rows,):
        raise InvalidInput("proposals", f"must be one for each of {rows} rows, got {len(codes)}")
    if not np.isin(codes, np.arange(classes)).all():
        raise InvalidInput("proposals", "must be codes of the classes")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise InvalidInput("proposals", "must be sure by numbers from 0 to 1")
    return np.column_stack([codes, sure])


def read_proposals(folder: Path, rows: int) -> Float64 | None:
    """The file of a project; None if it has none. Its hash is checked when a project is opened."""
    path = folder / PROPOSALS
    if not path.exists():
        return None
    found = np.asarray(read_features(path), dtype=float)
    if found.shape != (rows, 2):
        raise Damaged("project", f"{path} is damaged: it is not for {rows} rows; {RESTORE}")
    return found


def standing(found: Float64 | None, state: State) -> Proposed | None:
    """The proposals with the codes that their classes count as now."""
    if found is None:
        return None
    stands = np.array(state.stands, dtype=np.int64)
    return stands[found[:, 0].astype(np.int64)], found[:, 1]


def trusted(rounds: Sequence[dict[str, Any]]) -> dict[str, float] | None:
    """How far the last round trusted model and proposals; None if it had none."""
    design = (rounds[-1].get("design") or {}) if rounds else {}
    if "proposal_weight" not in design:
        return None
    return {"model": design["model_weight"], "proposals": design["proposal_weight"]}
