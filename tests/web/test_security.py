"""Attacks, each tried and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aced.project import Project
from aced.web import make_app
from aced.web._headers import FIXED
from aced.web._limit import REMEMBERED, WITHIN, WRONG_TOKENS, WRONG_TOKENS_OF_A_PEER, WrongTokens
from tests.web.helpers import (
    FAR,
    LOCAL,
    POST,
    Clock,
    TestClient,
    answer,
    far_client,
    local_client,
    make,
    post as send,
)

JSON = {"Content-Type": "application/json"}
GETS = [
    "/", "/lead", "/enter", "/static/label.html", "/static/none.css", "/nowhere", "/api/nowhere",
    "/api/me", "/api/next", "/api/why/0", "/api/image/0", "/api/item/0", "/api/lead", "/api/map",
    "/api/export", "/history", "/api/history",
]  # fmt: skip
POSTS = ["/api/answer", "/api/undo", "/api/people", "/api/revoke", "/api/classes", "/api/return"]
LEADS_ONLY = [
    "/lead", "/api/lead", "/api/map", "/api/export", "/api/item/0", "/api/history?everybody",
    "/api/history?who=lea",
]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p")


@pytest.fixture
def local(project: Project) -> TestClient:
    return local_client(make_app(project, tokens_required=False, local_user="ann", design=False))


@pytest.fixture
def app(project: Project) -> Any:
    return make_app(project, tokens_required=True, design=False)


# -- other sites ------------------------------------------------------------------------


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "headers",
    [
        {**JSON, **POST, "Origin": "https://evil.example"},
        {**JSON, **POST, "Origin": "null"},
        {**JSON, **POST, "Origin": "http://127.0.0.1:9999"},
        {**JSON, **POST, "Origin": "file://"},
        {**JSON, **POST, "Origin": "http://[broken"},
        {**JSON, **POST, "Sec-Fetch-Site": "cross-site"},
        {**JSON, **POST, "Sec-Fetch-Site": "same-site"},
        {**JSON},
        {**JSON, "X-Aced": "2"},
        {**POST},
        {**POST, "Content-Type": "text/plain"},
        {**POST, "Content-Type": "application/x-www-form-urlencoded"},
        {**POST, "Content-Type": "multipart/form-data; boundary=x"},
    ],
)
def test_csrf(local: TestClient, project: Project, path: str, headers: dict[str, str]) -> None:
    row = local.get("/api/next").json()["items"][0]["row"]
    project.add_person("bob")
    before = project.state.seq
    body = {"row": row, "kind": "label", "label": "yes", "key": "r", "name": "bob", "role": "lead"}
    reply = local.post(path, content=json.dumps(body), headers=headers)
    assert reply.status_code == 403
    assert reply.json()["error"]
    assert project.state.seq == before


def test_our_own_page_may(local: TestClient) -> None:
    headers = {**JSON, **POST, "Origin": LOCAL, "Sec-Fetch-Site": "same-origin"}
    reply = local.post("/api/undo", content='{"key": "r"}', headers=headers)
    assert reply.status_code == 200


def test_other_sites_cannot_read(local: TestClient) -> None:
    before = local.get("/api/next", headers={"Sec-Fetch-Site": "cross-site"})
    assert before.status_code == 403
    preflight = local.options("/api/answer", headers={"Origin": "https://evil.example"})
    for reply in (before, preflight, local.get("/api/me", headers={"Origin": "https://evil.example"})):
        assert not [name for name in reply.headers if name.startswith("access-control")]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods_change_nothing(local: TestClient, project: Project, method: str) -> None:
    before = project.state.seq
    for path in POSTS:
        assert local.request(method, path, json={"key": "r"}).status_code == 403
        assert local.request(method, path, json={"key": "r"}, headers=POST).status_code == 405
    assert project.state.seq == before


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example",
        "evil.example@127.0.0.1", "127.0.0.1@evil.example", "", "[", "[::1", "0.0.0.0",
        "192.168.0.7:8765", "localhost/../evil.example", "localhost#evil.example",
        "localhost, evil.example",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/me", "/static/label.html"])
def test_names_that_were_pointed_here(local: TestClient, host: str, path: str) -> None:
    assert local.get(path, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "host", ["localhost:8765", "LOCALHOST", "127.0.0.1", "127.0.0.2:80", "[::1]:8765", "[::1]"]
)
def test_names_of_this_machine(local: TestClient, host: str) -> None:
    assert local.get("/api/me", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "name", ["X-Forwarded-For", "Forwarded", "X-Forwarded-Host", "X-Real-IP", "Via"]
)
def test_what_a_proxy_passes_on_is_not_the_local_user(local: TestClient, name: str) -> None:
    assert local.get("/api/me", headers={name: "198.51.100.1"}).status_code == 401


# -- scripts ----------------------------------------------------------------------------


def test_markup_in_items_comes_back_as_data(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    project = make(tmp_path / "p", contents=[nasty] * 5 + [nasty + "x"], batch=2)
    project.add_person(nasty)
    client = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    for path in ("/api/next", "/api/lead", "/api/item/0"):
        reply = client.get(path)
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert "script-src 'self'" in reply.headers["content-security-policy"]
    assert client.get("/api/next").json()["items"][0]["content"].startswith(nasty)
    error = send(client, "/api/revoke", {"name": "<script>alert(1)</script>"})
    assert error.status_code == 400
    assert error.headers["content-type"] == "application/json"


def test_our_pages_have_no_inline_script_or_style(local: TestClient) -> None:
    for path in ("/", "/lead"):
        page = local.get(path).text.lower()
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick=" not in page
        for tag in page.split("<script")[1:]:
            assert " src=" in tag.split(">")[0]
            assert tag.split(">")[1].startswith("</script")


def test_every_answer_has_the_headers(app: Any, local: TestClient, project: Project) -> None:
    far = far_client(app, project.add_person("bob"))
    nobody = far_client(app)
    for client in (local, far, nobody):
        replies = [client.get(path) for path in GETS]
        replies += [client.get(path, headers={"Host": "[broken"}) for path in GETS]
        replies += [client.post(path) for path in POSTS]
        replies += [send(client, path, {}) for path in POSTS]
        replies += [client.request(method, "/api/next") for method in ("PUT", "OPTIONS", "HEAD")]
        for reply in replies:
            assert {name: reply.headers[name] for name in FIXED} == FIXED
            if reply.request.url.path.startswith("/api"):
                assert reply.headers["cache-control"] == "no-store"
            if reply.status_code >= 400 and reply.headers["content-type"] == "application/json":
                assert reply.request.method == "HEAD" or list(reply.json()) == ["error"]


def test_an_error_nobody_foresaw_says_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app(project, tokens_required=False, local_user="ann", design=False)

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("aced.web._app.progress", broken)
    reply = local_client(app).get("/api/next")
    assert reply.status_code == 500
    assert list(reply.json()) == ["error"]
    assert "secret" not in reply.text
    assert {name: reply.headers[name] for name in FIXED} == FIXED


# -- tokens -----------------------------------------------------------------------------


def test_the_cookie(app: Any, project: Project) -> None:
    token = project.add_person("ann")
    reply = far_client(app).get("/enter", params={"token": token})
    assert reply.status_code == 303
    assert reply.headers["location"] == "/"
    cookie = reply.headers["set-cookie"].lower()
    for part in (f"aced-{project.id}=", "httponly", "samesite=strict", "path=/", "secure"):
        assert part in cookie
    assert reply.headers["cache-control"] == "no-store"
    lead = far_client(app).get("/enter", params={"token": project.add_person("lea", "lead")})
    assert lead.headers["location"] == "/lead"


@pytest.mark.parametrize("path", [p for p in GETS if p.startswith("/api") and "nowhere" not in p])
def test_nobody_gets_in_without_a_token(app: Any, project: Project, path: str) -> None:
    client = far_client(app)
    assert client.get(path).status_code == 401
    for name in ("aced", f"aced-{project.id}"):
        for value in ("", "wrong", "x" * 4000, "é"):
            assert client.get(path, headers={"Cookie": f"{name}={value}".encode()}).status_code == 401


@pytest.mark.parametrize("path", POSTS)
def test_nobody_changes_anything_without_a_token(app: Any, project: Project, path: str) -> None:
    before = project.state.seq
    assert send(far_client(app), path, {"key": "r", "name": "x", "role": "lead"}).status_code == 401
    assert project.state.seq == before


def test_pages_before_the_cookie_arrives_hold_no_data(app: Any) -> None:
    for path in ("/", "/lead"):
        page = far_client(app).get(path)
        assert page.status_code == 401
        assert page.headers["content-type"].startswith("text/html")


def guess(client: TestClient, name: str, **headers: str) -> int:
    """The status of a request for a page with a cookie that was made up."""
    return client.get("/api/me", headers={"Cookie": name, **headers}).status_code


def test_guessing_is_slowed_and_nobody_with_a_link_is_locked_out(app: Any, project: Project) -> None:
    token, other = project.add_person("ann"), project.add_person("bob")
    guesser = far_client(app)
    seen = [
        guesser.get("/enter", params={"token": f"guess{i}"}).status_code for i in range(WRONG_TOKENS + 5)
    ]
    assert seen == [401] * WRONG_TOKENS + [429] * 5
    blocked = guesser.get("/enter", params={"token": "another"})
    assert blocked.status_code == 429
    assert int(blocked.headers["retry-after"]) > 0
    assert guess(guesser, "aced=guess") == guess(guesser, f"aced-{project.id}=guess") == 429
    # Right links and right cookies come in from the same address, also those seen for the first time.
    assert far_client(app, token).get("/api/me").json()["name"] == "ann"
    assert guess(far_client(app), f"aced-{project.id}={other}") == 200


def test_guessing_by_cookie_is_slowed_too(app: Any, project: Project) -> None:
    client = far_client(app)
    seen = [guess(client, f"aced-{project.id}=guess{i}") for i in range(WRONG_TOKENS + 1)]
    assert seen == [401] * WRONG_TOKENS + [429]


def test_a_page_left_open_with_an_ended_link_counts_once(app: Any, project: Project) -> None:
    ended = project.add_person("ann")
    project.add_person("ann")
    page = far_client(app)
    assert {guess(page, f"aced-{project.id}={ended}") for _ in range(3 * WRONG_TOKENS)} == {401}
    assert guess(page, "aced=guess") == 401


def test_a_wrong_token_sent_again_is_not_looked_up_again(
    app: Any, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    known = project.who_is
    monkeypatch.setattr(project, "who_is", lambda token: asked.append(token) or known(token))
    assert [guess(far_client(app), "aced=guess") for _ in range(5)] == [401] * 5
    assert asked == ["guess"]


def test_addresses_that_are_made_up_behind_a_proxy_do_not_pass_the_limit(app: Any) -> None:
    async def behind(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"peer": "127.0.0.1"}  # as the server notes it before it believes a header
        await app(scope, receive, send)

    seen = [
        guess(far_client(behind, address=f"198.51.100.{i}"), f"aced=guess{i}")
        for i in range(WRONG_TOKENS_OF_A_PEER + 5)
    ]
    assert seen == [401] * WRONG_TOKENS_OF_A_PEER + [429] * 5


def test_wrong_tokens_are_forgotten_in_time_and_in_number() -> None:
    clock = Clock()
    wrong = WrongTokens(clock)
    for i in range(WRONG_TOKENS):
        assert wrong.wait("192.0.2.1", "192.0.2.1") == 0
        wrong.add(f"a{i}", "192.0.2.1", "192.0.2.1")
    assert 0 < wrong.wait("192.0.2.1", "192.0.2.1") <= WITHIN + 1
    assert wrong.wait("192.0.2.2", "192.0.2.2") == 0
    assert wrong.known("a0")
    clock.at += WITHIN
    assert wrong.wait("192.0.2.1", "192.0.2.1") == 0
    assert not wrong.known("a0")
    for i in range(WRONG_TOKENS):
        wrong.add(f"b{i}", f"2001:db8::{i}", "")
    assert wrong.wait("2001:db8::ffff", "") > 0
    assert wrong.wait("2001:db8:0:1::1", "") == 0
    for i in range(2 * REMEMBERED):
        wrong.add(f"c{i}", f"host{i}", f"host{i}")
    assert len(wrong._tokens) == len(wrong._addresses) == len(wrong._peers) == REMEMBERED


def test_two_projects_on_one_host_do_not_log_each_other_out(tmp_path: Path) -> None:
    projects = [make(tmp_path / name) for name in ("p", "q")]
    assert projects[0].id != projects[1].id
    apps = [make_app(one, tokens_required=True, design=False) for one in projects]
    jar: dict[str, str] = {}
    for app, project, name in zip(apps, projects, ("ann", "bob"), strict=True):
        reply = far_client(app).get("/enter", params={"token": project.add_person(name)})
        jar.update(reply.cookies)
    seen = []
    for app in apps:
        client = far_client(app)
        client.cookies.update(jar)
        reply = client.get("/api/me")
        seen.append((reply.json()["name"], reply.json()["project"]))
        assert "set-cookie" not in reply.headers
    assert seen == [("ann", projects[0].id), ("bob", projects[1].id)]


def test_the_cookie_of_before_is_taken_and_replaced(app: Any, project: Project) -> None:
    token = str(project.add_person("ann"))
    for path in ("/", "/api/me"):
        client = far_client(app)
        reply = client.get(path, headers={"Cookie": f"aced={token}"})
        assert reply.status_code == 200
        given, deleted = reply.headers.get_list("set-cookie")
        assert given.startswith(f"aced-{project.id}={token};")
        assert deleted.startswith('aced="";')
        assert "Max-Age=0" in deleted
    # Where it is not valid, it may belong to another project on this host, and stays.
    reply = far_client(app).get("/api/me", headers={"Cookie": "aced=another"})
    assert reply.status_code == 401
    assert "set-cookie" not in reply.headers


def test_revoked(app: Any, project: Project) -> None:
    token = project.add_person("ann")
    ann = far_client(app, token)
    lead = far_client(app, project.add_person("lea", "lead"))
    row = ann.get("/api/next").json()["items"][0]["row"]
    assert send(lead, "/api/revoke", {"name": "ann"}).status_code == 200
    gone = ann.get("/api/me")
    assert gone.status_code == 401
    assert "max-age=0" in gone.headers["set-cookie"].lower()
    assert far_client(app).get("/enter", params={"token": token}).status_code == 401
    ann = far_client(app)
    ann.cookies.set(f"aced-{project.id}", str(token))
    assert answer(ann, row, "r").status_code == 401
    assert project.state.labelled() == []


def test_a_new_link_ends_the_old_one(app: Any, project: Project) -> None:
    lead = far_client(app, project.add_person("lea", "lead"))
    links = [
        send(lead, "/api/people", {"name": "ann", "role": "annotator"}).json()["link"] for _ in range(2)
    ]
    assert links[0].startswith(f"{FAR}/enter?token=")
    assert far_client(app).get(links[0]).status_code == 401
    assert far_client(app).get(links[1]).status_code == 303


def test_annotators_do_not_lead(app: Any, project: Project) -> None:
    ann = far_client(app, project.add_person("ann"))
    before = project.state.seq
    for path in LEADS_ONLY:
        assert ann.get(path).status_code == 403
    assert send(ann, "/api/people", {"name": "eve", "role": "lead"}).status_code == 403
    assert send(ann, "/api/revoke", {"name": "ann"}).status_code == 403
    assert project.state.seq == before


def test_annotators_see_what_they_were_given(app: Any, project: Project) -> None:
    ann, bob = (far_client(app, project.add_person(name)) for name in ("ann", "bob"))
    row = ann.get("/api/next").json()["items"][0]["row"]
    assert ann.get(f"/api/why/{row}").status_code == 200
    assert bob.get(f"/api/why/{row}").status_code == 404
    assert answer(bob, row, "r").status_code == 400
    assert project.state.labelled() == []


def test_leads_do_not_shut_themselves_out(app: Any, project: Project) -> None:
    lead = far_client(app, project.add_person("lea", "lead"))
    assert send(lead, "/api/revoke", {"name": "lea"}).status_code == 400
    assert send(lead, "/api/people", {"name": "lea", "role": "annotator"}).status_code == 400
    assert lead.get("/api/lead").status_code == 200


# -- the ledger -------------------------------------------------------------------------

INJECTED = [
    "'; DROP TABLE events; --",
    '" OR 1=1 --',
    "Robert'); DELETE FROM events;--",
    "x' UNION SELECT hash FROM events --",
    "\\'; VACUUM; --",
]


@pytest.mark.parametrize("text", INJECTED)
def test_sql(app: Any, project: Project, text: str) -> None:
    lead = far_client(app, project.add_person("lea", "lead"))
    link = send(lead, "/api/people", {"name": text, "role": "annotator"}).json()["link"]
    client = far_client(app, link.split("=")[1])
    assert client.get("/api/me").json()["name"] == text
    row = client.get("/api/next").json()["items"][0]["row"]
    assert answer(client, row, "r1", label=text).status_code == 400
    seq = answer(client, row, text).json()["seq"]
    assert answer(client, row, text).json()["seq"] == seq
    assert far_client(app).get("/enter", params={"token": text}).status_code == 401
    assert project.ledger.find(text) is not None
    assert list(project.state.votes[row]) == [text]
    assert send(lead, "/api/revoke", {"name": text}).status_code == 200
    assert project.ledger._base.execute("SELECT count(*) FROM events").fetchone()[0] == project.state.seq


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 65, "\ud800", "a\x00", 7, None, ["ann"], {}])
def test_names_that_are_none(app: Any, project: Project, name: Any) -> None:
    lead = far_client(app, project.add_person("lea", "lead"))
    headers = {**JSON, **POST}
    for path in ("/api/people", "/api/revoke", "/api/classes"):
        body = json.dumps({"name": name, "role": "annotator"})
        assert lead.post(path, content=body, headers=headers).status_code == 400


def test_a_quarrel_about_a_request_does_not_cost_a_replay(app: Any, project: Project) -> None:
    ann, bob = (far_client(app, project.add_person(name)) for name in ("ann", "bob"))
    answer(ann, ann.get("/api/next").json()["items"][0]["row"], "same")
    row = bob.get("/api/next").json()["items"][0]["row"]
    state = project.state
    assert answer(bob, row, "same").status_code == 409
    assert project.state is state


def test_formulas_in_an_export(tmp_path: Path) -> None:
    project = make(tmp_path / "p", contents=["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)"], batch=4)
    client = local_client(make_app(project, tokens_required=False, local_user="=ann", design=False))
    for item in client.get("/api/next?count=5").json()["items"]:
        answer(client, item["row"], f"r{item['row']}")
    table = client.get("/api/export?format=csv")
    assert table.headers["content-type"].startswith("text/csv")
    for cell in table.text.replace("\r\n", ",").split(","):
        assert not cell.strip('"').startswith(("=", "+", "-", "@"))
