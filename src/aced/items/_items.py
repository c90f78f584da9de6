"""The items that people are shown."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from aced._errors import InvalidInput
from aced._tables import Table
from aced._types import Ints

Kind: TypeAlias = Literal["text", "image", "row"]
Contents: TypeAlias = list[str] | list[dict[str, Any]]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, eq=False)
class Source:
    """The table that items came from, and what its columns are for.

    ``learned`` make the contents; ``named`` says that a person chose them. ``left`` are other columns of
    text that the reader might have taken. ``free`` are all columns but those of ids and labels and those
    that a person left out.
    """

    table: Table
    learned: list[str]
    named: bool
    left: list[str]
    free: list[str]
    shown: list[str]
    left_out: list[str]
    label: str | None
    ids: str | None


@dataclass(frozen=True, eq=False)
class Items:
    """Texts, images or rows of a table, with distinct ids.

    ``contents`` holds texts, paths of images relative to ``root`` (with forward slashes),
    or dictionaries from column to value. ``same_as`` is the position of the first item
    that looks the same. ``columns`` are the columns that contents were made of. ``skipped`` counts the
    images of a folder that are left out: other formats, and links that lead out of the folder.
    ``broken`` are those that cannot be read, and ``blank`` counts the blank lines of a file of texts.
    ``shown`` has what people see of each item besides its content, and ``source`` is the table.
    """

    kind: Kind
    ids: list[str]
    contents: Contents
    root: Path | None
    columns: list[str] | None
    same_as: Ints
    skipped: int = 0
    shown: list[dict[str, Any]] | None = None
    source: Source | None = None
    broken: Sequence[str] = ()
    blank: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInput("items", f"kind {self.kind!r} is unknown; use {', '.join(KINDS)}")
        if not self.ids:
            raise InvalidInput("items", "there are no items; pass at least one")
        if not len(self.ids) == len(self.contents) == len(self.same_as):
            raise InvalidInput(
                "items",
                f"{len(self.ids)} ids, {len(self.contents)} contents and "
                f"{len(self.same_as)} values of same_as; pass equally many",
            )
        if self.shown is not None and len(self.shown) != len(self.ids):
            raise InvalidInput(
                "items",
                f"{len(self.ids)} ids and {len(self.shown)} values of shown; pass equally many",
            )
        if self.kind == "image" and self.root is None:
            raise InvalidInput("items", "images need root, the folder their paths start from")
        firsts = first_alike(self.ids)
        repeats = np.flatnonzero(firsts != np.arange(len(self)))
        if len(repeats):
            again = repeats[0]
            raise InvalidInput(
                "items",
                f"id {self.ids[again]!r} names both items {firsts[again] + 1} and {again + 1}; "
                "ids must be distinct, so name another column of ids or repair this one",
            )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def firsts(self) -> Ints:
        """Positions of the distinct items, which need to be shown."""
        return np.flatnonzero(self.same_as == np.arange(len(self)))

    @property
    def duplicates(self) -> int:
        """How many items repeat an earlier one."""
        return len(self) - len(self.firsts)


def first_alike(keys: Iterable[Hashable]) -> Ints:
    """For each key, the position at which it occurs first.

    >>> first_alike("abcab").tolist()
    [0, 1, 2, 0, 1]
    """
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.int64)


def text_items(
    texts: list[str],
    ids: list[str],
    columns: list[str] | None = None,
    shown: list[dict[str, Any]] | None = None,
    source: Source | None = None,
    blank: int = 0,
) -> Items:
    """Texts as items. Texts are the same if they are equal in NFC, without the space around them.

    What is shown beside them must be equal, too.
    """
    alike = first_alike(_beside((unicodedata.normalize("NFC", text).strip() for text in texts), shown))
    return Items("text", ids, texts, None, columns, alike, shown=shown, source=source, blank=blank)


def row_items(
    rows: list[dict[str, Any]],
    ids: list[str],
    columns: list[str],
    shown: list[dict[str, Any]] | None = None,
    source: Source | None = None,
) -> Items:
    """Rows of a table as items. Two rows are the same if all their values are, also those only shown."""
    values = (json.dumps([row.get(name) for name in columns]) for row in rows)
    return Items(
        "row", ids, rows, None, columns, first_alike(_beside(values, shown)), shown=shown, source=source
    )


def _beside(keys: Iterable[str], shown: list[dict[str, Any]] | None) -> Iterable[Hashable]:
    """The keys together with what is shown beside the contents."""
    if shown is None:
        return keys
    return zip(keys, (json.dumps(list(cells.values())) for cells in shown), strict=False)
