"""Which columns of a table are for what: some are learned from, some are only shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aced._errors import InvalidInput
from aced._tables import Table
from aced.items._cells import all_numbers

TEXT_NAMES = ("text", "content", "sentence", "body", "review", "title")
LONG = 20
"""A column whose cells are longer than this on average is prose, not a category."""
NAMED = 12
"""The most columns that a sentence names."""


@dataclass(frozen=True)
class Columns:
    """The columns that a person named; None or nothing where the reader is to choose.

    ``learned`` make the text or the features, ``shown`` are seen beside them, ``left_out`` are neither.
    ``label`` holds labels, ``ids`` the ids. ``before`` is what another file was read with: columns that
    nobody named are the same.
    """

    learned: Sequence[str] | None = None
    shown: Sequence[str] = ()
    left_out: Sequence[str] = ()
    label: str | None = None
    ids: str | None = None
    before: Mapping[str, Any] | None = None

    @property
    def named(self) -> str | None:
        """The first of the names, if there is one."""
        singles = [name for name in (self.label, self.ids) if name is not None]
        return next(iter([*(self.learned or ()), *self.shown, *self.left_out, *singles]), None)

    def of(self, table: Table, file: str) -> Columns:
        """The names as the table has them; refused if it lacks one, or if one is to be two things."""
        if self.before is not None:
            return self._as_before(table, file)
        found = Columns(
            None if self.learned is None else _split("columns", self.learned, table, file),
            _split("show", self.shown, table, file),
            _split("exclude", self.left_out, table, file),
            None if self.label is None else _held("label_column", self.label, table, file),
            None if self.ids is None else _held("items", self.ids, table, file),
        )
        _refuse_two_uses(found)
        return found

    def _as_before(self, table: Table, file: str) -> Columns:
        """The columns of before. Those that were only shown, or held labels, need not be there."""
        before: Mapping[str, Any] = self.before or {}
        learned = self.learned
        if learned is not None:
            learned = _split("columns", learned, table, file)
        elif before.get("kind") == "row":
            learned = [name for name in before["columns"] if name in table.columns] or None
        elif before.get("named") or all(name in table.columns for name in before.get("columns", [])):
            learned = before.get("columns")
            missing = next((name for name in learned or [] if name not in table.columns), None)
            if missing is not None:
                raise InvalidInput(
                    "items",
                    f"{file} has no column {missing!r}, which the project's texts are made of; it has "
                    f"{some(table.columns)}; name the columns to take instead",
                )
        aside = [*before.get("show", []), *before.get("exclude", []), before.get("label_column")]
        left_out = [name for name in table.columns if name in aside and name not in (learned or [])]
        ids = before.get("id_column") if self.ids is None else self.ids
        return Columns(
            learned, (), left_out, None, None if ids is None else _held("items", ids, table, file)
        )


def _split(argument: str, given: Sequence[str], table: Table, file: str) -> list[str]:
    """The names of columns, given one by one or with commas between them.

    What is itself the name of a column stays whole, though it may hold commas.
    """
    found: list[str] = []
    for one in given:
        names = [one] if one in table.columns else [name.strip() for name in one.split(",")]
        found += [_held(argument, name, table, file) for name in names]
    repeated = next((name for name in found if found.count(name) > 1), None)
    if repeated is not None:
        raise InvalidInput(argument, f"holds {repeated!r} twice; name it once")
    return found


def _held(argument: str, name: str, table: Table, file: str) -> str:
    if name not in table.columns:
        raise InvalidInput(argument, f"{file} has no column {name!r}; it has {some(table.columns)}")
    return name


def _refuse_two_uses(found: Columns) -> None:
    """Refuse a column that is to be two things at once. Ids may be shown and learned from."""
    uses = [
        ("columns", found.learned or ()),
        ("show", found.shown),
        ("exclude", found.left_out),
        ("label_column", () if found.label is None else (found.label,)),
    ]
    for place, (later, names) in enumerate(uses):
        for earlier, others in uses[:place]:
            both = next((name for name in names if name in others), None)
            if both is not None:
                raise InvalidInput(
                    f"{earlier} and {later}", f"both name {both!r}; leave it in one of them"
                )
    if found.ids is not None and found.ids in (*found.left_out, found.label):
        other = "exclude" if found.ids in found.left_out else "label_column"
        raise InvalidInput(f"id_column and {other}", f"both name {found.ids!r}; leave it in one of them")


def some(names: Sequence[str]) -> str:
    """The first names, for a sentence."""
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")


def texts_among(table: Table, columns: Sequence[str]) -> list[str]:
    """The columns that look as if they held texts: by their names, or by long cells with words."""
    return [
        name
        for name in columns
        if _worded(table.column(name)) and (name.lower() in TEXT_NAMES or _is_prose(table.column(name)))
    ]


def obvious(table: Table, columns: Sequence[str], texts: Sequence[str]) -> str | None:
    """The one column of text, if there is one: of a usual name, the only column, or the only text."""
    if len(columns) == 1:
        return columns[0] if _worded(table.column(columns[0])) else None
    for wanted in TEXT_NAMES:
        for name in texts:
            if name.lower() == wanted:
                return name
    return texts[0] if len(texts) == 1 else None


def _worded(cells: list[Any]) -> bool:
    return any(isinstance(cell, str) and cell.strip() for cell in cells) and not all_numbers(cells)


def _is_prose(cells: list[Any]) -> bool:
    """Whether cells are long and mostly have words in them, unlike dates, addresses or checksums."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    worded = sum(len(text.split(maxsplit=2)) > 2 or not text.isascii() for text in texts)
    return sum(map(len, texts)) > LONG * len(texts) and 2 * worded > len(texts)
