"""Who trains a classifier: the model, a classifier with a fixed penalty, or one of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.dummy import DummyClassifier

from aced._errors import InvalidInput
from aced._types import Array, Ints
from aced._workers import Workers
from aced.design import Report
from aced.learner._classifier import Fixed, Own
from aced.learner._forest import Compared, compare
from aced.pool import Pool
from aced.representations import Choice, Model, Representations, as_classifier, as_linear

CHOSEN = "chosen"
"""What a saved learner has in place of a fixed penalty."""


@dataclass(frozen=True)
class Fitted:
    """A trained classifier, and the same for rows in a representation."""

    classifier: Any
    """For rows of the pool as it is."""
    pool: Pool
    """The rows in the representation."""
    head: Any
    """The classifier for rows of that pool."""
    model: Model | None = None
    choice: Choice | None = None
    positions: Ints | None = None
    """The rows that the model was fitted to."""


class Fits(Protocol):
    """Fits classifiers to rows and labels."""

    def fit(self, rows: Any, labels: Array) -> Any:
        """A classifier fitted to these rows (m, p) and labels (m,)."""


class Trainer:
    """Trains on rows of one pool, with a classifier that needs no representation."""

    def __init__(self, pool: Pool, fits: Fits) -> None:
        self.pool, self._fits = pool, fits

    def fit(self, positions: Ints, labels: Array) -> Fitted:
        """The classifier for these labels of these rows."""
        model = self._fits.fit(self.pool.rows(positions), labels)
        return Fitted(model, self.pool, model)

    def refit(self, positions: Ints, labels: Array) -> Fitted:
        """The same with what was kept, where something was."""
        return self.fit(positions, labels)

    def settle(self, fitted: Fitted | None) -> tuple[Pool, Model | None]:
        """The rows and the model for a round; what was chosen is kept from here on."""
        return self.pool, None

    def mark(self) -> Any:
        """What ``back_to`` needs to undo a ``settle``."""
        return None

    def back_to(self, mark: Any) -> None:
        """Be as at the ``mark``."""

    def record(self) -> dict[str, float | int | str]:
        """What the history says of the representation."""
        return {}

    def arrays(self) -> dict[str, Array]:
        """What the next choice depends on beside the labels."""
        return {}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Go on from the ``arrays`` of another trainer."""


class Represented(Trainer):
    """Trains the model in the representation that the labels choose."""

    def __init__(
        self, representations: Representations, own: Own | None, report: Report | None = None
    ) -> None:
        self.pool, self.representations = representations.pool, representations
        self._own, self._report = own, report
        self.kept: Choice | None = None
        self._compared: Compared | None = None

    def fit(self, positions: Ints, labels: Array) -> Fitted:
        classes, codes = np.unique(labels, return_inverse=True)
        choice = self.representations.choose(self.kept, positions, codes)
        return self._fit(choice, positions, classes, codes)

    def refit(self, positions: Ints, labels: Array) -> Fitted:
        if self.kept is None:
            return self.fit(positions, labels)
        return self._fit(self.kept, positions, *np.unique(labels, return_inverse=True))

    def _fit(self, choice: Choice, positions: Ints, classes: Array, codes: Ints) -> Fitted:
        if len(classes) < 2:
            rows = self.pool.rows(positions)
            only = DummyClassifier(strategy="most_frequent").fit(rows, classes[codes])
            return Fitted(only, self.representations.pool_of(choice), only, choice=choice)
        model = self.representations.fit(choice, positions, codes)
        if self._own is not None:
            own = self._own.fit(self.pool.rows(positions), classes[codes])
            return Fitted(own, self.pool, own, model, choice)
        lift = self.representations.lift_of(choice)
        classifier = as_classifier(model, classes, lift)
        return Fitted(classifier, model.pool, as_linear(model, classes), model, choice, positions)

    def settle(self, fitted: Fitted | None) -> tuple[Pool, Model | None]:
        if fitted is None:
            return self.representations.pool_of(self.representations.start), None
        self.kept = fitted.choice
        assert self.kept is not None
        if fitted.model is not None and fitted.positions is not None:
            self._compare(fitted.positions, fitted.model)
        return self.representations.pool_of(self.kept), fitted.model

    def mark(self) -> Any:
        return self.kept, self._compared

    def back_to(self, mark: Any) -> None:
        self.kept, self._compared = mark

    def _compare(self, positions: Ints, model: Model) -> None:
        """Tell the user if a random forest would be clearly better."""
        found = compare(self._compared, self.pool, positions, model)
        if found is not self._compared and found is not None and found.better and self._report:
            self._report(found.advice)
        self._compared = found

    def record(self) -> dict[str, float | int | str]:
        found = (self.kept or self.representations.start).record()
        return found if self._compared is None else found | self._compared.record()

    def arrays(self) -> dict[str, Array]:
        held = {"landmarks": self.representations.landmarks}
        held |= {} if self.kept is None else self.kept.to_arrays()
        return held if self._compared is None else held | self._compared.to_arrays()

    def restore(self, arrays: Mapping[str, Array]) -> None:
        kept, landmarks = Choice.of_arrays(arrays), arrays.get("landmarks")
        weights = None if kept is None else kept.weights
        if weights is not None and weights.shape != (self.pool.features,):
            raise ValueError("column_weights is not what a learner saves")
        if landmarks is not None:
            if len(np.unique(landmarks)) != len(self.representations.landmarks):
                raise ValueError("landmarks is not what a learner saves")
            self.representations.lift_from(landmarks)
        self.kept, self._compared = kept, Compared.of_arrays(arrays)


def make_trainer(
    pool: Pool,
    workers: Workers,
    classifier: Any,
    l2: Any,
    representation: str | None,
    seed: int,
    report: Report | None = None,
) -> Trainer:
    """The trainer for these arguments of a learner."""
    if l2 is not None and classifier is None:
        if representation not in (None, "linear"):
            raise InvalidInput(
                "representation", f'is "{representation}", but l2 is for rows as they are; drop one'
            )
        return Trainer(pool, Fixed(pool, l2))
    own = None if classifier is None else Own(classifier)
    if own is not None and representation is None:
        return Trainer(pool, own)
    return Represented(Representations(pool, workers, representation or "auto", seed), own, report)
