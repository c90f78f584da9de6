"""The elementwise work between two matrix products, fused and compiled.

σ is evaluated without exp: with t = tanh(m/4) from its continued fraction P/Q (seven
terms; |m| ≤ 17 beyond which σ is 0 or 1 in float32),

    v σ(-sign(v) m) = v/2 - |v| t / (1 + t²) = v/2 - |v| P Q / (P² + Q²),

one division an element, absolute error below 1e-6 |v|.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from aced._types import Float32

F = TypeVar("F", bound=Callable[..., object])
_jit = cast(
    "Callable[[F], F]",
    numba.njit(fastmath=True, nogil=True, cache=True, error_model="numpy"),
)
_f = np.float32
_ZERO, _ONE, _HALF, _QUARTER = _f(0), _f(1), _f(0.5), _f(0.25)
_EDGE = _f(17)
_P0, _P1, _P2 = _f(135135), _f(17325), _f(378)
_Q0, _Q1, _Q2, _Q3 = _f(135135), _f(62370), _f(3150), _f(28)


@_jit
def residual(
    margins: Float32,
    bias: Float32,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    r: Float32,
    tally: Float32,
) -> None:
    """Replace margins (rows, B) by v σ(-sign(v) m); add Σ μ̂ h, Σ s ζ h to tally (2, B)."""
    for i in range(margins.shape[0]):
        s, u = scale[i], mu[i]
        for b in range(margins.shape[1]):
            noise = zeta[i, b] * s
            v = r[b] * u - noise
            m = margins[i, b] + bias[b]
            chosen = _ONE if m > _ZERO else _ZERO
            tally[0, b] += u * chosen
            tally[1, b] += noise * chosen
            m = _EDGE if m > _EDGE else m
            m = -_EDGE if m < -_EDGE else m
            a = m * _QUARTER
            q = a * a
            p_ = a * (_P0 + q * (_P1 + q * (_P2 + q)))
            q_ = _Q0 + q * (_Q1 + q * (_Q2 + q * _Q3))
            margins[i, b] = _HALF * v - abs(v) * p_ * q_ / (p_ * p_ + q_ * q_)


@_jit
def shifted_tally(
    margins: Float32,
    bias: Float32,
    anchor: Float32,
    steps: Float32,
    zeta: Float32,
    scale: Float32,
    mu: Float32,
    tally: Float32,
) -> None:
    """Tallies of the hypotheses with margins anchor + steps[q, b] m_b; tally is (Q, 2, B)."""
    for i in range(margins.shape[0]):
        s, u, start = scale[i], mu[i], anchor[i]
        for q in range(steps.shape[0]):
            for b in range(margins.shape[1]):
                m = start + steps[q, b] * (margins[i, b] + bias[b])
                chosen = _ONE if m > _ZERO else _ZERO
                tally[q, 0, b] += u * chosen
                tally[q, 1, b] += zeta[i, b] * s * chosen
