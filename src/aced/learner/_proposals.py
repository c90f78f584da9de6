"""Proposed classes of all rows, joined with the model.

====== ============ ===========================================================================
symbol name in code meaning
====== ============ ===========================================================================
g_i    codes        the class that is proposed for row i, by a language model, say
t_i    own          log(q (K - 1) / (1 - q)), where q is how sure the proposal is
m_ic   log_shares   log p(c | x_i), by the model; 0 before there is one
a, b   weights      how far model and proposals are trusted
====== ============ ===========================================================================

    p(c | i) ∝ exp(a m_ic + b t_i [c = g_i])

is what the learner says of the rows of its pool. a and b ≥ 0 minimise

    Σ_j w_j logloss_j + PRIOR ((a - 1)² + (b - 1)²) / 2

over the labelled rows j, with the model's probabilities of left-out labels. w_j is 1 / q_j, scaled to
the mean 1: a row that was drawn with a small probability stands for many. Without labels b is 1, and
the proposals are taken at their word. The classifier for new rows, which have no proposal, is the
model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced.learner._labels import Classes, plain_labels

PRIOR = 2.0
"""The labels that it counts for that model and proposals know how sure they are."""
SURE = 0.002
"""No proposal is taken to be surer than this, or less sure than its opposite."""
UNKNOWN = 0.9
"""How sure a proposal is that does not say."""
HEAVIEST = 20.0


@dataclass(frozen=True)
class Joined:
    """What model and proposals together say of every row."""

    log_shares: Float64  # (n, K): log p(c | i), by code
    weights: tuple[float, float]  # a, b

    @property
    def said(self) -> Array:
        """The codes of the likeliest classes, (n,)."""
        return np.asarray(self.log_shares.argmax(axis=1), dtype=np.uint8)

    @property
    def doubt(self) -> Array:
        """How likely these are wrong, (n,)."""
        return np.asarray(1 - np.exp(self.log_shares.max(axis=1)), dtype=np.float32)

    @property
    def scores(self) -> Float64:
        """As a classifier gives them: (n,) for two classes, else log p."""
        if self.log_shares.shape[1] > 2:
            return self.log_shares
        return np.asarray(self.log_shares[:, 1] - self.log_shares[:, 0])


class Proposals:
    """A proposed class of every row, and how sure it is."""

    def __init__(self, codes: Ints, sure: Float64) -> None:
        self.codes, self.sure = codes, sure

    @classmethod
    def of(cls, given: Any, confidence: Any, classes: Classes, rows: int) -> Proposals:
        """The proposals that a user gives; their classes are known from here on."""
        try:
            said = plain_labels(given)
        except InvalidInput as error:
            raise InvalidInput("proposals", error.about("one of them")) from error
        if len(said) != rows:
            raise InvalidInput("proposals", f"are {len(said)}, but the pool has {rows} rows; give all")
        try:
            codes, known = classes.encode(said, [])
        except InvalidInput as error:
            raise InvalidInput("proposals", error.about("one of them")) from error
        if len(known) < 2:
            raise InvalidInput("proposals", f"are all {known[0]!r}; pass classes, two or more")
        if not classes.fixed:
            classes.values = classes.kept = known
        return cls(codes, _sure(confidence, rows))

    def named(self, values: list[Any]) -> list[Any]:
        """The classes, of these, that are proposed."""
        return [values[code] for code in np.unique(self.codes).tolist()]

    def recode(self, moves: Ints) -> None:
        """The classes have new codes: code c is now ``moves[c]``."""
        self.codes = moves[self.codes]

    def joined(
        self,
        classes: int,
        shares: Float64 | None,
        positions: Ints,
        codes: Ints,
        left_out: Float64 | None,
        chances: Float64,
    ) -> Joined:
        """Model and proposals, weighted by the labels.

        ``shares`` (n, K) are the model's, ``left_out`` (m, K) those of the rows ``positions`` with the
        labels ``codes`` when these are left out; ``chances`` (m,) are their draw probabilities.
        """
        own = np.log(self.sure * (classes - 1) / (1 - self.sure))
        model = np.zeros((len(own), classes)) if shares is None else np.log(shares)
        held = np.zeros((len(positions), classes)) if left_out is None else np.log(left_out)
        told = np.zeros((len(positions), classes))
        told[np.arange(len(positions)), self.codes[positions]] = own[positions]
        a, b = _weights(held, told, codes, chances)
        score = a * model
        score[np.arange(len(own)), self.codes] += b * own
        return Joined(log_softmax(score, axis=1), (a, b))

    def arrays(self) -> dict[str, Array]:
        return {"proposed": self.codes, "proposed_sure": self.sure}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array]) -> Proposals | None:
        """Those that were saved, if there were any."""
        if "proposed" not in arrays:
            return None
        return cls(arrays["proposed"], arrays["proposed_sure"])


def spread(shares: Array, codes: Ints, classes: int, labels: int) -> Float64:
    """Shares (m, k) of the model's classes as shares of all; one without a label counts as rare."""
    rare = 1 / (labels + classes)
    whole = np.full((len(shares), classes), rare)
    whole[:, codes] = np.clip(shares, 1e-12, None)
    return np.asarray(whole / whole.sum(axis=1, keepdims=True))


def _sure(confidence: Any, rows: int) -> Float64:
    if confidence is None:
        return np.full(rows, UNKNOWN)
    try:
        sure = np.asarray(confidence, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput("proposals_confidence", "must be numbers from 0 to 1") from None
    if sure.shape != (rows,):
        raise InvalidInput("proposals_confidence", f"must be {rows} numbers, got shape {sure.shape}")
    if not ((sure >= 0) & (sure <= 1)).all():
        raise InvalidInput("proposals_confidence", "must be numbers from 0 to 1")
    return np.asarray(np.clip(sure, SURE, 1 - SURE))


def _weights(held: Float64, told: Float64, codes: Ints, chances: Float64) -> tuple[float, float]:
    """a and b; the loss is convex and smooth."""
    if not len(codes):
        return 1.0, 1.0
    weight = np.where(np.isnan(chances), 1.0, 1 / np.where(np.isnan(chances), 1.0, chances))
    weight = np.minimum(weight / weight.mean(), HEAVIEST)
    weight = weight / weight.mean()
    parts = np.stack([held, told])  # (2, m, K)
    right = parts[:, np.arange(len(codes)), codes]  # (2, m)

    def loss(at: Float64) -> tuple[float, Float64]:
        p = log_softmax(np.tensordot(at, parts, axes=1), axis=1)
        gap = right - (np.exp(p) * parts).sum(axis=2)
        value = -(weight * p[np.arange(len(codes)), codes]).sum() + PRIOR * np.square(at - 1).sum() / 2
        return float(value), np.asarray(-(gap * weight).sum(axis=1) + PRIOR * (at - 1))

    found = minimize(loss, np.ones(2), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * 2)
    return float(found.x[0]), float(found.x[1])
