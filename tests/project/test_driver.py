"""The driver of rounds, with each of the three ways to run them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

import pytest

from aced import InvalidInput
from aced.project import Driver, Inline, InProcess, InThread, Project, repeat_rounds
from tests import warm
from tests.helpers import answer
from tests.project.places import make

RUNNERS = {"inline": lambda: Inline(1), "thread": InThread, "process": lambda: InProcess(1)}


@pytest.fixture(params=RUNNERS)
def driver(request, tmp_path, monkeypatch):
    """Its process has its imports behind it."""
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: warm.context)
    project = make(tmp_path / "p", n=40, batch=20)
    project.add_person("ann", token=False)
    made = Driver(project, RUNNERS[request.param]())
    yield made
    made.close()
    project.close()


def label_all(project):
    for row in list(project.state.waiting):
        answer(project, "ann", row, "label", project.classes[row % 2])


def test_rounds_come_while_people_label_and_end_with_the_pool(driver):
    project = driver.project
    while driver.wait("ann"):
        label_all(project)
    assert len(project.state.rounds) == 2
    assert len(project.state.draws) == 40
    assert driver.ended
    assert not driver.step("ann")
    assert not driver.running
    assert all(one.differs is None for one in repeat_rounds(project.ledger, lambda: project.pool))


def test_a_round_that_is_ready_is_recorded_by_the_next_step(driver):
    assert driver.due("ann")
    recorded = driver.step("ann")  # begins one; inline it is there at once
    limit = time.monotonic() + 60
    while not recorded and time.monotonic() < limit:
        assert driver.running
        recorded = driver.step("ann", timeout=0.1)
    assert recorded
    assert len(driver.project.state.rounds) == 1
    assert not driver.due("ann")


def test_a_round_that_another_process_recorded_first_is_dropped(tmp_path):
    project = make(tmp_path / "p", n=40)
    other = Project(project.folder)
    driver = Driver(project, Inline(1))
    driver.runner.begin(project)
    driver.running = True
    assert other.refill(threads=1)
    assert driver.wait()  # there is a new round, though another one
    assert len(other.state.rounds) == 1
    other.close()
    project.close()


def test_what_goes_wrong_is_said_and_the_next_round_is_tried_anew(driver):
    features = driver.project.folder / "features.npy"
    content = features.read_bytes()
    features.write_bytes(content[:-4] + b"\0\0\1\0")
    with pytest.raises(InvalidInput, match="not the one the project was made with"):
        driver.wait("ann")
    features.write_bytes(content)
    driver.project.__dict__.pop("features", None)
    driver.close()
    assert driver.wait("ann")


def test_a_process_that_dies_is_replaced(tmp_path):
    project = make(tmp_path / "p", n=40)
    runner = InProcess(1)
    driver = Driver(project, runner)
    assert not driver.step()
    os.kill(runner.process.pid, signal.SIGKILL)
    with pytest.raises((OSError, EOFError)):
        driver.wait()
    assert driver.wait()
    driver.close()
    project.close()
