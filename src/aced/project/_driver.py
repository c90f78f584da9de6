"""The one driver of rounds: it sees when a round is due, has it planned, and records it.

A round is planned at once (:class:`Inline`), in a thread (:class:`InThread`) or in a process
(:class:`InProcess`). In the last two cases nobody who labels has to wait. Labels that arrive while a
round is planned count in the round after it. A round that was not recorded has no effect: if its
process dies, the next call begins another.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Protocol

from aced._errors import InvalidInput
from aced._orphans import leave_with_parent
from aced.project._project import Project
from aced.project._round import Brief, PlannedRound, plan_round

Planned = tuple[Brief, PlannedRound | None]
"""A brief, and the round planned from it; None if there are no rows left to ask for."""


def plan_next(project: Project, threads: int | None = None) -> Planned:
    """Plan a project's next round from the ledger as it is now."""
    brief = project.brief()
    return brief, plan_round(project.pool, brief, threads) if brief.size > 0 else None


class Runner(Protocol):
    """Where a round is planned."""

    def begin(self, project: Project) -> None:
        """Begin to plan the next round."""

    def result(self, timeout: float | None) -> Planned | None:
        """The round that was begun; None if it is not ready within ``timeout`` seconds."""

    def close(self) -> None:
        """End whatever runs."""


class Driver:
    """Plans the rounds of a project. Call ``step`` now and then while people label, or ``wait``."""

    def __init__(self, project: Project, runner: Runner) -> None:
        self.project, self.runner = project, runner
        self.running = False
        self._ended_at = -1  # the number of labels when nothing was left to ask for

    @property
    def ended(self) -> bool:
        """Whether no round will come before there are more labels."""
        state, settings = self.project.state, self.project.settings
        labels = self.project.tally.update().labelled
        return len(state.draws) >= settings.rows or labels == self._ended_at

    def due(self, *names: str) -> bool:
        """Whether a round should be planned for these people."""
        return not self.ended and self.project.round_is_due(*names)

    def step(self, *names: str, timeout: float | None = 0.0) -> bool:
        """Begin a round that is due, record one that is ready; return whether there is a new round."""
        if not self.running:
            if not self.due(*names):
                return False
            self.runner.begin(self.project)
            self.running = True
        try:
            found = self.runner.result(timeout)
        except BaseException:
            self.running = False
            raise
        if found is None:
            return False
        self.running = False
        return self._record(*found)

    def wait(self, *names: str) -> bool:
        """Plan and record a round, and wait for it; False if none is due or no rows are left."""
        return self.step(*names, timeout=None)

    def _record(self, brief: Brief, planned: PlannedRound | None) -> bool:
        if planned is None or not planned.rows:
            self._ended_at = len(brief.rows)
            return False
        self.project.record(brief, planned)  # if another process was first, its round is there
        return True

    def close(self) -> None:
        self.runner.close()
        self.running = False


class Inline:
    """Plans a round at once, in the caller's thread."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads
        self._found: Planned | None = None

    def begin(self, project: Project) -> None:
        self._found = plan_next(project, self._threads)

    def result(self, timeout: float | None) -> Planned | None:
        return self._found

    def close(self) -> None:
        return None


class InThread:
    """Plans a round in a thread of this process."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._found: Planned | BaseException | None = None

    def begin(self, project: Project) -> None:
        self._found = None
        self._thread = threading.Thread(target=self._plan, args=(project,), daemon=True)
        self._thread.start()

    def _plan(self, project: Project) -> None:
        try:
            self._found = plan_next(project)
        except BaseException as error:  # raised again where it can be seen
            self._found = error

    def result(self, timeout: float | None) -> Planned | None:
        assert self._thread is not None
        self._thread.join(timeout)
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found

    def close(self) -> None:
        return None


class InProcess:
    """Plans rounds in a process of its own, which keeps the pool and follows the ledger by itself."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self.process: SpawnProcess | None = None
        self._calls: Connection | None = None

    def begin(self, project: Project) -> None:
        try:
            self._connected(project).send("plan")
        except OSError:
            self.close()
            raise

    def result(self, timeout: float | None) -> Planned | None:
        assert self._calls is not None
        try:
            if not self._calls.poll(timeout):
                return None
            found: Planned | InvalidInput = self._calls.recv()
        except (OSError, EOFError):
            self.close()
            raise
        if isinstance(found, InvalidInput):
            raise found
        return found

    def _connected(self, project: Project) -> Connection:
        if self.process is None or not self.process.is_alive() or self._calls is None:
            self.close()
            spawn = multiprocessing.get_context("spawn")
            self._calls, theirs = spawn.Pipe()
            self.process = spawn.Process(
                target=_work, args=(str(project.folder), theirs, self._threads), daemon=True
            )
            self.process.start()
            theirs.close()  # so that the pipe ends when the process dies
        return self._calls

    def close(self) -> None:
        if self._calls is not None:
            self._calls.close()
        if self.process is not None:
            self.process.terminate()
            self.process.join(5)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()
            self.process.close()
        self.process = self._calls = None


def _work(folder: str, calls: Connection, threads: int) -> None:
    """Reply to each call with a brief and the round planned from it, or with what is wrong."""
    leave_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the signal too, and ends this process
    if hasattr(os, "nice"):
        os.nice(10)
    from threadpoolctl import threadpool_limits

    project = None
    with threadpool_limits(threads):
        while True:
            try:
                calls.recv()
            except (EOFError, OSError):
                return
            reply: object
            try:
                project = project or Project(folder)
                reply = plan_next(project, threads)
            except InvalidInput as error:
                reply = error
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                reply = InvalidInput("the next round", f"could not be planned ({type(error).__name__})")
            try:
                calls.send(reply)
            except OSError:
                return
