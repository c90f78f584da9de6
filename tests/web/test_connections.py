"""Clients that are slow, that never finish, or that come in crowds, over real sockets."""

from __future__ import annotations

import logging
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aced.web import Listening, make_app, make_server
from aced.web._connections import Connections, Patience, Wait, most_connections
from tests.browser.site import until
from tests.web.helpers import make

HANG = 30.0
"""Seconds after which a test says that the server hangs."""
QUICK = Patience(head=0.3, idle=0.3, body=0.3, unread=0.3, rate=1e9)
HALF_HEADER = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALF_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf"
LARGE = 24 * 2**20


@contextmanager
def running(app: Any, connections: Connections) -> Iterator[tuple[str, int]]:
    """A server in a thread, and where it listens."""
    with Listening() as listening:
        listening.bind(("127.0.0.1", 0))
        server = make_server(app, connections)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        where = listening.getsockname()
        thread.start()
        try:
            until(lambda: server.started, "the server starts")
            yield where
        finally:
            server.should_exit = True
            thread.join(HANG)
            assert not thread.is_alive()


def connect(where: tuple[str, int], sent: bytes = b"") -> socket.socket:
    line = socket.create_connection(where, timeout=HANG)
    line.sendall(sent)
    return line


def rest(line: socket.socket) -> bytes:
    """What comes until the server closes the connection; fails if it does not."""
    reply = b""
    try:
        while part := line.recv(65536):
            reply += part
    except ConnectionResetError:
        pass
    return reply


async def echo(request: Request) -> Response:
    return PlainTextResponse(await request.body() or b"hello")


async def large(request: Request) -> Response:
    return Response(bytes(LARGE))


ECHO = Starlette(routes=[Route("/", echo, methods=["GET", "POST"]), Route("/large", large)])


@pytest.mark.parametrize("sent", [b"", b"G", HALF_HEADER, HALF_BODY, HALF_HEADER + b"\r\n"])
def test_a_client_that_stops_is_shown_out(sent: bytes) -> None:
    with running(ECHO, Connections(patience=QUICK)) as where, connect(where, sent) as line:
        assert rest(line)[-5:] == (b"hello" if sent.endswith(b"\r\n\r\n") else b"")


@pytest.mark.parametrize("start", [HALF_HEADER + b"X-Slow: ", HALF_BODY])
def test_a_trickle_of_bytes_is_not_progress(start: bytes) -> None:
    with running(ECHO, Connections(patience=QUICK)) as where, connect(where, start) as line:
        closed = threading.Event()
        threading.Thread(target=lambda: (rest(line), closed.set()), daemon=True).start()
        end = time.monotonic() + HANG
        while not closed.wait(0.05) and time.monotonic() < end:
            with suppress(OSError):
                line.sendall(b"x")
        assert closed.is_set()


def test_a_slow_body_that_makes_progress_is_taken() -> None:
    slow = Patience(head=0.3, body=0.3, rate=1.0)  # each byte is worth a second
    sent = HALF_BODY.replace(b"100", b"44\r\nConnection: close")
    with running(ECHO, Connections(patience=slow)) as where, connect(where, sent) as line:
        for _ in range(20):
            time.sleep(0.04)
            line.sendall(b"xx")
        assert rest(line).endswith(b"half" + b"x" * 40)


def test_a_response_that_nobody_reads_is_dropped() -> None:
    with running(ECHO, Connections(patience=QUICK)) as where, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(HANG)
        line.connect(where)
        line.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(1.5)
        assert len(rest(line)) < LARGE


def test_a_response_that_is_read_is_not_dropped() -> None:
    patient = Patience(head=0.3, idle=0.3, unread=HANG)
    with running(ECHO, Connections(patience=patient)) as where, connect(where) as line:
        line.sendall(b"GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(1.0)
        assert len(rest(line)) > LARGE


@pytest.mark.parametrize("sent", [b"", HALF_HEADER, HALF_BODY])
def test_an_honest_client_gets_in_while_a_crowd_holds_half_requests(sent: bytes) -> None:
    with running(ECHO, Connections(most=8)) as (host, port), ExitStack() as crowd:
        for _ in range(40):
            crowd.enter_context(connect((host, port), sent))
        for _ in range(3):
            assert httpx.get(f"http://{host}:{port}/", timeout=HANG).text == "hello"


def test_a_connection_that_is_being_answered_is_not_dropped_and_newcomers_are_told() -> None:
    begun, free = threading.Semaphore(0), threading.Event()

    def work(request: Request) -> Response:
        begun.release()
        free.wait(HANG)
        return PlainTextResponse("done")

    ask = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    app = Starlette(routes=[Route("/", work)])
    with running(app, Connections(most=4)) as where, ExitStack() as stack:
        lines = [stack.enter_context(connect(where, ask)) for _ in range(4)]
        for _ in lines:
            assert begun.acquire(timeout=HANG)
        for _ in range(6):
            with connect(where, ask) as late:
                assert rest(late).startswith(b"HTTP/1.1 503")
        free.set()
        assert [rest(line)[-4:] for line in lines] == [b"done"] * 4


def test_one_address_cannot_take_all_the_places() -> None:
    dropped: list[int] = []

    def come(number: int, network: str, wait: Wait = Wait.HEAD) -> Any:
        return SimpleNamespace(
            network=network,
            local=network == "127.0.0.1",
            wait=wait,
            since=float(number),
            loop=SimpleNamespace(call_later=lambda *_: None),
            drop=lambda: dropped.append(number),
        )

    table = Connections(most=40)
    hashable = type("One", (SimpleNamespace,), {"__hash__": object.__hash__, "__eq__": object.__eq__})
    ones = [hashable(**vars(come(i, "192.0.2.1"))) for i in range(10)]
    assert all(table.add(one) for one in ones)
    assert dropped == []
    assert table.add(hashable(**vars(come(10, "192.0.2.1"))))
    assert dropped == [0]
    for i in range(20):  # a proxy on this machine may have more
        assert table.add(hashable(**vars(come(100 + i, "127.0.0.1", Wait.US))))
    assert dropped == [0]


def test_half_a_body_ends_without_a_traceback(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    project = make(tmp_path / "p")
    app = make_app(project, tokens_required=False, local_user="ann", design=False, label_studio=True)
    head = "Host: 127.0.0.1\r\nX-Aced: 1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
    with running(app, Connections(patience=QUICK)) as where:
        for path in ("/label-studio/webhook", "/api/undo"):
            with connect(where, f"POST {path} HTTP/1.1\r\n{head}{{".encode()) as line:
                assert rest(line) == b""
    assert [record for record in caplog.records if record.levelno > logging.WARNING] == []
    project.close()


# -- processes with few descriptors -----------------------------------------------------

FEW, CROWD = 128, 300
ACED = "from aced.cli import main; main()"
BARE = """
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from aced.web import Listening, make_server
from aced.web._connections import Connections
app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("hello"))])
listening = Listening()
listening.bind(("127.0.0.1", 0))
listening.listen()
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
make_server(app, Connections(most=1000)).run(sockets=[listening])
"""


@pytest.mark.parametrize("known", [True, False], ids=["the limit is known", "the limit is met"])
def test_a_crowd_larger_than_the_limit_of_descriptors(tmp_path: Path, known: bool) -> None:
    make(tmp_path / "p").close()
    words = ["-c", ACED, "serve", str(tmp_path / "p"), "--port", "0"] if known else ["-c", BARE]
    with (tmp_path / "said").open("wb") as said, ExitStack() as crowd:
        server = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW)),
        )
        crowd.callback(server.wait, HANG)
        crowd.callback(server.kill)
        assert server.stdout is not None
        crowd.callback(server.stdout.close)
        link = server.stdout.readline().split()[0]
        where = (str(urlsplit(link).hostname), int(urlsplit(link).port or 0))
        for turn in range(CROWD):
            crowd.enter_context(connect(where, HALF_HEADER))
            if turn % 50 == 49:
                assert httpx.get(link, timeout=HANG).status_code in (200, 303)
        until(lambda: httpx.get(link, timeout=HANG).is_success or known, "an honest client is answered")
    lines = (tmp_path / "said").read_text().splitlines()
    assert len(lines) <= 3
    assert not [line for line in lines if "Traceback" in line]


def test_the_most_connections_stay_below_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, most in ((128, 64), (1024, 768), (10**6, 1000), (resource.RLIM_INFINITY, 1000)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert most_connections() == most
