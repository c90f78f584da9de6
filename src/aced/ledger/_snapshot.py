"""A state on disk, so that a ledger of many events opens fast.

A snapshot belongs to a ledger if its events up to the snapshot's number are, to the byte, those that
were verified when the snapshot was taken. Otherwise it is not used, and the events are read instead:
everything in it follows from them. The file is JSON; its first line holds hashes of the rest.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aced._files import replacing
from aced.ledger._classes import Change, Class
from aced.ledger._events import dump
from aced.ledger._head import Mark
from aced.ledger._settings import Settings
from aced.ledger._state import RECENT, Draw, Person, State, Vote
from aced.ledger._verify import link_of

FORMAT = 2
BLOCK = 2000
LARGEST = 2**31


def rows_digest(base: sqlite3.Connection, seq: int) -> str:
    """A hash of the events up to number ``seq`` as they stand in the file, hashes included."""
    digest = hashlib.sha256()
    found = base.execute("SELECT * FROM events WHERE seq <= ? ORDER BY seq", (seq,))
    while block := found.fetchmany(BLOCK):
        digest.update("\n".join(map(repr, block)).encode())
    return digest.hexdigest()


def write(path: Path, base: sqlite3.Connection, state: State, link: str) -> None:
    """Keep the state of a verified ledger whose last event has the hash ``link``."""
    if path.exists() and not path.is_file():
        return  # a pipe would keep us waiting
    content = dump(freeze(state)).encode()
    head = {
        "format": FORMAT,
        "seq": state.seq,
        "link": link,
        "events": rows_digest(base, state.seq),
        "content": hashlib.sha256(content).hexdigest(),
    }
    with replacing(path) as file:
        file.write(dump(head).encode() + b"\n" + content)


def read(path: Path, base: sqlite3.Connection) -> tuple[State, Mark] | None:
    """The state kept in the file and its place in the chain; None if it is of no use."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        first, _, content = path.read_bytes().partition(b"\n")
        head = json.loads(first)
        whole = head["format"] == FORMAT and head["content"] == hashlib.sha256(content).hexdigest()
        mark = Mark(head["seq"], head["link"])
        if not whole or link_of(base, path, mark.seq) != mark.link:
            return None
        if head["events"] != rows_digest(base, mark.seq):
            return None
        with _without_collection():
            state = thaw(json.loads(content))
        return (state, mark) if state.seq == mark.seq and isinstance(state.at, float) else None
    except Exception:  # a damaged file fails in many ways, and nothing depends on this one
        return None


@contextmanager
def _without_collection() -> Iterator[None]:
    """Python's garbage collector takes longer than the rest while many small objects are made."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def freeze(state: State) -> dict[str, Any]:
    """A state as JSON. Long tables become columns."""
    votes = [(r, who, v) for r, held in state.votes.items() for who, v in held.items()]
    before = [(seq, *_vote_columns(vote), passed) for seq, (vote, passed) in state.before.items()]
    return {
        "settings": state.settings.body() if state.seq else None,
        "classes": [[c.name, c.former, c.into, c.withdrawn] for c in state.classes],
        "changes": [[c.seq, c.kind, c.code, c.name] for c in state.changes],
        "classes_seq": state.classes_seq,
        "people": [[n, p.role, p.token, p.active, p.done] for n, p in state.people.items()],
        "draws": [[r, d.round, d.probability, d.check, d.note] for r, d in state.draws.items()],
        "checks": list(state.checks),
        "wanted": list(state.wanted.items()),
        "voted": list(state.votes),
        "votes": [(row, who, *_vote_columns(vote)) for row, who, vote in votes],
        "passed": _pairs(state.passed),
        "leases": _pairs(state.leases),
        "waiting": list(state.waiting),
        "rounds": state.rounds,
        "undone": sorted(state.undone),
        "given": [[seq, *what] for seq, what in state.given.items()],
        "before": before,
        "returned": list(state.returned.items()),
        "reserve": list(state.reserve.items()),
        "spared": list(state.spared.items()),
        "recent": [[who, list(times)] for who, times in state.recent.items()],
        "seen": list(state.seen.items()),
        "sealed": state.sealed,
        "losses": state.losses,
        "seq": state.seq,
        "at": state.at,
    }


def _vote_columns(vote: Vote | None) -> tuple[Any, ...]:
    return (None,) * 4 if vote is None else (vote.seq, vote.code, vote.seconds, vote.at)


def _pairs(table: dict[int, dict[str, Any]]) -> list[list[Any]]:
    return [[row, list(held.items())] for row, held in table.items()]


def thaw(kept: dict[str, Any]) -> State:
    """The state that was frozen, equal to the bit."""
    state = State()
    if kept["settings"] is not None:
        state.settings = Settings.of(kept["settings"])
    state.classes = tuple(
        Class(name, tuple(former), into, withdrawn) for name, former, into, withdrawn in kept["classes"]
    )
    state.changes = tuple(Change(*change) for change in kept["changes"])
    state.classes_seq = kept["classes_seq"]
    state.people = {n: Person(role, token, on, done) for n, role, token, on, done in kept["people"]}
    state.draws = {row: Draw(*rest) for row, *rest in kept["draws"]}
    state.checks = dict.fromkeys(kept["checks"])
    state.wanted = dict(kept["wanted"])
    state.votes = {row: {} for row in kept["voted"]}
    for row, who, *vote in kept["votes"]:
        state.votes[row][who] = Vote(*vote)
    state.passed = {row: dict(held) for row, held in kept["passed"]}
    state.leases = {row: dict(held) for row, held in kept["leases"]}
    state.waiting = dict.fromkeys(kept["waiting"])
    state.rounds = list(kept["rounds"])
    state.undone = set(kept["undone"])
    state.given = {seq: (kind, row, who) for seq, kind, row, who in kept["given"]}
    state.before = {
        seq: (None if vote[0] is None else Vote(*vote), passed) for seq, *vote, passed in kept["before"]
    }
    state.returned = dict(kept.get("returned", ()))  # snapshots of before have none
    state.reserve = dict(kept["reserve"])
    state.spared = dict(kept["spared"])
    state.recent = {who: deque(times, maxlen=RECENT) for who, times in kept["recent"]}
    state.seen = dict(kept["seen"])
    state.sealed, state.losses = kept["sealed"], kept["losses"]
    state.seq, state.at = kept["seq"], kept["at"]
    return state
