"""A round as a value: the problem that was posed, and the design that was found for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from aced._types import Codes, Float64, Ints, Rng
from aced.design._dinkelbach import Dinkelbach
from aced.design._problem import Problem
from aced.design._solver import Design, draw_noise
from aced.oracles import Hypotheses, labels_of


@dataclass(frozen=True)
class Round:
    """What a strategy drew from. Whoever explains a draw reads it here; no problem is posed anew."""

    problem: Problem
    design: Design
    seen: Ints | None = None
    """The learner's codes of the problem's classes, in order; None if they are the same."""

    @property
    def lam(self) -> Float64:
        """λ, (n,)."""
        return self.design.lam

    @property
    def incumbent(self) -> Codes:
        """The labels that h̃ gives the pool, codes 0 … K-1; (n,)."""
        labels = self.design.incumbent.labels
        return labels if self.seen is None else self.seen.astype(np.int8)[labels]

    def rivals(self, draws: int, rng: Rng) -> Hypotheses:
        """The hypotheses hardest to tell from h̃: argmax of f(λ; h, ζ) for each of ``draws`` new ζ."""
        problem = replace(self.problem, incumbent=self.design.incumbent)
        found = Dinkelbach()(problem, self.lam, draw_noise(problem, draws, rng))
        return found.hypotheses

    def separated(self, rows: Ints, draws: int, rng: Rng) -> Ints:
        """For each of ``rows``, how many of ``draws`` rivals give it another label than h̃ does."""
        oracle = self.problem.oracle
        with oracle.workers.session():
            said = labels_of(oracle, self.rivals(draws, rng))[:, rows]  # (draws, rows)
        return np.asarray((said != self.design.incumbent.labels[rows]).sum(axis=0))

    @property
    def record(self) -> dict[str, float | int | str]:
        """What the learner's history keeps of this round."""
        design, certificate = self.design, self.design.certificate
        record: dict[str, float | int | str] = {
            "shift": self.problem.shift,
            "value": certificate.value,
            "stderr": certificate.stderr,
            "gap": certificate.gap,
            "noise": certificate.noise,
            "shortfall": certificate.shortfall,
            "oracle_calls": design.calls,
            "stopped": design.stopped,
        }
        if design.rows is not None and design.loss is not None:
            record |= {"design_rows": design.rows, "design_loss": design.loss}
        return record
