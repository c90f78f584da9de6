"""Combinatorial bandits, and active classification as one of them (appendix).

Arms 1 … n give values in [-1, 1] with means μ; H is a collection of sets of arms. The task is
to find a set h in H whose Σ_{i in h} μ_i is within ε of the largest.

Reduction: a labelling is the set of rows that it labels 1, and a label y in {0, 1} is the value
2y - 1, so μ = 2η - 1 and n (err(h) - err(h')) = μ·(h' - h). Everything in this package is
stated for bandits, with ε counted in rows, unless a function says that ε is a fraction of n.

K classes: a labelling gives every row one of 0 … K-1, and a label Y shows 1{Y = c} - 1{Y = 0} for each
c = 1 … K-1 at once. Its mean is μ_ic = η_ic - η_i0, and with μ·h = Σ_i μ_{i,h(i)}, μ_i0 = 0, again
n (err(h) - err(h')) = μ·h' - μ·h (:mod:`aced._labelings`). Two classes are K = 2 of this.

=========== =============== ==========================================================
symbol      name in code    meaning
=========== =============== ==========================================================
H, n        sets            the collection: labelings, (H, n) whole numbers 0 … K-1
K           classes         number of classes
η           probabilities   probability of each class, (n, K)
μ           mu              means, in [-1, 1]: (n,) for two classes, (n, K - 1) for K
h*          best            number of the best labelling
Δ_h         gaps            μ·h* - μ·h, in rows
ν           nu              err(h*), a fraction of the rows
d           distances       |{i: h(i) ≠ h*(i)}|, in rows
A(λ)        -               the diagonal matrix of λ
=========== =============== ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from aced._check import class_count
from aced._errors import InvalidInput
from aced._labelings import agreement, columns_of, to_labelings
from aced._types import Array, Bools, Float64, Ints, Rng
from aced.estimators import Sample

MARGIN = 1e-9
"""Gaps below this fraction of n are ties: sums of means are rounded."""

ROUNDING = 1e-6
"""By how much means may be off those of probabilities: they may have been kept in single precision."""


@dataclass(frozen=True)
class Bandit:
    """``sets`` (H, n), the means ``mu`` of the arms, and how values scatter around their means.

    ``sets`` are 0 and 1 (or booleans) and ``mu`` has shape (n,) for two classes; for K classes ``sets``
    holds 0 … K-1, and ``mu`` has shape (n, K - 1). ``noise`` is "sign" (labels: values -1 and 1 for two
    classes), "uniform" (on the widest interval around the mean that fits; two classes only) or "none"
    (the value is the mean: a persistent label, or no noise).
    """

    sets: Array
    mu: Float64
    noise: str = "sign"

    def __post_init__(self) -> None:
        mu = _numbers("mu", self.mu)
        others = mu.shape[1] if mu.ndim == 2 else 1
        table = to_labelings("sets", self.sets, class_count("classes", others + 1))
        n = table.shape[1]
        if mu.shape not in ((n,), (n, others)):
            raise InvalidInput("mu", f"must have one mean a row ({n}) and class, got shape {mu.shape}")
        if not (np.abs(mu) <= 1).all():
            raise InvalidInput("mu", "must lie in [-1, 1]; nan is not a mean")
        if self.noise not in ("sign", "uniform", "none"):
            raise InvalidInput("noise", f"must be sign, uniform or none, got {self.noise!r}")
        if self.noise == "uniform" and others > 1:
            raise InvalidInput("noise", f"must be sign or none for {others + 1} classes, got 'uniform'")
        if len(np.unique(table, axis=0)) < len(table):
            raise InvalidInput("sets", "must differ from one another; remove duplicates")
        object.__setattr__(self, "sets", table)
        object.__setattr__(self, "mu", mu[:, 0] if mu.ndim == 2 and others == 1 else mu)
        if not (_to_probabilities(self.mu) >= -ROUNDING).all():
            raise InvalidInput(
                "mu", "must hold differences of probabilities: η_c - η_0 for the classes c = 1 … K-1"
            )

    @classmethod
    def from_classification(cls, labelings: Any, eta: Any) -> Bandit:
        """The reduction, from labellings of the pool and each row's probabilities ``eta``.

        These are the probabilities of label 1, (n,), or those of all K classes, (n, K).

        >>> problem = Bandit.from_classification([[0, 0], [0, 1], [1, 1]], [0.25, 1.0])
        >>> problem.best, problem.gaps.tolist(), problem.nu
        (1, [1.0, 0.0, 0.5], 0.125)
        >>> problem = Bandit.from_classification([[0, 2], [1, 1]], [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
        >>> problem.best, problem.errors.tolist()
        (0, [0.375, 0.625])
        """
        probability = _numbers("eta", eta)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InvalidInput("eta", "must lie in [0, 1]; nan is not a probability")
        if probability.ndim != 2:
            return cls(_numbers("labelings", labelings), 2 * probability - 1)
        class_count("classes", probability.shape[1])
        total = probability.sum(axis=1, keepdims=True)
        if not (np.abs(total - 1) <= ROUNDING).all():
            raise InvalidInput("eta", "must add up to 1 in every row: one probability a class")
        probability = probability / total
        return cls(_numbers("labelings", labelings), probability[:, 1:] - probability[:, :1])

    @property
    def n(self) -> int:
        return int(self.sets.shape[1])

    @property
    def classes(self) -> int:
        """K."""
        return int(columns_of(self.mu).shape[1]) + 1

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def best(self) -> int:
        """h*, the first one of several."""
        return int(agreement(self.sets, self.mu).argmax())

    @cached_property
    def gaps(self) -> Float64:
        """Δ_h = μ·h* - μ·h, (H,)."""
        value = agreement(self.sets, self.mu)
        gaps = value[self.best] - value
        return np.where(gaps <= MARGIN * self.n, 0.0, gaps)

    @cached_property
    def apart(self) -> Bools:
        """1{h(i) ≠ h*(i)}, (H, n)."""
        return np.asarray(self.sets != self.sets[self.best])

    @cached_property
    def distances(self) -> Ints:
        """|{i: h(i) ≠ h*(i)}|, (H,)."""
        return np.asarray(self.apart.sum(axis=1), dtype=np.int64)

    @cached_property
    def delta_min(self) -> float:
        """The smallest gap of the sets other than h*, in rows; 0 when several are best."""
        others = np.delete(self.gaps, self.best)
        return float(others.min()) if len(others) else float("inf")

    @cached_property
    def probabilities(self) -> Float64:
        """η of every class, (n, K)."""
        eta = _to_probabilities(self.mu)
        off = (eta < 0).any(axis=1)
        eta[off] = np.maximum(eta[off], 0.0)
        eta[off] /= eta[off].sum(axis=1, keepdims=True)
        return eta

    @property
    def eta(self) -> Float64:
        """The probability of label 1, (n,); for more than two classes that of each, (n, K)."""
        return self.probabilities[:, 1] if self.classes == 2 else self.probabilities

    @property
    def noiseless(self) -> bool:
        """Whether η is 0 or 1 everywhere."""
        return bool((self.probabilities.max(axis=1) == 1).all())

    @cached_property
    def nu(self) -> float:
        """err(h*)."""
        return float(self.errors[self.best])

    @cached_property
    def errors(self) -> Float64:
        """err(h) = (Σ_i (1 - η_i0) - μ·h) / n, (H,)."""
        others = self.probabilities[:, 1:].sum(axis=1)
        return np.asarray((others.sum() - agreement(self.sets, self.mu)) / self.n)

    def draw(self, lam: Float64, t: int, rng: Rng) -> Sample:
        """Draw t arms from λ; each draw gives a new value of its arm."""
        share = lam / lam.sum()
        counts = rng.multinomial(t, share)
        return Sample(share, counts, self.values(counts, rng))

    def values(self, counts: Array, rng: Rng) -> Float64:
        """Sums of ``counts[i]`` new values of arm i, of the shape of μ."""
        if self.noise == "sign":
            # class 0 comes last: then two classes take the numbers that one binomial would
            found = rng.multinomial(counts, np.roll(self.probabilities, -1, axis=1))
            sums = (found[:, :-1] - found[:, -1:]).astype(float)
            return np.asarray(sums.reshape(self.mu.shape))
        if self.noise == "uniform":
            arms = np.repeat(np.arange(self.n), counts)
            scatter = rng.uniform(-1, 1, len(arms)) * (1 - np.abs(self.mu[arms]))
            return np.bincount(arms, self.mu[arms] + scatter, minlength=self.n).astype(float)
        return np.asarray((counts * self.mu.T).T, dtype=float)

    def realise(self, rng: Rng) -> Bandit:
        """Persistent observations: every arm's value drawn once, for good.

        The labels of a pool are like this. What is left is a problem without noise, whose
        best set is the one that errs least on the labels drawn.
        """
        return Bandit(self.sets, self.values(np.ones(self.n, np.int64), rng), noise="none")


def _to_probabilities(mu: Float64) -> Float64:
    """η from μ, (n, K): the η_c differ from η_0 by μ_c and add up to 1."""
    columns = columns_of(mu)
    classes, total = columns.shape[1] + 1, columns.sum(axis=1, keepdims=True)
    return np.asarray(np.hstack([1 - total, 1 + (classes * columns - total)]) / classes)


def _numbers(name: str, values: Any) -> Float64:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, f"must be an array of numbers ({error})") from None
