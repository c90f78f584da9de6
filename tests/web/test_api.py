"""The API over real projects, through the whole application."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aced._errors import InvalidInput
from aced.project import Project
from aced.web import make_app
from aced.web._map import flatten
from tests.helpers import answer as given_answer
from tests.web.helpers import Clock, TestClient, answer, far_client, local_client, make, post


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p")


@pytest.fixture
def client(project: Project) -> TestClient:
    return local_client(make_app(project, tokens_required=False, local_user="ann", design=False))


def rows(reply: Any) -> list[int]:
    assert reply.status_code == 200, reply.text
    return [item["row"] for item in reply.json()["items"]]


def test_me(client: TestClient) -> None:
    me = client.get("/api/me").json()
    assert (me["name"], me["role"], me["kind"]) == ("ann", "lead", "text")
    assert me["classes"] == ["no", "yes"]
    assert me["keys"]["1"] == "no"
    assert me["lease"] == 600


def test_next_answer_undo_skip(client: TestClient, project: Project) -> None:
    first = client.get("/api/next?count=3").json()
    assert len(first["items"]) == 3
    shown = first["items"][0]
    assert shown == {
        "row": shown["row"],
        "id": f"item-{shown['row']}",
        "kind": "text",
        "content": f"text {shown['row']}",
        "image": None,
    }
    assert first["progress"]["labelled"] == 0
    assert first["progress"]["total"] == 60

    said = answer(client, shown["row"], "r1", then=3).json()
    assert said["progress"]["labelled"] == said["progress"]["mine"] == said["progress"]["today"] == 1
    assert [item["row"] for item in said["items"]][:2] == [i["row"] for i in first["items"][1:]]
    assert len(said["items"]) == 3
    assert project.state.votes[shown["row"]]["ann"].code == 1
    assert project.state.votes[shown["row"]]["ann"].seconds == 1.5

    undone = post(client, "/api/undo", {"key": "r2"}).json()
    assert undone["item"] == shown
    assert undone["progress"]["labelled"] == 0
    assert shown["row"] in rows(client.get("/api/next?count=5"))

    skipped = answer(client, shown["row"], "r3", label=None).json()
    assert skipped["progress"]["labelled"] == 0
    assert project.state.passed[shown["row"]] == {"ann": "skip"}
    assert shown["row"] not in rows(client.get("/api/next?count=5"))


def test_undo_of_nothing(client: TestClient) -> None:
    assert post(client, "/api/undo", {"key": "r"}).json()["item"] is None


def test_the_same_request_twice_counts_once(client: TestClient, project: Project) -> None:
    row, other = rows(client.get("/api/next?count=2"))
    seqs = [answer(client, row, "once").json()["seq"] for _ in range(3)]
    assert len(set(seqs)) == 1
    answer(client, other, "twice")
    undone = [post(client, "/api/undo", {"key": "undo"}).json() for _ in range(2)]
    assert undone[0]["item"]["row"] == undone[1]["item"]["row"] == other
    assert list(project.state.labelled()) == [row]


def test_a_late_repeat_does_not_bring_back_what_was_undone(client: TestClient, project: Project) -> None:
    (row,) = rows(client.get("/api/next"))
    answer(client, row, "once")
    post(client, "/api/undo", {"key": "undo"})
    assert answer(client, row, "once").status_code == 200
    assert project.state.labelled() == []


def test_a_request_id_of_somebody_else_is_refused(project: Project) -> None:
    app = make_app(project, tokens_required=True, design=False)
    ann, bob = (far_client(app, project.add_person(name)) for name in ("ann", "bob"))
    answer(ann, rows(ann.get("/api/next"))[0], "same")
    reply = answer(bob, rows(bob.get("/api/next"))[0], "same")
    assert reply.status_code == 409
    assert "key" in reply.json()["error"]


def test_two_people_never_hold_the_same_row(project: Project) -> None:
    app = make_app(project, tokens_required=True, design=False)
    ann, bob = (far_client(app, project.add_person(name)) for name in ("ann", "bob"))
    seen: dict[str, set[int]] = {"ann": set(), "bob": set()}
    for turn in range(5):
        for name, who in (("ann", ann), ("bob", bob)):
            held = rows(who.get("/api/next?count=2"))
            seen[name] |= set(held)
            if held:
                answer(who, held[0], f"{name}{turn}")
    assert seen["ann"]
    assert seen["bob"]
    assert not seen["ann"] & seen["bob"]


def test_an_expired_lease_goes_to_somebody_else_and_a_late_answer_still_counts(tmp_path: Path) -> None:
    clock = Clock()
    project = make(tmp_path / "p", 3, batch=1, clock=clock, lease=60.0)
    app = make_app(project, tokens_required=True, design=False)
    ann, bob = (far_client(app, project.add_person(name)) for name in ("ann", "bob"))
    (row,) = rows(ann.get("/api/next"))
    assert rows(bob.get("/api/next")) == []
    clock.at += 61
    assert rows(bob.get("/api/next")) == [row]
    assert answer(bob, row, "b").status_code == 200
    assert answer(ann, row, "a", label="no").status_code == 200
    assert {who: vote.code for who, vote in project.state.votes[row].items()} == {"ann": 0, "bob": 1}


def test_answers_to_items_that_were_not_given_are_refused(client: TestClient, project: Project) -> None:
    held = rows(client.get("/api/next?count=2"))
    for row in (next(r for r in range(60) if r not in held), 60, -1, 10**30):
        reply = answer(client, row, f"x{row}")
        assert reply.status_code == 400
        error = "not given to you" if 0 <= row < 60 else f"there is no row {row}"
        assert error in reply.json()["error"]
    assert project.state.labelled() == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"row": "1"}, "row"),
        ({"row": True}, "row"),
        ({"row": None}, "row"),
        ({"kind": "maybe"}, "kind"),
        ({"kind": None}, "kind"),
        ({"label": "perhaps"}, "label"),
        ({"label": None}, "label"),
        ({"label": 1}, "label"),
        ({"label": "\ud800"}, "label"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "long"}, "seconds"),
        ({"seconds": 1e9}, "seconds"),
        ({"seconds": 10**400}, "seconds"),
        ({"key": ""}, "key"),
        ({"key": None}, "key"),
        ({"key": "\ud800"}, "key"),
        ({"key": "x" * 201}, "key"),
        ({"then": "3"}, "then"),
    ],
)
def test_bad_answers_get_one_sentence(
    client: TestClient, project: Project, change: dict[str, Any], word: str
) -> None:
    (row,) = rows(client.get("/api/next"))
    body = {"row": row, "kind": "label", "label": "yes", "seconds": 1, "key": "r", **change}
    reply = client.post(
        "/api/answer",
        content=json.dumps(body),
        headers={"X-Aced": "1", "Content-Type": "application/json"},
    )
    assert reply.status_code == 400
    assert word in reply.json()["error"]
    assert project.state.labelled() == []


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"1", b"{", b"\xff", b'{"row": NaN}', b"[" * 50_000, b"9" * 5000]
)
def test_a_body_that_is_no_object(client: TestClient, body: bytes) -> None:
    headers = {"X-Aced": "1", "Content-Type": "application/json"}
    reply = client.post("/api/answer", content=body, headers=headers)
    assert reply.status_code == 400
    assert "JSON" in reply.json()["error"]


def test_designing(tmp_path: Path) -> None:
    project = make(tmp_path / "p", 12, batch=6, check=0.0)
    app = make_app(project, tokens_required=False, local_user="ann")
    done, designed = 0, False
    with local_client(app) as client:
        reply = client.get("/api/next?count=3").json()
        until = time.monotonic() + 120
        while (reply["items"] or reply["designing"]) and time.monotonic() < until:
            designed |= reply["designing"]
            if reply["items"]:
                done += 1
                while done == 1 and not project.state.rounds and time.monotonic() < until:
                    time.sleep(0.05)  # somebody who reads for as long as the first round takes
                reply = answer(client, reply["items"][0]["row"], f"r{done}", then=3).json()
            else:
                time.sleep(0.05)
                reply = client.get("/api/next?count=3").json()
    assert done == 12
    assert designed or project.state.rounds
    assert reply["progress"]["labelled"] == 12
    assert reply["designing"] is False


def test_someone_who_skips_everything_is_given_more(tmp_path: Path) -> None:
    project = make(tmp_path / "p", 12, batch=6, check=0.0)
    app = make_app(project, tokens_required=False, local_user="ann")
    seen: set[int] = set()
    with local_client(app) as client:
        until = time.monotonic() + 120
        reply = client.get("/api/next").json()
        while (reply["items"] or reply["designing"]) and time.monotonic() < until:
            for item in reply["items"]:
                seen.add(item["row"])
                answer(client, item["row"], f"s{item['row']}", label=None)
            time.sleep(0.02)
            reply = client.get("/api/next").json()
    assert seen == set(range(12))


def test_why(client: TestClient, project: Project) -> None:
    (row,) = rows(client.get("/api/next"))
    why = client.get(f"/api/why/{row}").json()
    assert set(why) == {
        "round",
        "probability",
        "check",
        "lam",
        "says",
        "sure",
        "incumbent",
        "separates",
        "of",
        "spare",
    }
    assert why["round"] == 1
    assert 0 < why["probability"] <= 1
    undrawn = next(r for r in range(60) if r not in project.state.draws)
    assert client.get(f"/api/why/{undrawn}").status_code == 404
    assert client.get("/api/why/x").status_code == 400
    assert client.get("/api/why/" + "9" * 5000).status_code == 400


def test_why_names_the_incumbents_class(tmp_path: Path) -> None:
    project = make(tmp_path / "p", strategy="aced")
    client = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    for turn in range(2):
        for row in list(project.state.waiting):
            while row not in rows(client.get("/api/next?count=5")):
                held = rows(client.get("/api/next?count=1"))
                answer(client, held[0], f"{turn}-{held[0]}", label=["no", "yes"][held[0] % 2])
                if held[0] == row:
                    break
            else:
                answer(client, row, f"{turn}-{row}", label=["no", "yes"][row % 2])
        project.refill()
    (row,) = rows(client.get("/api/next"))
    why = client.get(f"/api/why/{row}").json()
    assert why["round"] == 3
    assert why["incumbent"] in ("no", "yes")
    assert 0 <= why["separates"] <= why["of"]


def test_lead(project: Project) -> None:
    app = make_app(project, tokens_required=True, design=False)
    lead = far_client(app, project.add_person("lea", "lead"))
    ann = far_client(app, project.add_person("ann"))
    (row,) = rows(ann.get("/api/next"))
    answer(ann, row, "1")
    answer(ann, rows(ann.get("/api/next"))[0], "2", label=None)
    seen = lead.get("/api/lead").json()
    assert seen["balance"] == {"no": 0, "yes": 1}
    by_name = {person["name"]: person for person in seen["people"]}
    assert by_name["ann"]["labels"] == by_name["ann"]["skips"] == 1
    assert by_name["ann"]["median_seconds"] == 1.5
    assert seen["agreement"]["share"] is None
    assert seen["rounds"][0]["round"] == 1
    assert seen["progress"]["labelled"] == 1
    assert seen["progress"]["mine"] == 0
    assert lead.get(f"/api/item/{row}").json()["content"] == f"text {row}"
    assert lead.get("/api/item/60").status_code == 404


def test_lead_data_follows_the_ledger(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aced.web._views.FRESH", 0.0)
    monkeypatch.setattr("aced.web._views.PATIENCE", 0)
    client = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    assert client.get("/api/lead").json()["balance"] == {"no": 0, "yes": 0}
    answer(client, rows(client.get("/api/next"))[0], "1")
    assert client.get("/api/lead").json()["balance"] == {"no": 0, "yes": 1}


def test_disputes(project: Project) -> None:
    app = make_app(project, tokens_required=True, design=False)
    lead = far_client(app, project.add_person("lea", "lead"))
    ann = far_client(app, project.add_person("ann"))
    (row,) = rows(ann.get("/api/next"))
    answer(ann, row, "1")
    project.add_person("bob")
    given_answer(project, "bob", row, "label", "no")
    (dispute,) = lead.get("/api/lead").json()["disputes"]
    assert dispute["votes"] == {"ann": "yes", "bob": "no"}
    assert dispute["content"] == f"text {row}"


def test_map(client: TestClient, project: Project) -> None:
    (row,) = rows(client.get("/api/next"))
    answer(client, row, "1")
    seen = client.get("/api/map").json()
    assert len(seen["pool"]) == 60
    assert len(seen["drawn"]) == 10
    assert [point[3] for point in seen["drawn"]].count(1) == 1
    assert (project.folder / "map.npy").exists()
    again = client.get("/api/map").json()
    assert again == seen
    (project.folder / "map.npy").write_bytes(b"no map")
    fresh = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    assert fresh.get("/api/map").json() == seen


@pytest.mark.parametrize("shape", [(300, 20), (5, 1), (1, 3), (200, 700)])
def test_the_map_is_the_plane_of_largest_variance(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    scales = 2.0 ** -np.arange(shape[1]).clip(max=20)
    features = (rng.normal(size=shape) * scales + 3).astype(np.float32)
    points = flatten(features).astype(float)
    centred = features - features.mean(axis=0, dtype=float)
    values = np.linalg.svd(centred, compute_uv=False)[:2]
    found = np.linalg.norm(points, axis=0)
    assert points.shape == (shape[0], 2)
    assert np.isfinite(points).all()
    if len(values) == 2 and values[0] > 0:
        np.testing.assert_allclose(found[1] / found[0], values[1] / values[0], rtol=1e-2)


def test_export(client: TestClient, project: Project) -> None:
    (row,) = rows(client.get("/api/next"))
    answer(client, row, "1")
    table = client.get("/api/export?format=csv")
    assert "attachment" in table.headers["content-disposition"]
    (line,) = csv.DictReader(io.StringIO(table.text))
    assert (line["item"], line["label"], line["annotator"]) == (f"item-{row}", "yes", "ann")
    (line,) = [json.loads(part) for part in client.get("/api/export?format=jsonl").text.splitlines()]
    assert line["label"] == "yes"
    assert client.get("/api/export?format=exe").status_code == 400


def test_values_json_does_not_know_become_null(tmp_path: Path) -> None:
    contents = [{"a": float("nan"), "b": "ü", "c": i} for i in range(4)]
    project = make(tmp_path / "p", contents=contents, kind="row", batch=2)
    client = local_client(make_app(project, tokens_required=False, local_user="ann", design=False))
    shown = client.get("/api/next").json()["items"][0]["content"]
    assert shown["a"] is None
    assert shown["b"] == "ü"


def test_pages(client: TestClient) -> None:
    for path, file in (("/", "label.html"), ("/lead", "lead.html"), ("/history", "history.html")):
        page = client.get(path)
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.content == client.get(f"/static/{file}").content


def test_a_full_disk_is_said_and_nothing_is_lost(client: TestClient, project: Project) -> None:
    (row,) = rows(client.get("/api/next"))
    pages = project.ledger._base.execute("PRAGMA page_count").fetchone()[0]
    project.ledger._base.execute(f"PRAGMA max_page_count={pages}")
    replies = [answer(client, row, f"{i}" + "x" * 190) for i in range(60)]
    refused = [reply for reply in replies if reply.status_code != 200]
    assert refused
    assert {reply.status_code for reply in refused} == {503}
    assert "disk is full" in refused[0].json()["error"]
    assert str(project.folder) not in refused[0].text
    project.ledger._base.execute("PRAGMA max_page_count=1000000")
    assert answer(client, row, "at last", label="no").status_code == 200
    assert project.state.votes[row]["ann"].code == 0


def test_no_local_user(project: Project) -> None:
    with pytest.raises(InvalidInput, match="local_user"):
        make_app(project, tokens_required=False)


def test_a_revoked_local_user_stays_out(project: Project) -> None:
    project.add_person("ann", token=False)
    project.revoke("ann")
    with pytest.raises(InvalidInput, match="ann"):
        make_app(project, tokens_required=False, local_user="ann")


def test_a_page_cannot_use_the_request_ids_of_imports(tmp_path):
    client = local_client(
        make_app(make(tmp_path / "p"), tokens_required=False, local_user="me", design=False)
    )
    row = client.get("/api/next").json()["items"][0]["row"]
    found = answer(client, row, "label-studio:17:0")
    assert found.status_code == 400
    assert "colon" in found.json()["error"]
