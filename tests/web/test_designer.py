"""The process that designs rounds, for real."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aced.project import Project
from aced.web._designer import Designer
from tests import warm
from tests.helpers import answer
from tests.web.helpers import make

PATIENCE = 120.0


def wait_for(true: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.01)


def gone(pid: int) -> bool:
    """Ended, though perhaps nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p", batch=10, strategy="aced")


@pytest.fixture
def cold(project: Project) -> Iterator[Designer]:
    """With a process that takes a second to start, as in a server."""
    made = Designer(project)
    yield made
    made.stop()


@pytest.fixture
def designer(cold: Designer, monkeypatch: pytest.MonkeyPatch) -> Designer:
    """With a process that has its imports behind it."""
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: warm.context)
    return cold


def label_all(project: Project, who: str) -> None:
    for row in list(project.state.waiting):
        answer(project, who, row, "label", project.classes[row % 2])


def test_rounds_come_as_labels_do(project: Project, designer: Designer) -> None:
    project.add_person("ann")
    designer.start()
    for rounds in range(2, 5):
        label_all(project, "ann")
        designer.wake("ann")
        wait_for(lambda rounds=rounds: len(project.state.rounds) >= rounds)
    assert designer.problem is None
    last = project.state.rounds[-1]
    assert last["labels"] >= 20
    assert last["based_on"] > project.state.rounds[0]["based_on"]


def test_a_round_designed_here_can_be_repeated(project: Project, designer: Designer) -> None:
    from aced.project import repeat_rounds

    project.add_person("ann")
    designer.start()
    label_all(project, "ann")
    designer.wake("ann")
    wait_for(lambda: len(project.state.rounds) >= 2)
    designer.stop()
    assert [found.differs for found in repeat_rounds(project.ledger, lambda: project.pool)] == [None] * 2


def test_labels_of_another_process_are_seen(project: Project, designer: Designer) -> None:
    designer.start()
    other = Project(project.folder)
    other.add_person("bob")
    label_all(other, "bob")
    wait_for(lambda: len(project.state.rounds) >= 2)
    other.close()


def test_killed_in_the_middle(project: Project, cold: Designer) -> None:
    project.add_person("ann")
    label_all(project, "ann")
    designer = cold
    designer.start()
    for _ in range(2):  # it is called at once and takes a second to start: this is the middle
        wait_for(
            lambda: designer.busy and designer.runner.process is not None and designer.runner.process.pid
        )
        process = designer.runner.process
        assert process is not None
        pid = process.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda pid=pid: gone(pid))
        wait_for(
            lambda pid=pid: (
                designer.runner.process is not None and designer.runner.process.pid not in (None, pid)
            )
        )
    wait_for(lambda: len(project.state.rounds) >= 2)
    assert [made["round"] for made in project.state.rounds] == [1, 2]


def test_nothing_left_to_draw(tmp_path: Path) -> None:
    project = make(tmp_path / "p", 4, batch=4)
    designer = Designer(project)
    designer.start()
    assert not designer.coming()
    designer.stop()
    assert len(project.state.rounds) == 1


def test_a_pool_that_was_exchanged_is_said(project: Project, designer: Designer) -> None:
    project.add_person("ann")
    label_all(project, "ann")
    data = (project.folder / "features.npy").read_bytes()
    (project.folder / "features.npy").write_bytes(data[:-4] + b"\x00\x00\x80?")
    designer.start()
    wait_for(lambda: designer.problem)
    assert "not the one" in str(designer.problem)
    (project.folder / "features.npy").write_bytes(data)
    wait_for(lambda: len(project.state.rounds) >= 2)
    wait_for(lambda: designer.problem is None)


def test_stop_ends_the_process(project: Project, designer: Designer) -> None:
    project.add_person("ann")
    label_all(project, "ann")
    designer.start()
    wait_for(lambda: designer.runner.process is not None and designer.runner.process.pid)
    process = designer.runner.process
    assert process is not None
    pid = process.pid
    assert pid is not None
    designer.stop()
    assert gone(pid)
    assert not designer.coming()


ORPHAN = """
import sys, time
from aced.project import Project
from aced.web._designer import Designer
if __name__ == "__main__":
    designer = Designer(Project(sys.argv[1]))
    designer.start()
    while designer.runner.process is None or designer.runner.process.pid is None:
        time.sleep(0.01)
    print(designer.runner.process.pid, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_it_leaves_with_the_server(tmp_path: Path) -> None:
    project = make(tmp_path / "p", strategy="aced")
    project.add_person("ann")
    label_all(project, "ann")
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN)
    with subprocess.Popen(
        [sys.executable, str(script), str(project.folder)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        server.kill()
    wait_for(lambda: gone(pid))
