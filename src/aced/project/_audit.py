"""A project that audits given predictions: its draws, rebuilt from the ledger, and its next round.

The features of such a project are its predictions: a column for each class, 1 where it is predicted,
and a last column with t, how likely the prediction is wrong by its own account
(:mod:`aced.certificates`). Every round records a and b, with which t became the doubt that its rows were
drawn by. So all draws follow from the ledger and the features.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aced._types import Array, Bools, Float32, Float64, Ints, Rng
from aced.ledger import State
from aced.project._numbers import numbers
from aced.project._votes import Opinions, opinions

if TYPE_CHECKING:
    from aced.certificates import Drawn, Known
    from aced.project._round import Brief, PlannedRound

AUDIT = "audit"
"""The strategy of projects that audit."""
BATCH = 20
EXPLORE = 0.3
WITHIN = 0.02


@dataclass(frozen=True)
class Told:
    """What a ledger says of an audit: every draw in order, and the labels."""

    rows: Ints  # (T,)
    probabilities: Float64  # (T,)
    rounds: Ints  # (T,): the number of the round, from 1
    even: Bools  # (T,): drawn evenly, out of turn
    fits: list[tuple[float, float]]  # a and b of each round
    closed: dict[int, int]  # rows that were labelled without a draw: the first round that knew it
    irregular: Ints  # rows of which it is not clear when they were open
    labelled: Ints
    codes: Ints  # their labels
    stands: list[int]  # by code, the code that it counts as
    explore: float


def told(state: State, found: Opinions | None = None) -> Told:
    """What the ledger of an audit says."""
    found = opinions(state, state.settings.combine) if found is None else found
    rows = np.array(list(state.draws), dtype=np.int64)
    draws = list(state.draws.values())
    based = [one["based_on"] for one in state.rounds]
    first: dict[int, int] = {}
    for seq, (kind, row, _) in sorted(state.given.items()):
        if kind == "label":
            first.setdefault(row, seq)
    undrawn = [row for row in found.rows.tolist() if row not in state.draws]
    closed = {row: 1 + sum(seq < first[row] for seq in based) for row in undrawn if row in first}
    late = [
        row for row, seq in state.spared.items()
        if any(one["round"] > state.draws[row].round and one["based_on"] < seq for one in state.rounds)
    ]  # fmt: skip
    return Told(
        rows,
        np.array([one.probability for one in draws], dtype=float),
        np.array([one.round for one in draws], dtype=np.int64),
        np.array([one.note.get("spare") == "pool" for one in draws], dtype=bool),
        [(one["design"]["a"], one["design"]["b"]) for one in state.rounds],
        closed,
        np.array([*late, *(row for row in undrawn if row not in closed)], dtype=np.int64),
        found.rows,
        found.codes,
        state.stands,
        float((state.settings.audit or {}).get("explore", EXPLORE)),
    )


def drawn_of(features: Float32, known: Told) -> tuple[Drawn, Known]:
    """All draws with what the predictions said before each, and what is known now."""
    from aced.certificates import Drawn, Frozen, Known, doubt, reach_of

    n = len(features)
    said, own = said_of(features, known.stands), features[:, -1].astype(float)
    drawn = Drawn(n, fixed=True)
    drawn.freeze(Frozen(1, said, doubt(own, 0.0, 1.0)))
    is_open = np.ones(n, bool)
    for number in range(len(known.fits) + 1):  # round 0: before the first round
        if number:
            drawn.doubt_by(doubt(own, *known.fits[number - 1]))
        for row, known_by in known.closed.items():
            is_open[row] &= known_by > number
        for even in (False, True):
            places = np.flatnonzero((known.rounds == number) & (known.even == even))
            if not len(places):
                continue
            rows, q = known.rows[places], known.probabilities[places]
            if even:
                q = 1 / (is_open.sum() - np.arange(len(rows)))
            assert drawn.last is not None
            share = 1.0 if even else known.explore
            reach = reach_of(drawn.last.doubt, is_open, share, rows)
            drawn.add(is_open, rows, q, share, reach)
            is_open[rows] = False
    drawn.irregular[known.irregular] = True
    labelled, codes = np.zeros(n, bool), np.zeros(n, np.int64)
    labelled[known.labelled], codes[known.labelled] = True, known.codes
    assert drawn.last is not None
    return drawn, Known(labelled, codes, said, drawn.last.doubt)


def audit_features(codes: Ints, classes: int, confidence: Float64 | None) -> Float32:
    """The features of a project that audits these predictions."""
    from aced.certificates import own_doubt

    rows = np.zeros((len(codes), classes + 1), np.float32)
    rows[np.arange(len(codes)), codes] = 1
    rows[:, -1] = own_doubt(confidence, len(codes))
    return rows


def said_of(features: Float32, stands: list[int]) -> Array:
    """The predicted classes, as the codes that they count as now."""
    codes = np.argmax(np.asarray(features[:, :-1]), axis=1)
    return np.asarray(np.array(stands)[codes], dtype=np.uint8)


def plan_audit(features: Float32, brief: Brief, known: Told) -> PlannedRound:
    """The next round: a function of the brief and the features."""
    from aced.certificates import doubt, draw_telling, fitted, measure
    from aced.project._round import PlannedRound

    began = time.perf_counter()
    rng: Rng = np.random.default_rng([brief.seed, brief.round])
    drawn, now = drawn_of(features, known)
    own, n = features[:, -1].astype(float), len(features)
    chance = np.full(n, np.nan)
    chance[known.rows] = known.probabilities
    both = brief.rows[~np.isnan(chance[brief.rows])]
    wrong = now.said[both] != now.codes[both]
    fit = fitted(own[both], wrong, 1 / chance[both])
    s, is_open = doubt(own, *fit), np.ones(n, bool)
    is_open[brief.drawn] = False
    found = draw_telling(s, is_open, known.explore, 2 * brief.size, rng)
    rows, q = found.rows.tolist(), found.probabilities.tolist()
    certificate = measure(drawn, now, 0.95, "accuracy", 0) if len(brief.rows) else None
    return PlannedRound(
        rows=rows[: brief.size],
        probabilities=q[: brief.size],
        notes=[
            {"says": int(now.said[row]), "sure": round(1 - float(s[row]), 4)}
            for row in rows[: brief.size]
        ],
        accuracy=None if certificate is None else numbers(certificate),
        design={"a": fit[0], "b": fit[1]},
        seconds=time.perf_counter() - began,
        reserve={"rows": rows[brief.size :], "probabilities": q[brief.size :]},
    )


def audited(features: Float32, state: State) -> dict[str, Any]:
    """How accurate the predictions are, as far as is known now: in all, and by class."""
    from aced.certificates import measure

    drawn, now = drawn_of(features, told(state))
    by_class = []
    for code in state.codes:
        called = int((now.said == code).sum())
        one: dict[str, Any] = {"class": state.names[code], "predicted": called}
        for of in ("precision", "recall"):
            found = measure(drawn, now, 0.95, of, code)
            one[of] = numbers(found)
            if found.count is not None:
                one["count"] = numbers(found.count)
        by_class.append(one)
    return {"accuracy": numbers(measure(drawn, now, 0.95, "accuracy", 0)), "by_class": by_class}


def rightly(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the predictions of each class, the share that is right, as the page shows check rows."""
    return [
        {"class": one["class"], **one["precision"], "checked": one["predicted"]}
        if one["predicted"]
        else {"class": one["class"], "checked": 0, "estimate": None, "low": None, "high": None}
        for one in found["by_class"]
    ]


def labels_left(
    accuracy: dict[str, float] | None, within: float, labelled: int, total: int
) -> int | None:
    """Labels until the interval reaches no further than ``within`` from its middle.

    Its width falls about with √(1 / m - 1 / n), for m labels of n items.

    >>> labels_left({"low": 0.86, "high": 0.94, "checked": 100}, 0.02, 110, 100_000)
    289
    """
    if accuracy is None or not accuracy["checked"]:
        return None
    reach = (accuracy["high"] - accuracy["low"]) / 2
    if reach <= within:
        return 0
    spread = (within / reach) ** 2 * (1 / accuracy["checked"] - 1 / total)
    return max(0, math.ceil(1 / (spread + 1 / total)) - labelled)
