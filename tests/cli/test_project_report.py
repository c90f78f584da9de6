"""aced report about a project."""

from __future__ import annotations

import pytest

from tests.project.test_savings import label_round, project_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("reported") / "mails"
    project, truth = project_of(
        place, stop={"of": "accuracy", "wanted": 0.8, "confidence": 0.95}, cost_per_label=0.5
    )
    for _ in range(6):
        assert project.refill(threads=1)
        label_round(project, truth)
    project.refill(threads=1)
    project.close()
    return place


def test_it_says_how_a_project_stands_and_what_it_saved(call, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("report", str(folder))
    assert (code, err) == (0, "")
    assert "report.html and report.md: the project" in out
    text = (tmp_path / "report.md").read_text()
    for part in ("# mails", "180 with a label", "## Against random labelling", "in money", "| spam |"):
        assert part in text
    assert "You can stop: at least" in text or "Not yet: at least" in text
    pictures = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert pictures == ["accuracy.png", "against-random-labelling.png"]
    assert (tmp_path / "figures" / pictures[0]).read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text()
    assert page.count("data:image/png") == 2
    assert "300 text" in page
    code, _, _ = call("report", str(folder), "--out", str(tmp_path / "new"), "--cost-per-label", "2")
    assert code == 0
    assert (tmp_path / "new" / "report.md").read_text() != text


def test_a_young_project_has_a_page_too(call, tmp_path):
    project_of(tmp_path / "young")[0].close()
    code, _, err = call("report", str(tmp_path / "young"), "--out", str(tmp_path / "r"))
    assert (code, err) == (0, "")
    text = (tmp_path / "r" / "report.md").read_text()
    assert "0 with a label" in text
    assert "not known yet" in text


def test_what_cannot_be_used_is_refused(call, folder, tmp_path):
    (tmp_path / "records.jsonl").write_text("")
    code, _, err = call("report", str(tmp_path), "--cost-per-label", "1")
    assert code == 2
    assert "is for the report on a project" in " ".join(err.split())
    code, _, err = call("report", str(folder), "--cost-per-label", "-1", "--out", str(tmp_path))
    assert code == 2
    assert "cost_per_label must be a positive number" in " ".join(err.split()).replace("-", "_")
