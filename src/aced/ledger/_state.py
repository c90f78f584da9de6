"""What a project knows: a state, made by applying its events in order.

``State.apply`` is the only thing that changes a state, and an event holds all that it needs. The
state after any event can therefore be rebuilt from the file, to the bit.

A *request* is a wish for one opinion about one row. A draw makes a request for each row it names; a
row named twice wants two opinions. A row is ready for a person who has not answered it while its
opinions and running leases together are fewer than its requests.

A draw also leaves a *reserve*: rows of the same design that are given out if the next round is late.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aced.ledger._classes import ADDED, MERGED, RENAMED, UNDONE, Change, Class, changed, stands
from aced.ledger._events import Event, dump
from aced.ledger._fit import check_fit
from aced.ledger._settings import Settings

_OF_ROWS = ("rows", "probabilities", "chances", "notes", "reserve")
RECENT = 50
"""How many of a person's last labels their present speed is the median of."""
AHEAD = 300.0
"""Seconds that the ledger's time may run ahead of the machine's clock, which was set back."""


@dataclass
class Person:
    """Someone who labels; ``done`` holds the numbers of their events that can be undone."""

    role: str
    token: str | None
    active: bool = True
    done: list[int] = field(default_factory=list)


@dataclass
class Vote:
    """One person's label of one row."""

    seq: int
    code: int  # what the person chose; what it counts as says ``State.stands``
    seconds: float
    at: float


@dataclass
class Draw:
    """How a row came to be asked for: the first draw that named it."""

    round: int
    probability: float
    check: bool
    note: dict[str, Any] = field(default_factory=dict)  # why it was drawn


@dataclass
class State:
    """All that a project knows. Everything reads it; only ``apply`` changes it."""

    settings: Settings = field(init=False)  # once the first event is applied
    classes: tuple[Class, ...] = ()  # by code, also those that nobody may choose any more
    changes: tuple[Change, ...] = ()  # of the classes, that can be undone, the last one at the end
    classes_seq: int = 0  # the last event that changed the classes
    people: dict[str, Person] = field(default_factory=dict)
    draws: dict[int, Draw] = field(default_factory=dict)  # by row
    checks: dict[int, None] = field(default_factory=dict)  # rows that accuracy is estimated from
    wanted: dict[int, int] = field(default_factory=dict)  # requests by row, in the order drawn
    votes: dict[int, dict[str, Vote]] = field(default_factory=dict)
    passed: dict[int, dict[str, str]] = field(default_factory=dict)  # "skip" or "unsure"
    leases: dict[int, dict[str, float]] = field(default_factory=dict)  # until when
    waiting: dict[int, None] = field(default_factory=dict)  # rows with fewer opinions than requests
    rounds: list[dict[str, Any]] = field(default_factory=list)
    undone: set[int] = field(default_factory=set)
    given: dict[int, tuple[str, int, str]] = field(default_factory=dict)  # seq: kind, row, who
    before: dict[int, tuple[Vote | None, str | None]] = field(default_factory=dict)
    """By event, what an answer replaced: the same person's vote, or their "skip" or "unsure"."""
    returned: dict[int, int] = field(default_factory=dict)
    """By event that brought a row back into the queue, the "skip" or "unsure" that stood in its way."""
    reserve: dict[int, float] = field(default_factory=dict)  # rows, and their draw probabilities
    spared: dict[int, int] = field(default_factory=dict)  # rows given out of turn, and the event
    recent: dict[str | None, deque[float]] = field(default_factory=dict)
    """Seconds of the last labels, by person; under None, of everybody's."""
    seen: dict[str, float] = field(default_factory=dict)  # when each person last answered
    sealed: dict[str, str] = field(default_factory=dict)  # hashes of files, if event 1 has none
    losses: list[dict[str, Any]] = field(default_factory=list)  # accepted as lost
    seq: int = 0
    at: float = 0.0

    # -- changing -------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        assert event.seq == self.seq + 1, "events must be applied in order"
        check_fit(event, self)
        FOLD[event.kind](self, event)
        self.seq, self.at = event.seq, event.at

    def _created(self, event: Event) -> None:
        self.settings = Settings.of(event.body)
        self.classes = tuple(map(Class, self.settings.classes))

    def _classes(self, event: Event) -> None:
        self.classes, self.changes = changed(event, self.classes, self.changes)
        self.classes_seq = event.seq

    def _annotator(self, event: Event) -> None:
        name = event.body["name"]
        done = self.people[name].done if name in self.people else []
        self.people[name] = Person(event.body["role"], event.body.get("token"), done=done)

    def _revoked(self, event: Event) -> None:
        self.people[event.body["name"]].active = False
        for holders in self.leases.values():  # leases end but are kept: a late answer counts
            if event.body["name"] in holders:
                holders[event.body["name"]] = min(holders[event.body["name"]], event.at)

    def _draw(self, event: Event) -> None:
        body = event.body
        self.rounds.append({k: v for k, v in body.items() if k not in _OF_ROWS})
        probabilities = body["probabilities" if "probabilities" in body else "chances"]  # the old name
        notes = body.get("notes") or [{}] * len(body["rows"])
        checks = dict.fromkeys(body.get("checks", []))
        self.checks.update(checks)
        for row, probability, note in zip(body["rows"], probabilities, notes, strict=True):
            if row not in self.draws:
                self.draws[row] = Draw(body["round"], probability, row in checks, note)
            if self.spared.get(row, -1) <= body.get("based_on", 0):  # else it was asked for meanwhile
                self.wanted[row] = self.wanted.get(row, 0) + 1
            self._review(row)
        reserve = body.get("reserve") or {"rows": [], "probabilities": []}
        self.reserve = dict(zip(reserve["rows"], reserve["probabilities"], strict=True))

    def _spare(self, event: Event) -> None:
        body = event.body
        for row, probability in zip(body["rows"], body["probabilities"], strict=True):
            note = {"spare": "design" if row in self.reserve else "pool"}
            self.draws.setdefault(row, Draw(len(self.rounds), probability, False, note))
            self.wanted[row] = self.wanted.get(row, 0) + 1
            self.spared[row] = event.seq
            self.reserve.pop(row, None)
            self._review(row)

    def _sealed(self, event: Event) -> None:
        self.sealed = dict(event.body["files"])

    def _accepted(self, event: Event) -> None:
        self.losses.append(event.body)

    def _lease(self, event: Event) -> None:
        assert event.row is not None
        self.leases.setdefault(event.row, {})[event.who] = event.body["until"]

    def _label(self, event: Event) -> None:
        seconds = float(event.body.get("seconds", 0.0))
        if seconds:
            for whose in (event.who, None):
                self.recent.setdefault(whose, deque(maxlen=RECENT)).append(seconds)
        self._given(event)[event.who] = Vote(event.seq, event.body["label"], seconds, event.at)
        self.passed.get(event.row or 0, {}).pop(event.who, None)
        self._review(event.row or 0)

    def _skip(self, event: Event) -> None:
        self._given(event).pop(event.who, None)
        self.passed.setdefault(event.row or 0, {})[event.who] = event.kind
        self._review(event.row or 0)

    def _returned(self, event: Event) -> None:
        """Bring a skipped or unsure row back into the queue of the person who passed it.

        Neither its draw nor its requests change: it is not drawn, wanted or counted a second time.
        """
        of = int(event.body["of"])
        kind, row, whose = self.given[of]
        del self.passed[row][whose]
        self.seen[event.who] = event.at
        self.given[event.seq] = (event.kind, row, event.who)
        self.before[event.seq] = None, kind
        self.returned[event.seq] = of
        if event.who in self.people:
            self.people[event.who].done.append(event.seq)
        self._review(row)

    def _given(self, event: Event) -> dict[str, Vote]:
        assert event.row is not None
        holders = self.leases.get(event.row, {})
        holders.pop(event.who, None)
        if not holders:
            self.leases.pop(event.row, None)
        self.seen[event.who] = event.at
        self.given[event.seq] = (event.kind, event.row, event.who)
        if event.who in self.people:
            self.people[event.who].done.append(event.seq)
        votes = self.votes.setdefault(event.row, {})
        self.before[event.seq] = votes.get(event.who), self.passed.get(event.row, {}).get(event.who)
        return votes

    def _undo(self, event: Event) -> None:
        """Make the row what it was before the answer, and lease it to the same person again."""
        of = int(event.body["of"])
        _, row, who = self.given[of]
        self.seen[event.who] = event.at
        self.undone.add(of)
        if who in self.people:
            self.people[who].done.remove(of)
        if of in self.returned:
            self._pass_again(of)
            return
        self.passed.get(row, {}).pop(who, None)
        self.votes[row].pop(who, None)
        vote, passed = self.before[of]
        if vote is not None:
            self.votes[row][who] = vote
        if passed is not None:
            self.passed.setdefault(row, {})[who] = passed
        if event.body.get("until") is not None:
            self.leases.setdefault(row, {})[who] = event.body["until"]
        self._review(row)

    def _pass_again(self, returned: int) -> None:
        """Take a row out of the queue again. If its person has answered it since, that stands."""
        answer = self.returned[returned]
        kind, row, whose = self.given[answer]
        holders = self.leases.get(row, {})
        holders.pop(whose, None)
        if not holders:
            self.leases.pop(row, None)
        if answer not in self.undone and not self.said_something(whose, row):
            self.passed.setdefault(row, {})[whose] = kind

    def _imported(self, event: Event) -> None:
        """Change nothing: labels are events of their own. This one keeps a file from counting twice."""

    def _review(self, row: int) -> None:
        """Take a row out of ``waiting`` when all its requests are met, or put it back at the end."""
        if len(self.votes.get(row, {})) >= self.wanted.get(row, 0):
            self.waiting.pop(row, None)
        elif row not in self.waiting:
            self.waiting[row] = None

    # -- reading --------------------------------------------------------------------

    @property
    def codes(self) -> list[int]:
        """The codes of the classes that people may choose."""
        return [code for code, one in enumerate(self.classes) if one.active]

    @property
    def stands(self) -> list[int]:
        """By code, the code that a label counts as: another one if its class was merged."""
        return stands(self.classes)

    @property
    def names(self) -> list[str]:
        """By code, the name of the class that a label counts as."""
        return [self.classes[code].name for code in self.stands]

    def standing(self, seq: int) -> bool:
        """Whether this answer still holds: it was not undone, and no later one took its place."""
        if seq in self.undone or seq not in self.given:
            return False
        kind, row, who = self.given[seq]
        vote = self.votes.get(row, {}).get(who)
        if kind == "label":
            return vote is not None and vote.seq == seq
        if self.passed.get(row, {}).get(who) != kind:
            return False
        said = self.people[who].done if who in self.people else list(self.given)
        later = (one for one in reversed(said) if one > seq and one not in self.undone)
        return not any(self.given[one] == (kind, row, who) for one in later)

    def labels_of_class(self, code: int) -> list[int]:
        """The numbers of the labels that count as this class, in the order they came."""
        meant = {one for one, stand in enumerate(self.stands) if stand == code}
        votes = (vote for said in self.votes.values() for vote in said.values())
        return sorted(vote.seq for vote in votes if vote.code in meant)

    def names_class(self, code: int) -> bool:
        """Whether a label names this class, or would after an undo."""
        votes = (vote for said in self.votes.values() for vote in said.values())
        before = (vote for seq, (vote, _) in self.before.items() if vote and seq not in self.undone)
        return any(vote.code == code for part in (votes, before) for vote in part)

    def runs(self, until: float, now: float) -> bool:
        """Whether a lease until this time runs at ``now``.

        A lease that would run for longer than leases do was given while the clock was ahead: it has
        ended.
        """
        return now < until <= now + self.settings.lease + AHEAD

    def held_by(self, who: str, now: float) -> list[int]:
        """Rows on which this person has a running lease, oldest first."""
        return [row for row, holders in self.leases.items() if self.runs(holders.get(who, -1.0), now)]

    def ready(self, who: str, now: float) -> Iterator[int]:
        """Rows this person may be given, in the order drawn."""
        for row in self.waiting:
            votes = self.votes.get(row, {})
            if who in votes or who in self.passed.get(row, {}):
                continue
            holders = self.leases.get(row, {})
            running = sum(name != who and self.runs(until, now) for name, until in holders.items())
            if len(votes) + running < self.wanted[row] and not self.runs(holders.get(who, -1.0), now):
                yield row

    def was_given(self, who: str, row: int) -> bool:
        """Whether this person holds the row, held it, or has answered it."""
        places = (self.leases, self.votes, self.passed)
        return any(who in place.get(row, {}) for place in places)

    def said_something(self, who: str, row: int) -> bool:
        """Whether an answer of this person about the row stands."""
        return any(who in place.get(row, {}) for place in (self.votes, self.passed))

    def untouched(self) -> int:
        """The number of waiting rows that nobody holds or has answered."""
        places = (self.leases, self.votes, self.passed)
        return sum(not any(place.get(row) for place in places) for row in self.waiting)

    @property
    def files(self) -> dict[str, str]:
        """The hashes of the project's files, by name; empty for a project of before."""
        return dict(self.settings.files or self.sealed)

    def labelled(self) -> list[int]:
        """Rows with at least one opinion, in order."""
        return sorted(row for row, votes in self.votes.items() if votes)

    def digest(self) -> str:
        """A hash that is the same for equal states."""
        content = [
            self.settings.body() if self.seq else {},
            {n: [p.role, p.token, p.active, p.done] for n, p in self.people.items()},
            [[r, d.round, d.probability, d.check, d.note] for r, d in sorted(self.draws.items())],
            list(self.checks),
            list(self.wanted.items()),
            [
                [row, [[who, v.seq, v.code, v.seconds, v.at] for who, v in sorted(votes.items())]]
                for row, votes in sorted(self.votes.items())
                if votes
            ],
            [[row, sorted(names.items())] for row, names in sorted(self.passed.items()) if names],
            [[row, sorted(names.items())] for row, names in sorted(self.leases.items()) if names],
            list(self.waiting),
            self.rounds,
            sorted(self.undone),
            self.seq,
            self.at,
        ]
        newer = [list(self.reserve.items()), list(self.spared.items()), self.sealed, self.losses]
        if any(newer):  # ledgers of before have none of these, and keep their digest
            content += newer
        if self.returned:
            content.append(list(self.returned.items()))
        if self.classes_seq:
            content.append([[c.name, c.former, c.into, c.withdrawn] for c in self.classes])
            content.append([[c.seq, c.kind, c.code, c.name] for c in self.changes])
        return hashlib.sha256(dump(content).encode()).hexdigest()


FOLD: dict[str, Callable[[State, Event], None]] = {
    "created": State._created,  # the project's settings
    "annotator": State._annotator,  # someone may label: name, role, hash of the access token
    "revoked": State._revoked,  # someone may no longer label
    "draw": State._draw,  # a round: rows, draw probabilities, why each was drawn
    "spare": State._spare,  # rows of the reserve, or drawn evenly, because the next round is late
    "lease": State._lease,  # a row is given to someone until a time
    "label": State._label,
    "skip": State._skip,
    "unsure": State._skip,
    "returned": State._returned,  # a row that was skipped, or unsure, comes back into the queue
    "undo": State._undo,  # takes back a label, a skip, an unsure or a return
    "imported": State._imported,  # a file of labels was taken in; its hash
    "sealed": State._sealed,  # hashes of items and features, of a project that had none
    "accepted": State._accepted,  # events were lost, and work goes on without them
    ADDED: State._classes,  # a class that labels may name from now on
    RENAMED: State._classes,  # another name for a class
    MERGED: State._classes,  # labels of one class count as another; their numbers
    UNDONE: State._classes,  # takes back the last of these changes
}
"""The kinds of events, and what each does to a state."""
