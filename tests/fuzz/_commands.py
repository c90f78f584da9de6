"""Commands of aced called in this process, and what they may say."""

from __future__ import annotations

import gc
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from aced.cli import main
from tests.fuzz._runner import REFUSED, TAKEN, Problem


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def outcome(self) -> str:
        return REFUSED if self.code else TAKEN


def command(*words: object) -> Said:
    """Run ``aced WORDS``. Exit codes other than 0, 1 and 2, and 2 without one line, are problems."""
    typed = tuple(map(str, words))
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    code: object = 0
    sys.argv = ["aced", *typed]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    _check(typed, code, out.getvalue(), err.getvalue())
    assert isinstance(code, int)
    if code:
        gc.collect()  # a process of its own would have ended now, and closed its files
    return Said(typed, code, out.getvalue(), err.getvalue())


def _check(words: tuple[str, ...], code: object, out: str, err: str) -> None:
    name = f"aced {words[0]}"
    if code not in (0, 1, 2):
        raise Problem(f"{name} ends with exit code {code!r}: {err}")
    if "Traceback (" in err + out:
        raise Problem(f"{name} prints a traceback")
    if code == 2 and (err.count("\n") != 1 or not err.endswith("\n")):
        raise Problem(f"{name} refuses in {err.count(chr(10))} lines instead of one: {err!r}")
    if code == 1 and not (err + out).strip():
        raise Problem(f"{name} ends with exit code 1 and says nothing")
    if "\x1b" in err + out:
        raise Problem(f"{name} sends an escape character to the terminal: {(err + out)!r}")
