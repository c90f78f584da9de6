"""The files of a project.

PROJECT/ledger.sqlite    what happened, append-only
PROJECT/ledger.head      the number and the hash of the last acknowledged event
PROJECT/ledger.snapshot  the state after some event; made anew from the ledger if lost
PROJECT/items.jsonl      every item: its id, its content, the row of the pool it belongs to
PROJECT/features.npy     one row for each distinct item
PROJECT/embedding.npz    how features of new items are computed; absent if the user gave features
PROJECT/embed.json       the name of the user's function that made the features; shown, never called
PROJECT/memory.npz       the memory that the last round leaves; made anew from the ledger if lost
PROJECT/checked.json     sizes and times of large files whose hashes were right; made anew if lost

The ledger holds the hashes of items and features. They are compared whenever a project is opened. A
large file is read again only if its size or time has changed since.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aced._errors import Damaged, InvalidInput
from aced._files import replacing

LEDGER, ITEMS, FEATURES = "ledger.sqlite", "items.jsonl", "features.npy"
EMBEDDING, FUNCTION, MEMORY = "embedding.npz", "embed.json", "memory.npz"
CHECKED = "checked.json"
RESTORE = "restore a copy of the project"
LARGE = 64 * 2**20
"""Bytes from which a file that has not changed is not read again at every opening."""


def item_lines(ids: Sequence[str], contents: Sequence[Any], rows: Sequence[int]) -> bytes:
    lines = [
        json.dumps({"id": str(name), "content": content, "row": row}, ensure_ascii=False) + "\n"
        for name, content, row in zip(ids, contents, rows, strict=True)
    ]
    try:
        return "".join(lines).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("items", "a text holds half a character; save the file as UTF-8") from error


def read_items(path: Path, count: int) -> list[dict[str, Any]]:
    """Every item: its id, its content and its row. There must be ``count`` of them."""
    found = []
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                found.append(json.loads(line))
                assert isinstance(found[-1]["id"], str)
                assert isinstance(found[-1]["row"], int)
                assert "content" in found[-1]
    except OSError as error:
        raise Damaged("project", f"{path} cannot be read ({error.strerror}); {RESTORE}") from error
    except (ValueError, RecursionError, TypeError, LookupError, AssertionError) as error:
        where = f"line {len(found) + isinstance(error, ValueError)}"
        raise Damaged("project", f"{where} of {path} is damaged; {RESTORE}") from error
    if len(found) != count:
        raise Damaged("project", f"{path} has {len(found)} items instead of {count}; {RESTORE}")
    return found


def hash_file(path: Path) -> str:
    """The SHA-256 of a regular file."""
    if not path.is_file():
        raise Damaged("project", f"{path} is missing or no regular file; {RESTORE}")
    try:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while part := file.read(2**20):
                digest.update(part)
        return digest.hexdigest()
    except OSError as error:
        raise Damaged("project", f"{path} cannot be read ({error.strerror}); {RESTORE}") from error


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
    if seen != before:
        with suppress(OSError), replacing(folder / CHECKED) as file:
            file.write(json.dumps(seen).encode())


def _seen(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / CHECKED).read_bytes())
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
