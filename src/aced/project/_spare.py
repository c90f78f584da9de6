"""Rows to give out while the next round is late, so that nobody waits for it.

They come from the reserve: rows drawn from the last design beyond those it asked for. When the reserve
is used up, or before the first round, a row is drawn evenly from those that nobody was asked for.
"""

from __future__ import annotations

import numpy as np

from aced.ledger import State

TRIES = 64


def spare_row(state: State) -> tuple[int, float] | None:
    """The next row to give out of turn and its draw probability; None if every row was asked for.

    The row depends on the state alone, so that the same history gives the same row.
    """
    for row, probability in state.reserve.items():
        if _open(state, row):
            return row, probability
        if row not in state.draws and state.settings.audit:
            break  # it has a label without a draw, and the others were drawn as if it had been drawn
    n = state.settings.rows
    rng = np.random.default_rng([state.settings.seed, state.seq])
    for row in rng.integers(n, size=TRIES).tolist():  # nearly every row is open in a large pool
        if _open(state, row):
            return row, 1 / (n - len(state.draws))
    rest = [row for row in range(n) if _open(state, row)]
    return (rest[int(rng.integers(len(rest)))], 1 / len(rest)) if rest else None


def _open(state: State, row: int) -> bool:
    return row not in state.draws and not state.votes.get(row)
