"""Combinatorial bandits, and active classification as one of them (appendix).

Arms 1 … n give values in [-1, 1] with means μ; H is a collection of sets of arms. The task is
to find a set h in H whose Σ_{i in h} μ_i is within ε of the largest.

Reduction: a labelling is the set of rows that it labels 1, and a label y in {0, 1} is the value
2y - 1, so μ = 2η - 1 and n (err(h) - err(h')) = μ·(h' - h). Everything in this package is
stated for bandits, with ε counted in rows, unless a function says that ε is a fraction of n.

=========== =============== ==========================================================
symbol      name in code    meaning
=========== =============== ==========================================================
H, n        sets            the collection, (H, n) booleans
μ           mu              means of the arms, in [-1, 1]
h*          best            number of the best set
Δ_h         gaps            μ·(h* - h), in rows
ν           nu              err(h*), a fraction of the rows
d           distances       |h Δ h*|, in rows
A(λ)        -               the diagonal matrix of λ
=========== =============== ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float64, Ints, Rng
from aced.estimators import Sample

MARGIN = 1e-9
"""Gaps below this fraction of n are ties: sums of means are rounded."""


@dataclass(frozen=True)
class Bandit:
    """``sets`` (H, n), the means ``mu`` (n,) of the arms, and how values scatter around their means.

    ``noise`` is "sign" (values -1 and 1: labels), "uniform" (on the widest interval around the mean
    that fits) or "none" (the value is the mean: a persistent label, or no noise).
    """

    sets: Bools
    mu: Float64
    noise: str = "sign"

    def __post_init__(self) -> None:
        table, mu = _numbers("sets", self.sets), _numbers("mu", self.mu)
        if table.ndim != 2 or 0 in table.shape:
            raise InvalidInput("sets", f"must have shape (hypotheses, rows), got {table.shape}")
        if not np.isin(table, (0, 1)).all():
            raise InvalidInput("sets", "must hold only 0 and 1 (or False and True)")
        if mu.shape != (table.shape[1],):
            raise InvalidInput(
                "mu", f"must have one mean a row ({table.shape[1]}), got shape {mu.shape}"
            )
        if not (np.abs(mu) <= 1).all():
            raise InvalidInput("mu", "must lie in [-1, 1]; nan is not a mean")
        if self.noise not in ("sign", "uniform", "none"):
            raise InvalidInput("noise", f"must be sign, uniform or none, got {self.noise!r}")
        table = table.astype(bool)
        if len(np.unique(table, axis=0)) < len(table):
            raise InvalidInput("sets", "must differ from one another; remove duplicates")
        object.__setattr__(self, "sets", table)
        object.__setattr__(self, "mu", mu)

    @classmethod
    def from_classification(cls, labelings: Any, eta: Any) -> Bandit:
        """The reduction, from labellings of the pool and each row's probability ``eta`` of label 1.

        >>> problem = Bandit.from_classification([[0, 0], [0, 1], [1, 1]], [0.25, 1.0])
        >>> problem.best, problem.gaps.tolist(), problem.nu
        (1, [1.0, 0.0, 0.5], 0.125)
        """
        probability = _numbers("eta", eta)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InvalidInput("eta", "must lie in [0, 1]; nan is not a probability")
        return cls(_numbers("labelings", labelings).astype(float), 2 * probability - 1)

    @property
    def n(self) -> int:
        return int(self.sets.shape[1])

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def best(self) -> int:
        """h*, the first one of several."""
        return int((self.sets @ self.mu).argmax())

    @cached_property
    def gaps(self) -> Float64:
        """Δ_h = μ·(h* - h), (H,)."""
        value = self.sets @ self.mu
        gaps = value[self.best] - value
        return np.where(gaps <= MARGIN * self.n, 0.0, gaps)

    @cached_property
    def apart(self) -> Bools:
        """1{h_i ≠ h*_i}, (H, n)."""
        return np.asarray(self.sets != self.sets[self.best])

    @cached_property
    def distances(self) -> Ints:
        """|h Δ h*|, (H,)."""
        return np.asarray(self.apart.sum(axis=1), dtype=np.int64)

    @cached_property
    def delta_min(self) -> float:
        """The smallest gap of the sets other than h*, in rows; 0 when several are best."""
        others = np.delete(self.gaps, self.best)
        return float(others.min()) if len(others) else float("inf")

    @property
    def eta(self) -> Float64:
        return (self.mu + 1) / 2

    @property
    def noiseless(self) -> bool:
        """Whether η is 0 or 1 everywhere."""
        return bool((np.abs(self.mu) == 1).all())

    @cached_property
    def nu(self) -> float:
        """err(h*)."""
        return float(self.errors[self.best])

    @cached_property
    def errors(self) -> Float64:
        """err(h) = (Σ η - Σ_{i in h} μ) / n, (H,)."""
        return np.asarray((self.eta.sum() - self.sets @ self.mu) / self.n)

    def draw(self, lam: Float64, t: int, rng: Rng) -> Sample:
        """Draw t arms from λ; each draw gives a new value of its arm."""
        share = lam / lam.sum()
        counts = rng.multinomial(t, share)
        return Sample(share, counts, self.values(counts, rng))

    def values(self, counts: Array, rng: Rng) -> Float64:
        """Sums of ``counts[i]`` new values of arm i, (n,)."""
        if self.noise == "sign":
            return np.asarray(2.0 * rng.binomial(counts, self.eta) - counts, dtype=float)
        if self.noise == "uniform":
            arms = np.repeat(np.arange(self.n), counts)
            scatter = rng.uniform(-1, 1, len(arms)) * (1 - np.abs(self.mu[arms]))
            return np.bincount(arms, self.mu[arms] + scatter, minlength=self.n).astype(float)
        return np.asarray(counts * self.mu, dtype=float)

    def realise(self, rng: Rng) -> Bandit:
        """Persistent observations: every arm's value drawn once, for good.

        The labels of a pool are like this. What is left is a problem without noise, whose
        best set is the one that errs least on the labels drawn.
        """
        return Bandit(self.sets, self.values(np.ones(self.n, np.int64), rng), noise="none")


def _numbers(name: str, values: Any) -> Float64:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, f"must be an array of numbers ({error})") from None
