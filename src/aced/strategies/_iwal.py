"""Importance-weighted active learning over a stream (Beygelzimer, Hsu, Langford, Zhang 2010).

Let x be the k-th row of the stream, h the weighted empirical risk minimiser and h' the best
classifier that labels x the other way. With G = err(h') - err(h) and ε = C0 ln k / (k - 1), x is
asked for with probability 1 if G ≤ a + ε, and otherwise with the probability s that solves

    G = (c1/√s - c1 + 1) a + (c2/s - c2 + 1) ε,      c1 = 5 + 2√2, c2 = 5,

where a = √ε (IWAL0) or √(ε err(h)) (IWAL1). A row asked for becomes an example of weight
1/s. The published ACED code has the accuracy of h in place of its error, which makes IWAL1
nearly IWAL0; ``scale="accuracy"`` reproduces it.

The oracular variants ask only where s = 1, with weight 1, and elsewhere take the label
that h predicts as if it had been given.

On labels that some classifier fits perfectly both h and h' err nowhere, so G = 0 and every
row is asked for: IWAL is then passive. That is what happens on a separable task, and
everywhere while there are fewer examples than features.

The label of a row is needed before the next row can be judged, so whoever asks in batches judges
with fewer labels; ``aced bench`` asks for one row at a time. Several rows of the stream are judged
together: a judgement stands until the examples have grown by the share ``lag`` since it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aced._check import positive, whole
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints, Rng
from aced.oracles import Erm, LinearErm, PenaltyErm
from aced.pool import Pool
from aced.strategies._base import NOTHING, Plan, Strategy, View

C1, C2 = 5 + 2 * np.sqrt(2), 5.0
SEEDS = 250
MOST_AT_ONCE = 64


def query_probability(gap: Any, root: Any, epsilon: Any) -> Float64:
    """The probability s for ``gap`` G, ``root`` a and ``epsilon`` ε; 1 where G ≤ a + ε.

    >>> query_probability(np.array([0.0, 0.2, 0.9]), 0.1, 0.01).round(3).tolist()
    [1.0, 0.824, 0.291]
    """
    g = np.asarray(gap, dtype=float)
    shifted = g + (C1 - 1) * root + (C2 - 1) * epsilon
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (C1 * root + np.sqrt((C1 * root) ** 2 + 4 * shifted * C2 * epsilon)) / (2 * shifted)
    return np.where(g <= root + epsilon, 1.0, np.clip(np.square(s), 1e-12, 1.0))


class Iwal(Strategy):
    """A stream over the pool, ``passes`` times in random order.

    ``c0`` is C0; ``variant`` is 0 for IWAL0 or 1 for IWAL1. With ``oracular``, only rows with s = 1 are
    asked for. ``scale`` is "error", or "accuracy" as in the published ACED code.
    ``seeds`` rows are asked for first (default: 250, an eighth of a pool below 2000 rows). With
    ``lag`` 0 every row is judged by all examples before it, as published; with 0.005 the newest
    one in 200 may be missing, and a pass takes a third of the time. ``classifier`` (any of scikit-learn)
    replaces the linear class. ``erm`` is a function of a pool that makes minimisers of your own.
    """

    stream = True
    two_classes = True

    def __init__(
        self,
        c0: float = 1e-3,
        *,
        variant: int = 0,
        oracular: bool = False,
        scale: str = "error",
        passes: int = 2,
        seeds: int | None = None,
        lag: float = 0.0,
        classifier: Any = None,
        erm: Callable[[Pool], Erm] | None = None,
    ) -> None:
        if variant not in (0, 1):
            raise InvalidInput("variant", f"must be 0 or 1, got {variant}")
        if scale not in ("error", "accuracy"):
            raise InvalidInput("scale", f"must be error or accuracy, got {scale!r}")
        if not 0 <= lag <= 1:
            raise InvalidInput("lag", f"must be between 0 and 1, got {lag}")
        self.c0, self.variant, self.oracular = positive("c0", c0), variant, oracular
        self.scale, self.passes = scale, whole("passes", passes, 1)
        self.seeds, self.lag = seeds, float(lag)
        self.classifier, self.erm = classifier, erm
        self.name = f"{'ora-' if oracular else ''}iwal{variant}"
        self.restore({})

    # -- saving -----------------------------------------------------------------------

    def restore(self, state: Mapping[str, Array]) -> None:
        self._erm: Erm | None = None
        self._erm_state = {k[4:]: v for k, v in state.items() if k.startswith("erm_")}
        self._order = state.get("order", np.zeros(0, np.int64))  # rows in the order of the stream
        self._luck = state.get("luck", np.zeros(0))  # the random number that decides about each
        self._judged = state.get("judged", np.zeros((0, 2)))  # rows ahead: probability, h's label
        counts: list[int] = state.get("counts", np.array([0, 4, 0, 0])).tolist()
        self._k, self._block = counts[:2]  # places passed, rows judged at once
        self._used, self._since = counts[2:]  # judgements used, examples added since they were made
        self._rows: list[int] = state.get("rows", np.zeros(0)).astype(int).tolist()
        self._labels: list[int] = state.get("labels", np.zeros(0)).astype(int).tolist()
        self._weights: list[float] = state.get("weights", np.zeros(0)).tolist()
        if not len(self._rows) == len(self._labels) == len(self._weights):
            raise ValueError("rows, labels and weights of the stream are of different lengths")
        waiting = state.get("waiting", np.zeros((0, 2)))
        self._waiting = {int(row): float(weight) for row, weight in waiting}

    def state(self) -> dict[str, Array]:
        if not len(self._order):
            return {}
        return {
            "order": self._order,
            "luck": self._luck,
            "judged": self._judged,
            "counts": np.array([self._k, self._block, self._used, self._since]),
            "rows": np.array(self._rows, dtype=np.int64),
            "labels": np.array(self._labels, dtype=np.int64),
            "weights": np.array(self._weights, dtype=float),
            **{f"erm_{k}": v for k, v in (self._erm.state() if self._erm else self._erm_state).items()},
            "waiting": np.array(list(self._waiting.items()), dtype=float).reshape(-1, 2),
        }

    # -- the stream -----------------------------------------------------------------

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        n = len(view.pool)
        if self._erm is None:
            self._erm = self._build(view.pool)
            for row, label, weight in zip(self._rows, self._labels, self._weights, strict=True):
                self._erm.add(row, label, weight)
            self._erm.restore(self._erm_state)
        labels = np.full(n, -1)
        labels[view.positions] = view.codes
        for row in [row for row in self._waiting if labels[row] >= 0]:
            self._add(row, int(labels[row]), self._waiting.pop(row))
        first = min(SEEDS, max(2, n // 8)) if self.seeds is None else self.seeds
        while self._k < self.passes * n:
            if self._k == len(self._order):
                self._order = np.concatenate([self._order, rng.permutation(n)])
                self._luck = np.concatenate([self._luck, rng.random(n)])
            probability, guess = (1.0, 0) if self._k < first else self._judgement()
            row, luck = int(self._order[self._k]), float(self._luck[self._k])
            self._k += 1
            if probability >= 1 if self.oracular else luck < probability:
                weight = 1.0 if self.oracular else 1 / probability
                if labels[row] >= 0:
                    self._add(row, int(labels[row]), weight)
                    continue
                self._waiting[row] = self._waiting.get(row, 0.0) + weight
                if view.open[row]:
                    return Plan(
                        np.array([row], dtype=np.int64), np.array([probability]), {"stream": self._k}
                    )
            elif self.oracular:
                self._add(row, guess, 1.0)
        return NOTHING

    def _judgement(self) -> tuple[float, int]:
        """The probability of asking for the current row, and the label that h gives it.

        The row is judged together with rows ahead: about as many as will be passed before the
        judgement is out of date.
        """
        assert self._erm is not None
        if len(self._judged) and self._since > self.lag * len(self._rows):
            self._block = min(self._used + self._used // 8 + 1, MOST_AT_ONCE)
            self._judged = self._judged[:0]
        elif not len(self._judged):
            self._block = min(self._block + self._block // 2 + 1, MOST_AT_ONCE)
        if not len(self._judged):
            ahead = self._order[self._k : self._k + self._block]
            self._judged = np.stack([self._probabilities_of(ahead), self._erm.predict(ahead)], axis=1)
            self._used = self._since = 0
        (probability, guess), self._judged = self._judged[0], self._judged[1:]
        self._used += 1
        return float(probability), int(guess)

    def _add(self, row: int, label: int, weight: float) -> None:
        assert self._erm is not None
        self._erm.add(row, label, weight)
        self._rows.append(row)
        self._labels.append(label)
        self._weights.append(weight)
        self._since += 1

    def _build(self, pool: Pool) -> Erm:
        if self.erm is not None:
            return self.erm(pool)
        return LinearErm(pool) if self.classifier is None else PenaltyErm(pool, self.classifier)

    def _probabilities_of(self, rows: Ints) -> Float64:
        """The probability s of each of the rows ahead, judged by the examples so far."""
        assert self._erm is not None
        seen = max(self._k, 1)
        k = seen + 1 + np.arange(len(rows))
        epsilon = self.c0 * np.log(k) / (k - 1)
        best = self._erm.error() / seen
        share = {"error": best, "accuracy": 1 - best}[self.scale] if self.variant == 1 else 1.0
        roots = np.sqrt(epsilon * np.clip(share, 0.0, 1.0))
        # an oracular decision is whether G ≤ a + ε; the smallest a + ε of the rows ahead serves all
        limit = (best + float((roots + epsilon)[-1])) * seen if self.oracular else None
        gaps = self._erm.rivals(rows, limit) / seen - best
        return query_probability(gaps, roots, epsilon)
