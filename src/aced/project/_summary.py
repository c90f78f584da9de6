"""How a project stands: for the page, the terminal and ``aced status``.

Labels left. A project that was told when to stop has those that the certificate may still take, and so
has an audit. In others they are those up to the goal (:mod:`aced.project._goal`), which moves little, or
until every row has a label.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from aced.crowd import agreement, disputes
from aced.ledger import State
from aced.project._audit import audited, labels_left as labels_of_audit, rightly
from aced.project._classes import active_names, class_table
from aced.project._confusion import accuracy, by_class, confusion, last_estimate
from aced.project._export import finite
from aced.project._proposals import trusted
from aced.project._representation import representation
from aced.project._savings import saved
from aced.project._settings import check_cost
from aced.project._tally import day_of
from aced.project._votes import sole_probability

if TYPE_CHECKING:
    from aced.project._project import Project
    from aced.project._votes import Opinions

MOST_DISPUTES = 100


def progress(project: Project, who: str | None = None) -> dict[str, Any]:
    """How far labelling is, with the counts of ``who`` (None: of all). The cost does not grow with n."""
    tally = project.tally.update()
    state, settings = project.ledger.state, project.settings
    rounds = list(state.rounds)
    now = accuracy(state, last_estimate(state))
    goal = project.goals.after(rounds, settings)
    left = None if goal is None else max(0, goal - tally.labelled)
    if tally.labelled == settings.rows:
        left = 0
    if settings.audit:
        left = labels_of_audit(now, settings.audit["within"], tally.labelled, settings.rows)
    stop = state.rounds[-1].get("stop") if state.rounds else None
    if settings.stop:
        left = _until(stop, state.rounds[-1]["labels"] if state.rounds else 0, tally.labelled)
    pace = tally.seconds(who)
    return {
        "labelled": tally.labelled,
        "drawn": len(state.draws),
        "total": settings.rows,
        "mine": tally.counts[who, "label"],
        "undoable": who in state.people and bool(state.people[who].done),
        "today": tally.days[who, day_of(project.ledger.now)],
        "accuracy": now,
        "audit": bool(settings.audit),
        "stop": stop,
        "seconds_left": None if left is None or pace is None else round(left * pace, 1),
        "labels_left": left,
        "goal": goal,
        "classes_version": state.classes_seq,
    }


def _until(stop: dict[str, Any] | None, then: int, labelled: int) -> int | None:
    """Labels until labelling may stop, as the round with ``then`` labels foresaw it; None if unknown.

    >>> _until({"reached": False, "ahead": [40, 90, 210]}, 100, 120)
    70
    """
    if stop is None or (not stop["reached"] and stop["ahead"] is None):
        return None
    return 0 if stop["reached"] else max(1, stop["ahead"][1] + then - labelled)


def summary(project: Project, cost_per_label: float | None = None) -> dict[str, Any]:
    """All that the lead sees, as plain numbers, strings and None.

    ``cost_per_label`` is what a label costs (default: what the project was made with).
    """
    check_cost(cost_per_label)
    shown = progress(project)
    tally = project.tally
    pace = tally.seconds(None)
    with project.ledger.reading() as state:
        found = project.opinions(state)
        people = [_person(state, tally, name) for name in sorted(state.people)]
        contested = disputes(found.votes).tolist()
        shared = [_dispute(project, state, int(found.rows[i])) for i in contested[:MOST_DISPUTES]]
        rounds = [{key: r[key] for key in ("round", "labels", "seconds")} for r in state.rounds]
        curve = [
            {"labels": r["labels"], **{key: point[key] for key in ("estimate", "low", "high")}}
            for r in state.rounds
            if (point := accuracy(state, r))
        ]
        last, names = last_estimate(state), active_names(state)
        table, parts = confusion(state, last), by_class(state, last, names)
        classes = class_table(state, found.codes)
        change = _last_change(project, state)
        represented = representation(state)
        proposals = trusted(state.rounds)
        against = saved(state, pace, cost_per_label)
        sole = sole_probability(state)
        audit = audited(project.features, state) if project.settings.audit else None
    return {
        "progress": shown,
        "curve": curve,
        "balance": {one["name"]: one["labels"] for one in classes},
        "classes": classes,
        "changes": change,
        "confusion": None if table is None else {"classes": names, "counts": table.tolist()},
        "accuracy_by_class": rightly(audit) if audit else parts,
        "people": people,
        "agreement": {**_agreement(found), "sole": sole},
        "disputes": shared,
        "disputed": len(contested),
        "rounds": rounds,
        "representation": represented,
        "savings": against,
        "proposals": proposals,
        "audit": audit,
    }


def _last_change(project: Project, state: State) -> dict[str, Any] | None:
    """The change of the classes that an undo would take back."""
    if not state.changes:
        return None
    last = state.changes[-1]
    event = next(event for event, _ in project.ledger.events(last.seq - 1))
    other = state.names[last.code] if last.kind == "class-merged" else last.name
    return {
        "seq": last.seq,
        "kind": last.kind,
        "class": state.classes[last.code].name,
        "name": other,
        "at": event.at,
        "who": event.who,
    }


def _person(state: State, tally: Any, name: str) -> dict[str, Any]:
    person = state.people[name]
    times = [
        vote.seconds
        for seq in person.done
        if state.given[seq][0] == "label"
        and (vote := state.votes[state.given[seq][1]].get(name)) is not None
        and vote.seq == seq
        and vote.seconds > 0
    ]
    return {
        "name": name,
        "role": person.role,
        "active": person.active,
        "labels": tally.counts[name, "label"],
        "skips": tally.counts[name, "skip"],
        "unsure": tally.counts[name, "unsure"],
        "median_seconds": round(statistics.median(times), 3) if times else None,
        "last": tally.last(name),
    }


def _agreement(found: Opinions) -> dict[str, Any]:
    if not len(found.rows):
        return {"share": None, "alpha": None, "names": [], "pairs": []}
    seen = agreement(found.votes)
    numbers = finite({"share": seen.share, "alpha": seen.alpha, "pairs": seen.pairs.tolist()})
    return {**numbers, "names": list(found.people)}


def _dispute(project: Project, state: State, row: int) -> dict[str, Any]:
    item, names = project.item(row), state.names
    shown = {"image": f"/api/image/{row}"} if item.kind == "image" else {"content": item.content}
    votes = {who: names[vote.code] for who, vote in sorted(state.votes[row].items())}
    return {"row": row, "id": item.id, **shown, "votes": votes}
