"""The files of a project.

PROJECT/ledger.sqlite    what happened, append-only
PROJECT/items.jsonl      every item: its id, its content, the row of the pool it belongs to
PROJECT/features.npy     one row for each distinct item
PROJECT/embedding.npz    how features of new items are computed; absent if the user gave features
PROJECT/embed.json       the name of the user's function that made the features; shown, never called
PROJECT/memory.npz       the memory that the last round leaves; made anew from the ledger if lost
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from aced._errors import InvalidInput

LEDGER, ITEMS, FEATURES = "ledger.sqlite", "items.jsonl", "features.npy"
EMBEDDING, FUNCTION, MEMORY = "embedding.npz", "embed.json", "memory.npz"


def item_lines(ids: Sequence[str], contents: Sequence[Any], rows: Sequence[int]) -> bytes:
    lines = [
        json.dumps({"id": str(name), "content": content, "row": row}, ensure_ascii=False) + "\n"
        for name, content, row in zip(ids, contents, rows, strict=True)
    ]
    try:
        return "".join(lines).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("items", "a text holds half a character; save the file as UTF-8") from error
