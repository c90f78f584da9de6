"""Simulated annotators against one server that is killed again and again.

    python benchmarks/serve.py [--seconds 600] [--annotators 50] [--rows 50000] [--kills 100]
                               [--calm] [--half 1050] [--disk 512]

Every annotator reads, thinks for a moment, answers, and goes on; when the server is gone they
repeat the same request until it is back. At the end the ledger is compared with what was
acknowledged: nothing lost, nothing twice, no item held by two people, and a replay that equals
the live state. Latency is that of an answer together with the next items, while rounds are being
designed; requests that met a dead server are counted apart.

Meanwhile, unless --calm is given: --half clients send half a header and then a byte a second; a
guesser sends wrong tokens from ever new addresses; twice the clock jumps, a year ahead and an hour
back, and returns; and twice the disk is full for a while (a disk of its own, of --disk MB; without the
right to mount one, this part is left out and said so). Requests that are refused for the time being are
repeated, and counted apart. The exit code is 1 if anything was lost or counted twice.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aced.ledger import State, replay
from aced.project import Project


@dataclass
class Outcome:
    """What was seen from outside, and what the ledger says."""

    answered: dict[str, tuple[str, int, str]] = field(default_factory=dict)  # key: who, row, label
    latencies: list[float] = field(default_factory=list)
    outages: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    starved: int = 0
    put_off: list[float] = field(default_factory=list)  # seconds that requests waited for room
    reasons: Counter[str] = field(default_factory=Counter)  # why they had to
    guesses: Counter[int] = field(default_factory=Counter)  # by status of the reply
    half: int = 0  # connections that sent half a header
    jumps: int = 0
    kills: int = 0
    rounds: int = 0
    problems: list[str] = field(default_factory=list)


def make_project(folder: Path, rows: int, seed: int = 0) -> tuple[Project, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, 32)).astype(np.float32)
    truth = (features @ rng.normal(size=32) + rng.normal(size=rows) > 0).astype(int)
    project = Project.create(
        folder,
        ids=[f"item-{i}" for i in range(rows)],
        contents=[f"The text of item {i}." for i in range(rows)],
        kind="text",
        features=features,
        classes=["no", "yes"],
        lease=120.0,
    )
    return project, truth


PROGRAM = """
import sys, time
from pathlib import Path
real, shift = time.time, Path(sys.argv.pop(1))
time.time = lambda: real() + float(shift.read_text() or 0)  # before aced takes it for its clock
from aced.cli import main
main()
"""
"""`aced serve` with a clock that can be set from outside."""


class Server:
    """`aced serve` in a process of its own, started again when it was killed."""

    def __init__(self, folder: Path) -> None:
        self.shift = folder.parent / "shift"
        self.set_clock(0)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder
        self.start()

    def start(self) -> None:
        words = [sys.executable, "-c", PROGRAM, str(self.shift), "serve", str(self.folder)]
        words += ["--tokens", "--port", str(self.port)]
        self.process = subprocess.Popen(
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def set_clock(self, ahead: float) -> None:
        """Put the server's clock this many seconds ahead of the machine's."""
        part = self.shift.with_suffix(".part")
        part.write_text(str(ahead))
        os.replace(part, self.shift)

    def wait(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise TimeoutError("the server does not come up")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


class Annotator(threading.Thread):
    """One person with one connection."""

    def __init__(
        self, name: str, token: str, port: int, truth: Any, think: float, until: float, out: Outcome
    ) -> None:
        super().__init__(daemon=True)
        self.name, self.token, self.port, self.truth = name, token, port, truth
        self.think, self.until, self.out = think, until, out
        self.rng = random.Random(name)
        self.connection: http.client.HTTPConnection | None = None
        self.cookie = ""

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """One request, repeated until it is answered."""
        began, failed, put_off = time.perf_counter(), False, False
        while True:
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                headers = {"Cookie": self.cookie, "X-Aced": "1"}
                if body is not None:
                    headers["Content-Type"] = "application/json"
                data = None if body is None else json.dumps(body)
                self.connection.request(method, path, data, headers)
                answer = self.connection.getresponse()
                content = answer.read()
                if answer.status == 503:
                    put_off = True
                    self.out.reasons[json.loads(content)["error"]] += 1
                    time.sleep(0.3)
                    continue
                break
            except (OSError, http.client.HTTPException):
                if self.connection is not None:
                    self.connection.close()
                self.connection, failed = None, True
                time.sleep(0.05)
        took = time.perf_counter() - began
        if path.startswith("/api"):
            kept = self.out.outages if failed else self.out.put_off if put_off else self.out.latencies
            kept.append(took)
        cookie = answer.getheader("Set-Cookie")
        if cookie:
            self.cookie = cookie.split(";")[0]
        kind = answer.getheader("Content-Type", "")
        return answer.status, json.loads(content) if kind.startswith("application/json") else None

    def run(self) -> None:
        self.call("GET", f"/enter?token={self.token}")
        items: list[dict[str, Any]] = []
        count = 0
        while time.monotonic() < self.until:
            if not items:
                _, found = self.call("GET", "/api/next?count=3")
                items = found.get("items", [])
                if not items:
                    self.out.starved += 1
                    time.sleep(0.3)
                    continue
            time.sleep(self.rng.expovariate(1 / self.think))
            row = items[0]["row"]
            label = ["no", "yes"][int(self.truth[row])]
            key = f"{self.name}-{count}"
            count += 1
            body = {"row": row, "kind": "label", "label": label, "seconds": 1.0}
            status, found = self.call("POST", "/api/answer", {**body, "key": key, "then": 3})
            if status == 200:
                self.out.answered[key] = (self.name, row, label)
                items = found["items"]
            else:
                self.out.refused.append(f"{status} {found}")
                items = []
        if self.connection is not None:
            self.connection.close()


class HalfHeaders(threading.Thread):
    """Clients that never finish what they say; each is replaced when the server drops it."""

    def __init__(self, port: int, count: int, until: float, out: Outcome) -> None:
        super().__init__(daemon=True)
        self.port, self.count, self.until, self.out = port, count, until, out

    def run(self) -> None:
        held: list[socket.socket] = []
        while time.monotonic() < self.until:
            held = [one for one in held if self._trickle(one)]
            for _ in range(self.count - len(held)):
                with suppress(OSError):
                    held.append(socket.create_connection(("127.0.0.1", self.port), timeout=2))
                    held[-1].sendall(b"GET /api/next HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
                    self.out.half += 1
            time.sleep(1.0)
        for one in held:
            one.close()

    @staticmethod
    def _trickle(one: socket.socket) -> bool:
        try:
            one.sendall(b"a")
        except OSError:
            one.close()
            return False
        return True


class Guesser(threading.Thread):
    """Sends wrong tokens, each time as if from another address."""

    def __init__(self, port: int, until: float, out: Outcome) -> None:
        super().__init__(daemon=True)
        self.port, self.until, self.out = port, until, out

    def run(self) -> None:
        rng = random.Random(0)
        while time.monotonic() < self.until:
            address = ".".join(str(rng.randrange(256)) for _ in range(4))
            token = "".join(rng.choices("abcdefghijklmnop", k=32))
            with suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", f"/enter?token={token}", None, {"X-Forwarded-For": address})
                self.out.guesses[connection.getresponse().status] += 1
                connection.close()
            time.sleep(0.05)


class Weather(threading.Thread):
    """Two jumps of the clock and two spells of a full disk, spread over the run."""

    def __init__(self, server: Server, disk: Path | None, seconds: float, out: Outcome) -> None:
        super().__init__(daemon=True)
        self.server, self.disk, self.seconds, self.out = server, disk, seconds, out

    def run(self) -> None:
        pause = self.seconds / 6
        for ahead in (365 * 86400.0, -3600.0):
            time.sleep(pause)
            self.server.set_clock(ahead)
            self.out.jumps += 1
            time.sleep(min(5.0, pause / 2))
            self.server.set_clock(0)
            time.sleep(pause)
            if self.disk is not None:
                with full_disk(self.disk):
                    time.sleep(min(5.0, pause / 2))


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            for size in (2**20, 4096):
                with suppress(OSError):
                    while file.write(b"x" * size):
                        pass
        yield
    finally:
        filler.unlink()


@contextmanager
def disk_of_its_own(folder: Path, megabytes: int) -> Iterator[Path | None]:
    """A file system in a file, mounted in ``folder``; None where that is not allowed."""
    image, place = folder / "image", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(megabytes * 2**20)
    steps = (["mkfs.ext4", "-q", str(image)], ["mount", "-o", "loop", str(image), str(place)])
    try:
        made = all(subprocess.run(step, capture_output=True).returncode == 0 for step in steps)
    except FileNotFoundError:
        made = False
    try:
        yield place if made else None
    finally:
        if made:
            subprocess.run(["umount", "-l", str(place)], check=True)


def run(
    folder: Path,
    *,
    seconds: float,
    annotators: int,
    rows: int,
    kills: int,
    think: float,
    seed: int = 0,
    calm: bool = True,
    half: int = 0,
    disk: Path | None = None,
) -> Outcome:
    project, truth = make_project(folder, rows, seed)
    tokens = {f"a{i:02d}": project.add_person(f"a{i:02d}") or "" for i in range(annotators)}
    project.refill()
    project.close()
    out, server, rng = Outcome(), Server(folder), random.Random(seed)
    server.wait()
    until = time.monotonic() + seconds
    people = [Annotator(n, t, server.port, truth, think, until, out) for n, t in tokens.items()]
    for person in people:
        person.start()
    if not calm:
        HalfHeaders(server.port, half, until, out).start()
        Guesser(server.port, until, out).start()
        Weather(server, disk, seconds, out).start()
    for moment in sorted(rng.uniform(0.05, 0.95) * seconds for _ in range(kills)):
        pause = until - seconds + moment - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        server.kill()
        out.kills += 1
        server.start()
        server.wait()
    for person in people:
        person.join(seconds + 120)
    server.stop()
    _compare(folder, out)
    return out


def _compare(folder: Path, out: Outcome) -> None:
    project = Project(folder)
    try:
        _check(project, out)
    finally:
        project.close()


def _check(project: Project, out: Outcome) -> None:
    found = replay(project.ledger)
    out.problems += found.problems
    out.rounds = len(found.state.rounds)
    if found.state.digest() != project.state.digest():
        out.problems.append("the replay is not the live state")
    written: Counter[str] = Counter()
    votes: Counter[tuple[str, int]] = Counter()
    state = State()
    for event, _ in project.ledger.events():
        if event.kind == "label":
            assert event.key is not None
            written[event.key] += 1
            votes[event.who, event.row or 0] += 1
            seen = out.answered.get(event.key)
            if seen and seen != (event.who, event.row, project.classes[event.body["label"]]):
                out.problems.append(f"{event.key}: the ledger has another answer")
        if event.kind == "lease" and event.row not in set(state.ready(event.who, event.at)):
            out.problems.append(f"event {event.seq}: row {event.row} was given while it was taken")
        state.apply(event)
    lost = [request for request in out.answered if written[request] == 0]
    twice = [request for request, count in written.items() if count > 1]
    twice += [f"{who} {row}" for (who, row), count in votes.items() if count > 1]
    out.problems += [f"lost: {request}" for request in lost] + [f"twice: {request}" for request in twice]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds before an answer")
    parser.add_argument("--calm", action="store_true", help="kills only")
    parser.add_argument("--half", type=int, default=1050, help="clients that send half a header")
    parser.add_argument("--disk", type=int, default=512, help="MB of the disk that is filled")
    asked = parser.parse_args()
    size = vars(asked).pop("disk")
    with tempfile.TemporaryDirectory() as name, disk_of_its_own(Path(name), size) as disk:
        if disk is None:
            print("no disk could be mounted: it is never full in this run")
        out = run((disk or Path(name)) / "project", **vars(asked), disk=disk)
    times = 1000 * np.array(out.latencies)
    print(f"{len(out.answered)} labels acknowledged, {out.kills} kills, {out.rounds} rounds designed")
    print(
        f"latency: median {np.median(times):.1f} ms, 99 % within {np.percentile(times, 99):.1f} ms, "
        f"longest {times.max():.0f} ms"
    )
    if not asked.calm:
        print(
            f"meanwhile: {out.half} clients with half a header, {sum(out.guesses.values())} wrong "
            f"tokens (replies {dict(out.guesses)}), {out.jumps} jumps of the clock, "
            f"{len(out.put_off)} requests put off for a while ({dict(out.reasons)})"
        )
    if out.outages:
        again = f"{len(out.outages)}, answered after {np.median(out.outages):.2f} s (median)"
        print(f"requests sent again after a restart or a closed connection: {again}")
    print(
        f"times there was nothing to give: {out.starved}; refused: {len(out.refused)} {out.refused[:3]}"
    )
    print("problems: " + ("none" if not out.problems else "; ".join(out.problems[:10])))
    sys.exit(1 if out.problems else 0)
    raise SystemExit(bool(out.problems))


if __name__ == "__main__":
    main()
