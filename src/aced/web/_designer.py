"""Rounds designed beside the server, so that nobody who labels waits for one.

One process designs. A thread here sees when a round is due, calls the process, and writes what comes
back into the ledger. Labels that arrive meanwhile count in the round after. If the process dies, it is
started again and the round is designed again: a round that was not written has no effect.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from aced._errors import InvalidInput
from aced._workers import available_threads
from aced.project import Project
from aced.web._worker import work

LOOK = 1.0
"""Seconds between looks at a ledger that other processes write to as well."""
REST = 0.05
"""Seconds after a look: many requests at once are one reason to look."""
AROUND = 120.0
"""Seconds after a request for which someone is taken to be labelling."""
LONGEST_REST = 30.0
_log = logging.getLogger("aced.web")


class Designer:
    """``start``, then ``wake`` whenever someone has been given items or not; ``stop`` at the end."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.problem: str | None = None
        """Why no round came last time, as one sentence."""
        self.process: SpawnProcess | None = None
        self._calls: Connection | None = None
        self._around: dict[str, float] = {}
        self._wake, self._stop = threading.Event(), threading.Event()
        self._busy = False
        self._finished_at = -1  # labels at which there was nothing to ask for
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._stop.clear()
        self._finished_at = -1
        self._thread = threading.Thread(target=self._watch, name="aced-designer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._end_process()

    def wake(self, who: str) -> None:
        """Someone is labelling; costs nothing."""
        self._around[who] = time.monotonic()
        self._wake.set()

    @property
    def busy(self) -> bool:
        return self._busy

    def coming(self) -> bool:
        """Whether rows are left of which a round will be made."""
        left = len(self.project.state.draws) < self.project.settings["rows"]
        labelled = self.project.tally.update().labelled
        return self._thread is not None and left and self._finished_at != labelled

    # -- the thread ---------------------------------------------------------------------

    def _watch(self) -> None:
        failures = 0
        while not self._stop.is_set():
            self._wake.clear()
            try:
                if self._due():
                    self._busy = True
                    self._design()
                    failures, self.problem = 0, None
                    continue
                failures = 0
            except (InvalidInput, OSError, EOFError) as error:
                failures += 1
                self.problem = str(error) or "the process that designs rounds ended"
                _log.warning("no round yet: %s", self.problem)
                if failures > 1:  # a process that died once is replaced at once
                    self._stop.wait(min(LONGEST_REST, 2.0 ** (failures - 2)))
            finally:
                self._busy = False
            if failures == 0:
                self._wake.wait(LOOK)
                self._stop.wait(REST)

    def _due(self) -> bool:
        if not self.coming():
            return False
        now = time.monotonic()
        return self.project.short(*(n for n, at in list(self._around.items()) if now - at < AROUND))

    def _design(self) -> None:
        reply = self._call()
        if isinstance(reply, InvalidInput):
            raise reply
        if reply is None:  # stopped meanwhile
            return
        asked, answer = reply
        if answer is None or not answer.rows:
            self._finished_at = len(asked.rows)
        else:
            self.project.record(asked, answer)

    def _call(self) -> Any:
        calls = self._connected()
        try:
            calls.send("design")
            while not calls.poll(0.2):
                if self._stop.is_set():
                    return None
            return calls.recv()
        except (OSError, EOFError):
            self._end_process()
            raise

    def _connected(self) -> Connection:
        if self.process is None or not self.process.is_alive() or self._calls is None:
            self._end_process()
            spawn = multiprocessing.get_context("spawn")
            self._calls, theirs = spawn.Pipe()
            threads = max(1, available_threads() - 1)
            self.process = spawn.Process(
                target=work, args=(str(self.project.folder), theirs, threads), daemon=True
            )
            self.process.start()
            theirs.close()  # so that its death is the end of the pipe
        return self._calls

    def _end_process(self) -> None:
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
