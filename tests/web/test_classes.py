"""A lead changes the classes while others label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aced.project import Project
from aced.web import make_app
from tests.web.helpers import TestClient, answer, far_client, local_client, make, post


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p", classes=["cat", "dog", "fox"])


@pytest.fixture
def lead(project: Project) -> TestClient:
    return local_client(make_app(project, tokens_required=False, local_user="lea", design=False))


def change(client: TestClient, action: str, **more: Any) -> Any:
    return post(client, "/api/classes", {"action": action, **more})


def test_add_rename_merge_undo(lead: TestClient, project: Project) -> None:
    assert change(lead, "add", name="cow").json()["classes"] == ["cat", "dog", "fox", "cow"]
    renamed = change(lead, "rename", **{"from": "cat", "to": "lion"})
    assert renamed.json()["classes"] == ["lion", "dog", "fox", "cow"]
    merged = change(lead, "merge", **{"from": "dog", "into": "fox"})
    assert (merged.status_code, merged.json()["count"]) == (200, 0)
    assert merged.json()["classes"] == lead.get("/api/me").json()["classes"] == ["lion", "fox", "cow"]
    assert change(lead, "undo").json()["classes"] == ["lion", "dog", "fox", "cow"]
    kinds = [event.kind for event, _ in project.ledger.events() if event.kind.startswith("class-")]
    assert kinds == ["class-added", "class-renamed", "class-merged", "class-undone"]
    assert {event.who for event, _ in project.ledger.events() if event.kind in kinds} == {"lea"}


def test_a_merge_is_shown_before_it_is_made(lead: TestClient, project: Project) -> None:
    rows = [item["row"] for item in lead.get("/api/next?count=2").json()["items"]]
    assert answer(lead, rows[0], "k1", "dog").status_code == 200
    before = project.state.seq
    shown = change(lead, "merge", **{"from": "dog", "into": "fox", "dry": True}).json()
    item = {"item": f"item-{rows[0]}", "row": rows[0], "annotator": "lea", "label": "dog"}
    assert (shown["count"], shown["labels"], shown["classes"]) == (1, [item], ["cat", "fox"])
    assert project.state.seq == before
    assert change(lead, "merge", **{"from": "dog", "into": "fox"}).json()["labels"] == [item]


def test_a_page_that_is_open_learns_of_a_change(lead: TestClient) -> None:
    known = lead.get("/api/me").json()["classes_version"]
    given = lead.get("/api/next").json()
    assert given["progress"]["classes_version"] == known == 0
    done = change(lead, "merge", **{"from": "dog", "into": "fox"}).json()
    refused = answer(lead, given["items"][0]["row"], "k1", "dog")
    assert refused.status_code == 409
    assert "'dog' was merged into 'fox' meanwhile; choose 'fox'" in refused.json()["error"]
    assert refused.json()["classes"] == ["cat", "fox"]
    taken = answer(lead, given["items"][0]["row"], "k1", "fox")
    assert taken.status_code == 200
    assert taken.json()["progress"]["classes_version"] == done["classes_version"] > known


def test_an_old_name_counts(lead: TestClient, project: Project) -> None:
    row = lead.get("/api/next").json()["items"][0]["row"]
    change(lead, "rename", **{"from": "dog", "to": "hound"})
    assert answer(lead, row, "k1", "dog").status_code == 200
    assert project.names[project.state.votes[row]["lea"].code] == "hound"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "action must be a text"),
        ({"action": "split"}, "action must be add, rename, merge or undo"),
        ({"action": "add"}, "name must be a text"),
        ({"action": "add", "name": "x" * 101}, "1 to 100 printable characters"),
        ({"action": "add", "name": "\u202e"}, "1 to 100 printable characters"),
        ({"action": "add", "name": "CAT"}, "there is a class 'cat' already"),
        ({"action": "rename", "from": "cat"}, "to must be a text"),
        ({"action": "rename", "from": "cat", "to": "dog"}, "merge them"),
        ({"action": "merge", "from": "cat", "into": "cow"}, "there is no class 'cow'"),
        ({"action": "merge", "from": "cat", "into": "dog", "dry": 1}, "dry must be true or false"),
        ({"action": "undo"}, "there is no change"),
        ({"action": "add", "name": "cow", "key": "a:b"}, "key must not hold a colon"),
    ],
)
def test_bad_changes_get_one_sentence(
    lead: TestClient, project: Project, body: dict[str, Any], words: str
) -> None:
    before = project.state.seq
    reply = post(lead, "/api/classes", body)
    assert reply.status_code == 400
    assert words in reply.json()["error"]
    assert project.state.seq == before


def test_only_leads_change_classes(project: Project) -> None:
    token = project.add_person("ann")
    ann = far_client(make_app(project, tokens_required=True, design=False), token)
    assert change(ann, "add", name="cow").status_code == 403
    assert project.classes == ["cat", "dog", "fox"]


def test_the_same_change_sent_again_counts_once(lead: TestClient, project: Project) -> None:
    for _ in range(2):
        assert change(lead, "add", name="cow", key="k").status_code == 200
    change(lead, "rename", **{"from": "cow", "to": "ox"})
    for _ in range(2):
        assert change(lead, "undo", key="u").json()["classes"][-1] == "cow"
    assert len(project.state.changes) == 1
