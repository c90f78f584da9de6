"""From a state to the next round's question, and back: whether a round can be repeated to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from aced._errors import InvalidInput
from aced.ledger import Ledger, State
from aced.pool import Pool
from aced.project._round import Question, plan_round
from aced.project._votes import opinions

AHEAD = 20
"""A round has at least so many requests for everybody who is labelling."""


def round_size(state: State) -> int:
    """A batch, or more where many people label: they must not run out while one is designed."""
    people = {who for held in state.leases.values() for who, until in held.items() if until > state.at}
    return max(int(state.settings["batch"]), AHEAD * len(people))


def question_of(state: State) -> Question:
    """All that the round after ``state`` depends on beside the features."""
    settings = state.settings
    found = opinions(state, settings["combine"])
    drawn = np.union1d(np.array(list(state.draws), dtype=np.int64), found.rows).astype(np.int64)
    single = [
        row for row in found.rows.tolist() if len(state.votes[row]) == 1 == state.wanted.get(row, 0)
    ]
    return Question(
        round=len(state.rounds) + 1,
        seed=settings["seed"],
        size=min(round_size(state), settings["rows"] - len(drawn)),
        batch=settings["batch"],
        strategy=settings["strategy"],
        l2=settings["l2"],
        check=settings["check"],
        again=settings["overlap"],
        rows=found.rows,
        codes=found.codes,
        eta=found.eta,
        single=np.array(single, dtype=np.int64),
        drawn=drawn,
        checked=np.array(list(state.checks), dtype=np.int64),
        based_on=state.seq,
    )


@dataclass(frozen=True)
class Repeated:
    """A round designed again from the events before it; ``differs`` is None when it is the same."""

    round: int
    requests: int
    differs: str | None


def repeat_rounds(
    ledger: Ledger, pool: Callable[[], Pool], until: int | None = None, threads: int | None = None
) -> Iterator[Repeated]:
    """Design every round again, each from the state after its ``based_on``-th event."""
    rounds = [
        event.body
        for event, _ in ledger.events()
        if event.kind == "draw" and (until is None or event.seq <= until)
    ]
    state, events = State(), ledger.events()
    for body in rounds:
        while state.seq < body["based_on"]:
            state.apply(next(events)[0])
        if state.seq != body["based_on"]:
            raise InvalidInput(
                "project", f"round {body['round']} is based on events after a later round"
            )
        asked = question_of(state)
        differs = None
        if asked.round != body["round"]:
            differs = f"it comes after {asked.round - 1} rounds"
        else:
            answer = plan_round(pool(), asked, threads)
            if answer.rows != body["rows"]:
                differs = "other rows are drawn"
            elif answer.chances != body["chances"]:
                differs = "other draw probabilities"
        yield Repeated(body["round"], len(body["rows"]), differs)
