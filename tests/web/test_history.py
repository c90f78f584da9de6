"""The history over HTTP: pages, search, filters, who may see what, and items that come back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aced.ledger import replay
from aced.project import Project
from aced.web import make_app
from tests.web.helpers import TestClient, answer, far_client, make, post


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p", batch=40)


@pytest.fixture
def people(project: Project) -> dict[str, TestClient]:
    app = make_app(project, tokens_required=True, design=False)
    roles = {"lea": "lead", "ann": "annotator", "bob": "annotator"}
    return {name: far_client(app, project.add_person(name, role)) for name, role in roles.items()}


def some(client: TestClient, kinds: str, key: str) -> list[int]:
    """Answers: y and n are labels, s is a skip, u is unsure. Returns their rows."""
    found = []
    for number, letter in enumerate(kinds):
        row = client.get("/api/next").json()["items"][0]["row"]
        label = {"y": "yes", "n": "no"}.get(letter)
        kind = "label" if label else {"s": "skip", "u": "unsure"}[letter]
        body = {"row": row, "kind": kind, "label": label, "key": f"{key}{number}", "seconds": 1.0}
        assert post(client, "/api/answer", body).status_code == 200
        found.append(row)
    return found


def listed(client: TestClient, query: str = "") -> list[tuple[int, str]]:
    reply = client.get(f"/api/history?{query}")
    assert reply.status_code == 200, reply.text
    return [(one["item"]["row"], one["label"] or one["answer"]) for one in reply.json()["answers"]]


def test_my_answers_newest_first_by_pages_kinds_and_words(people: dict[str, TestClient]) -> None:
    ann = people["ann"]
    rows = some(ann, "ysnuy", "a")
    everything = list(zip(rows, ["yes", "skip", "no", "unsure", "yes"], strict=True))[::-1]
    assert listed(ann) == everything
    first = ann.get("/api/history?count=2").json()
    assert len(first["answers"]) == 2
    assert listed(ann, f"count=3&before={first['more']}") == everything[2:]
    assert ann.get(f"/api/history?before={first['answers'][-1]['seq']}&count=9").json()["more"] is None
    assert listed(ann, "kinds=skip,unsure") == [everything[1], everything[3]]
    assert listed(ann, f"text=ITEM-{rows[2]}") == [
        one for one in everything if str(one[0]).startswith(str(rows[2]))
    ]
    assert listed(ann, "text=nobody") == []
    (one,) = ann.get(f"/api/history?kinds=skip&text=text {rows[1]}").json()["answers"]
    assert one["item"]["content"] == f"text {rows[1]}"
    assert (one["who"], one["back"], one["code"], one["answer"]) == ("ann", True, None, "skip")


def test_annotators_see_their_own_and_leads_everybodys(people: dict[str, TestClient]) -> None:
    ann, bob, lea = people["ann"], people["bob"], people["lea"]
    a, b = some(ann, "ys", "a"), some(bob, "n", "b")
    assert [row for row, _ in listed(ann)] == a[::-1]
    assert ann.get("/api/history").json()["people"] == ["ann"]
    assert ann.get("/api/history?who=ann").status_code == 200
    for query in ("who=bob", "everybody", "everybody=0", "who="):
        assert ann.get(f"/api/history?{query}").status_code == 403
    assert [row for row, _ in listed(lea, "everybody")] == [*b, *a[::-1]]
    assert [row for row, _ in listed(lea, "who=ann")] == a[::-1]
    assert listed(lea) == listed(lea, "who=nobody") == []
    assert lea.get("/api/history").json()["people"] == ["ann", "bob", "lea"]


@pytest.mark.parametrize("query", ["kinds=all", "before=x", "count=x", f"text={'x' * 201}"])
def test_odd_questions_are_refused(people: dict[str, TestClient], query: str) -> None:
    reply = people["ann"].get(f"/api/history?{query}")
    assert reply.status_code == 400
    assert list(reply.json()) == ["error"]


def back(client: TestClient, seq: Any, key: str) -> Any:
    return post(client, "/api/return", {"answer": seq, "key": key})


def test_a_skip_comes_back_is_labelled_and_everything_can_be_undone(
    people: dict[str, TestClient], project: Project
) -> None:
    ann = people["ann"]
    (row,) = some(ann, "s", "a")
    (skip,) = ann.get("/api/history").json()["answers"]
    assert back(ann, skip["seq"], "r1").status_code == 200
    assert back(ann, skip["seq"], "r1").status_code == 200
    assert len([1 for event, _ in project.ledger.events() if event.kind == "returned"]) == 1
    assert listed(ann) == []
    undone = post(ann, "/api/undo", {"key": "u1"}).json()
    assert (undone["undone"], undone["item"]["row"]) == ("returned", row)
    assert listed(ann) == [(row, "skip")]
    assert back(ann, skip["seq"], "r2").status_code == 200
    given = [item["row"] for item in ann.get("/api/next?count=5").json()["items"]]
    assert row in given
    assert answer(ann, row, "a2").status_code == 200
    assert listed(ann) == [(row, "yes")]
    assert answer(ann, row, "a3", label="no", then=0).status_code == 200  # changed in the history
    assert listed(ann) == [(row, "no")]
    undone = post(ann, "/api/undo", {"key": "u2", "again": False}).json()
    assert undone["undone"] == "label"
    assert undone["progress"]["undoable"] is True
    assert listed(ann) == [(row, "yes")]
    assert replay(project.ledger).state.digest() == project.state.digest()


def test_who_may_bring_back_what(people: dict[str, TestClient], project: Project) -> None:
    ann, bob, lea = people["ann"], people["bob"], people["lea"]
    some(ann, "su", "a")
    unsure, skip = ann.get("/api/history").json()["answers"]
    before = project.state.seq
    for client, seq, key, said in (
        (bob, skip["seq"], "b1", "another person"),
        (ann, 10**30, "b2", "does not stand"),
        (ann, -1, "b3", "does not stand"),
        (ann, "x", "b4", "whole number"),
        (ann, skip["seq"], "a:1", "colon"),
    ):
        reply = back(client, seq, key)
        assert reply.status_code == 400
        assert said in reply.json()["error"]
    assert project.state.seq == before
    assert back(lea, unsure["seq"], "l1").status_code == 200
    assert [answer for _, answer in listed(ann)] == ["skip"]
    assert back(ann, skip["seq"], "l1").status_code == 409  # the key is somebody else's
