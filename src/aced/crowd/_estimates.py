"""Votes of several people on items of K classes, combined into η̂.

The noise of labels is not persistent: a second answer about an item may differ from the first, by
another person or by the same one. Given the truth, votes are taken to be independent.

======== ============= ================================================================
symbol   name in code  meaning
======== ============= ================================================================
i, k     item, who     an item, a person
K        classes       the number of classes
c        code          what a vote says, 0 … K - 1
n_ic     tally         votes on item i that say c; m_i = Σ_c n_ic
z_i      truth         the class of item i, never seen
η_ic     eta           P(z_i = c); an estimate is given the votes, shape (items, K)
ρ_c      balance       P(z = c) before any vote, shape (K,)
π_kab    confusion     P(person k says b | truth a), shape (people, K, K)
======== ============= ================================================================

Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
algorithm. How far people agree is in ``_agreement``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

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
    classes: int = 2

    def __post_init__(self) -> None:
        whole("classes", self.classes, 2)
        if self.items < 0 or self.people < 0:
            raise InvalidInput(
                "items and people", f"must not be negative, got {self.items} and {self.people}"
            )
        for name, bound in (("item", self.items), ("who", self.people), ("code", self.classes)):
            object.__setattr__(self, name, _positions(getattr(self, name), name, bound))
        if not len(self.item) == len(self.who) == len(self.code):
            lengths = f"{len(self.item)}, {len(self.who)} and {len(self.code)}"
            raise InvalidInput("item, who and code", f"must have one entry a vote, got {lengths}")

    @property
    def tally(self) -> Ints:
        """n_ic, shape (items, K)."""
        cell, shape = self.classes * self.item + self.code, (self.items, self.classes)
        return np.bincount(cell, minlength=self.items * self.classes).reshape(shape)


def share(votes: Votes, prior: float = 1.0) -> Float64:
    """η̂_ic = (n_ic + prior/K) / (m_i + prior), 1/K without votes. Everybody counts the same.

    >>> votes = Votes(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([1, 1, 0]), 3, 2)
    >>> share(votes)[:, 1].round(2)
    array([0.83, 0.25, 0.5 ])
    """
    if not 0 <= prior < np.inf:
        raise InvalidInput("prior", f"must be a finite number of votes, at least 0, got {prior}")
    tally = votes.tally
    total = tally.sum(axis=1, keepdims=True) + prior
    estimate = (tally + prior / votes.classes) / np.where(total > 0, total, 1)
    return np.where(total > 0, estimate, 1 / votes.classes)


def majority(votes: Votes) -> Ints:
    """The code that most votes on an item name; -1 without votes. A tie is decided by the earliest of
    the votes that name one of the tied codes."""
    tally = votes.tally
    leads = tally == tally.max(axis=1, keepdims=True)
    for_leaders = np.flatnonzero(leads[votes.item, votes.code])
    decided = np.full(votes.items, -1, dtype=np.int64)
    voted, first = np.unique(votes.item[for_leaders], return_index=True)
    decided[voted] = votes.code[for_leaders[first]]
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

    eta: Float64  # (items, K)
    confusion: Float64  # (people, K, K)
    balance: Float64  # (K,)
    steps: int
    loglik: Float64  # (steps,), non-decreasing


def dawid_skene(
    votes: Votes, *, prior: Prior = HONEST, steps: int = 100, tolerance: float = 1e-6
) -> DawidSkene:
    """The mode of p(π, ρ | votes) by EM, and η̂ there.

    E   η_ia ∝ ρ_a Π_{votes (k, c) on i} π_kac
    M   π_kab = (N_kab + α_ab) / Σ_b (N_kab + α_ab),   N_kab = Σ_{votes of k that say b} η_ia
        ρ_a = (Σ_i η_ia + 1) / (items with votes + K)

    with α_aa = votes · right and α_ab = votes · (1 - right) / (K - 1) of the prior. EM never lowers

    loglik = Σ_i log P(votes on i | π, ρ) + Σ_kab α_ab log π_kab + Σ_a log ρ_a.

    EM starts with an E-step in which everybody is as in the prior and ρ_a = 1/K. This is a majority vote
    whose ties are even, so the order of votes does not matter. EM ends when no η moves by more than
    ``tolerance``, or after ``steps``: if few items have two votes, it may take long. An item without
    votes has η̂_a = 1/K, not ρ_a, because rows chosen for labelling are no random sample.

    >>> votes = Votes(np.array([0, 0, 0, 1, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 2, 0]),
    ...               np.array([1, 1, 0, 0, 0, 1, 1]), items=3, people=3)
    >>> dawid_skene(votes).eta[:, 1].round(2)
    array([0.96, 0.06, 0.89])
    """
    k = votes.classes
    pseudo = _pseudo_votes(prior, k)
    whole("steps", steps, 1)
    if not tolerance >= 0:
        raise InvalidInput("tolerance", f"must be at least 0, got {tolerance}")
    ballots = _Ballots.of(votes)
    confusion = np.broadcast_to(pseudo / pseudo.sum(axis=1, keepdims=True), (votes.people, k, k))
    eta, _ = ballots.posterior(confusion, np.full(k, 1 / k))
    logliks: list[float] = []
    for _ in range(steps):
        counts = ballots.expected_counts(eta) + pseudo
        confusion = counts / counts.sum(axis=2, keepdims=True)
        balance = (ballots.items @ eta + 1) / (ballots.items.sum() + k)
        before = eta
        eta, evidence = ballots.posterior(confusion, balance)
        log_prior = (pseudo * np.log(confusion)).sum() + np.log(balance).sum()
        logliks.append(float(evidence + log_prior))
        if np.abs(eta - before).max(initial=0.0) <= tolerance:
            break
    found = np.full((votes.items, k), 1 / k)
    found[ballots.voted] = eta[ballots.of_item]
    return DawidSkene(found, confusion, balance, len(logliks), np.array(logliks))


def second_opinion_gain(eta_i: Array, accuracy: float | Array) -> Float64:
    """By how much one more vote lowers V = ½ (1 - Σ_c η_ic²) on average; V = η (1 - η) for two classes.

    ``eta_i`` has the shape (…, K), ``accuracy`` the shape (…) or one that broadcasts with it. The vote
    is right with probability a, and names each wrong class with probability b = (1 - a) / (K - 1). It
    says c with probability q_c = a η_c + b (1 - η_c). By Bayes η_c then becomes a η_c / q_c and every
    other η_d becomes b η_d / q_c. The gain is half of what the squared moves of η are on average,

    gain = ½ (a - b)² Σ_c η_c² ((1 - η_c)² + Σ_{d≠c} η_d²) / q_c.

    For two classes this is (2a - 1)² V² / (q_0 q_1). Where η = ½ it is (a - ½)².

    >>> one = np.array([0.5, 0.9, 1.0])
    >>> second_opinion_gain(np.stack([1 - one, one], axis=1), 0.85).round(4)
    array([0.1225, 0.0231, 0.    ])
    """
    eta, right = np.asarray(eta_i, dtype=float), np.asarray(accuracy, dtype=float)
    if eta.ndim == 0 or eta.shape[-1] < 2:
        raise InvalidInput(
            "eta_i", f"must have one entry a class along its last axis, got shape {eta.shape}"
        )
    for name, values in (("eta_i", eta), ("accuracy", right)):
        if not ((values >= 0) & (values <= 1)).all():
            raise InvalidInput(name, "must lie between 0 and 1")
    if not np.allclose(eta.sum(axis=-1), 1, atol=1e-6):
        raise InvalidInput("eta_i", "must sum to 1 over the classes of an item")
    k = eta.shape[-1]
    a, b = right[..., None], (1 - right[..., None]) / (k - 1)
    others = 1 - np.eye(k)  # sums over d ≠ c, which differences would round off
    rest, square = eta @ others, np.square(eta)
    says = a * eta + b * rest  # q
    moves = square * (np.square(rest) + square @ others)
    each = np.square(a - b) * moves / np.where(says > 0, says, 1.0)
    return np.asarray(each.sum(axis=-1) / 2)


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


def _pseudo_votes(prior: Prior, classes: int) -> Float64:
    """α, shape (K, K)."""
    if not (0 < prior.votes < np.inf and 1 / classes < prior.right < 1):
        raise InvalidInput(
            "prior",
            f"must have votes above 0 and right between 1/{classes} and 1, got {tuple(prior)}",
        )
    wrong = (1 - prior.right) / (classes - 1)
    off = ~np.eye(classes, dtype=bool)
    return prior.votes * np.where(off, wrong, prior.right)


@dataclass(frozen=True)
class _Ballots:
    """Votes as a table with a row for each ballot: all votes on one item.

    Items whose only vote is of one person for one class share a ballot, because they share η. Most items
    have one vote, so EM costs what the people and the items with several votes cost, not what all do.
    """

    table: Any  # (ballots, people · K), sparse: how often person k says b
    items: Float64  # (ballots,): how many items have this ballot
    voted: Ints  # the items with votes
    of_item: Ints  # the ballot of each of them
    classes: int

    @classmethod
    def of(cls, votes: Votes) -> _Ballots:
        from scipy import sparse  # takes long to load, and many projects have one vote an item

        k, width = votes.classes, votes.people * votes.classes
        voted, place, count = np.unique(votes.item, return_inverse=True, return_counts=True)
        says = k * votes.who + votes.code
        name = width + np.arange(len(voted))  # of a ballot; one vote is named by what it says
        lone = count[place] == 1
        name[place[lone]] = says[lone]
        _, first, of_item, items = np.unique(
            name, return_index=True, return_inverse=True, return_counts=True
        )
        shown = np.full(len(voted), -1)
        shown[first] = np.arange(len(first))
        row = shown[place]
        kept = row >= 0
        cells = np.ones(int(kept.sum())), (row[kept], says[kept])
        table = sparse.csr_matrix(cells, shape=(len(first), width))
        return cls(table, items.astype(float), voted, of_item, k)

    def posterior(self, confusion: Float64, balance: Float64) -> tuple[Float64, float]:
        """The E-step: η of each ballot, and log P(votes | π, ρ)."""
        by_vote = np.log(confusion).transpose(0, 2, 1).reshape(-1, self.classes)  # (person says, truth)
        joint = self.table @ by_vote + np.log(balance)
        most = joint.max(axis=1, keepdims=True)
        eta = np.exp(joint - most)
        total = eta.sum(axis=1, keepdims=True)
        return eta / total, float(self.items @ (most + np.log(total))[:, 0])

    def expected_counts(self, eta: Float64) -> Float64:
        """N_kab, shape (people, K, K)."""
        counts = self.table.T @ (self.items[:, None] * eta)  # (person says, truth)
        return np.asarray(counts).reshape(-1, self.classes, self.classes).transpose(0, 2, 1)
