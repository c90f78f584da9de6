"""The files of a project.

PROJECT/ledger.sqlite    what happened, append-only
PROJECT/ledger.head      the number and the hash of the last acknowledged event
PROJECT/ledger.snapshot  the state after some event; made anew from the ledger if lost
PROJECT/items.jsonl      every item: its id, its content, what is shown besides, its row of the pool
PROJECT/features.npy     one row for each distinct item
PROJECT/proposals.npy    proposed classes and how sure they are; absent if there are none
PROJECT/embedding.npz    how features of new items are computed; absent if the user gave features
PROJECT/embed.json       the name of the user's function that made the features; shown, never called
PROJECT/memory.npz       the memory that the last round leaves; made anew from the ledger if lost
PROJECT/checked.json     sizes and times of large files whose hashes were right; made anew if lost

The ledger holds their hashes. Those of items, features and proposals are compared
whenever a project is opened, that of the embedding when it is used. A large file is read again only if
its size or time has changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from aced._errors import Damaged, InvalidInput, reason
from aced._files import replacing
from aced._types import Float32, Float64
from aced.ledger import Settings, State
from aced.pool import Pool

LEDGER, HEAD, ITEMS, FEATURES = "ledger.sqlite", "ledger.head", "items.jsonl", "features.npy"
EMBEDDING, FUNCTION, MEMORY = "embedding.npz", "embed.json", "memory.npz"
CHECKED, PROPOSALS = "checked.json", "proposals.npy"
OPENED = (ITEMS, FEATURES, PROPOSALS)
"""Files whose hashes are compared whenever a project is opened."""
RESTORE = "restore a copy of the project"
LARGE = 64 * 2**20
"""Bytes from which a file that has not changed is not read again at every opening."""


def item_lines(
    ids: Sequence[str],
    contents: Sequence[Any],
    rows: Sequence[int],
    shown: Sequence[Mapping[str, Any]] | None,
) -> bytes:
    besides = [{}] * len(rows) if shown is None else [{"shown": dict(cells)} for cells in shown]
    lines = [
        json.dumps({"id": str(name), "content": content, "row": row, **more}, ensure_ascii=False) + "\n"
        for name, content, row, more in zip(ids, contents, rows, besides, strict=True)
    ]
    try:
        return "".join(lines).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("items", "a text holds half a character; save the file as UTF-8") from error


class Savable(Protocol):
    """Something that can be written to a file."""

    def save(self, path: Path) -> None: ...


def refuse_full(folder: Path) -> None:
    """Refuse a place for a new project where there is something already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput("project", f"{folder} exists and is not an empty folder; choose another")


def write_files(
    folder: Path, lines: bytes, pool: Pool, embedding: Savable | None, proposed: Float64 | None
) -> None:
    """Write what a new project has besides its ledger."""
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / FEATURES) as file:
        np.save(file, pool.rows())
    with replacing(folder / ITEMS) as file:
        file.write(lines)
    if proposed is not None:
        with replacing(folder / PROPOSALS) as file:
            np.save(file, proposed)
    if embedding is not None:
        embedding.save(folder / EMBEDDING)


def find_ledger(folder: Path) -> Path:
    """The ledger of a project; a folder that is none is refused."""
    path = folder / LEDGER
    if folder.is_dir() and not os.access(folder, os.X_OK):
        raise InvalidInput(
            "project", f"{folder} cannot be entered: you lack the permission; ask its owner"
        )
    if not path.exists():
        if any((folder / name).exists() for name in (ITEMS, FEATURES, HEAD)):
            raise Damaged("project", f"{path} is missing; {RESTORE}")
        raise InvalidInput("project", f"{folder} is not a project; make one with aced init")
    return path


def read_items(path: Path, settings: Settings) -> list[dict[str, Any]]:
    """Every item: its id, its content and its row. Every row of the pool must have one."""
    found: list[dict[str, Any]] = []
    _check_regular(path)
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                found.append(json.loads(line))
                assert isinstance(found[-1]["id"], str)
                assert isinstance(found[-1]["row"], int)
                assert "content" in found[-1]
                assert isinstance(found[-1].get("shown", {}), dict)
    except OSError as error:
        raise Damaged("project", f"{path} cannot be read ({error.strerror}); {RESTORE}") from error
    except (ValueError, RecursionError, TypeError, LookupError, AssertionError) as error:
        where = f"line {len(found) + isinstance(error, ValueError)}"
        raise Damaged("project", f"{where} of {path} is damaged; {RESTORE}") from error
    if len(found) != settings.items:
        raise Damaged("project", f"{path} has {len(found)} items, not {settings.items}; {RESTORE}")
    if {item["row"] for item in found} != set(range(settings.rows)):
        raise Damaged("project", f"{path} is damaged: its rows are not those of the pool; {RESTORE}")
    return found


def read_features(path: Path) -> Float32:
    _check_regular(path)
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise Damaged("project", f"{path} cannot be read ({reason(error)}); {RESTORE}") from error


def pool_of(features: Float32, path: Path, settings: Settings) -> Pool:
    """The pool of these features, which are in the file ``path``."""
    try:
        pool = Pool(features)
    except InvalidInput as error:
        raise Damaged("project", f"{path} is damaged ({error}); {RESTORE}") from error
    if pool.fingerprint != settings.pool:
        raise Damaged("project", f"{path} is not the one the project was made with; {RESTORE}")
    return pool


def _check_regular(path: Path) -> None:
    if not path.is_file():
        raise Damaged("project", f"{path} is missing or no regular file; {RESTORE}")


def hash_file(path: Path) -> str:
    """The SHA-256 of a regular file."""
    _check_regular(path)
    try:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while part := file.read(2**20):
                digest.update(part)
        return digest.hexdigest()
    except OSError as error:
        raise Damaged("project", f"{path} cannot be read ({error.strerror}); {RESTORE}") from error


def hash_files(folder: Path) -> dict[str, str]:
    """The hashes that a ledger keeps of a project's files."""
    names = [ITEMS, FEATURES] + [one for one in (EMBEDDING, PROPOSALS) if (folder / one).exists()]
    return {name: hash_file(folder / name) for name in names}


def check_all(folder: Path, state: State) -> None:
    """Refuse a project one of whose files is not as it was, read from the first byte to the last."""
    check_files(folder, state.files, anew=True)
    if not state.files:  # a project of before, which was not opened since
        read_items(folder / ITEMS, state.settings)
        pool_of(read_features(folder / FEATURES), folder / FEATURES, state.settings)


def check_files(folder: Path, hashes: Mapping[str, str], *, anew: bool = False) -> None:
    """Refuse files that are not those whose hashes the ledger has; ``anew``, read even large ones."""
    seen = {} if anew else _seen(folder)
    before = dict(seen)
    for name, known in hashes.items():
        path = folder / name
        stamp = _stamp(path, known)
        if stamp is not None and seen.get(name) == stamp:
            continue
        if hash_file(path) != known:
            raise Damaged("project", f"{path} is not the one the project was made with; {RESTORE}")
        if stamp is not None:
            seen[name] = stamp
    place = folder / CHECKED
    if seen != before and (place.is_file() or not place.exists()):
        with suppress(OSError), replacing(place) as file:
            file.write(json.dumps(seen).encode())


def _seen(folder: Path) -> dict[str, Any]:
    place = folder / CHECKED
    try:
        found = json.loads(place.read_bytes()) if place.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _stamp(path: Path, known: str) -> list[Any] | None:
    """Size, time and hash of a large file; None for others."""
    try:
        found = path.stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, known] if found.st_size >= LARGE else None
