"""Make the next round's brief from a state, and check that rounds can be repeated to the bit.

A round leaves the learner's memory to the round after it. The memory follows from the ledger: every
round can be planned again from the events before it. A file keeps the last memory, to save that work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aced import _archive
from aced._errors import InvalidInput
from aced._types import Float64
from aced.certificates import recoded
from aced.ledger import Ledger, State
from aced.project._audit import told
from aced.project._files import MEMORY
from aced.project._proposals import standing
from aced.project._round import PLANNER, Brief, PlannedRound, plan_round
from aced.project._votes import opinions

if TYPE_CHECKING:
    from aced.learner import Memory
    from aced.pool import Pool

AHEAD = 20
"""A round has at least this many requests for each person who is labelling."""


def round_size(state: State) -> int:
    """A batch, or more if many people label: they must not run out of items while a round is planned."""
    people = {
        who
        for held in state.leases.values()
        for who, until in held.items()
        if state.runs(until, state.at)
    }
    return max(state.settings.batch, AHEAD * len(people))


def round_is_due(state: State, now: float, names: Iterable[str]) -> bool:
    """Whether less than half a round is left to give, to all or to one of ``names``."""
    if len(state.draws) >= state.settings.rows:
        return False
    few = max(1, round_size(state) // 2)
    if state.untouched() >= few:  # the usual case: everybody may be given these
        return False
    held = [
        row
        for row, people in state.leases.items()
        if any(state.runs(until, now) for until in people.values())
    ]
    if len(state.waiting) - sum(row in state.waiting for row in held) < few:
        return True
    return any(len(list(islice(state.ready(name, now), few))) < few for name in names)


def brief_of(state: State, memory: Memory | None = None) -> Brief:
    """The brief of the round after ``state``: all that it depends on beside the features."""
    settings = state.settings
    found = opinions(state, settings.combine)
    drawn = np.union1d(np.array(list(state.draws), dtype=np.int64), found.rows).astype(np.int64)
    single = [
        row for row in found.rows.tolist() if len(state.votes[row]) == 1 == state.wanted.get(row, 0)
    ]
    return Brief(
        audit=told(state, found) if settings.audit else None,
        round=len(state.rounds) + 1,
        seed=settings.seed,
        size=min(round_size(state), settings.rows - len(drawn)),
        batch=settings.batch,
        strategy=settings.strategy,
        l2=settings.l2,
        check=settings.check,
        overlap=settings.overlap,
        rows=found.rows,
        codes=found.codes,
        eta=found.eta,
        single=np.array(single, dtype=np.int64),
        drawn=drawn,
        based_on=state.seq,
        stop=_stop(state),
        saved_at=next((one["labels"] for one in reversed(state.rounds) if one.get("savings")), 0),
        classes=state.codes,
        memory=memory,
        representation=settings.representation or "linear",  # the only one when there was no choice
    )


def _stop(state: State) -> dict[str, Any] | None:
    """When labelling may stop, with the class as it stands now; None if its class is gone."""
    wanted = state.settings.stop
    if wanted is None or "code" not in wanted:
        return None if wanted is None else dict(wanted)
    code = state.stands[wanted["code"]]
    return {**wanted, "code": code, "name": state.names[code]} if code in state.codes else None


# -- the memory of the last round -------------------------------------------------------


def store_memory(path: Path, brief: Brief, planned: PlannedRound) -> None:
    """Keep the memory that the round after this one needs."""
    if planned.memory is not None:
        meta = {"rng": planned.memory.rng, "round": brief.round, "based_on": brief.based_on}
        _archive.write(path, meta, dict(planned.memory.arrays))


def read_memory(path: Path, last: Mapping[str, Any]) -> Memory | None:
    """The memory kept of round ``last``; None if the file is another round's, or cannot be read."""
    from aced.learner import Memory

    try:
        meta, arrays = _archive.read(path, {"rng", "round", "based_on"}, "memory of a round")
    except InvalidInput:
        return None
    same = meta["round"] == last["round"] and meta["based_on"] == last["based_on"]
    return Memory(meta["rng"], arrays) if same else None


def fitting(memory: Memory | None, last: Mapping[str, Any], state: State) -> Memory | None:
    """What a round with the classes of ``state`` can use of the memory of round ``last``.

    It is all of it, or, if the classes have changed since, all but the incumbent. Its labels are places
    among the classes. So is what classifiers said before draws; it moves to where its classes are now.
    """
    before = last.get("classes") or []
    if memory is None or before == state.codes:
        return memory
    place = {code: i for i, code in enumerate(state.codes)}
    moves = np.array([place.get(state.stands[code], -1) for code in before], np.int64)
    kept = {name: array for name, array in memory.arrays.items() if name != "incumbent"}
    return replace(memory, arrays=recoded(kept, moves))


def recalled(
    folder: Path,
    ledger: Ledger,
    pool: Callable[[], Pool],
    last: Mapping[str, Any] | None,
    until: int,
    proposed: Float64 | None = None,
) -> Memory | None:
    """The memory of round ``last``, from its file, or made anew from the ledger up to event ``until``;
    None before the first round and after a round that an earlier version planned."""
    if last is None or last.get("planner", 1) != PLANNER:
        return None
    memory = read_memory(folder / MEMORY, last)
    if memory is None:  # lost, or not written yet: it follows from the ledger
        for one in repeat_rounds(ledger, pool, until, proposed=proposed):
            memory = one.memory
    return memory


# -- once more ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeated:
    """A round planned again from the events before it. ``differs`` says in what it differs, or is None.

    ``older`` rounds were planned by the rules of an earlier version. They are not planned again.
    """

    round: int
    requests: int
    differs: str | None = None
    older: bool = False
    memory: Memory | None = None


def repeat_rounds(
    ledger: Ledger,
    pool: Callable[[], Pool],
    until: int | None = None,
    threads: int | None = None,
    proposed: Float64 | None = None,
) -> Iterator[Repeated]:
    """Plan every round up to event ``until`` again, each from the state after event ``based_on``.

    ``proposed`` are the proposals of the project, if it has some.
    """
    rounds = [
        event.body
        for event, _ in ledger.events()
        if event.kind == "draw" and (until is None or event.seq <= until)
    ]
    state, events, memory = State(), ledger.events(), None
    for body in rounds:
        requests = len(body["rows"])
        if body.get("planner", 1) != PLANNER:
            memory = None
            yield Repeated(body["round"], requests, older=True)
            continue
        while state.seq < body["based_on"]:
            state.apply(next(events)[0])
        if state.seq != body["based_on"]:
            raise InvalidInput(
                "project", f"round {body['round']} is based on events after a later round"
            )
        last = state.rounds[-1] if state.rounds else {}
        kept, proposals = fitting(memory, last, state), standing(proposed, state)
        brief = replace(brief_of(state), memory=kept, proposals=proposals)
        if brief.round != body["round"]:
            differs: str | None = f"it comes after {brief.round - 1} rounds"
        else:
            planned = plan_round(pool(), brief, threads)
            differs, memory = _difference(planned, body), planned.memory
        yield Repeated(body["round"], requests, differs, memory=memory)


def _difference(planned: PlannedRound, body: Mapping[str, Any]) -> str | None:
    if planned.rows != body["rows"]:
        return "other rows were drawn this time"
    if planned.probabilities != body["probabilities"]:
        return "the draw probabilities differ"
    same = body.get("reserve", planned.reserve) == planned.reserve  # older rounds have none
    return None if same else "the reserve differs"
