"""The routes that Label Studio calls: what they answer, and to whom."""

from __future__ import annotations

import asyncio
import base64
import json
import threading

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from aced.adapters import label_studio as ls
from aced.adapters.label_studio import _http as http
from tests.adapters.test_label_studio import annotation, choice_of, task_of
from tests.helpers import answer
from tests.project.places import make, votes


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "p")


AS_JSON = {"Content-Type": "application/json"}


class Server:
    """The routes under a path, called as Label Studio's connector does."""

    def __init__(self, project, local=True):
        self.woken = threading.Event()
        routes = http.routes(project, local=local, changed=self.woken.set)
        self.app = Starlette(routes=[Mount("/ls", routes=routes)])

    def __call__(self, method, path, body=None, host="http://localhost:8080", **options):
        async def ask():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url=host) as client:
                if body is not None:
                    options["content"] = json.dumps(body)  # ASCII, like the requests package
                    options["headers"] = {**AS_JSON, **options.get("headers", {})}
                return await client.request(method, f"/ls{path}", **options)

        return asyncio.run(ask())


@pytest.fixture
def server(project):
    return Server(project)


def event(action, task, *annotations):
    """A webhook's payload: the annotation, its task, the project."""
    data = {key: value for key, value in task.items() if key != "annotations"}
    body = {"action": action, "task": data, "project": {"id": 83, "label_config": "<View/>"}}
    return {**body, "annotation": {**annotations[0], "task": task["id"]}}


def test_health_and_setup(project, server):
    for path in ("/health", "/"):
        reply = server("GET", path)
        assert (reply.status_code, reply.json()) == (200, {"status": "UP"})
    body = {"project": "83.1615326769", "schema": ls.config(project), "hostname": "", "access_token": ""}
    first = server("POST", "/setup", body).json()["model_version"]
    assert server("POST", "/setup", body).json() == {"model_version": first}
    project.add_person("ann")
    answer(project, "ann", 1, "label", "yes")
    assert server("POST", "/setup", body).json()["model_version"] != first


def test_one_result_for_each_task_in_order(project, server):
    tasks = [{"id": i, "data": task["data"], "project": 83} for i, task in enumerate(ls.tasks(project))]
    foreign = [{"id": 98, "data": {"text": "x"}}, {"id": 99}, 7]
    body = {"tasks": [*foreign, *tasks], "model_version": "", "project": "83.1", "params": {}}
    for result in server("POST", "/predict", body).json()["results"]:
        assert result["result"] == []  # no labels yet
    project.add_person("ann")
    for row in range(20):
        answer(project, "ann", row, "label", choice_of(row))
    version = server("POST", "/setup", {}).json()["model_version"]
    results = server("POST", "/predict", body).json()["results"]
    assert [result["result"] for result in results[:3]] == [[], [], []]
    expected = project.classifier().predict(project.features[[t["data"]["aced_row"] for t in tasks]])
    said = [result["result"][0]["value"]["choices"][0] for result in results[3:]]
    assert said == [project.classes[code] for code in expected]
    assert {result["model_version"] for result in results} == {version}
    assert all(0.5 <= result["score"] <= 1 for result in results[3:])


def test_annotations_come_and_go_by_webhook(project, server):
    task = task_of(project, 4)
    made = server("POST", "/webhook", event("ANNOTATION_CREATED", task, annotation(7, "yes")))
    assert (made.status_code, made.json()["status"]) == (201, "ok")
    assert votes(project) == {4: {"label-studio 1": "yes"}}
    assert server.woken.wait(10)
    before = project.state.digest()  # sent again, as after a lost answer
    server("POST", "/webhook", event("ANNOTATION_CREATED", task, annotation(7, "yes")))
    assert project.state.digest() == before
    later = annotation(7, "no", updated_at="2022-01-01T00:00:00.000000Z")
    server("POST", "/webhook", event("ANNOTATION_UPDATED", task, later))
    assert votes(project) == {4: {"label-studio 1": "no"}}
    deleted = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 7}], "project": {"id": 83}}
    server("POST", "/webhook", deleted)
    assert votes(project) == {}


def test_a_webhook_leaves_out_what_was_made_from_predictions(project, server):
    made = annotation(7, "yes", parent_prediction=12, lead_time=None)
    answer = server("POST", "/webhook", event("ANNOTATION_CREATED", task_of(project, 4), made))
    assert answer.json()["result"] == {"changed": 0, "ignored": 1}
    assert votes(project) == {}
    assert not server.woken.is_set()


def test_several_annotations_in_one_event(project, server):
    body = {
        "action": "ANNOTATIONS_CREATED",
        "annotation": [
            {**annotation(1, "yes"), "task": 2},
            {**annotation(2, "no"), "task": 3},
            {**annotation(3, "no", who=2), "task": 2},
        ],
        "task": [task_of(project, 2), task_of(project, 3)],
    }
    assert server("POST", "/webhook", body).status_code == 201
    assert votes(project) == {
        2: {"label-studio 1": "yes", "label-studio 2": "no"},
        3: {"label-studio 1": "no"},
    }
    assert server("POST", "/webhook", {"action": "ANNOTATION_DELETED", "id": 1}).status_code == 201
    one = {"action": "ANNOTATION_DELETED", "annotation": {"id": 2}}
    assert server("POST", "/webhook", one).status_code == 201
    assert votes(project) == {2: {"label-studio 2": "no"}}


def test_training_and_unknown_events(project, server):
    assert server("POST", "/webhook", {"action": "PROJECT_UPDATED"}).json() == {
        "status": "Unknown event"
    }
    assert not server.woken.is_set()
    assert server("POST", "/webhook", {"action": "START_TRAINING", "project": {}}).status_code == 201
    assert server.woken.wait(10)


def test_by_default_the_next_round_is_designed(project):
    backend = http._Backend(project, project.refill)
    backend._react()
    assert project.state.draws


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/predict", {}, "tasks must be a list"),
        ("/predict", [], "no JSON object"),
        ("/webhook", {"action": "ANNOTATION_CREATED"}, "annotation is missing"),
        ("/webhook", {"action": "ANNOTATION_CREATED", "annotation": "x"}, "annotation is missing"),
        (
            "/webhook",
            {"action": "ANNOTATION_CREATED", "annotation": {"id": 1, "task": 19, "result": []}},
            "task is missing",
        ),
        ("/webhook", {"action": "ANNOTATIONS_DELETED", "annotations": ["x"]}, "objects with an id"),
        ("/webhook", {"action": "ANNOTATIONS_DELETED"}, "the id of an annotation"),
        ("/webhook", {"action": "ANNOTATION_DELETED", "id": ["\ud800"]}, "the id of an annotation"),
        (
            "/webhook",
            {"action": "ANNOTATIONS_CREATED", "annotation": [{"task": []}, {"task": {}}], "task": []},
            "task is missing",
        ),
    ],
)
def test_bad_requests_are_one_sentence(project, server, path, body, words):
    before = project.state.digest()
    answer = server("POST", path, body)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert project.state.digest() == before


def test_what_is_no_json_or_too_large(server, monkeypatch):
    for content in (b"", b"{", b"[" * 100_000, b"\xff"):
        assert server("POST", "/webhook", content=content, headers=AS_JSON).status_code == 400
    assert server("POST", "/webhook", content=b"{}").status_code == 415
    plain = {"Content-Type": "text/plain"}
    assert server("POST", "/webhook", content=b"{}", headers=plain).status_code == 415
    monkeypatch.setattr(http, "LARGEST", 100)
    assert server("POST", "/webhook", content=b" " * 101, headers=AS_JSON).status_code == 413
    assert server("GET", "/webhook").status_code == 405


def test_a_foreign_task_or_class_is_refused(project, server):
    task = task_of(project, 4)
    answer = server("POST", "/webhook", event("ANNOTATION_CREATED", task, annotation(7, "maybe")))
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("task 4, annotation 7: label must be one of")
    task["data"] = {"text": "x"}
    answer = server("POST", "/webhook", event("ANNOTATION_CREATED", task, annotation(7, "yes")))
    assert answer.status_code == 400
    assert votes(project) == {}


# -- who may --------------------------------------------------------------------------

EVERY = [("GET", "/health"), ("POST", "/setup"), ("POST", "/predict"), ("POST", "/webhook")]


def basic(token, user="aced"):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()}


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_beyond_loopback_a_leads_token_is_needed(project, method, path):
    far = Server(project, local=False)
    lead, other = project.add_person("lea", "lead"), project.add_person("ann")
    body = {"tasks": [], "action": "x"} if method == "POST" else None
    for headers in (
        {},
        basic("wrong"),
        basic(other),
        basic(""),
        {"Authorization": "Basic ???"},
        {"Authorization": "Basic /w=="},
        {"Authorization": f"Bearer {other}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Digest {lead}"},
    ):
        answer = far(method, path, body, headers=headers)
        assert answer.status_code == 401, headers
        assert answer.headers["www-authenticate"].startswith("Basic")
    good = (
        {"headers": basic(lead)},
        {"headers": basic(lead, user="")},
        {"headers": {"Authorization": f"Bearer {lead}"}},
        {"headers": {"Authorization": f"Token {lead}"}},
        {"params": {"token": lead}},
    )
    for options in good:
        assert far(method, path, body, **options).status_code in (200, 201)
    project.revoke("lea")
    for options in good:
        assert far(method, path, body, **options).status_code == 401


@pytest.mark.parametrize("host", ["http://localhost:80", "http://127.0.0.1", "http://[::1]:8080"])
def test_on_loopback_local_names_need_none(server, host):
    assert server("GET", "/health", host=host).status_code == 200


def test_on_loopback_a_web_page_is_kept_out(project, server):
    assert server("GET", "/health", host="http://evil.example").status_code == 401
    assert server("GET", "/health", host="http://127.0.0.1.evil.example").status_code == 401
    origin = {"Origin": "http://localhost:8080"}
    assert server("POST", "/webhook", {"action": "x"}, headers=origin).status_code == 401
    proxied = {"X-Forwarded-For": "192.0.2.7"}
    assert server("POST", "/webhook", {"action": "x"}, headers=proxied).status_code == 401
    assert server("GET", "/health", headers=basic("wrong")).status_code == 401
    lead = project.add_person("lea", "lead")
    assert server("GET", "/health", host="http://evil.example", headers=basic(lead)).status_code == 200


def test_a_ledger_that_cannot_write_is_503(project, server):
    task = task_of(project, 4)
    project.ledger._base.execute("PRAGMA query_only=ON")
    try:
        answer = server("POST", "/webhook", event("ANNOTATION_CREATED", task, annotation(7, "yes")))
    finally:
        project.ledger._base.execute("PRAGMA query_only=OFF")
    assert answer.status_code == 503
    assert votes(project) == {}
