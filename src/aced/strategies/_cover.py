"""Online Active Cover (Huang, Agarwal, Hsu, Langford, Schapire 2015), as in Vowpal Wabbit.

Let t be the weight of the examples so far: 1/p for a row that was asked for, 0 for another row of D,
1 for a row outside D. Let ē be the importance-weighted error of the predictions made before each
label, as a share of t, and G = |f(x)| / (t · sensitivity) the weight, per example, that would flip
h's prediction at x. Then

    Δ    = sqrt(C0 ē / t) + max(2α, 4) C0 ln t / t,     x is in D when G ≤ Δ (always while t < 3)
    pmin = min(1 / (sqrt(t ē) + ln t), ½)
    q²   = 4 pmin² + Σ_i λ_i 1[h_i(x) ≠ h(x)],          p = q / (1 + q)

A row of D is asked for with probability p and learnt with weight 1/p. Outside D, h learns its own
prediction with weight 1. The cover h_1 … h_m is updated on every row, in order. With
r = 2 Δ t α / (C0 β²), the cost difference is 1/p_i - 2α² ± r w in D and -r outside. Its sign is +
when h is wrong; w is the weight of the label, 0 when the row was not asked for. h_i learns
-sign(cost) h(x) with weight |cost|. If h_i then still disagrees with h, λn_i ← max(0, λn_i + 2 cost),
λd_i ← λd_i + 1[x in D] / q³, and q² ← q² + λn_i / λd_i for the next member of the cover.

The published code computes the sensitivity with the label of x, which is not known yet when x is
judged; here h's own prediction takes its place. All classifiers learn online
(:mod:`aced.strategies._online`), as published.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aced._check import positive, whole
from aced._types import Array, Float64, Rng
from aced.strategies._base import NOTHING, Plan, Strategy, View
from aced.strategies._online import Online, refuse_sparse

ALPHA = 1.0
BETA = np.sqrt(10.0)


class ActiveCover(Strategy):
    """A stream over the pool, ``passes`` times in random order, with a cover of classifiers.

    ``c0`` is C0, ``cover`` the number m of classifiers in the cover, ``rate`` their learning rate.
    With ``oracular`` there is no cover, and every row of D is asked for with weight 1.
    """

    stream = True
    two_classes = True

    def __init__(
        self,
        c0: float = 0.03,
        *,
        cover: int = 12,
        passes: int = 1,
        rate: float = 1.0,
        oracular: bool = False,
    ) -> None:
        check_options(c0, cover, passes, rate)
        self.c0, self.passes, self.rate = float(c0), passes, float(rate)
        self.oracular, self.cover = oracular, 0 if oracular else cover
        self.name = "ora-oac" if oracular else "oac"
        self.restore({})

    def restore(self, state: Mapping[str, Array]) -> None:
        self._learners: Online | None = None
        self._saved = {name[7:]: a for name, a in state.items() if name.startswith("online_")}
        self._order = state.get("order")
        counts: list[float] = state.get("counts", np.array([0.0, 1.0, 0.0, 0.0])).tolist()
        self._k, self._laps = map(int, counts[:2])
        self._weight, self._losses = counts[2:]  # t and t ē
        start = np.stack([np.zeros(self.cover), np.full(self.cover, 0.125)])
        self._numerator, self._denominator = state.get("mixture", start).copy()
        waiting = state.get("waiting", np.zeros((0, 3)))
        self._waiting = {int(row): (float(p), float(d)) for row, p, d in waiting}  # probability, Δ

    def state(self) -> dict[str, Array]:
        if self._order is None:
            return {}
        learners = self._saved if self._learners is None else self._learners.state()
        waiting = [(row, *pair) for row, pair in self._waiting.items()]
        return {
            "order": self._order,
            "counts": np.array([self._k, self._laps, self._weight, self._losses]),
            "mixture": np.stack([self._numerator, self._denominator]),
            "waiting": np.array(waiting, dtype=float).reshape(-1, 3),
            **{f"online_{name}": array for name, array in learners.items()},
        }

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        refuse_sparse(view.pool, self.name)
        n = len(view.pool)
        if self._order is None:
            self._order = rng.permutation(n)
        if self._learners is None:
            self._learners = Online(1 + self.cover, view.pool.features + 1, self.rate)
            if self._saved:
                self._learners.restore(self._saved)
        labels = np.zeros(n)
        labels[view.positions] = 2.0 * view.codes - 1
        for row in [row for row in self._waiting if labels[row] != 0]:
            probability, threshold = self._waiting.pop(row)
            self._update(_features(view, row), labels[row], probability, threshold, True)
        while self._k < self.passes * n:
            row = self._at(rng)
            x = _features(view, row)
            self._k += 1
            known = labels[row]
            inside, threshold, probability = self._judge(x)
            asked = inside and rng.random() < probability
            if asked and known == 0:
                self._waiting[row] = (probability, threshold)
                if view.open[row]:
                    return Plan(
                        np.array([row], dtype=np.int64), np.array([probability]), {"stream": self._k}
                    )
                continue
            self._update(x, known if asked else 0.0, probability, threshold, inside)
        return NOTHING

    def _at(self, rng: Rng) -> int:
        assert self._order is not None
        if self._k >= len(self._order):
            one_pass = len(self._order) // self._laps
            self._order = np.concatenate([self._order, rng.permutation(one_pass)])
            self._laps += 1
        return int(self._order[self._k])

    def _judge(self, x: Float64) -> tuple[bool, float, float]:
        """Whether x is in D, the threshold Δ, and the probability of asking for x."""
        assert self._learners is not None
        t = self._weight
        if t < 3:
            return True, 1.0, 1.0
        threshold = np.sqrt(self.c0 * self._losses) / t + max(2 * ALPHA, 4.0) * self.c0 * np.log(t) / t
        margins = self._learners.margins(x)
        reach = self._learners.sensitivity(x, float(margins[0]), _sign(margins[0]))
        if abs(margins[0]) / max(reach, 1e-30) / t > threshold:
            return False, threshold, 0.0
        if self.oracular:
            return True, threshold, 1.0
        apart = (margins[1:] > 0) != (margins[0] > 0)
        q = np.sqrt(4 * self._least(t) ** 2 + (self._numerator / self._denominator)[apart].sum())
        return True, threshold, float(q / (1 + q))

    def _least(self, t: float) -> float:
        """The probability pmin when the examples have weight t."""
        return float(min(1 / (np.sqrt(self._losses) + np.log(t)), 0.5)) if t > 2 else 1.0

    def _update(self, x: Float64, y: float, probability: float, threshold: float, inside: bool) -> None:
        """Learn from a row: y is its label if it was asked for, 0 otherwise."""
        assert self._learners is not None
        t = self._weight
        said = _sign(float(self._learners.margins(x)[0]))
        weight = 0.0 if y == 0 else 1 / probability
        least = self._least(t)
        if not inside:
            self._learners.learn(0, x, said, 1.0)
        elif y != 0:
            self._learners.learn(0, x, y, weight)
            self._losses += weight * (said != y)
        self._weight += weight if inside else 1.0
        pull = 2 * threshold * t * ALPHA / (self.c0 * BETA**2)
        q2 = 4 * least**2
        for i in range(self.cover):
            root = np.sqrt(q2)
            cost = -pull
            if inside:
                cost = (1 + root) / root - 2 * ALPHA**2
                cost += pull * weight * (1.0 if said != y else -1.0)
            if cost == 0:
                continue
            margin = self._learners.learn(1 + i, x, -_sign(cost) * said, abs(cost))
            if _sign(margin) != said:  # after the step, as published
                self._numerator[i] = max(0.0, self._numerator[i] + 2 * cost)
                self._denominator[i] += inside / root**3
                q2 += self._numerator[i] / self._denominator[i]


def check_options(c0: float, cover: int, passes: int, rate: float) -> None:
    """Refuse options that are out of range."""
    whole("cover", cover, 0)
    whole("passes", passes, 1)
    positive("c0", c0)
    positive("rate", rate)


def _features(view: View, row: int) -> Float64:
    return np.append(view.pool.rows(np.array([row]))[0].astype(float), 1.0)


def _sign(margin: float) -> float:
    return 1.0 if margin > 0 else -1.0
