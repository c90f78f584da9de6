"""What a design has to minimise: the state of a round, and the ratio

    f(λ; h, ζ) = N(h) / D(h),   N(h) = Σ_i (ζ_{i,h̃(i)} - ζ_{i,h(i)}) / sqrt(λ_i),
                                D(h) = shift + Σ_i (μ̂_{i,h̃(i)} - μ̂_{i,h(i)})

(eq. action_comp_2 and the section on efficient design, for K classes: docs/theory.md; the paper's second
form of f has the sign of the μ̂ term reversed, since err(h) - err(h̃) = μ̂·(h̃ - h) / n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aced._check import positive
from aced._types import Bools, Codes, Float32, Float64
from aced.oracles import Hypotheses, Maximiser, Noise, Oracle, Weights, columns_of, labels_of

FLOOR = 1e-9
"""No row's λ is taken below this fraction of 1/n, so that 1/sqrt(λ) stays finite."""


@dataclass(frozen=True)
class Incumbent:
    """h̃, with its labels and its agreement Σ_i μ̂_{i,h̃(i)}."""

    hypothesis: Hypotheses
    labels: Codes  # (n,)
    agreement: float

    @classmethod
    def of(cls, oracle: Oracle, hypothesis: Hypotheses, mu: Float32) -> Incumbent:
        labels = labels_of(oracle, hypothesis)[0]
        by_class = enumerate(columns_of(mu).T, 1)
        agreement = sum(float(column[labels == c].sum(dtype=float)) for c, column in by_class)
        return cls(hypothesis, labels, agreement)


@dataclass(frozen=True)
class Problem:
    """Everything a round's objective depends on except λ."""

    oracle: Oracle
    mu: Float32  # (n, K - 1); (n,) is taken as one column
    shift: float
    incumbent: Incumbent
    copies: Float32 | None = None
    """How many rows each row stands for, in a sample (:mod:`aced.design._sampled`); (n,)."""
    keeps_incumbent: bool = False
    """Whether h̃ stays when a search meets a better hypothesis, as it may if h̃ is a surrogate's. The
    better one then counts as equally good (D = shift)."""

    labelled: Bools | None = None
    """Which rows have a label, (n,); None stands for those where μ̂ is not 0."""

    def __post_init__(self) -> None:
        positive("shift", self.shift)
        object.__setattr__(self, "mu", columns_of(self.mu))

    @property
    def n(self) -> int:
        return len(self.oracle.pool)

    @property
    def known(self) -> Bools:
        """Rows with a label, (n,)."""
        return np.asarray((self.mu != 0).any(axis=1)) if self.labelled is None else self.labelled

    def spans(self, factor: float) -> bool:
        """Whether D can differ by this factor between hypotheses."""
        span = np.maximum(self.mu.max(axis=1), 0) - np.minimum(self.mu.min(axis=1), 0)  # |μ̂| for two
        return float(span.sum(dtype=float)) >= factor * self.shift

    def weights(self, lam: Float64, noise: Noise) -> Weights:
        """The family of oracle weights at design λ."""
        return Weights(self.oracle.pool, self.mu, self.scale(lam), noise)

    def scale(self, lam: Float64) -> Float32:
        """s = 1 / sqrt(λ), with λ kept off zero; in a sample, times ``copies``."""
        scale = (1 / np.sqrt(np.maximum(lam, FLOOR / self.n))).astype(np.float32)
        return scale if self.copies is None else scale * self.copies

    def uniform(self) -> Float64:
        if self.copies is not None:
            return np.asarray(self.copies / self.copies.sum(dtype=float), dtype=float)
        return np.full(self.n, 1 / self.n)


@dataclass(frozen=True)
class Found:
    """The maximisers of the ratio for B draws, as far as a search found them."""

    ratio: Float64  # (B,)
    denominator: Float64  # (B,)
    hypotheses: Hypotheses
    incumbent: Incumbent
    level: Float32  # (B,): the r at which the best hypothesis was met
    maximiser: Maximiser
    weights: Weights
    calls: int

    @property
    def value(self) -> float:
        """Estimate of F(λ)."""
        return mean_of(self.ratio)[0]

    @property
    def stderr(self) -> float:
        return mean_of(self.ratio)[1]


def mean_of(ratios: Float64) -> tuple[float, float]:
    """The mean over the draws, and its standard error."""
    stderr = ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else np.inf
    return float(ratios.mean()), float(stderr)


class Search(Protocol):
    """max_h f(λ; h, ζ) for every draw of the noise."""

    def __call__(
        self, problem: Problem, lam: Float64, noise: Noise, start: Float64 | None = None
    ) -> Found: ...


def initial_incumbent(oracle: Oracle, mu: Float32, known: Hypotheses | None = None) -> Incumbent:
    """The better of argmax_h μ̂·h, as the oracle finds it, and ``known``, if one is given."""
    options = [Incumbent.of(oracle, known if known is not None else oracle.initial(), mu)]
    if mu.any():
        weights = Weights.given(oracle.pool, columns_of(mu)[None])
        zero = np.zeros(1, np.float32)
        for candidate in oracle.prepare(weights).maximise(zero, options[0].hypothesis):
            if -candidate.tally[1, 0] > max(option.agreement for option in options):
                options.append(Incumbent.of(oracle, candidate.hypotheses, mu))
    return max(options, key=lambda option: option.agreement)
