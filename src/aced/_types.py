"""Array aliases and the notation shared by the mathematical modules.

========== ================== =====================================================
symbol     name in code       meaning
========== ================== =====================================================
n, p, B    n, p, draws        rows of the pool, features, noise draws at once
K          classes            number of classes; a label is one of 0 … K-1
λ          lam                design: probabilities over the n rows
h, h̃       labels, incumbent  a hypothesis; the one that others are compared with
η̂, μ̂       mu                 μ̂_c = η̂_c - η̂_0: how much likelier class c is than class 0
ζ          zeta, noise        normal noise of each class relative to class 0, ζ_0 = 0
s          scale              1 / sqrt(λ)
v          V                  oracle weights, v = r μ̂ - s ζ
D(h)       denominator        shift + Σ_i (μ̂_{i,h̃(i)} - μ̂_{i,h(i)})
N(h)       numerator          Σ_i s_i (ζ_{i,h̃(i)} - ζ_{i,h(i)})
r, f       ratio              N(h) / D(h), and the level tried in its place
G          sensitivity        E[(ζ_{i,h̃(i)} - ζ_{i,h(i)}) / D], so that Σ_i s_i G_i = F
F          value              E[max_h N(h) / D(h)]
k          round              number of the round; the paper's shift is n 2^(1-k)
========== ================== =====================================================

Only differences between classes matter, so whatever belongs to a class is taken relative to class 0 and
kept for the other K - 1 classes: with two classes there is one number, as in the paper. Arrays over
classes and draws have (K - 1) B columns: those of class 1 for all draws, then those of class 2, …

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
