"""How accurate given predictions are, from as few labels as it takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from aced import certificates
from aced._check import share, whole
from aced._errors import InvalidInput
from aced._types import Array, Float64
from aced.certificates import (
    Certificate,
    Drawn,
    Frozen,
    Known,
    Stop,
    doubt,
    draw_telling,
    fitted,
    own_doubt,
)
from aced.learner._evidence import asked_of
from aced.learner._labels import Classes, plain_labels
from aced.learner._queries import Queries
from aced.learner._rows import LABELLED, PENDING, UNASKED, Rows
from aced.pool import Pool

EXPLORE = 0.3


class Audit:
    """Asks for labels of rows, and says how accurate ``predictions`` are on all of them.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.choice(["bug", "question", "other"], 4000)
    >>> said = np.where(rng.random(4000) < 0.1, "other", truth)
    >>> audit = Audit(said, seed=0)
    >>> while audit.accuracy().high - audit.accuracy().low > 0.1:
    ...     queries = audit.ask(20)
    ...     audit.tell(queries.ids, truth[queries.ids])
    >>> print(audit.labels_known, audit.accuracy())
    380 accuracy 0.897, from 0.838 to 0.934 with 95 % confidence

    ``predictions`` are classes, one for each row. ``confidence`` says how sure each prediction is, from
    0 to 1; poor numbers only cost labels. ``ids`` name the rows (default: 0, 1, …). ``classes`` are
    those that labels may name (default: any). ``explore`` is the share of uniform draws.
    """

    def __init__(
        self,
        predictions: Iterable[Any],
        *,
        confidence: Any = None,
        ids: Any = None,
        classes: Iterable[Any] | None = None,
        explore: float = EXPLORE,
        seed: int = 0,
    ) -> None:
        said = _classes_of(predictions)
        n = len(said)
        self.explore = _share(explore)
        self._own = own_doubt(_checked(confidence, n), n)
        self._rows = Rows(Pool(np.zeros((n, 1)), ids=ids), Classes(classes))
        codes, known = self._rows.classes.encode(said, [])
        self._rows.classes.values = self._rows.classes.kept = known
        self._rng = np.random.default_rng(whole("seed", seed, 0))
        self._drawn = Drawn(n, fixed=True)
        self._drawn.freeze(Frozen(1, codes.astype(np.uint8), doubt(self._own, 0.0, 1.0)))

    def ask(self, n: int) -> Queries:
        """Ask for the next ``n`` rows, or as many as are left. Pending rows are not asked for again."""
        size, said = whole("n", n, 1), self._said
        labelled = self._rows.labelled
        drawn = labelled[~np.isnan(self._rows.probabilities[labelled])]
        wrong = said[drawn] != self._rows.codes[drawn]
        fit = fitted(self._own[drawn], wrong, 1 / self._rows.probabilities[drawn])
        now, open_rows = doubt(self._own, *fit), self._rows.having(UNASKED)
        self._drawn.doubt_by(now)
        found = draw_telling(now, open_rows, self.explore, size, self._rng)
        self._drawn.add(open_rows, found.rows, found.probabilities, self.explore, found.reach)
        self._rows.probabilities[found.rows] = found.probabilities
        self._rows.queue = found.rows.tolist()
        positions, probabilities = self._rows.ask(len(found.rows))
        return Queries(self._rows.pool.ids[positions], probabilities)

    def tell(self, ids: Any, labels: Any, *, overwrite: bool = False) -> None:
        """Take ``labels``, one for each of ``ids``, as :meth:`Learner.tell` does."""
        self._drawn.recode(self._rows.tell(self._rows.pool.positions(ids), labels, overwrite))

    def accuracy(
        self, confidence: float = 0.95, *, of: str = "accuracy", label: Any = None
    ) -> Certificate:
        """The share of predictions that is right, with an interval that holds at every look.

        ``of`` and ``label`` are as in :meth:`Learner.accuracy`.
        """
        code = asked_of(self._rows.classes, confidence, of, label)
        return certificates.measure(self._drawn, self._known, confidence, of, code)

    def reached(
        self, wanted: float, *, of: str = "accuracy", label: Any = None, confidence: float = 0.95
    ) -> Stop:
        """Whether accuracy, recall or precision is at least ``wanted``, as :meth:`Learner.reached`."""
        code = asked_of(self._rows.classes, confidence, of, label)
        how = share("wanted", wanted), confidence, of, code, str(label)
        return certificates.stop(self._drawn, self._known, *how)

    @property
    def _said(self) -> Array:
        assert self._drawn.last is not None
        return self._drawn.last.said

    @property
    def _known(self) -> Known:
        assert self._drawn.last is not None
        return Known(self._rows.having(LABELLED), self._rows.codes, self._said, self._drawn.last.doubt)

    @property
    def labels_known(self) -> int:
        """How many rows have a label."""
        return len(self._rows.labelled)

    @property
    def remaining(self) -> int:
        """How many rows may still be asked for."""
        return int(self._rows.having(UNASKED).sum())

    @property
    def pending(self) -> Array:
        """Ids of the rows that were asked for and have no label yet."""
        return np.asarray(self._rows.pool.ids[self._rows.having(PENDING)])

    @property
    def classes(self) -> list[Any]:
        """The classes known so far."""
        return list(self._rows.classes.values)


def _classes_of(predictions: Any) -> list[Any]:
    try:
        said = plain_labels(predictions)
    except InvalidInput as error:
        argument = error.argument.replace("labels", "predictions")
        raise InvalidInput(argument, error.sentence) from error
    if not said:
        raise InvalidInput("predictions", "has no rows; give it a class for each row")
    return said


def _share(explore: Any) -> float:
    if isinstance(explore, bool) or not isinstance(explore, int | float) or not 0 < explore <= 1:
        raise InvalidInput(
            "explore", f"must be above 0 and at most 1: every row needs a chance, got {explore!r}"
        )
    return float(explore)


def _checked(confidence: Any, rows: int) -> Float64 | None:
    if confidence is None:
        return None
    try:
        found = np.asarray(confidence, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput("confidence", "must be numbers from 0 to 1, one for each row") from None
    if found.shape != (rows,):
        raise InvalidInput(
            "confidence", f"has the shape {found.shape} for {rows} predictions; give one number for each"
        )
    bad = np.flatnonzero(~((found >= 0) & (found <= 1)))
    if len(bad):
        raise InvalidInput(
            "confidence",
            f"row {bad[0]} has {found[bad[0]]}; it must be from 0 to 1, or leave it all out",
        )
    return found
