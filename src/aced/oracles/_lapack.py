"""LAPACK's dpotrs without the interpreter lock, so that threads can share a solve.

scipy's own wrapper holds the lock; a function called through ctypes does not.
"""

from __future__ import annotations

import ctypes

import numpy as np
import scipy.linalg.cython_lapack
from numba.extending import get_cython_function_address

from aced._types import Float64

_dpotrs = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 8)(
    get_cython_function_address(scipy.linalg.cython_lapack.__name__, "dpotrs")
)


def solve_rows(factor: Float64, rows: Float64) -> Float64:
    """H⁻¹ g for each row g of a C-ordered matrix; ``factor`` is H's lower Cholesky factor."""
    assert factor.flags.f_contiguous, "the factor must be in LAPACK's order"
    assert factor.dtype == np.float64, "the factor must be in double precision"
    solved = np.array(rows, dtype=np.float64, order="C")  # row-major (B, p) is column-major (p, B)
    n, count, info = ctypes.c_int(len(factor)), ctypes.c_int(len(rows)), ctypes.c_int(0)
    lower = ctypes.c_char(b"L")
    _dpotrs(
        ctypes.byref(lower), ctypes.byref(n), ctypes.byref(count), factor.ctypes.data,
        ctypes.byref(n), solved.ctypes.data, ctypes.byref(n), ctypes.byref(info),
    )  # fmt: skip
    assert info.value == 0, f"dpotrs refused argument {-info.value}"
    return solved
