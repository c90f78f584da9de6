"""The votes of a state as arrays, and the one label they give each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Float64, Ints
from aced.crowd import Votes, dawid_skene, majority, share
from aced.ledger import State

EVEN = 2e-9
"""Classes whose probabilities differ by less are tied; most votes decide, then the earliest."""


@dataclass(frozen=True)
class Opinions:
    """Rows with votes, in order, and the one label of each.

    ``votes.item`` are places in ``rows``, ``votes.who`` in ``people``, ``votes.code`` in ``classes``.
    """

    rows: Ints
    people: list[str]
    classes: Ints  # the codes of the classes that people may choose, K of them
    votes: Votes
    eta: Float64  # (rows, K), probabilities in the order of ``classes``
    codes: Ints  # one of ``classes`` for each row


def opinions(state: State, how: str = "dawid-skene") -> Opinions:
    """Combine the votes by ``how``: "dawid-skene" or "majority". A row's only vote is its label."""
    rows = state.labelled()
    people = sorted({who for row in rows for who in state.votes[row]})
    index = {who: i for i, who in enumerate(people)}
    classes = np.array(state.codes, dtype=np.int64)
    place = {code: i for i, code in enumerate(state.codes)}
    counts_as = [place.get(code, -1) for code in state.stands]
    triples = sorted(
        (vote.seq, i, index[who], counts_as[vote.code])
        for i, row in enumerate(rows)
        for who, vote in state.votes[row].items()
    )
    columns = np.array(triples, dtype=np.int64).reshape(-1, 4)
    votes = Votes(columns[:, 1], columns[:, 2], columns[:, 3], len(rows), len(people), len(classes))
    several, most = len(triples) > len(rows), majority(votes)
    if several and how == "dawid-skene":
        eta = dawid_skene(votes).eta
        behind = eta.max(axis=1) - eta[np.arange(len(rows)), most]
        label = np.where(behind < EVEN, most, eta.argmax(axis=1))
    else:
        eta, label = share(votes), most
    return Opinions(np.array(rows, dtype=np.int64), people, classes, votes, eta, classes[label])


def sole_probability(state: State) -> float | None:
    """The probability of the label of every item that has one opinion; None if it is not one number.

    It is one as long as nothing is learned of people's mistakes: an opinion is a vote, and one more
    vote is spread over all classes (:func:`aced.crowd.share`).
    """
    counts = {len(votes) for votes in state.votes.values() if votes}
    if 1 not in counts or (state.settings.combine != "majority" and counts != {1}):
        return None
    return (1 + 1 / len(state.codes)) / 2
