"""The order of the tests, and the command line called in this process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable

import pytest

from aced.cli import main

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy: test processes fill the cores already

MEMORY, ROOM = "/dev/shm", 2 * 1024**3
if os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    # Every answer is synced to disk, for which tests with ledgers would mostly wait. What tests kill are
    # processes, never the power, and the disks that they fill they mount themselves.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

SLOW = ("browser", "backends", "web", "bench", "fuzz", "cli")
"""Folders whose tests start browsers, clusters, servers and processes come last, the longest first."""


@pytest.fixture(autouse=True, scope="session")
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """``aced serve`` keeps its user's links here, and not in the home of whoever runs the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True, scope="session")
def small_forests() -> int:
    """A learner with 100 labels compares itself with a random forest, which would take longer than most
    of what tests do with it. Here it has few trees; tests of it ask for ``whole_forests``."""
    from aced.learner import _forest

    users, _forest.TREES = _forest.TREES, 4
    return users


@pytest.fixture
def whole_forests(small_forests: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random forests with as many trees as users get."""
    monkeypatch.setattr("aced.learner._forest.TREES", small_forests)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: while a test waits for a browser or a cluster, another has its core."""
    if hasattr(os, "sched_getaffinity"):
        return 1 + len(os.sched_getaffinity(0))
    return 1 + (os.cpu_count() or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ranks = {folder: place for place, folder in enumerate(SLOW, 1)}
    items.sort(key=lambda item: ranks.get(item.path.parent.name, 0))


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Exit code, standard output and standard error of ``aced ARGUMENTS``."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["aced", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, *capfd.readouterr()

    return run
