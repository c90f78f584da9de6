"""`aced serve --label-studio`: routes that are there when asked for, guarded by rules of their own."""

from __future__ import annotations

from aced.web import make_app
from aced.web._limit import WRONG_TOKENS
from tests.web.helpers import far_client, local_client, make


def test_it_answers_beside_the_pages_and_only_when_asked_to(tmp_path):
    project = make(tmp_path / "p")
    plain = local_client(make_app(project, tokens_required=False, local_user="me", design=False))
    assert plain.get("/label-studio/health").status_code == 404
    client = local_client(
        make_app(project, tokens_required=False, local_user="me", design=False, label_studio=True)
    )
    assert client.get("/label-studio/health").json()["status"] == "UP"
    found = client.post("/label-studio/predict", json={"tasks": [{"data": {"aced_row": 0}}]})
    assert found.status_code == 200
    assert len(found.json()["results"]) == 1
    assert client.get("/api/me").status_code == 200
    assert client.post("/api/undo", json={"key": "r"}).status_code == 403  # still needs X-Aced


def test_elsewhere_it_needs_a_leads_token(tmp_path):
    project = make(tmp_path / "p")
    lead, annotator = project.add_person("lea", "lead"), project.add_person("ann")
    client = far_client(make_app(project, tokens_required=True, design=False, label_studio=True))
    for password, status in ((None, 401), (annotator, 401), ("guess", 401), (lead, 200)):
        auth = None if password is None else ("aced", password)
        found = client.post("/label-studio/setup", json={"project": "1"}, auth=auth)
        assert found.status_code == status


def test_guessing_is_slowed_and_the_lead_is_not_locked_out(tmp_path):
    project = make(tmp_path / "p")
    client = far_client(make_app(project, tokens_required=True, design=False, label_studio=True))
    for i in range(WRONG_TOKENS):
        how = [{"auth": ("aced", f"guess{i}")}, {"params": {"token": f"guess{i}"}}][i % 2]
        assert client.get("/label-studio/health", **how).status_code == 401
    for how in ({"auth": ("aced", "more")}, {"params": {"token": "more"}}):
        found = client.get("/label-studio/health", **how)
        assert found.status_code == 429
        assert int(found.headers["retry-after"]) > 0
    lead = project.add_person("lea", "lead")
    assert client.get("/label-studio/health", auth=("aced", lead)).status_code == 200
