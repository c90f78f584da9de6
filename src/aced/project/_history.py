"""What people have answered, newest first, a page at a time.

An answer stands until it is undone, its person answers the item anew, or the item comes back into the
queue. Only answers that stand are listed. The ledger is held for ``CHUNK`` answers at a time, so that
nobody who labels waits while somebody searches a long history.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from aced._errors import InvalidInput
from aced.ledger import State

if TYPE_CHECKING:
    from aced.project._project import Project

ANSWERS = ("label", "skip", "unsure")
PASSED = ANSWERS[1:]
MOST_SHOWN = 100
CHUNK = 4000


@dataclass(frozen=True)
class Answer:
    """An answer that stands: event ``seq``. Only a label has a ``label``."""

    seq: int
    kind: str
    row: int
    who: str
    label: str | None  # the name of the class that it counts as now
    code: int | None
    at: float
    seconds: float
    wanted: bool  # whether a label of the item is still wanted, so that the item can come back


@dataclass(frozen=True)
class Page:
    """Some answers, newest first. ``more`` continues the list, as ``before``; None at its end."""

    answers: list[Answer]
    more: int | None


def history(
    project: Project,
    *,
    who: str | None = None,
    kinds: Collection[str] = ANSWERS,
    text: str = "",
    before: int | None = None,
    count: int = 50,
) -> Page:
    """The answers of ``who`` (None: of everybody), newest first, and only those of these ``kinds``.

    With a ``text``, only of items whose id or content holds it; capitals do not matter. ``before`` is
    where the page before ended.
    """
    sought = text.strip().casefold()
    found = (
        one
        for one in _standing(project, who)
        if (before is None or one[0] < before)
        and one[1] in kinds
        and (not sought or _holds(project, one[2], sought))
    )
    most = max(1, min(count, MOST_SHOWN))
    page = list(islice(found, most + 1))
    listed = page[:most]
    with project.ledger.reading() as state:
        events = project.ledger.named(seq for seq, *_ in listed)
        answers = []
        for seq, kind, row, name in listed:
            code = state.stands[events[seq].body["label"]] if kind == "label" else None
            answers.append(
                Answer(
                    seq,
                    kind,
                    row,
                    name,
                    None if code is None else state.names[code],
                    code,
                    events[seq].at,
                    float(events[seq].body.get("seconds", 0.0)),
                    row in state.waiting,
                )
            )
    return Page(answers, listed[-1][0] if len(page) > len(listed) else None)


def _holds(project: Project, row: int, sought: str) -> bool:
    """Whether the id or the content of an item holds a text."""
    item = project.item(row)
    content = item.content
    parts = content.values() if isinstance(content, dict) else (content,)
    return any(sought in str(part).casefold() for part in (item.id, *parts) if part is not None)


def _standing(project: Project, who: str | None) -> Iterator[tuple[int, str, int, str]]:
    """Number, kind, row and person of every answer that stands, newest first."""
    end: int | None = None
    seen: set[tuple[int, str]] = set()
    while end is None or end > 0:
        with project.ledger.reading() as state:
            if end is None:
                end = state.seq + 1
            seqs = _before(state, who, end)
            found = [(seq, *state.given[seq]) for seq in seqs if _stands(state, seq, seen)]
        yield from found
        end = seqs[-1] if seqs else 0


def _before(state: State, who: str | None, end: int) -> list[int]:
    """Numbers of some answers before ``end``, the last one first; none if there are no more."""
    if who is None:
        seqs: list[int] = []
        while end > 1 and not seqs:
            start = max(1, end - CHUNK)
            seqs = [seq for seq in range(end - 1, start - 1, -1) if seq in state.given]
            end = start
        return seqs
    done = state.people[who].done if who in state.people else []
    place = bisect_left(done, end)
    return done[max(0, place - CHUNK) : place][::-1]


def _stands(state: State, seq: int, seen: set[tuple[int, str]]) -> bool:
    """Whether an answer stands; ``seen`` are skips and unsures that came later and do."""
    kind, row, who = state.given[seq]
    if kind == "label":
        vote = state.votes.get(row, {}).get(who)
        return vote is not None and vote.seq == seq
    if kind not in PASSED or seq in state.undone or (row, who) in seen:
        return False
    if state.passed.get(row, {}).get(who) != kind:
        return False
    seen.add((row, who))
    return True


def check_return(state: State, who: str, answer: int) -> int:
    """The row that may come back; refused if it may not, or not by ``who``."""
    if not state.standing(answer):
        raise InvalidInput("answer", f"answer {answer} does not stand any more; load the list again")
    kind, row, whose = state.given[answer]
    if kind not in PASSED:
        raise InvalidInput("answer", f"answer {answer} is a label; only skips and unsures come back")
    if whose != who and state.people[who].role != "lead":
        raise InvalidInput("answer", f"answer {answer} is another person's; ask a lead to bring it back")
    if row not in state.waiting:
        sentence = "no label of its item is wanted now; give one here instead"
        raise InvalidInput("answer", f"answer {answer} cannot come back: {sentence}")
    return row


def passed_in(state: State) -> dict[int, dict[str, int]]:
    """By row and person, the number of the skip or unsure that stands."""
    found: dict[int, dict[str, int]] = {}
    for seq in reversed(state.given):
        kind, row, who = state.given[seq]
        if kind in PASSED and seq not in state.undone and state.passed.get(row, {}).get(who) == kind:
            found.setdefault(row, {}).setdefault(who, seq)
    return found
