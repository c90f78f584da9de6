"""A request that is refused: a page with a sentence for browsers, JSON for programs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from aced.project import Project
from aced.web import make_app
from tests.web.helpers import TestClient, far_client, local_client, make

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p")


@pytest.fixture
def app(project: Project) -> Any:
    return make_app(project, tokens_required=True, design=False)


def page(reply: Any, status: int) -> str:
    """What the page says, without its markup; its style is ours, and no script is in it."""
    assert reply.status_code == status
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "<script" not in reply.text
    assert '<html lang="en">' in reply.text
    assert len(re.findall("<h1>", reply.text)) == 1
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", reply.text.split("<body")[1]))


def test_a_link_that_was_revoked_says_so_and_whom_to_ask(app: Any, project: Project) -> None:
    token = project.add_person("ann")
    project.revoke("ann")
    nobody = far_client(app)
    said = page(nobody.get("/enter", params={"token": token}, headers=BROWSER), 401)
    assert "no longer valid" in said
    assert "Ask whoever leads the project for a new link" in said
    for accept in ("*/*", "application/json", ""):
        reply = nobody.get("/enter", params={"token": token}, headers={"Accept": accept})
        assert reply.status_code == 401
        assert list(reply.json()) == ["error"]


@pytest.mark.parametrize("path", ["/lead", "/api/export?format=csv"])
def test_an_annotator_is_told_that_a_page_is_for_leads(app: Any, project: Project, path: str) -> None:
    ann = far_client(app, project.add_person("ann"))
    reply = ann.get(path, headers=BROWSER)
    assert "Only leads may see this." in page(reply, 403)
    assert 'href="/"' in reply.text
    assert ann.get(path).json() == {"error": "only leads may see this"}


def test_other_refusals_are_pages_too(app: Any, project: Project) -> None:
    client: TestClient = far_client(app)
    assert "no such page" in page(client.get("/nowhere", headers=BROWSER), 404)
    for number in range(11):
        last = client.get("/enter", params={"token": f"wrong{number}"}, headers=BROWSER)
    assert "try again in" in page(last, 429)
    assert "retry-after" in last.headers
    local = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    reply = local.get("/", headers=BROWSER | {"Host": "evil.example"})
    assert "answers to localhost only" in page(reply, 403)


def test_what_a_refusal_repeats_is_no_markup(app: Any, project: Project) -> None:
    lead = far_client(app, project.add_person("lea", "lead"))
    reply = lead.get("/api/history", params={"kinds": "<img src=x>", "count": "<b>"}, headers=BROWSER)
    page(reply, 400)
    headers = {**BROWSER, "X-Aced": "1"}
    reply = lead.post("/api/revoke", json={"name": "<img src=x onerror=alert(1)>"}, headers=headers)
    assert "&lt;img src=x" in reply.text
    assert "<img" not in reply.text


def test_an_error_of_ours_is_a_page_without_details(project: Project, monkeypatch: Any) -> None:
    client = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    monkeypatch.setattr(Project, "give", lambda *_, **__: 1 / 0)
    said = page(client.get("/api/next", headers=BROWSER), 500)
    assert "went wrong" in said
    assert "ZeroDivision" not in said
    assert list(client.get("/api/next").json()) == ["error"]
