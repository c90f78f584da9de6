"""A boundary whose cases end in every way that a case can end."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import numpy as np

from tests.fuzz._runner import REFUSED, TAKEN, Problem


class Boundary:
    def __init__(self, folder: Path) -> None:
        pass

    def case(self, rng: random.Random) -> str:
        return rng.choice(("refused", "taken", "problem", "error", "hang", "crash", "memory", "exit"))

    def run(self, case: str) -> str:
        if case == "problem":
            raise Problem("something was lost")
        if case == "error":
            raise ValueError("half a character: \ud800")
        if case == "hang":
            time.sleep(60)
        if case == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if case == "memory":
            np.ones(2**27)
        if case == "exit":
            raise SystemExit(3)
        return REFUSED if case == "refused" else TAKEN

    def close(self) -> None:
        pass
