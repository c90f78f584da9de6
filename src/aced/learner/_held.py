"""What a learner holds now: the trained classifier, and what it says of every row of the pool.

Where there are proposals, model and proposals together say it (:mod:`aced.learner._proposals`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced._workers import Workers
from aced.certificates import Drawn, Frozen, Known
from aced.learner import _scores
from aced.learner._proposals import Joined, Proposals, spread
from aced.learner._rows import LABELLED, Rows
from aced.learner._trainer import Fitted, Trainer


class Held:
    """The classifier for the labels of ``rows``, trained when it is first asked for."""

    def __init__(self, trainer: Trainer, rows: Rows, drawn: Drawn, workers: Workers) -> None:
        self._trainer, self._rows, self._classes = trainer, rows, rows.classes
        self._drawn, self._workers = drawn, workers
        self.proposals: Proposals | None = None
        self._fitted: Fitted | None = None
        self._joined: Joined | None = None

    def forget(self) -> None:
        """There are other labels now."""
        self._fitted = self._joined = None

    def begin(self) -> None:
        """Before the first draw proposals are the classifier that draws are a test of."""
        if self.proposals is not None and not len(self._drawn):
            self._drawn.freeze(Frozen(1, *self.judged()))

    def fitted(self) -> Fitted | None:
        """The classifier for the labels of now; None without labels."""
        rows = self._rows.labelled
        if self._fitted is None and len(rows):
            with self._workers.session():
                self._fitted = self._trainer.fit(rows, self._rows.labels(rows))
        return self._fitted

    def judged(self) -> tuple[Array, Array]:
        """What the classifier says of every row: a code, and how likely it is wrong."""
        if (joined := self.joined()) is not None:
            return joined.said, joined.doubt
        fitted = self.fitted()
        assert fitted is not None
        how = fitted.head, self.codes_of(fitted.head), self._classes.count
        with self._workers.session():
            said, doubt = self._workers.each(_scores.judged, fitted.pool, *how)
        return np.asarray(said), np.asarray(doubt)

    def joined(self) -> Joined | None:
        """Model and proposals together; None without proposals."""
        if self.proposals is None or self._joined is not None:
            return self._joined
        fitted, rows, count = self.fitted(), self._rows.labelled, self._classes.count
        shares, left_out = None, None
        if fitted is not None and fitted.model is not None:
            codes = self.codes_of(fitted.classifier)
            with self._workers.session():
                shares = spread(fitted.model.probabilities(self._workers), codes, count, len(rows))
            left_out = shares[rows]
            if len(fitted.model.left_out) == len(rows):  # else so many that it hardly matters
                left_out = spread(fitted.model.left_out, codes, count, len(rows))
        chances = self._drawn.chances(rows, self._rows.probabilities[rows])
        told = rows, self._rows.codes[rows], left_out, chances
        self._joined = self.proposals.joined(count, shares, *told)
        return self._joined

    def trusted(self) -> dict[str, float]:
        """What the history says of model and proposals."""
        if (joined := self.joined()) is None:
            return {}
        return {"model_weight": joined.weights[0], "proposal_weight": joined.weights[1]}

    def predicted(self) -> Array:
        """The class of every row, block by block."""
        if (joined := self.joined()) is not None:
            return self._classes.decode(joined.said.astype(np.int64))
        fitted = self.fitted()
        if fitted is None:
            raise InvalidInput("labels", "there are none yet; tell some before you predict")
        with self._workers.session():
            return np.asarray(self._workers.each(_scores.predicted, fitted.pool, fitted.head)[0])

    def probabilities(self) -> Float64:
        """The probabilities of all classes for every row, (n, K)."""
        if (joined := self.joined()) is not None:
            return np.asarray(np.exp(joined.log_shares))
        fitted = self.fitted()
        if fitted is None or fitted.model is None:
            raise InvalidInput("labels", "of two classes are needed, and the learner's own model")
        with self._workers.session():
            shares = fitted.model.probabilities(self._workers)
        whole = np.zeros((len(shares), self._classes.count))
        whole[:, self.codes_of(fitted.classifier)] = shares
        return whole

    def known(self) -> Known:
        """What certificates take of the pool: labels, predictions and doubts."""
        if not len(self._rows.labelled):
            raise InvalidInput(
                "labels", "there are none yet; tell some before you ask how accurate it is"
            )
        return Known(self._rows.having(LABELLED), self._rows.codes, *self.judged())

    def scored(self, function: Callable[[Float64], Array]) -> Array | None:
        """``function`` of all scores, as :meth:`aced.strategies.View.scored` has it."""
        if (joined := self.joined()) is not None:
            return function(joined.scores)
        fitted = self.fitted()
        with self._workers.session():
            if fitted is None or not _scores.has_scores(fitted.head, fitted.pool.rows([0])):
                return None
            how = fitted.head, self.codes_of(fitted.head), self._classes.count, function
            return np.asarray(self._workers.each(_scores.scored, fitted.pool, *how)[0])

    def codes_of(self, classifier: Any) -> Ints:
        """The codes of the classes of a trained classifier."""
        known = self._classes.values
        return np.array([known.index(value) for value in classifier.classes_.tolist()])
