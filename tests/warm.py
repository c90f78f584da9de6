"""``aced WORDS`` in a process of its own that has its imports behind it.

Most of the time of a short command is the import of numpy, scipy and scikit-learn. Here one process
imports them and is forked for each command, which otherwise meets what it would meet in a process
that was started for it.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping
from multiprocessing.process import BaseProcess

from aced.cli import main

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["aced.cli._label", "aced.cli._serve", "aced.learner"])


def start(streams: tuple[str, str, str], environment: Mapping[str, str], *words: object) -> BaseProcess:
    """The command with these files or terminals as its standard streams, in a session of its own."""
    process = context.Process(target=_run, args=(streams, dict(environment), *map(str, words)))
    process.start()
    return process


def _run(streams: tuple[str, str, str], environment: dict[str, str], *words: str) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate(streams):
        opened = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NOCTTY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
    sys.argv = ["aced", *words]
    main()
