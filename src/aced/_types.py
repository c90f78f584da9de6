"""Array aliases and the notation shared by the mathematical modules.

========== ================== =====================================================
symbol     name in code       meaning
========== ================== =====================================================
n, p, B    n, p, draws        rows of the pool, features, noise draws at once
λ          lam                design: probabilities over the n rows
ζ          zeta, noise        standard normal vectors, one per draw
h, h̃       labels, incumbent  a hypothesis; the one that others are compared with
η̂, μ̂       mu                 μ̂ = 2 η̂ - 1: signed label estimate
s          scale              1 / sqrt(λ)
v          V                  oracle weights, v = r μ̂ - s ζ
D(h)       denominator        shift + μ̂·(h̃ - h)
N(h)       numerator          Σ_i (h̃_i - h_i) s_i ζ_i
r, f       ratio              N(h) / D(h), and the level tried in its place
G          sensitivity        E[(h̃_i - h_i) ζ_i / D], so that Σ_i s_i G_i = F
F          value              E[max_h N(h) / D(h)]
k          round              number of the round; the paper's shift is n 2^(1-k)
========== ================== =====================================================

Errors are counted in rows throughout (the paper divides numerator and denominator of
f by n; the ratio is the same).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Codes = NDArray[np.int8]
Array = NDArray[Any]
Rng = np.random.Generator
