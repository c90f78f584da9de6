"""Which representation of the rows the labels speak for.

Candidates are the rows as they are ("linear"), scaled in one of two ways (:mod:`._scaling`), the same
rows lifted by a Gaussian kernel ("rbf") of three widths around the median distance, and the best of
these with weights of the columns ("weighted", :mod:`._column_weights`). Each is judged by its error: the
mean log loss of its penalised, calibrated fit on labels left out, in closed form but for the one slope;
weights by what they change on labels that they have not seen. Square errors would not do: they blame a
linear score for not being flat where a class is certain, and the slope does away with that.

The choice is sticky: another candidate must err less than the present one by a share of MARGIN and by
ERRORS standard errors of the difference d_i = l_i - l'_i of the log losses of the same m labels,

    d̄ > MARGIN · l̄    and    d̄ > ERRORS · std(d) / sqrt(m),

because the least of several errors on few labels is often chance. It begins with linear. Weights are
tried when there are GROWTH times as many labels as at the last trial. So is everything, once there are
more than MOST labels, of which the choice then looks at MOST; weights look at MOST_WEIGHED, and what
they gained at earlier trials counts too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aced._types import Array, Float64, Ints
from aced.representations._column_weights import CONSTANT, Weighed, try_weights
from aced.representations._left_out import LeftOut, by_kernel, by_rows, centred_targets, spaced
from aced.representations._lift import kernel, median_distance, squared_distances
from aced.representations._scaling import Scaling
from aced.representations._slope import log_losses

KINDS = ("linear", "rbf", "weighted")
WIDTHS = (0.25, 1.0, 4.0)
"""Widths of the kernel: it is exp(-width · squared distance / median squared distance)."""
MARGIN = 0.02
ERRORS = 1.0
MOST, MOST_WEIGHED = 512, 1024
GROWTH = 1.25
LEAST_GAIN = 0.1
"""What one trial of weights may say at best: no trial decides for ever."""
FEWEST_WEIGHED = 30
"""Weights of columns are tried from this many labels on."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A representation."""

    kind: str = "linear"
    scaling: int = 0  # 0: each column by its own spread, 1: all by one number
    width: float = 1.0
    weights: Float64 | None = None  # (p,), of the columns
    labels: int = 0  # how many labels there were when it was made
    weighed: int = 0  # how many there were when weights were last tried
    gain: float | None = None  # the error with weights as a share of that without, over all trials
    trust: float = 1.0  # what left-out slopes are multiplied by, as weights have seen the labels
    seen: int = 0  # a checksum of the labels it was made from; 0 before there are any
    errors: Mapping[str, float] = field(default_factory=dict)  # of the best of each kind

    @property
    def same_rows(self) -> tuple[object, ...]:
        """What decides how rows are represented: equal for choices with the same lifted rows."""
        weights = b"" if self.weights is None else self.weights.tobytes()
        return (self.kind,) if self.kind == "linear" else (self.scaling, self.width, weights)

    def record(self) -> dict[str, float | int | str]:
        """What the history says of it."""
        found: dict[str, float | int | str] = {"representation": self.kind}
        if self.kind != "linear":
            found["width"] = self.width
        return found | {f"error_{kind}": error for kind, error in self.errors.items()}

    def to_arrays(self) -> dict[str, Array]:
        """The choice as arrays, for saving."""
        gain = np.nan if self.gain is None else self.gain
        numbers = [KINDS.index(self.kind), self.scaling, self.width, self.labels, self.weighed]
        numbers += [gain, self.trust, self.seen]
        errors = [self.errors.get(kind, np.nan) for kind in KINDS]
        arrays = {"choice": np.array([*numbers, *errors], dtype=float)}
        return arrays if self.weights is None else {**arrays, "column_weights": self.weights}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array]) -> Choice | None:
        """The choice that ``to_arrays`` gave; None if there is none."""
        if "choice" not in arrays:
            return None
        kind, scaling, width, labels, weighed, gain, trust, seen, *errors = arrays["choice"].tolist()
        weights = arrays.get("column_weights")
        known = kind in range(len(KINDS)) and scaling in (0, 1) and 0 < width < np.inf
        known = known and (kind == KINDS.index("weighted")) == (weights is not None)
        if weights is not None:
            known = known and bool((np.isfinite(weights) & (weights >= 0)).all())
        if not known or min(labels, weighed, seen) < 0 or not 0 < trust <= 1:
            raise ValueError("choice is not what a learner saves")
        judged = {name: error for name, error in zip(KINDS, errors, strict=True) if error == error}
        return cls(
            KINDS[int(kind)],
            int(scaling),
            width,
            weights,
            int(labels),
            int(weighed),
            gain if gain == gain else None,
            trust,
            int(seen),
            judged,
        )


@dataclass(frozen=True)
class Known:
    """What a choice is made from: labelled rows, and other rows by which distances are judged."""

    rows: Array  # (m, p), dense or sparse
    codes: Ints  # (m,), 0 … K-1, each of which occurs
    sample: Array  # (s, p)

    def some(self, most: int) -> Known:
        """About so many of the labels, with every class."""
        places = spaced(self.codes, most)
        return replace(self, rows=self.rows[places], codes=self.codes[places])


def choose(
    kept: Choice | None, known: Known, scalings: Sequence[Scaling], kinds: Sequence[str]
) -> Choice:
    """The representation for these labels among some ``kinds``, after ``kept``."""
    labels = len(known.codes)
    if kept is not None and labels > MOST and labels < GROWTH * kept.labels:
        return kept
    some = known.some(MOST)
    fits = _plain(some, scalings, kinds)
    judged = {one: log_losses(fitted.scores, some.codes) for one, fitted in fits.items()}
    weighed, gain = (0, None) if kept is None else (kept.weighed, kept.gain)
    if "weighted" in kinds and labels >= max(FEWEST_WEIGHED, GROWTH * weighed):
        best = _base(kept, {one: losses.mean() for one, losses in judged.items() if one.kind == "rbf"})
        trial, now = _weighted(best, fits[best].alpha, known, scalings)
        now = max(now, LEAST_GAIN)
        gain = now if gain is None else float(np.sqrt(now * gain))  # one trial alone is noisy
        judged[trial] = gain * judged[best]
        weighed = labels
    if kept is not None and kept.kind == "weighted":  # too good, as its weights have seen most labels
        judged[kept] = _with_weights(kept, some, scalings)
    errors = {
        kind: min(float(losses.mean()) for one, losses in judged.items() if one.kind == kind)
        for kind in KINDS
        if any(one.kind == kind for one in judged)
    }
    best = _stay(kept, judged)
    return replace(best, labels=labels, weighed=weighed, gain=gain, errors=errors)


def _stay(kept: Choice | None, judged: Mapping[Choice, Float64]) -> Choice:
    """The candidate with the least error, or the present one where the two are close."""
    best = min(judged, key=lambda one: judged[one].mean())
    present = next(iter(judged))
    if kept is not None:
        same = [one for one in judged if one is kept or _alike(one, kept)]
        present = same[0] if same else present
    return best if clearly_less(judged[best], judged[present]) else present


def clearly_less(losses: Float64, present: Float64) -> bool:
    """Whether the first losses (m,) are less than the ``present`` ones of the same labels, by the rule.

    >>> present = np.array([1.0, 0.2, 0.4, 0.8])
    >>> clearly_less(0.97 * present, present), clearly_less(0.99 * present, present)
    (True, False)
    >>> clearly_less(np.array([0.2, 0.5, 0.7, 0.8]), present)
    False
    """
    difference = present - losses
    mean, error = difference.mean(), difference.std() / np.sqrt(len(difference))
    return bool(mean > MARGIN * present.mean() and mean > ERRORS * error)


def _base(kept: Choice | None, lifted: Mapping[Choice, float]) -> Choice:
    """The kernel whose columns are weighed: the present one, unless another errs less by the margin."""
    best = min(lifted, key=lambda one: lifted[one])
    for one in lifted:
        if kept is not None and kept.kind != "linear" and _kernel(one) == _kernel(kept):
            return best if lifted[best] < (1 - MARGIN) * lifted[one] else one
    return best


def _kernel(one: Choice) -> tuple[int, float]:
    return one.scaling, one.width


def _alike(one: Choice, other: Choice) -> bool:
    """Whether two choices without weights are the same."""
    return one.kind == other.kind != "weighted" and _kernel(one) == _kernel(other)


def _plain(known: Known, scalings: Sequence[Scaling], kinds: Sequence[str]) -> dict[Choice, LeftOut]:
    """The fits of the candidates without weights; the first is that with which one begins."""
    targets = centred_targets(known.codes, int(known.codes.max()) + 1)
    found: dict[Choice, LeftOut] = {}
    for number, scaling in enumerate(scalings):
        rows = scaling.apply(known.rows)
        if "linear" in kinds:
            found[Choice("linear", number)] = by_rows(rows, targets, scaling.constant)
        if set(kinds) - {"linear"}:
            distances = squared_distances(np.asarray(rows, dtype=float))
            unit = median_distance(np.asarray(scaling.apply(known.sample), dtype=float))
            for width in WIDTHS:
                gram = np.exp(-width / unit * distances) + CONSTANT**2
                found[Choice("rbf", number, width)] = by_kernel(gram, targets)
    return found


def _with_weights(kept: Choice, known: Known, scalings: Sequence[Scaling]) -> Float64:
    """The losses on labels left out with the present weights, which most of the labels have made."""
    rows, sample, targets = _scaled(kept, known, scalings)
    z = rows * Weighed(rows, targets, sample, kept.width, 0.0).factor(np.asarray(kept.weights))
    return log_losses(by_kernel(kernel(z, z) + CONSTANT**2, targets).scores, known.codes)


def _scaled(
    choice: Choice, known: Known, scalings: Sequence[Scaling]
) -> tuple[Float64, Float64, Float64]:
    """The labelled rows and the sample as the choice scales them, and the targets."""
    apply = scalings[choice.scaling].apply
    targets = centred_targets(known.codes, int(known.codes.max()) + 1)
    return np.asarray(apply(known.rows), float), np.asarray(apply(known.sample), float), targets


def _weighted(
    best: Choice, alpha: float, known: Known, scalings: Sequence[Scaling]
) -> tuple[Choice, float]:
    """The candidate with weights of the columns, and its error as a share of that without."""
    known = known.some(MOST_WEIGHED)
    rows, sample, targets = _scaled(best, known, scalings)
    weighed = Weighed(rows, targets, sample, best.width, alpha)
    trial = try_weights(weighed, known.codes)
    return replace(best, kind="weighted", weights=trial.weights, trust=trial.trust), trial.gain
