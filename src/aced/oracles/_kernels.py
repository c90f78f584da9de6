"""The elementwise work between two matrix products, fused and compiled.

σ is evaluated without exp: with t = tanh(m/4) from its continued fraction P/Q (seven
terms; |m| ≤ 17 beyond which σ is 0 or 1 in float32),

    v σ(-sign(v) m) = v/2 - |v| t / (1 + t²) = v/2 - |v| P Q / (P² + Q²),

one division an element, absolute error below 1e-6 |v|.
"""

from __future__ import annotations

import numpy as np

from aced._jit import jit
from aced._types import Float32

fast = jit(fastmath=True)
_f = np.float32
_ZERO, _ONE, _HALF, _QUARTER = _f(0), _f(1), _f(0.5), _f(0.25)
_EDGE, _CLOSE, _TINY, _FAR, _FOUR, _TENTH = _f(17), _f(0.02), _f(1e-30), _f(16), _f(4), _f(0.1)
_P0, _P1, _P2 = _f(135135), _f(17325), _f(378)
_Q0, _Q1, _Q2, _Q3 = _f(135135), _f(62370), _f(3150), _f(28)


@fast
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


@fast
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


@fast
def _sigma(z: np.float32) -> np.float32:
    """σ(z) in the form above, for one number."""
    z = _EDGE if z > _EDGE else z
    z = -_EDGE if z < -_EDGE else z
    a = z * _QUARTER
    q = a * a
    p_ = a * (_P0 + q * (_P1 + q * (_P2 + q)))
    q_ = _Q0 + q * (_Q1 + q * (_Q2 + q * _Q3))
    return _HALF + p_ * q_ / (p_ * p_ + q_ * q_)


@fast
def logistic_residual(margins: Float32, y: Float32, c: Float32, out: Float32, tally: Float32) -> None:
    """out (B, m) = c y σ(-y m); tally (B, 2) = Σ c σ(-y m) and Σ c 1{y m ≤ 0}. y is ±1."""
    for b in range(margins.shape[0]):
        loss, wrong = _ZERO, _ZERO
        for i in range(margins.shape[1]):
            z = y[i] * margins[b, i]
            r = c[i] * _sigma(-z)
            out[b, i] = r * y[i]
            loss += r
            wrong += c[i] if z <= _ZERO else _ZERO
        tally[b, 0], tally[b, 1] = loss, wrong


@fast
def logistic_step(
    margins: Float32,
    change: Float32,
    y: Float32,
    c: Float32,
    penalty: Float32,
    start: Float32,
    out: Float32,
) -> None:
    """The step size at which each row's loss along ``change`` is least, nearly; 0 if none was found.

    Newton's method in one variable, kept between a point that goes down and one that goes up,
    until the slope is 1/50 of ``start``. The slope includes penalty[b, 0] + size penalty[b, 1].
    """
    for b in range(margins.shape[0]):
        low, high, trial = _ZERO, _f(np.inf), _ONE
        for trials in range(14):
            slope, curve = penalty[b, 0] + trial * penalty[b, 1], penalty[b, 1]
            for i in range(margins.shape[1]):
                by = y[i] * change[b, i]
                sigma = _sigma(-y[i] * margins[b, i] - trial * by)
                slope -= c[i] * by * sigma
                curve += c[i] * by * by * sigma * (_ONE - sigma)
            if slope < _ZERO:
                low = trial
            else:
                high = trial
            if abs(slope) < _CLOSE * abs(start[b]):
                low = trial
                break
            if trials >= 5 and low > _ZERO:
                break
            newton = trial - slope / max(curve, _TINY)
            if low < newton < high and newton < _FAR * trial:
                trial = newton
            elif high == _f(np.inf):
                trial = _FOUR * trial
            else:  # all steps tried so far go up: try a much smaller one
                trial = (low + high) * _HALF if low > _ZERO else _TENTH * trial
        out[b] = low
