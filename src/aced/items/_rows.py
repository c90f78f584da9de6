"""Features of table rows: numbers on one scale, categories with one column for each value."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aced._errors import InvalidInput
from aced._types import Array, Float32, Float64
from aced.items._cells import all_numbers, as_number, as_text
from aced.items._encoder import State
from aced.items._items import Items, Kind
from aced.pool import unit

VALUES = 50
"""This many values of a category get a column each; the other values share one column."""

LARGEST = float(np.finfo(np.float32).max)

ENOUGH = 50
"""From this many rows on, values that occur only once share the column of the other values."""


@dataclass(frozen=True)
class Number:
    """A column (x - mean) / scale, 0 for empty cells; if ``marked``, a second column marks these."""

    name: str
    mean: float
    scale: float
    marked: bool

    @classmethod
    def fit(cls, name: str, cells: list[Any], ids: list[str]) -> Number:
        values = _numbers(name, cells, ids)
        scaler = StandardScaler().fit(values[:, None])
        scale = unit(np.sqrt(scaler.var_), scaler.mean_, int(scaler.n_samples_seen_))
        return cls(name, float(scaler.mean_[0]), float(scale[0]), marked=bool(np.isnan(values).any()))

    def transform(self, cells: list[Any], ids: list[str]) -> Float64:
        values = _numbers(self.name, cells, ids)
        scaled = np.nan_to_num((values - self.mean) / self.scale, nan=0.0)
        return np.column_stack([scaled, np.isnan(values)] if self.marked else [scaled])


@dataclass(frozen=True)
class Category:
    """A column of 0 and 1 for each of ``values``; if ``others``, one more for all other values."""

    name: str
    values: list[str]
    others: bool

    @classmethod
    def fit(cls, name: str, cells: list[Any]) -> Category:
        words = np.array([[as_text(cell)] for cell in cells], dtype=object)
        encoder = OneHotEncoder(
            max_categories=VALUES + 1,  # scikit-learn counts the shared column
            min_frequency=2 if len(cells) >= ENOUGH else None,
            handle_unknown="infrequent_if_exist",
        ).fit(words)
        rare = encoder.infrequent_categories_[0]
        shared = set() if rare is None else set(rare.tolist())
        return cls(name, [word for word in encoder.categories_[0] if word not in shared], bool(shared))

    def transform(self, cells: list[Any], ids: list[str]) -> Float64:
        places = {value: place for place, value in enumerate(self.values)}
        columns = np.zeros((len(cells), len(self.values) + 1))  # the last one: all others
        columns[np.arange(len(cells)), [places.get(as_text(cell), len(places)) for cell in cells]] = 1
        return columns if self.others else columns[:, :-1]


def _numbers(name: str, cells: list[Any], ids: list[str]) -> Float64:
    values = np.empty(len(cells))
    for place, cell in enumerate(cells):
        number = as_number(cell)
        if number is None or abs(number) > LARGEST:
            what = "no number" if number is None else "infinite or too large"
            raise InvalidInput(
                "items",
                f"column {name!r} holds {str(cell)[:40]!r} for id {ids[place]!r}, "
                f"which is {what}; repair it or leave it empty",
            )
        values[place] = number
    return values


@dataclass(frozen=True, eq=False)
class TableRows:
    """Embeds rows of a table, column by column. Columns without any value are left out."""

    columns: list[Number | Category]
    kind: Kind = "row"
    how: str = "table"

    @classmethod
    def fit(cls, items: Items) -> TableRows:
        columns: list[Number | Category] = []
        for name in items.columns or []:
            cells = _cells(items, name)
            if all_numbers(cells):
                columns.append(Number.fit(name, cells, items.ids))
            elif any(as_text(cell).strip() for cell in cells):
                columns.append(Category.fit(name, cells))
        if not columns:
            raise InvalidInput("items", "no column of the table holds a value; fill in at least one")
        return cls(columns)

    def transform(self, items: Items) -> Float32:
        held = set(items.columns or [])
        absent = [column.name for column in self.columns if column.name not in held]
        if absent:
            raise InvalidInput(
                "items",
                f"column {absent[0]!r} is missing; these features need "
                f"{', '.join(column.name for column in self.columns[:12])}",
            )
        parts = [one.transform(_cells(items, one.name), items.ids) for one in self.columns]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def describe(self) -> str:
        numbers = sum(isinstance(column, Number) for column in self.columns)
        said = _counted(numbers, "number", "numbers")
        said += _counted(len(self.columns) - numbers, "category", "categories")
        return f"{' and '.join(said)} of a table, scaled and one-hot encoded"

    def state(self) -> State:
        stored = [
            {"number" if isinstance(column, Number) else "category": astuple(column)}
            for column in self.columns
        ]
        return {"columns": stored}, {}

    @classmethod
    def restored(cls, meta: dict[str, Any], arrays: dict[str, Array]) -> TableRows:
        columns: list[Number | Category] = []
        for stored in meta["columns"]:
            if "number" in stored:
                name, mean, scale, marked = stored["number"]
                if not (math.isfinite(mean) and scale > 0):
                    raise ValueError("no scale")
                columns.append(Number(str(name), float(mean), float(scale), bool(marked)))
            else:
                name, values, others = stored["category"]
                columns.append(Category(str(name), [str(value) for value in values], bool(others)))
        if not columns:
            raise ValueError("no columns")
        return cls(columns)


def _cells(items: Items, name: str) -> list[Any]:
    return [row.get(name) for row in items.contents if isinstance(row, dict)]


def _counted(count: int, one: str, many: str) -> list[str]:
    return [f"{count} {one if count == 1 else many}"] if count else []
