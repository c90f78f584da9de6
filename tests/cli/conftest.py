"""The command line, called in this process."""

from __future__ import annotations

import sys

import pytest

from aced.cli import main


@pytest.fixture
def call(monkeypatch, capfd):
    """Exit code, standard output and standard error of ``aced ARGUMENTS``."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["aced", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        out, err = capfd.readouterr()
        return code, out, err

    return run
