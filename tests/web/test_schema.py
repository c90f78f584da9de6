"""Whatever is sent, to whatever route: no error of ours, no traceback, and a sound ledger after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from aced.ledger import replay
from aced.project import Project
from aced.web import make_app
from tests.web.helpers import POST, TestClient, far_client, local_client, make

ROUTES = [
    "/", "/lead", "/enter", "/static/{}", "/api/me", "/api/next", "/api/answer", "/api/undo",
    "/api/why/{}", "/api/image/{}", "/api/item/{}", "/api/lead", "/api/map", "/api/export",
    "/api/people", "/api/revoke", "/api/classes", "/history", "/api/history", "/api/return",
    "/{}", "/api/{}",
]  # fmt: skip
CHANGES = [
    "/api/answer", "/api/undo", "/api/people", "/api/revoke", "/api/classes", "/api/return",
]  # fmt: skip
JSON = {**POST, "Content-Type": "application/json"}
FUZZ = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

texts = st.text(max_size=30) | st.sampled_from(
    ["ann", "lea", "yes", "no", "label", "skip", "r1", "lead"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(0, 60) | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "row": st.integers(0, 60) | values,
        "kind": st.sampled_from(["skip", "unsure", "label"]) | values,
        "label": st.sampled_from(["yes", "no"]) | values,
        "seconds": st.floats(0, 100) | values,
        "key": st.text(min_size=1, max_size=20) | values,
        "then": st.integers(-3, 9) | values,
        "name": st.text(min_size=1, max_size=20) | values,
        "role": st.sampled_from(["annotator", "lead"]) | values,
        "action": st.sampled_from(["add", "rename", "merge", "undo"]) | values,
        "from": st.sampled_from(["yes", "no", "maybe"]) | values,
        "to": st.text(min_size=1, max_size=20) | values,
        "into": st.sampled_from(["yes", "no", "maybe"]) | values,
        "dry": st.booleans() | values,
        "answer": st.integers(0, 60) | values,
        "again": st.booleans() | values,
    },
)
bodies = (fields | values).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)
asked = ["count", "format", "token", "who", "everybody", "kinds", "text", "before"]
queries = st.dictionaries(st.sampled_from(asked) | texts, texts, max_size=3)
pieces = st.integers().map(str) | st.integers(0, 60).map(str) | texts
latin = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=30)
headers = st.fixed_dictionaries(
    {},
    optional={
        "Cookie": latin.map(lambda text: f"aced={text}") | latin,
        "Origin": latin | st.sampled_from(["http://127.0.0.1:8765", "null"]),
        "Host": st.sampled_from(["127.0.0.1:8765", "localhost", "evil.example", "["]) | latin,
        "Content-Type": latin | st.just("application/json; charset=utf-8"),
        "Content-Length": st.sampled_from(["0", "-1", "x", "9" * 40]),
        "Sec-Fetch-Site": st.sampled_from(["same-origin", "cross-site", "none", ""]),
        "Range": st.just("bytes=0-"),
    },
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make(tmp_path_factory.mktemp("fuzz") / "p", batch=30)


@pytest.fixture(scope="module")
def local(project: Project) -> TestClient:
    return local_client(make_app(project, tokens_required=False, local_user="ann", design=False))


@pytest.fixture(scope="module")
def nobody(project: Project) -> TestClient:
    return far_client(make_app(project, tokens_required=True, design=False))


def quiet(reply: Any) -> None:
    assert reply.status_code < 500, reply.text
    assert "Traceback" not in reply.text
    if reply.status_code >= 400 and reply.request.method != "HEAD" and "html" not in kind_of(reply):
        assert kind_of(reply) == "application/json"
        gone = ["error", "classes"]  # the class that was chosen is no more
        assert list(reply.json()) == ["error"] or (reply.status_code, list(reply.json())) == (409, gone)


def kind_of(reply: Any) -> str:
    return str(reply.headers.get("content-type", ""))


@FUZZ
@given(
    st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "ODD"]),
    st.sampled_from(ROUTES),
    pieces,
    queries,
    headers,
    bodies,
)
@example("GET", "/api/why/{}", "9" * 5000, {}, {}, b"")
@example("GET", "/api/next", "", {"count": "9" * 5000}, {}, b"")
@example("GET", "/enter", "", {"token": "\0"}, {}, b"")
def test_any_request(
    local: TestClient,
    nobody: TestClient,
    method: str,
    route: str,
    piece: str,
    query: dict[str, str],
    headers: dict[str, str],
    body: bytes,
) -> None:
    path = route.format(quote(piece, safe="", errors="replace"))
    query = {k: v.encode("utf-8", "replace").decode() for k, v in query.items()}
    sent = {name: value.encode("latin-1") for name, value in {**JSON, **headers}.items()}
    for client in (local, nobody):
        quiet(client.request(method, path, params=query, headers=sent, content=body))


@FUZZ
@given(st.sampled_from(CHANGES), st.data())
def test_any_change(local: TestClient, project: Project, path: str, data: st.DataObject) -> None:
    """What the page sends with up to two fields made up, so that it gets as far as the ledger."""
    held = local.get("/api/next?count=5").json()["items"]
    said = {"kind": "label", "label": "yes", "seconds": 1.0, "then": 3, "role": "annotator"}
    said |= {"action": data.draw(st.sampled_from(["add", "rename", "merge", "undo"]))}
    said |= {"from": "yes", "to": "yeah", "into": "no"}
    passed = local.get("/api/history?kinds=skip,unsure&everybody").json()["answers"]
    said |= {"answer": passed[0]["seq"] if passed else 0}
    names = {"row": held[0]["row"] if held else 0, "name": "bob", "key": f"r{project.state.seq}"}
    made_up = data.draw(fields)
    keys = data.draw(st.lists(st.sampled_from(sorted(made_up)), max_size=2)) if made_up else []
    body = {**said, **names, **{key: made_up[key] for key in keys}}
    before = project.state.seq
    reply = local.post(path, content=json.dumps(body).encode(), headers=JSON)
    quiet(reply)
    if reply.status_code >= 400:
        assert project.state.seq == before
    elif not local.get("/api/next").json()["items"]:
        project.refill()


def test_the_ledger_after_all_that(local: TestClient, project: Project) -> None:
    """One change of each kind is made here, whatever was made up before."""
    for key, kind in (("end-1", "label"), ("end-2", "skip"), ("end-3", "unsure")):
        project.refill()
        row = local.get("/api/next").json()["items"][0]["row"]
        body = {"row": row, "kind": kind, "label": local.get("/api/me").json()["classes"][0], "key": key}
        assert local.post("/api/answer", json=body, headers=POST).status_code == 200
    assert local.post("/api/undo", json={"key": "end-4"}, headers=POST).status_code == 200
    kinds = {event.kind for event, _ in project.ledger.events()}
    assert {"label", "skip", "unsure", "undo", "annotator"} <= kinds
    seen = replay(project.ledger)
    assert seen.problems == []
    assert seen.state.digest() == project.state.digest()
    quiet(local.get("/api/lead"))
    quiet(local.get("/api/export"))
    quiet(local.get("/api/map"))


def test_random_bytes_as_a_map(project: Project, local: TestClient) -> None:
    for junk in (b"", b"\x93NUMPY", b"x" * 1000):
        Path(project.folder / "map.npy").write_bytes(junk)
        app = make_app(project, tokens_required=False, local_user="ann", design=False)
        assert local_client(app).get("/api/map").status_code == 200
