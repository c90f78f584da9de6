"""Run the cases of a boundary in a process of its own, and count what became of them.

A case follows from (boundary, seed, number) alone, so that any case can be run again. The process has
a limit on its memory, and each case a limit on its time. A case that ends the process is a problem, and
a new process goes on with the next case.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import multiprocessing
import os
import random
import re
import resource
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Protocol

import aced

BOUNDARIES = ("http", "sockets", "ledger", "folder", "learner", "tables", "label_studio")
LIBRARY, HERE = Path(str(aced.__file__)).parent, Path(__file__).parent
REFUSED, TAKEN = "refused", "taken"
PATIENCE = 30.0
"""Seconds after which a case hangs."""
MEMORY = 300 * 2**20
"""Bytes that cases may take beyond what the process has at its start."""
CASES = 4000
"""Cases that one process runs; then a new one goes on, with its memory and its threads tidy."""

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["aced.cli._label", "aced.cli._serve", "aced.learner", "tests.fuzz._all"])


class Problem(Exception):
    """Something that must not happen, in one sentence."""


class Fuzzer(Protocol):
    """What a module's ``Boundary`` is: made once with a folder of its own, then given many cases."""

    def case(self, rng: random.Random) -> Any:
        """A case. Its repr describes it when it turns out to be a problem."""

    def run(self, case: Any) -> str:
        """``REFUSED`` or ``TAKEN``. Everything that is raised here is a problem."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Found:
    """A problem, and the case that led to it."""

    boundary: str
    seed: int
    number: int
    sentence: str
    details: str

    @property
    def kind(self) -> str:
        """What problems of the same cause have in common, as a rule."""
        return re.sub(r"[0-9]+|'.*'", "…", self.sentence.split("; ")[0])[:80]

    def shown(self) -> str:
        return f"{self.boundary}: {self.sentence}\n    {self.command()}"

    def command(self) -> str:
        """What to type to see it again."""
        where = f"--boundary {self.boundary} --seed {self.seed} --case {self.number}"
        return f"python benchmarks/fuzz.py {where}"


@dataclass
class Tally:
    """How many cases were refused in a sentence, how many were taken, and the problems."""

    boundary: str
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Found] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return sum(self.counts.values()) + len(self.problems)

    def report(self) -> str:
        """The first problem of each kind, with the command that repeats it."""
        counts = Counter(one.kind for one in self.problems)
        firsts = {one.kind: one for one in reversed(self.problems)}
        shown = sorted(firsts.values(), key=lambda one: one.number)
        return "\n".join(f"{one.shown()} ({counts[one.kind]} times)\n{one.details}\n" for one in shown)


def fuzz(
    boundary: str,
    seed: int,
    *,
    cases: int | None = None,
    seconds: float | None = None,
    first: int = 0,
    patience: float = PATIENCE,
) -> Tally:
    """Run ``cases`` cases from number ``first`` on, or as many as begin within ``seconds``."""
    tally, began = Tally(boundary), time.monotonic()
    end = None if seconds is None else began + seconds
    last = None if cases is None else first + cases
    while (last is None or first < last) and (end is None or time.monotonic() < end):
        stop = first + CASES if last is None else min(last, first + CASES)
        first = _in_a_process(tally, seed, range(first, stop), end, patience)
    tally.seconds = time.monotonic() - began
    return tally


def _in_a_process(tally: Tally, seed: int, numbers: range, end: float | None, patience: float) -> int:
    """Add what a new process finds to ``tally``; return the number of the case to go on with."""
    ours, theirs = context.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        log = Path(folder, "log")
        words = (theirs, tally.boundary, seed, numbers, end, patience, folder)
        process = context.Process(target=_child, args=words)
        process.start()
        theirs.close()
        reached, began, case = numbers.start, False, ""
        for kind, number, sentence, details in _messages(ours, 2 * patience):
            reached, began = number, True
            if kind == "problem":
                tally.problems.append(Found(tally.boundary, seed, number, sentence, details))
            elif kind in (REFUSED, TAKEN):
                tally.counts[kind] += 1
            case = details if kind == "case" else ""
            reached += kind not in ("begin", "case")
        done = reached == numbers.stop or (end is not None and time.monotonic() >= end)
        process.join(0 if not done else patience)
        if process.is_alive():
            process.kill()
            process.join()
        if process.exitcode != 0:
            said = log.read_text(errors="replace") if log.exists() else ""
            details = f"{case}\n{_last_words(said)}"
            if not began:
                raise RuntimeError(f"the fuzzer itself could not be made:\n{details}")
            sentence = _ending(process.exitcode, details)
            tally.problems.append(Found(tally.boundary, seed, reached, sentence, details))
            reached += 1
    return reached


def _last_words(log: str) -> str:
    """Where the process was when it ended, if its log says so; else the end of its log."""
    starts = [place for sign in ("Fatal Python error", "Timeout (") if (place := log.rfind(sign)) >= 0]
    return log[max(starts) :].split("Extension modules:")[0][:3000] if starts else log[-3000:]


def _ending(code: int | None, log: str) -> str:
    if "Timeout (" in log:
        return "it hangs"
    return "it hangs" if code == -9 else f"the process ended with exit code {code}"


def _messages(pipe: Connection, patience: float) -> Iterator[tuple[str, int, str, str]]:
    """What the process sends; no more once it has ended or said nothing for long."""
    try:
        while pipe.poll(patience):
            yield pipe.recv()
    except EOFError:
        return


# -- in the process -----------------------------------------------------------------------


def _child(
    pipe: Connection,
    boundary: str,
    seed: int,
    numbers: range,
    end: float | None,
    patience: float,
    folder: str,
) -> None:
    with Path(folder, "log").open("w", buffering=1) as log:
        for stream in (1, 2):
            os.dup2(log.fileno(), stream)
        os.environ.update(TMPDIR=folder, COLUMNS="200", NO_COLOR="1")
        tempfile.tempdir = folder
        faulthandler.enable(log)
        fuzzer = _make(boundary, Path(folder, "work"))
        limit_memory()
        gc.collect()
        gc.freeze()  # what is here now stays; later collections look at the cases alone
        try:
            _run_all(pipe, log, fuzzer, boundary, seed, numbers, end, patience)
        finally:
            fuzzer.close()
            pipe.close()
        log.flush()
        os._exit(0)  # threads of servers end with the process


def _run_all(
    pipe: Connection,
    log: IO[str],
    fuzzer: Fuzzer,
    boundary: str,
    seed: int,
    numbers: range,
    end: float | None,
    patience: float,
) -> None:
    for number in numbers:
        if end is not None and time.monotonic() >= end:
            return
        pipe.send(("begin", number, "", ""))
        faulthandler.dump_traceback_later(patience, exit=True, file=log)
        case = None
        try:
            case = fuzzer.case(random.Random(f"{boundary} {seed} {number}"))
            pipe.send(("case", number, "", f"case: {ascii(case)[:1500]}"))
            pipe.send((fuzzer.run(case), number, "", ""))
        except BaseException as error:  # whatever it is, it is a finding
            pipe.send(("problem", number, *_described(error, case)))
            del error
            gc.collect()  # files that the failed case left open
        finally:
            faulthandler.cancel_dump_traceback_later()


def _described(error: BaseException, case: Any) -> tuple[str, str]:
    said = ascii(" ".join(str(error).split()))[1:-1][:300]
    if isinstance(error, Problem):
        return said, f"case: {ascii(case)[:1500]}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [Path(frame.filename) for frame in frames]
    ours = [frame for frame, path in zip(frames, inside, strict=True) if LIBRARY in path.parents]
    ours = ours or [frame for frame, path in zip(frames, inside, strict=True) if HERE in path.parents]
    place = f"{Path(ours[-1].filename).name}, {ours[-1].name}"
    trace = ascii("".join(traceback.format_exception(error))[-4000:]).replace("\\n", "\n")
    return f"{type(error).__name__} in {place}; {said}", f"case: {ascii(case)[:1500]}\n{trace}"


def _make(boundary: str, folder: Path) -> Fuzzer:
    folder.mkdir()
    module = importlib.import_module(f"tests.fuzz._{boundary}")
    made: Fuzzer = module.Boundary(folder)
    return made


def limit_memory() -> None:
    """Let allocations fail that take ``MEMORY`` bytes more than this process has now."""
    held = 0
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmData:"):
                held = int(line.split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + MEMORY, resource.RLIM_INFINITY))
