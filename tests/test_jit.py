"""Kernels are compiled wherever aced runs."""

from numba.core import caching

from aced._jit import jit


def test_without_a_folder_for_a_cache_it_compiles_all_the_same(monkeypatch):
    base = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # as some versions call it
    monkeypatch.setattr(base, "_locator_classes", [])

    @jit(fastmath=True)
    def twice(x):
        return 2 * x

    assert twice(21) == 42
