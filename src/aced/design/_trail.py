"""The hypotheses a search has met, and which of them is best for each draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._types import Array, Codes, Float32, Float64
from aced._workers import PerRow
from aced.design._problem import Found, Incumbent, Problem
from aced.oracles import Candidates, Noise, select, value

LEVEL_CAP = 1e5
"""Levels are at most this multiple of the median 1/sqrt(λ): float32 is too coarse beyond it."""


class Trail:
    """Shared by all searches: calls the oracle, keeps tallies, replaces an incumbent that may change."""

    def __init__(self, problem: Problem, lam: Float64, noise: Noise, *, near: bool) -> None:
        self.problem, self.near = problem, near
        self.oracle = problem.oracle
        self.weights = problem.weights(lam, noise)
        self.maximiser = self.oracle.prepare(self.weights)
        self.seen: list[Candidates] = []
        self.levels: list[Float32] = []
        self.calls = 0
        self.cap = LEVEL_CAP * float(np.median(self.weights.scale))
        self._adopt(problem.incumbent)

    def _adopt(self, incumbent: Incumbent) -> None:
        """Take h̃ and compute Σ_i s_i ζ_{i,h̃(i)} for each draw."""
        self.incumbent = incumbent
        zeta, scale, _ = self.weights.rows
        (self.base,) = self.oracle.workers.fold(
            _spread_of, self.oracle.pool, zeta, scale, PerRow(incumbent.labels), self.weights.draws
        )  # (B,)

    def visit(self, r: Float64) -> Float64:
        """Ask the oracle at levels r; return g(r) = max_h N(h) - r D(h) as it answered."""
        r = np.minimum(r, self.cap)
        levels = r.astype(np.float32)
        anchor = self.incumbent.hypothesis if self.near else None
        found = self.maximiser.maximise(levels, anchor)
        self.calls += len(levels)
        self.seen += found
        self.levels += [levels] * len(found)
        top = max(found, key=lambda candidate: float(candidate.tally[0].max()))
        better_met = top.tally[0].max() > self.incumbent.agreement + 1e-3
        if better_met and not self.problem.keeps_incumbent:
            which = int(top.tally[0].argmax())
            better = top.hypotheses.take(np.array([which]))
            self._adopt(Incumbent.of(self.oracle, better, self.problem.mu))
        answer = np.max([value(levels, candidate.tally) for candidate in found], axis=0)
        reach = self.problem.shift + self.incumbent.agreement
        return np.asarray(self.base - r * reach + answer)

    def _denominators(self) -> Float64:
        """D of all hypotheses met, (K, B); raised to shift for those that are better than h̃."""
        agreements = np.stack([candidate.tally[0] for candidate in self.seen])
        return self.problem.shift + np.maximum(self.incumbent.agreement - agreements, 0.0)

    def ratios(self) -> Float64:
        """N / D of all hypotheses met, (K, B)."""
        spreads = np.stack([candidate.tally[1] for candidate in self.seen])
        return np.asarray((self.base - spreads) / self._denominators())

    def best(self) -> Float64:
        """The best ratio of each draw, at least 0 (h = h̃ gives 0)."""
        return np.asarray(np.maximum(self.ratios().max(axis=0), 0.0))

    def found(self) -> Found:
        ratios = self.ratios()
        which = ratios.argmax(axis=0)
        draws = np.arange(ratios.shape[1])
        return Found(
            ratio=np.maximum(ratios[which, draws], 0.0),
            denominator=self._denominators()[which, draws],
            hypotheses=select(self.seen, which, self.oracle).hypotheses,
            incumbent=self.incumbent,
            level=np.stack(self.levels)[which, draws],
            maximiser=self.maximiser,
            weights=self.weights,
            calls=self.calls,
        )


def _spread_of(block: Any, zeta: Float32, scale: Float32, labels: Codes, draws: int) -> tuple[Array]:
    """Σ_i s_i ζ_{i,h(i)} of one labelling, for each draw; (B,)."""
    by_class = range(1, zeta.shape[1] // draws + 1)
    parts = [
        np.where(labels == c, scale, np.float32(0)) @ zeta[:, (c - 1) * draws : c * draws]
        for c in by_class
    ]
    return (np.sum(parts, axis=0) if len(parts) > 1 else parts[0],)
