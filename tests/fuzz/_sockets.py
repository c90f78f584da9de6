"""Bytes on the sockets of ``aced serve``: requests that are cut, doubled, malformed, or no HTTP."""

from __future__ import annotations

import logging
import random
import re
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aced.cli import main
from aced.project import Project
from tests.fuzz._http import Errors
from tests.fuzz._mutate import damaged
from tests.fuzz._projects import make
from tests.fuzz._runner import REFUSED, TAKEN, Problem

WAIT = 15.0
"""Seconds within which the server has to answer a request that is whole."""
SETTLE = 0.005
"""Seconds in which an answer that nobody waits for is finished, so that its error is this case's."""
CHUNKS = (
    b"5\r\nhello\r\n0\r\n\r\n",
    b"-1\r\n",
    b"ffffffffffffffff\r\n",
    b"5;" + b"x" * 9000 + b"\r\nhello\r\n0\r\n\r\n",
    b"g\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"0" * 5000 + b"2\r\n{}\r\n0\r\n\r\n",
    b"2\n{}\n0\n\n",
    b"5\r\nhel",
)
LINES = (
    b"Host: 127.0.0.1",
    b"Host:",
    b"Host: a\r\nHost: b",
    b"Content-Length: 5",
    b"Content-Length: -1",
    b"Content-Length: 5, 6",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: \xb2",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: x",
    b"Transfer-Encoding: chunked\r\nContent-Length: 3",
    b"Expect: 100-continue",
    b"Upgrade: websocket\r\nConnection: Upgrade",
    b"Upgrade: h2c\r\nConnection: Upgrade",
    b"Connection: close",
    b" folded: x",
    b"no colon",
    b"X: \0",
    b"X: \xff\xfe",
    b"X" * 70_000,
    b"X: " + b"y" * 70_000,
    b"\r",
    b"X : y",
    b": y",
    b"Cookie: aced=\xff; aced=; =",
    b"Range: bytes=5-1",
)
STARTS = (
    b"GET /api/me HTTP/1.1",
    b"GET / HTTP/1.0",
    b"GET / HTTP/9.9",
    b"GET /",
    b"GET  /  HTTP/1.1",
    b"GET /%ff%00 HTTP/1.1",
    b"POST /api/answer HTTP/1.1",
    b"GET http://evil.example/ HTTP/1.1",
    b"CONNECT a:1 HTTP/1.1",
    b"OPTIONS * HTTP/1.1",
    b"PRI * HTTP/2.0",
    b"GET /\xc3\xa9 HTTP/1.1",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1",
    b"\x16\x03\x01\x02\0\1\0",
    b"",
    b"GET //evil.example/%2e%2e HTTP/1.1",
    b"GET /static/../../x HTTP/1.1",
    b"GET ?x HTTP/1.1",
    b"GE\0T / HTTP/1.1",
)


@dataclass(frozen=True)
class Case:
    """Pieces that are sent one after another, and how the client ends: it waits, closes or resets."""

    pieces: tuple[bytes, ...]
    end: str


class Boundary:
    def __init__(self, folder: Path) -> None:
        made = make(folder / "project")
        token = made.add_person("ann", "lead")
        made.close()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        sys.argv = ["aced", "serve", str(folder / "project"), "--port", str(self.port)]
        threading.Thread(target=main, daemon=True).start()
        self.project, self.cookie = Project(folder / "project"), b""
        self._wait_for_it()
        self.cookie = self._enter(str(token))
        self.errors = Errors()
        for name in ("aced.web", "uvicorn.error", "asyncio"):
            logging.getLogger(name).addHandler(self.errors)

    def case(self, rng: random.Random) -> Case:
        content = _whole(rng, self.cookie)
        if rng.random() < 0.4:
            content = damaged(rng, content)
        cuts = sorted(rng.randrange(len(content) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
        pieces = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
        return Case(tuple(pieces), rng.choice(("wait", "close", "close", "reset")))

    def run(self, case: Case) -> str:
        answer = self._talk(case)
        codes = [int(code) for code in re.findall(rb"HTTP/1\.[01] ([0-9]{3})", answer)]
        if any(code >= 500 and code != 503 for code in codes):
            raise Problem(f"the server answers {max(codes)}: {answer[:300]!r}")
        if b" 200 " not in self._ask(b"GET /api/me HTTP/1.1"):
            raise Problem("the server does not answer the next request as it did before")
        time.sleep(SETTLE)
        self.errors.check("a connection")
        return TAKEN if any(code < 400 for code in codes) else REFUSED

    def close(self) -> None:
        self.project.close()

    # -- talking to it --------------------------------------------------------------------

    def _talk(self, case: Case) -> bytes:
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as wire:
            try:
                for piece in case.pieces:
                    wire.sendall(piece)
                if case.end == "reset":
                    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return b""
                if case.end == "close":
                    wire.shutdown(socket.SHUT_WR)
                wire.settimeout(0.02 if case.end == "wait" else WAIT)  # half a request has no answer yet
                while part := wire.recv(65536):
                    answer += part
            except TimeoutError:
                if case.end == "close":
                    raise Problem(
                        f"the server leaves a connection open that the client closed: {answer[:99]!r}"
                    ) from None
            except OSError:
                pass  # the server may hang up at any time
        return answer

    def _ask(self, start: bytes) -> bytes:
        """The answer to a sound request."""
        lines = [
            start,
            b"Host: 127.0.0.1:%d" % self.port,
            b"Cookie: " + self.cookie,
            b"Connection: close",
            b"",
            b"",
        ]
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as wire:
            wire.sendall(b"\r\n".join(lines))
            while part := wire.recv(65536):
                answer += part
        return answer

    def _enter(self, token: str) -> bytes:
        answer = self._ask(f"GET /enter?token={token} HTTP/1.1".encode())
        found = re.search(rb"set-cookie: ([^;]+);", answer, re.IGNORECASE)
        assert found is not None, answer
        return found[1]

    def _wait_for_it(self) -> None:
        for _ in range(200):
            with suppress(OSError):
                self._ask(b"GET /api/me HTTP/1.1")
                return
            time.sleep(0.05)
        raise RuntimeError("the server does not start")


def _whole(rng: random.Random, cookie: bytes) -> bytes:
    """One or more requests with odd lines in them."""
    parts = []
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        start = rng.choice((STARTS[0], rng.choice(STARTS)))
        lines = [start, b"Host: 127.0.0.1", b"X-Aced: 1", b"Content-Type: application/json"]
        lines += [b"Cookie: " + cookie] * rng.randrange(2)
        for _ in range(rng.choice((0, 1, 1, 2, 6))):
            lines.insert(rng.randrange(1, len(lines) + 1), rng.choice(LINES))
        body = rng.choice((b"", b"hello", b'{"row":1}', *CHUNKS))
        parts.append(rng.choice((b"\r\n", b"\r\n", b"\n")).join(lines) + b"\r\n\r\n" + body)
    return b"".join(parts)
