"""The votes of a state as arrays, and the one label they give each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Float64, Ints
from aced.crowd import Votes, dawid_skene, majority, share
from aced.ledger import State


@dataclass(frozen=True)
class Opinions:
    """Rows with votes, in order. ``votes.item`` are places in ``rows``, ``votes.who`` in ``people``."""

    rows: Ints
    people: list[str]
    votes: Votes
    eta: Float64
    codes: Ints


def opinions(state: State, how: str = "dawid-skene") -> Opinions:
    """Combine the votes by ``how``: "dawid-skene" or "majority". A row's only vote is its label."""
    rows = state.labelled()
    people = sorted({who for row in rows for who in state.votes[row]})
    index = {who: i for i, who in enumerate(people)}
    triples = sorted(
        (vote.seq, i, index[who], vote.code)
        for i, row in enumerate(rows)
        for who, vote in state.votes[row].items()
    )
    columns = np.array(triples, dtype=np.int64).reshape(-1, 4)
    votes = Votes(columns[:, 1], columns[:, 2], columns[:, 3], len(rows), len(people))
    several = len(triples) > len(rows)
    if several and how == "dawid-skene":
        eta = dawid_skene(votes).eta
        codes = np.where(np.abs(eta - 0.5) < 1e-9, majority(votes), eta > 0.5).astype(np.int64)
    else:
        eta, codes = share(votes), majority(votes)
    return Opinions(np.array(rows, dtype=np.int64), people, votes, eta, codes)
