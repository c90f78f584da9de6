"""How far from optimal a design may be.

By convexity (appendix, "Mirror Descent"), with g the gradient estimate at λ,

    F(λ) - F* ≤ max_k ⟨g, λ - e_k⟩ + 2 max_k σ_k,   g_k = -½ λ_k^(-3/2) G_k.

Since ⟨g, λ⟩ = -½ F, the first term is ½ (M - F) with M = max_k λ_k^(-3/2) G_k.

F is homogeneous, F(cλ) = c^(-½) F(λ). The same inequality taken at cλ, with the best c,
is sharper and never negative:  F* ≥ F sqrt(F / M).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aced._types import Float64
from aced.design._gradient import Sensitivity
from aced.design._problem import FLOOR


@dataclass(frozen=True)
class Certificate:
    """Value of a design and bounds on what a better one could gain."""

    value: float
    stderr: float
    gap: float  # max_k ⟨g, λ - e_k⟩
    noise: float  # 2 max_k σ_k
    peak: float  # M

    @property
    def bound(self) -> float:
        """The paper's stopping quantity: F(λ) - F* is at most about this."""
        return self.gap + self.noise

    @property
    def relative_bound(self) -> float:
        return self.bound / self.value if self.value > 0 else np.inf

    @property
    def lower(self) -> float:
        """Lower bound on F* from homogeneity, up to the noise of the estimate of M."""
        return self.value * float(np.sqrt(self.value / self.peak)) if self.peak > 0 else 0.0

    @property
    def shortfall(self) -> float:
        """1 - lower / value: the largest fraction of F that a better design could save."""
        return 1 - self.lower / self.value if self.value > 0 else 0.0


def certify(lam: Float64, value: float, stderr: float, sensitivity: Sensitivity) -> Certificate:
    """The certificate of λ from the gradient estimated there."""
    rate = np.maximum(lam, FLOOR / len(lam)) ** -1.5
    peak = max(float((rate * sensitivity.mean).max()), value)
    noise = float((rate * sensitivity.stderr).max())
    return Certificate(value, stderr, gap=(peak - value) / 2, noise=noise, peak=peak)
