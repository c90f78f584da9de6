"""aced serve and aced invite as processes, over real sockets."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from aced._errors import InvalidInput
from aced.cli._own_link import own_token, stepping_stone
from aced.ledger import replay
from aced.project import Project
from aced.web._limit import WRONG_TOKENS_OF_A_PEER
from tests.browser.site import until
from tests.web.helpers import POST, make

Call = Callable[..., tuple[int, str, str]]
RUN = [sys.executable, "-c", "from aced.cli import main; main()"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make(tmp_path / "p", rows=200, batch=100).close()
    return tmp_path / "p"


class Served(NamedTuple):
    """A server that runs, its address without a slash, and what stands first on its first line."""

    process: subprocess.Popen[str]
    address: str
    link: str


@contextmanager
def serving(folder: Path, *options: str, port: int = 0, **environment: str) -> Iterator[Served]:
    """A server on a free port, or on this one."""
    command = [*RUN, "serve", str(folder), "--port", str(port), *options]
    pipe, env = subprocess.PIPE, {**os.environ, **environment}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                assert server.stderr is not None
                raise AssertionError(server.stderr.read())
            link = line.split()[0]
            yield Served(server, link[: link.index("/", len("http://"))], link)
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
        with serving(folder, "--as", "ann") as (server, address, link):
            with httpx.Client(base_url=address, timeout=60) as client:
                client.get(link)
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
    with serving(folder, "--as", "ann", "--no-token") as (server, address, _):
        assert httpx.get(f"{address}/api/me").json()["name"] == "ann"
        server.send_signal(how)
        _, said = server.communicate(timeout=120)
    assert server.returncode in (0, -how)
    assert "Traceback" not in said


def test_what_is_sent_raw(folder: Path) -> None:
    with serving(folder, "--as", "ann", "--no-token") as (_, address, _):
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


INVITE = {"name": "eve", "role": "lead"}


def test_loopback_is_not_one_person(folder: Path) -> None:
    with serving(folder, "--as", "ann") as (server, address, link):
        assert server.stdout is not None
        assert "Whoever has this link is ann" in server.stdout.readline()
        for headers in ({}, {"Host": "label.example.org"}):  # as a proxy might that says nothing else
            refused = httpx.post(f"{address}/api/people", json=INVITE, headers={**POST, **headers})
            assert refused.status_code == 401
            assert httpx.get(f"{address}/api/next", headers=headers).status_code == 401
        with httpx.Client(base_url=address) as client:
            assert client.get(link).headers["location"] == "/lead"
            assert client.get("/api/me").json()["name"] == "ann"
            assert client.post("/api/people", json=INVITE, headers=POST).status_code == 200


def test_the_link_and_the_cookie_outlive_the_server(folder: Path, tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    with serving(folder, "--as", "ann", **state) as (_, address, link), httpx.Client() as client:
        client.get(link)
        jar = client.cookies
    with serving(folder, "--as", "ann", port=urlsplit(address).port or 0, **state) as again:
        assert again.link == link
        with httpx.Client(cookies=jar) as client:
            assert client.get(f"{again.address}/api/me").json()["name"] == "ann"
    (kept,) = (tmp_path / "state" / "aced").iterdir()
    assert kept.read_text() in link
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert not [path for path in folder.rglob("*") if kept.read_bytes() in path.read_bytes()]


def test_a_token_that_others_may_have_read_or_that_is_not_valid_is_made_anew(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = Project(folder)
    first = own_token(project, "ann")
    assert own_token(project, "ann") == first
    assert own_token(project, "bob") != first
    assert project.who_is(first) == ("ann", "lead")
    place = next(path for path in (tmp_path / "state/aced").iterdir() if path.read_text() == first)
    place.chmod(0o644)
    second = own_token(project, "ann")
    assert second != first
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    project.add_person("ann", "lead")  # by another lead, who ends the link with it
    assert own_token(project, "ann") not in (first, second)
    project.revoke("ann")
    with pytest.raises(InvalidInput, match="may no longer label"):
        own_token(project, "ann")
    project.close()


def test_without_a_folder_for_it_every_start_has_a_new_link(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    project = Project(folder)
    links = [own_token(project, "ann") for _ in range(2)]
    assert project.who_is(links[1]) == ("ann", "lead")
    assert project.who_is(links[0]) is None
    assert stepping_stone(project, "ann", "http://127.0.0.1/") is None
    project.close()


def test_a_new_invitation_of_the_local_user_is_not_ended_by_the_next_start(
    call: Call, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = Project(folder)
    own_token(project, "ann")
    invited = parse_qs(urlsplit(call("invite", folder, "ann", "--lead")[1].strip()).query)["token"][0]
    assert own_token(project, "ann") == invited
    call("invite", folder, "bob")  # who never started a server here
    assert len(list((tmp_path / "state/aced").iterdir())) == 1
    project.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_browser_is_not_given_the_link_as_an_argument_that_others_can_read(
    folder: Path, tmp_path: Path, how: signal.Signals
) -> None:
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nstat -c %a "${{1#file://}}" > {seen}.part\n'
                       f'echo "$1" >> {seen}.part\ncat "${{1#file://}}" >> {seen}.part\n'
                       f"mv {seen}.part {seen}\n")  # fmt: skip
    browser.chmod(0o700)
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "BROWSER": f"{browser} %s"}
    with serving(folder, "--as", "ann", "--open", **state) as (server, _, link):
        until(seen.exists, "the browser is opened")
        mode, argument, page = seen.read_text().split("\n", 2)
        assert mode == "600"
        assert link.partition("=")[2] not in argument
        assert link in page
        server.send_signal(how)
        server.wait(60)
    assert not [path for path in (tmp_path / "state/aced").iterdir() if path.suffix == ".html"]


def test_whoever_means_it_is_let_in_without_a_token(folder: Path) -> None:
    with serving(folder, "--as", "ann", "--no-token", "--label-studio") as (server, address, link):
        assert link == f"{address}/"
        assert server.stdout is not None
        assert "other users of this machine too" in server.stdout.readline()
        assert server.stdout.readline().split()[-1] == f"{address}/label-studio"
        assert httpx.get(f"{address}/api/me").json()["name"] == "ann"
        assert httpx.get(f"{address}/label-studio/health").status_code == 200
        assert httpx.get(f"{address}/api/me", headers={"Host": "evil.example"}).status_code == 403
        assert httpx.get(f"{address}/api/me", headers={"Via": "proxy"}).status_code == 401


def test_label_studio_needs_a_leads_token_on_loopback_too(folder: Path) -> None:
    with serving(folder, "--as", "ann", "--label-studio") as (server, address, link):
        assert server.stdout is not None
        server.stdout.readline()
        said = server.stdout.readline()
        assert f"{address.replace('http://', 'http://aced:TOKEN@')}/label-studio" in said
        token = parse_qs(urlsplit(link).query)["token"][0]
        assert token not in said
        assert httpx.get(f"{address}/label-studio/health").status_code == 401
        assert httpx.get(f"{address}/label-studio/health", auth=("aced", token)).status_code == 200


def test_with_tokens_nobody_is_given_a_link_and_what_a_proxy_says_is_used_and_not_trusted(
    folder: Path,
) -> None:
    project = Project(folder)
    token = project.add_person("bob")
    people = set(project.state.people)
    with serving(folder, "--tokens") as (_, address, link):
        assert link == f"{address}/"
        assert httpx.get(f"{address}/api/me").status_code == 401
        for scheme in ("http", "https"):
            headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-For": "198.51.100.1"}
            reply = httpx.get(f"{address}/enter", params={"token": token}, headers=headers)
            assert ("secure" in reply.headers["set-cookie"].lower()) == (scheme == "https")
        with httpx.Client(base_url=address) as client:
            claimed = [{"X-Forwarded-For": f"198.51.100.{i}"} for i in range(WRONG_TOKENS_OF_A_PEER + 1)]
            seen = [
                client.get(f"/enter?token={i}", headers=h).status_code for i, h in enumerate(claimed)
            ]
        assert seen == [401] * WRONG_TOKENS_OF_A_PEER + [429]
    assert set(project.state.people) == people
    project.close()


def test_elsewhere_needs_links(folder: Path) -> None:
    with serving(folder, "--host", "0.0.0.0") as (server, address, _):
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


def test_serve_refuses_in_one_sentence(call: Call, folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for arguments, word in (
            ([tmp_path / "none"], "not a project"),
            ([folder, "--host", "0.0.0.0", "--as", "ann"], "--as"),
            ([folder, "--host", "0.0.0.0", "--no-token"], "--no-token"),
            ([folder, "--tokens", "--no-token"], "--no-token"),
            ([folder, "--tokens", "--as", "ann"], "--as"),
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
