"""Votes of several people on items of two classes, combined into η̂.

The noise of labels is not persistent: a second answer about an item may differ from the first, by
another person or by the same one. Given the truth, votes are taken to be independent.

======== ============= ================================================================
symbol   name in code  meaning
======== ============= ================================================================
i, k     item, who     an item, a person
c        code          what a vote says, 0 or 1
n_ic     tally         votes on item i that say c; m_i = n_i0 + n_i1
z_i      truth         the class of item i, never seen
η_i      eta           P(z_i = 1); an estimate is given the votes
ρ        balance       P(z = 1) before any vote
π_kab    confusion     P(person k says b | truth a), shape (people, 2, 2)
======== ============= ================================================================

Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm. How far people agree is in ``_agreement``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aced._check import whole
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints


@dataclass(frozen=True)
class Votes:
    """All votes, in the order they came. A person may vote on an item several times."""

    item: Ints  # (v,)
    who: Ints  # (v,)
    code: Ints  # (v,)
    items: int
    people: int

    def __post_init__(self) -> None:
        if self.items < 0 or self.people < 0:
            raise InvalidInput(
                "items and people", f"must not be negative, got {self.items} and {self.people}"
            )
        for name, bound in (("item", self.items), ("who", self.people), ("code", 2)):
            object.__setattr__(self, name, _positions(getattr(self, name), name, bound))
        if not len(self.item) == len(self.who) == len(self.code):
            lengths = f"{len(self.item)}, {len(self.who)} and {len(self.code)}"
            raise InvalidInput("item, who and code", f"must have one entry a vote, got {lengths}")

    @property
    def tally(self) -> Ints:
        """n_ic, shape (items, 2)."""
        return np.bincount(2 * self.item + self.code, minlength=2 * self.items).reshape(-1, 2)


def share(votes: Votes, prior: float = 1.0) -> Float64:
    """η̂_i = (n_i1 + prior/2) / (m_i + prior), ½ without votes. Everybody counts the same.

    >>> share(Votes(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 0]), 3, 2)).round(2)
    array([0.83, 0.25, 0.5 ])
    """
    if not 0 <= prior < np.inf:
        raise InvalidInput("prior", f"must be a finite number of votes, at least 0, got {prior}")
    tally = votes.tally
    total = tally.sum(axis=1) + prior
    estimate = (tally[:, 1] + prior / 2) / np.where(total > 0, total, 1)
    return np.where(total > 0, estimate, 0.5)


def majority(votes: Votes) -> Ints:
    """The code that most votes on an item name; -1 without votes. The earliest vote decides a tie."""
    tally = votes.tally
    decided = np.full(votes.items, -1, dtype=np.int64)
    voted, first = np.unique(votes.item, return_index=True)
    decided[voted] = votes.code[first]
    untied = tally[:, 0] != tally[:, 1]
    decided[untied] = tally[untied].argmax(axis=1)
    return decided


class Prior(NamedTuple):
    """What is assumed of a person before any vote: ``votes`` on each class, a share of them ``right``.

    With the defaults, a person's own votes count for half after four votes on a class. One vote moves
    0.85 to 0.88 or 0.68; three wrong votes out of three move it below ½.
    """

    votes: float = 4.0
    right: float = 0.85


HONEST = Prior()


@dataclass(frozen=True)
class DawidSkene:
    """The result of EM: η̂, each person's ``confusion``, and the ``loglik`` after each step."""

    eta: Float64  # (items,)
    confusion: Float64  # (people, 2, 2)
    balance: float
    steps: int
    loglik: Float64  # (steps,), non-decreasing


def dawid_skene(
    votes: Votes, *, prior: Prior = HONEST, steps: int = 100, tolerance: float = 1e-6
) -> DawidSkene:
    """The mode of p(π, ρ | votes) by EM, and η̂ there.

    E   η_i ∝ ρ Π_{votes (k, c) on i} π_k1c,   1 - η_i ∝ (1 - ρ) Π π_k0c
    M   π_kab = (N_kab + α_ab) / Σ_b (N_kab + α_ab),   N_kab = Σ_{votes of k that say b} P(z_i = a)
        ρ = (Σ_i η_i + 1) / (items with votes + 2)

    with α_aa = votes · right and α_ab = votes · (1 - right) of the prior. EM never lowers

    loglik = Σ_i log P(votes on i | π, ρ) + Σ_kab α_ab log π_kab + log ρ (1 - ρ).

    EM starts with an E-step in which everybody is as in the prior and ρ = ½. This is a majority vote
    whose ties are ½, so the order of votes does not matter. EM ends when no η moves by more than
    ``tolerance``, or after ``steps``: if few items have two votes, it may take long. An item without
    votes has η̂ = ½, not ρ, because rows chosen for labelling are no random sample.

    >>> votes = Votes(np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 2, 0]),
    ...               np.array([1, 1, 0, 0, 0, 1, 1]), items=3, people=3)
    >>> dawid_skene(votes).eta.round(2)
    array([0.96, 0.06, 0.89])
    """
    pseudo = _pseudo_votes(prior)
    whole("steps", steps, 1)
    if not tolerance >= 0:
        raise InvalidInput("tolerance", f"must be at least 0, got {tolerance}")
    voted = votes.tally.sum(axis=1) > 0
    confusion = np.broadcast_to(pseudo / pseudo.sum(axis=1, keepdims=True), (votes.people, 2, 2))
    eta, _ = _posterior(votes, voted, confusion, 0.5)
    logliks: list[float] = []
    for _ in range(steps):
        counts = _expected_counts(votes, eta) + pseudo
        confusion = counts / counts.sum(axis=2, keepdims=True)
        balance = float((eta[voted].sum() + 1) / (voted.sum() + 2))
        before = eta
        eta, evidence = _posterior(votes, voted, confusion, balance)
        log_prior = (pseudo * np.log(confusion)).sum() + np.log(balance) + np.log1p(-balance)
        logliks.append(float(evidence + log_prior))
        if np.abs(eta - before).max(initial=0.0) <= tolerance:
            break
    return DawidSkene(eta, confusion, balance, len(logliks), np.array(logliks))


def second_opinion_gain(eta_i: float | Array, accuracy: float | Array) -> Float64:
    """By how much one more vote, right with probability a, lowers V = η_i (1 - η_i) on average.

    The vote says 1 with probability q = a η + (1 - a)(1 - η). By Bayes η becomes a η / q or
    (1 - a) η / (1 - q), whose variances are V a (1 - a) / q² and V a (1 - a) / (1 - q)². So

    gain = V - V a (1 - a) / (q (1 - q)) = (2a - 1)² V² / (q (1 - q)),

    as q (1 - q) = a (1 - a) + (2a - 1)² V. An item without votes has η = ½ and gain (a - ½)².

    >>> second_opinion_gain(np.array([0.5, 0.9, 1.0]), 0.85).round(4)
    array([0.1225, 0.0231, 0.    ])
    """
    eta, right = np.asarray(eta_i, dtype=float), np.asarray(accuracy, dtype=float)
    for name, values in (("eta_i", eta), ("accuracy", right)):
        if not ((values >= 0) & (values <= 1)).all():
            raise InvalidInput(name, "must lie between 0 and 1")
    variance = eta * (1 - eta)
    explained = np.square(2 * right - 1) * variance
    total = right * (1 - right) + explained  # q (1 - q)
    return np.asarray(variance * explained / np.where(total > 0, total, 1.0))


def _positions(values: Array, name: str, bound: int) -> Ints:
    """``values`` as a vector of integers in [0, bound)."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "biu" and array.size):
        raise InvalidInput(
            name, f"must be a vector of integers, got {array.dtype} of shape {array.shape}"
        )
    if array.size and not (array.min() >= 0 and array.max() < bound):
        raise InvalidInput(
            name, f"must be below {bound} and not negative, got {array.min()} to {array.max()}"
        )
    return array.astype(np.int64)


def _pseudo_votes(prior: Prior) -> Float64:
    """α, shape (2, 2)."""
    if not (0 < prior.votes < np.inf and 0.5 < prior.right < 1):
        raise InvalidInput(
            "prior", f"must have votes above 0 and right between 0.5 and 1, got {tuple(prior)}"
        )
    return prior.votes * np.array([[prior.right, 1 - prior.right], [1 - prior.right, prior.right]])


def _posterior(votes: Votes, voted: Array, confusion: Float64, balance: float) -> tuple[Float64, float]:
    """The E-step: η, and log P(votes | π, ρ)."""
    log_confusion = np.log(confusion)
    zero, one = (
        np.log(chance)
        + np.bincount(votes.item, log_confusion[votes.who, truth, votes.code], votes.items)
        for truth, chance in enumerate((1 - balance, balance))
    )
    either = np.logaddexp(zero, one)
    return np.where(voted, np.exp(one - either), 0.5), float(either[voted].sum())


def _expected_counts(votes: Votes, eta: Float64) -> Float64:
    """N_kab, shape (people, 2, 2)."""
    cell, one = 2 * votes.who + votes.code, eta[votes.item]
    by_truth = [np.bincount(cell, weight, 2 * votes.people).reshape(-1, 2) for weight in (1 - one, one)]
    return np.stack(by_truth, axis=1)
