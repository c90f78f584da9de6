"""Plan rounds beside the server, so that nobody who labels waits for one.

A thread of the server sees when a round is due, lets a process plan it, and records it in the ledger.
"""

from __future__ import annotations

import logging
import threading
import time

from aced._errors import InvalidInput
from aced._workers import available_threads
from aced.project import Driver, InProcess, Project

LOOK = 1.0
"""Seconds between looks at a ledger that other processes write to as well."""
REST = 0.05
"""Seconds of rest after a look, so that many requests at once cause one look."""
AROUND = 120.0
"""Seconds after a request during which a person counts as labelling."""
LONGEST_REST = 30.0
_log = logging.getLogger("aced.web")


class Designer:
    """Plans rounds in the background: ``start`` it, ``wake`` it when someone labels, ``stop`` it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.problem: str | None = None  # why no round came last time, as one sentence
        self.runner = InProcess(max(1, available_threads() - 1))
        self._driver = Driver(project, self.runner)
        self._around: dict[str, float] = {}
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._stop.clear()
        self._driver = Driver(self.project, self.runner)
        self._thread = threading.Thread(target=self._watch, name="aced-designer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._driver.close()

    def wake(self, who: str) -> None:
        """Note that ``who`` is labelling, and look at the ledger soon. The call costs nothing."""
        self._around[who] = time.monotonic()
        self._wake.set()

    @property
    def busy(self) -> bool:
        return self._driver.running

    def coming(self) -> bool:
        """Whether another round will come."""
        return self._thread is not None and not self._driver.ended

    # -- the thread ---------------------------------------------------------------------

    def _watch(self) -> None:
        failures = 0
        while not self._stop.is_set():
            self._wake.clear()
            try:
                if self._driver.step(*self._labelling(), timeout=0.2):
                    self.problem = None
                failures = 0
            except (InvalidInput, OSError, EOFError) as error:
                failures += 1
                self.problem = str(error) or "the process that plans rounds ended"
                _log.warning("no round yet: %s", self.problem)
                if failures > 1:  # a process that died once is replaced at once
                    self._stop.wait(min(LONGEST_REST, 2.0 ** (failures - 2)))
            if failures == 0 and not self._driver.running:
                self._wake.wait(LOOK)
                self._stop.wait(REST)

    def _labelling(self) -> list[str]:
        now = time.monotonic()
        return [name for name, at in list(self._around.items()) if now - at < AROUND]
