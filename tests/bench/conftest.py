from __future__ import annotations

import pytest

from aced.bench import run_job
from tests.bench.jobs import small


@pytest.fixture(scope="package")
def records():
    """Of three strategies with two seeds, and of a grid of two."""
    wanted = [small(name, seed) for name in ("aced", "passive", "margin") for seed in range(2)]
    wanted += [small("iwal0", c0=c0, passes=1) for c0 in (1e-4, 1e-1)]
    return [run_job(job) for job in wanted]
