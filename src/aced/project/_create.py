"""Make the files of a new project."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from aced._errors import InvalidInput
from aced._types import Float32
from aced.ledger import Ledger, Settings
from aced.pool import Pool
from aced.project._files import LEDGER, Savable, hash_files, item_lines, refuse_full, write_files
from aced.project._proposals import checked
from aced.project._settings import check_batch, check_features, check_rows, check_settings


def make_files(
    folder: Path,
    ids: Sequence[str],
    contents: Sequence[Any],
    kind: Literal["text", "image", "row"],
    features: Float32,
    classes: Sequence[str],
    *,
    rows: Sequence[int] | None,
    root: str | os.PathLike[str] | None,
    batch: int | None,
    embedding: Savable | None,
    proposals: tuple[Any, Any] | None,
    shown: Sequence[Mapping[str, Any]] | None,
    reading: Mapping[str, Any] | None,
    clock: Callable[[], float],
    **settings: Any,
) -> None:
    """Write a project's files, and its settings as the first event of its ledger.

    The arguments are those of ``Project.create``; ``settings`` are those that ``check_settings`` takes.
    """
    refuse_full(folder)
    classes = [str(name).strip() for name in classes]
    check_settings(classes, **settings)
    from aced.learner import default_batch  # takes long to load, and only new projects need it

    where = list(range(len(ids))) if rows is None else [int(row) for row in rows]
    pool = Pool(features)
    check_features(pool.features)
    check_rows(len(ids), len(contents), where, len(pool))
    if shown is not None and len(shown) != len(ids):
        raise InvalidInput("shown", f"has {len(shown)} parts for {len(ids)} items; give one an item")
    check_batch(batch, len(pool))
    proposed = None if proposals is None else checked(*proposals, len(pool), len(classes))
    if proposed is not None and settings["l2"] is not None:
        raise InvalidInput("l2", "leaves out the model that proposals are joined with; leave l2 out")
    if proposed is not None and (settings.get("stop") or {}).get("of") == "regret":
        raise InvalidInput("stop_regret", "is about the model alone; leave proposals out")
    write_files(folder, item_lines(ids, contents, where, shown), pool, embedding, proposed)
    numbers: dict[str, Any] = {name: float(settings[name]) for name in ("check", "overlap", "lease")}
    made = Settings(
        classes=tuple(classes),
        kind=kind,
        items=len(ids),
        rows=len(pool),
        pool=pool.fingerprint,
        root=None if root is None else str(Path(root).resolve()),
        strategy=settings["strategy"],
        seed=int(settings["seed"]),
        batch=default_batch(len(pool)) if batch is None else int(batch),
        l2=None if settings["l2"] is None else float(settings["l2"]),
        representation=settings["representation"] or ("auto" if settings["l2"] is None else "linear"),
        combine=settings["combine"],
        files=hash_files(folder),
        audit=settings.get("audit"),
        stop=settings.get("stop"),
        cost_per_label=settings.get("cost_per_label"),
        reading=reading,
        **numbers,
    )
    ledger = Ledger(folder / LEDGER, create=True, clock=clock)
    with ledger.writing() as writing:
        writing.append("created", "", body=made.body())
    ledger.close()
