"""What an oracle is: argmax over a hypothesis class of Σ_i v_{i,h(x_i)}, for many v at once.

Weights are relative to class 0, v_{i,0} = 0; with two classes the sum is Σ_i v_i h(x_i).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from aced._types import Array, Codes, Float32, Float64
from aced._workers import Workers
from aced.oracles._weights import Weights, value
from aced.pool import Pool

Scorer = tuple[Callable[..., Array], tuple[Any, ...]]
"""A function of a block, and its further arguments."""


class Hypotheses(Protocol):
    """Some members of a class, as labellings of the pool that are computed on demand."""

    def __len__(self) -> int: ...

    def labels(self, index: int) -> Codes:
        """Labels of one block, codes 0 … K-1, shape (rows, len(self))."""

    def labeller(self) -> Scorer:
        """The function with which a kernel computes the labels, (rows, B)."""

    def scorer(self) -> Scorer | None:
        """The function that gives real scores (rows, (K - 1) B), or None where the class has none.

        The label is the class with the largest score; class 0 has the score 0.
        """

    def take(self, which: Array) -> Hypotheses:
        """The hypotheses at these places."""

    def to_array(self) -> Array:
        """Parameters, for saving."""


@dataclass(frozen=True)
class Candidates:
    """B hypotheses, the b-th proposed for the b-th draw, with their tallies."""

    hypotheses: Hypotheses
    tally: Float64  # (2, B): Σ μ̂ h and Σ s ζ h


class Maximiser(Protocol):
    """An oracle prepared for one family of weights."""

    def maximise(self, r: Float32, anchor: Hypotheses | None = None) -> list[Candidates]:
        """Hypotheses met while maximising Σ v h at levels r (B,); the best is the answer.

        With an ``anchor`` (one hypothesis) a class may also propose hypotheses near it.
        """

    def leverage(self, r: float, pool: Pool | None = None) -> Float64 | None:
        """How much row i's margin moves with its own weight, up to a common factor; (n,).

        With a ``pool`` this is about the rows of that pool, if the class can tell.
        """


class Oracle(Protocol):
    """A hypothesis class over a pool."""

    pool: Pool
    workers: Workers
    exact: bool
    classes: int  # K

    def prepare(self, weights: Weights) -> Maximiser: ...

    def initial(self) -> Hypotheses:
        """One hypothesis to start from when nothing is known."""

    def gather(self, parts: Sequence[Hypotheses]) -> Hypotheses:
        """Single hypotheses joined into one batch."""
        return self.from_array(np.concatenate([part.to_array() for part in parts]))

    def from_array(self, parameters: Array) -> Hypotheses:
        """The inverse of ``Hypotheses.to_array``."""


def best_per_draw(r: Float32, candidates: Sequence[Candidates], oracle: Oracle) -> Candidates:
    """For each draw, the candidate with the largest Σ v h."""
    values = np.stack([value(r, candidate.tally) for candidate in candidates])  # (K, B)
    return select(candidates, values.argmax(axis=0), oracle)


def select(candidates: Sequence[Candidates], which: Array, oracle: Oracle) -> Candidates:
    """The hypothesis of draw b from candidate which[b], for every b."""
    parts = [candidates[k].hypotheses.take(np.array([b])) for b, k in enumerate(which.tolist())]
    tally = np.stack([candidates[k].tally[:, b] for b, k in enumerate(which.tolist())], axis=1)
    return Candidates(oracle.gather(parts), tally)


def tally_all(weights: Weights, hypotheses: Hypotheses, workers: Workers) -> Float64:
    """Tally of B hypotheses, one per draw, over the whole pool."""

    def one(index: int) -> tuple[Array]:
        return (weights.tally(index, hypotheses.labels(index)),)

    return workers.sum(one, weights.pool.blocks)[0]


def argmax(oracle: Oracle, vectors: Array) -> tuple[Codes, Float64]:
    """Labels (B, n) and values (B,) of the maximisers of Σ_i v_{i,h(x_i)}, one for each v.

    ``vectors`` is (B, n) or (n,) for two classes, and (B, n, K - 1) for K: relative to class 0.
    """
    weights = Weights.given(oracle.pool, vectors)
    r = np.zeros(weights.draws, np.float32)
    with oracle.workers.session():
        found = best_per_draw(r, oracle.prepare(weights).maximise(r), oracle)
        return labels_of(oracle, found.hypotheses), value(r, found.tally)


def labels_of(oracle: Oracle, hypotheses: Hypotheses) -> Codes:
    """Labels over the whole pool, shape (len(hypotheses), n)."""
    label, args = hypotheses.labeller()
    return oracle.workers.each(labels_kernel, oracle.pool, label, *args)[0].T


def labels_kernel(block: Any, label: Callable[..., Codes], *args: Any) -> tuple[Codes]:
    """Labels of a block's rows, (rows, B)."""
    return (np.asarray(label(block, *args)),)


def given_labels(block: Any, labels: Codes) -> Codes:
    """The block's own labels, of those that a :class:`PerRow` holds for every row."""
    return labels


def given_scores(block: Any, scores: Array) -> Array:
    """The block's own scores, of those that a :class:`PerRow` holds for every row."""
    return scores
