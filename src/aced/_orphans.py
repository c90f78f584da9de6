"""Processes that end when the process that started them ends."""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait


def leave_with_parent() -> None:
    """End this process when its parent ends, or is killed: nobody is left to report to."""
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
