"""What the ledger's promises cost: the head record, and opening a ledger of many events.

    python benchmarks/ledger.py [--seconds 5] [--events 145000] [--folder DIR]

Labels are written with and without the head record, in turn and in one run, by one thread and by
sixteen. Then a project of many events is opened from the first event on, and from its snapshot; and
`aced status` and `aced serve` are timed until their first answer.
"""

from __future__ import annotations

import argparse
import http.client
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

from aced.ledger import Ledger, _head
from aced.project import Project

COMMAND = [sys.executable, "-c", "from aced.cli import main; main()"]
PEOPLE = [f"a{i:02d}" for i in range(50)]
ROUND = 1000


@contextmanager
def without_head() -> Iterator[None]:
    with mock.patch.object(_head.Head, "advance", return_value=None):
        yield


def write_for(seconds: float, threads: int, folder: Path) -> list[float]:
    """Seconds that each label took, in a new project, from all threads."""
    ledger = make(folder, 2000).ledger
    times: list[list[float]] = [[] for _ in range(threads)]
    until = time.perf_counter() + seconds

    def write(who: int) -> None:
        count = 0
        while (began := time.perf_counter()) < until:
            with ledger.writing() as writing:
                row = (who * 100 + count) % 2000
                writing.append("label", PEOPLE[who], row, {"label": 1, "seconds": 1.0}, f"{who}-{count}")
            times[who].append(time.perf_counter() - began)
            count += 1

    writers = [threading.Thread(target=write, args=(who,)) for who in range(threads)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ledger.close()
    return [one for part in times for one in part]


def make(folder: Path, rows: int) -> Project:
    rng = np.random.default_rng(0)
    project = Project.create(
        folder,
        ids=[f"item-{i}" for i in range(rows)],
        contents=[f"The text of item {i}." for i in range(rows)],
        kind="text",
        features=rng.normal(size=(rows, 32)).astype(np.float32),
        classes=["no", "yes"],
    )
    for name in PEOPLE:
        project.add_person(name, token=False)
    return project


def fill(folder: Path, events: int) -> None:
    """A project whose people were given rows and labelled them, until it has this many events."""
    project = make(folder, max(1000, events // 2))
    rows = np.random.default_rng(0).permutation(project.settings.rows).tolist()
    note = {"lam": 1.2345, "p": 0.4321, "incumbent": 1, "separates": 32, "of": 64}
    for number, first in enumerate(range(0, len(rows), ROUND), 1):
        with project.ledger.writing() as writing:
            drawn = rows[first : first + ROUND]
            body = {
                "planner": 2,
                "round": number,
                "based_on": writing.state.seq,
                "labels": first,
                "rows": drawn,
                "probabilities": [0.001234] * len(drawn),
                "checks": drawn[:100],
                "notes": [note] * len(drawn),
                "accuracy": None,
                "design": {},
                "seconds": 1.0,
            }
            writing.append("draw", "", body=body)
            for place, row in enumerate(drawn):
                who = PEOPLE[place % len(PEOPLE)]
                writing.append("lease", who, row, {"until": writing.now + 600})
                writing.append("label", who, row, {"label": row % 2, "seconds": 1.0}, f"k{row}")
                if writing.state.seq >= events:
                    break
        if project.ledger.state.seq >= events:
            break
    project.close()


def time_of(call: object) -> float:
    began = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - began


def served(folder: Path) -> float:
    """Seconds until `aced serve` answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    server = subprocess.Popen(
        [*COMMAND, "serve", str(folder), "--tokens", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    try:
        while not _answers(port):
            time.sleep(0.01)
        return time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()


def _answers(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/api/me")
        connection.getresponse().read()
    except OSError:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--events", type=int, default=145_000)
    parser.add_argument("--folder", type=Path, default=None, help="where to write (default: temporary)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        _head_cost(Path(name), asked.seconds)
        _opening(Path(name) / "many", asked.events)


def _head_cost(folder: Path, seconds: float) -> None:
    for threads in (1, 16):
        found: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(4):
            kept = bool(turn % 2)
            place = folder / f"{threads}-{turn}"
            if kept:
                found[kept] += write_for(seconds, threads, place)
            else:
                with without_head():
                    found[kept] += write_for(seconds, threads, place)
        for kept, times in found.items():
            ms = 1000 * np.array(times)
            print(
                f"{threads:2d} threads, {'with' if kept else 'without'} head record: "
                f"{len(ms) / (2 * seconds):.0f} labels a second, median {np.median(ms):.2f} ms, "
                f"99 % within {np.percentile(ms, 99):.2f} ms"
            )


def _opening(folder: Path, events: int) -> None:
    fill(folder, events)
    path = folder / "ledger.sqlite"
    first = time_of(lambda: Ledger(path).close())  # leaves a snapshot behind
    again = time_of(lambda: Ledger(path).close())
    status = time_of(
        lambda: subprocess.run([*COMMAND, "status", str(folder)], stdout=subprocess.DEVNULL, check=True)
    )
    print(f"{events} events: opened in {first:.2f} s from the first event on (with writing a snapshot),")
    print(f"{again:.2f} s from the snapshot ({first / again:.1f} times as fast);")
    print(f"aced status {status:.2f} s; aced serve answers after {served(folder):.2f} s")


if __name__ == "__main__":
    main()
