"""aced serve and aced invite as processes, over real sockets."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from aced.ledger import replay
from aced.project import Project
from tests.web.helpers import POST, make

RUN = [sys.executable, "-c", "from aced.cli import main; main()"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "p", rows=200, batch=100).close()
    return tmp_path / "p"


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its address."""
    command = [*RUN, "serve", str(folder), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                assert server.stderr is not None
                raise AssertionError(server.stderr.read())
            yield server, line.split()[0].rstrip("/")
        finally:
            server.kill()


def talk(address: str, request: bytes) -> bytes:
    """Bytes as they are, without a client that tidies them up."""
    parts = urlsplit(address)
    with socket.create_connection((str(parts.hostname), int(parts.port or 80)), timeout=60) as line:
        line.sendall(request)
        reply = b""
        while part := line.recv(65536):
            reply += part
    return reply


def test_killed_at_any_time_it_loses_nothing_acknowledged(folder: Path) -> None:
    acknowledged: dict[int, int] = {}
    for life in range(2):
        with serving(folder, "--as", "ann") as (server, address):
            with httpx.Client(base_url=address, timeout=60) as client:
                items = client.get("/api/next?count=3").json()["items"]
                for turn in range(12):
                    row = items[0]["row"]
                    body = {
                        "row": row, "kind": "label", "label": "yes", "seconds": 1, "then": 3,
                        "key": f"{life}-{turn}",
                    }  # fmt: skip
                    reply = client.post("/api/answer", json=body, headers=POST).json()
                    acknowledged[row] = reply["seq"]
                    items = reply["items"]
            os.kill(server.pid, signal.SIGKILL)
            server.wait()
    project = Project(folder)
    assert replay(project.ledger).problems == []
    assert {row: votes["ann"].seq for row, votes in project.state.votes.items()} == acknowledged
    assert len(acknowledged) == 24
    project.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_in_order(folder: Path, how: signal.Signals) -> None:
    with serving(folder, "--as", "ann") as (server, address):
        assert httpx.get(f"{address}/api/me").json()["name"] == "ann"
        server.send_signal(how)
        _, said = server.communicate(timeout=120)
    assert server.returncode in (0, -how)
    assert "Traceback" not in said


def test_what_is_sent_raw(folder: Path) -> None:
    with serving(folder, "--as", "ann") as (_, address):
        host = b"Host: 127.0.0.1\r\nConnection: close\r\n"
        for path in (
            b"/static/../_app.py",
            b"/static/%2e%2e/_app.py",
            b"/static/%2e%2e%2f_app.py",
            b"//etc",
        ):
            assert talk(address, b"GET " + path + b" HTTP/1.1\r\n" + host + b"\r\n").startswith(
                b"HTTP/1.1 404"
            )
        start = b"POST /api/undo HTTP/1.1\r\nContent-Type: application/json\r\nX-Aced: 1\r\n" + host
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        reply = talk(address, start + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 4 + b"1\r\nx\r\n")
        assert reply.startswith(b"HTTP/1.1 413")
        assert talk(address, start + b"Content-Length: 65537\r\n\r\n").startswith(b"HTTP/1.1 413")
        assert talk(address, b"GET /api/me HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 403")
        head = talk(address, b"GET /api/me HTTP/1.1\r\n" + host + b"\r\n").split(b"\r\n\r\n")[0].lower()
        assert b"server:" not in head
        assert b"nosniff" in head


def test_elsewhere_needs_links(folder: Path) -> None:
    with serving(folder, "--host", "0.0.0.0") as (server, address):
        assert server.stdout is not None
        sentence = server.stdout.readline()
        assert "TLS" in sentence
        assert "aced invite" in sentence
        near = address.replace("0.0.0.0", "127.0.0.1")
        assert httpx.get(f"{near}/api/me").status_code == 401
        project = Project(folder)
        link = f"{near}/enter?token={project.add_person('bob')}"
        project.close()
        with httpx.Client(follow_redirects=True) as client:
            assert client.get(link).status_code == 200
            assert client.get(f"{near}/api/me").json()["name"] == "bob"


Call = Callable[..., tuple[int, str, str]]


def test_serve_refuses_in_one_sentence(call: Call, folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments, word in (
            ([tmp_path / "none"], "not a project"),
            ([folder, "--host", "0.0.0.0", "--as", "ann"], "--as"),
            ([folder, "--host", "999.999.0.1"], "--host"),
            ([folder, "--port", "70000"], "--port"),
            ([folder, "--port", taken.getsockname()[1]], "--port"),
        ):
            code, _, error = call("serve", *arguments)
            assert code == 2
            assert word in error


def test_invite(call: Call, folder: Path) -> None:
    code, out, _ = call("invite", folder, "lea", "--lead", "--url", "https://label.example.org/")
    assert code == 0
    link = urlsplit(out.strip())
    assert (link.scheme, link.netloc, link.path) == ("https", "label.example.org", "/enter")
    project = Project(folder)
    assert project.who_is(parse_qs(link.query)["token"][0]) == ("lea", "lead")
    seq = project.state.seq
    for arguments, word in ((["bob", "--url", "javascript:alert(1)"], "--url"), (["a\nb"], "NAME")):
        code, _, error = call("invite", folder, *arguments)
        assert code == 2
        assert word in error
    assert project.state.seq == seq
    project.close()
