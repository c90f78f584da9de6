"""The process that designs rounds: it has the pool loaded and follows the ledger by itself."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection

from aced._orphans import leave_with_parent


def work(folder: str, calls: Connection, threads: int) -> None:
    """Reply to each call with a question and its answer (None for no round), or with a sentence."""
    leave_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends this process
    if hasattr(os, "nice"):
        os.nice(10)
    from threadpoolctl import threadpool_limits

    from aced._errors import InvalidInput
    from aced.project import Project, plan_round

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
                asked = project.question()
                reply = asked, plan_round(project.pool, asked, threads) if asked.size > 0 else None
            except InvalidInput as error:
                reply = error
            except Exception as error:
                traceback.print_exc(file=sys.stderr)
                reply = InvalidInput("the next round", f"could not be designed ({type(error).__name__})")
            try:
                calls.send(reply)
            except OSError:
                return
