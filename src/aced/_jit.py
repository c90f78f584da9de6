"""Compile kernels, and keep the machine code where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(**options: Any) -> Callable[[F], F]:
    """``numba.njit`` without Python's lock. The next process finds the machine code in a cache.

    Where no folder for a cache can be written, as for the user of a service, it compiles anew.
    """
    options = {"nogil": True, "error_model": "numpy", **options}

    def compiled(function: F) -> F:
        try:
            return cast("F", numba.njit(cache=True, **options)(function))
        except RuntimeError:
            return cast("F", numba.njit(**options)(function))

    return compiled
