"""Whether a random forest would be clearly better than the model, on labels that neither has seen.

Of m labelled rows, let f_i and g_i be 1 where the forest and the model are right about row i, and 0
where they are wrong. The forest is trained on four fifths of the rows and asked about the fifth; the
model's answers are those for labels left out one at a time (:mod:`aced.representations`). With

    d_i = f_i - g_i,    mean d̄,    standard error s = std(d) / sqrt(m),

the forest is clearly better if d̄ > LEAST and d̄ > ERRORS · s. The forest has seen fewer labels than the
model, so it is rather too seldom called better than too often. The comparison is made when there are
FEWEST labels, and again whenever they have doubled, on at most MOST of them. Nothing here is random: the
forest's seed is fixed, and the parts follow from the labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aced._types import Array, Bools, Ints
from aced.pool import Pool
from aced.representations import Model

FEWEST = 100
MOST = 1000
PARTS = 5
TREES = 100
LEAST = 0.01
ERRORS = 2.5
"""With no difference between the two, a comparison says that there is one in about 0.6 % of cases."""
WIDEST = 5000
"""Rows with more columns than this are not given to a forest, which would take long."""


@dataclass(frozen=True)
class Compared:
    """The last comparison: the shares of left-out labels that are predicted."""

    labels: int
    forest: float
    model: float
    better: bool

    @property
    def advice(self) -> str:
        return (
            f"A random forest would be right on {self.forest:.2f} of left-out labels, this model on "
            f"{self.model:.2f}: pass classifier=RandomForestClassifier() (docs/representation.md)"
        )

    def record(self) -> dict[str, float | int | str]:
        """What the history says of it."""
        found: dict[str, float | int | str] = {"forest": self.forest, "model": self.model}
        return {**found, "advice": self.advice} if self.better else found

    def to_arrays(self) -> dict[str, Array]:
        """The comparison as an array, for saving."""
        return {"forest": np.array([self.labels, self.forest, self.model, self.better], dtype=float)}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array]) -> Compared | None:
        """The comparison that ``to_arrays`` gave; None if there is none."""
        if "forest" not in arrays:
            return None
        labels, forest, model, better = arrays["forest"].tolist()
        return cls(int(labels), forest, model, bool(better))


def compare(last: Compared | None, pool: Pool, positions: Ints, model: Model) -> Compared | None:
    """The comparison after ``last`` for the model of the labels of these rows; ``last`` if none is due.

    The model must have left out every label: of very many, it leaves out some only.
    """
    labels, wide = len(positions), pool.features > WIDEST
    due = labels >= (FEWEST if last is None else 2 * last.labels)
    if not due or wide or len(model.known) != labels:
        return last
    some = slice(None, None, -(-labels // MOST))
    codes = model.known[some]
    by_forest = forest_right(pool.rows(positions[some]), codes)
    by_model = (model.left_out.argmax(axis=1) == model.known)[some]
    better = clearly_better(by_forest, by_model)
    return Compared(labels, float(by_forest.mean()), float(by_model.mean()), better)


def forest_right(rows: Array, codes: Ints) -> Bools:
    """Where a forest is right about rows (m, p) that it was not trained on, (m,)."""
    from sklearn.ensemble import RandomForestClassifier  # takes long to load, and few rounds need it

    order = np.argsort(codes, kind="stable")  # every part has its share of every class
    right = np.zeros(len(codes), dtype=bool)
    for part in range(PARTS):
        held = order[part::PARTS]
        rest = np.setdiff1d(order, held)
        forest = RandomForestClassifier(n_estimators=TREES, random_state=0).fit(rows[rest], codes[rest])
        right[held] = forest.predict(rows[held]) == codes[held]
    return right


def clearly_better(forest: Bools, model: Bools) -> bool:
    """Whether the first is right more often by LEAST and by ERRORS standard errors.

    >>> model = np.arange(400) % 10 > 1            # right on 0.8
    >>> clearly_better(model, model), clearly_better(np.arange(400) % 10 > 0, model)
    (False, True)
    >>> clearly_better(np.arange(400) > 2, np.arange(400) > 5)
    False
    """
    difference = forest.astype(float) - model
    mean, error = difference.mean(), difference.std() / np.sqrt(len(difference))
    return bool(mean > LEAST and mean > ERRORS * error)
