"""What a project saved against random labelling: recorded, repeated, in labels, hours and money."""

from __future__ import annotations

import json

import pytest

from aced import InvalidInput
from aced.cli._project import saved_words
from aced.ledger import replay
from aced.project import Project, repeat_rounds, summary
from tests.helpers import blobs


def project_of(folder, n=300, **options):
    rows, truth = blobs(n, 3)
    project = Project.create(
        folder, ids=[f"item {i}" for i in range(n)], contents=[f"text {i}" for i in range(n)],
        kind="text", features=rows, classes=("ham", "spam"), batch=30, **{"check": 0.3, **options},
    )  # fmt: skip
    project.add_person("ann", token=False)
    return project, truth


def label_round(project, truth):
    while items := project.give("ann"):
        row = items[0].row
        project.answer("ann", row, "label", project.classes[int(truth[row])], seconds=90.0)


@pytest.fixture(scope="module")
def worked(tmp_path_factory):
    project, truth = project_of(tmp_path_factory.mktemp("saved") / "p", cost_per_label=0.5)
    for _ in range(6):
        assert project.refill(threads=1)
        label_round(project, truth)
    return project


def test_rounds_record_it_when_labels_have_grown_by_a_third(worked):
    at = [(one["labels"], one["savings"]["labels"]) for one in worked.state.rounds if one.get("savings")]
    assert [labels for labels, _ in at] == [30, 60, 90, 120]
    assert all(of == labels for labels, of in at)
    again = repeat_rounds(worked.ledger, lambda: worked.pool)
    assert [one.differs for one in again] == [None] * len(worked.state.rounds)
    assert replay(worked.ledger).problems == []


def test_labels_become_hours_and_money(worked):
    found = summary(worked)["savings"]
    assert found["labels"] == 120
    assert found["low"] <= found["random"] <= found["high"]
    labels, hours, money = (found["saved"][name] for name in ("labels", "hours", "money"))
    for end, taken in (("middle", "random"), ("low", "low"), ("high", "high")):
        assert labels[end] == found[taken] - 120
        assert money[end] == pytest.approx(0.5 * labels[end])
    pace = worked.tally.seconds(None)
    assert hours["middle"] == pytest.approx(labels["middle"] * pace / 3600, abs=1e-4)
    assert summary(worked, 2.0)["savings"]["saved"]["money"]["high"] == pytest.approx(2 * labels["high"])
    assert [one["labels"] for one in found["ours"]] == [one["labels"] for one in found["by_random"]]
    json.dumps(found, allow_nan=False)


def test_a_loss_is_called_one():
    lost = {"middle": -12.0, "low": -40.0, "high": -3.0}
    both = {"middle": 1500.0, "low": -4.0, "high": 2000.0}
    found = {"labels": 100, "random": 88, "saved": {"labels": lost, "hours": both, "money": None}}
    assert saved_words(found) == (
        "about 12 labels lost (3 to 40): random labelling takes about 88 for what took 100; "
        "1,500.0 h saved (4.0 lost to 2,000.0 saved)"
    )


def test_nothing_is_said_without_uniform_draws(tmp_path):
    project, truth = project_of(tmp_path / "p", strategy="margin", check=0.0)
    for _ in range(3):
        assert project.refill(threads=1)
        label_round(project, truth)
    assert summary(project)["savings"] is None
    assert not any("savings" in one for one in project.state.rounds)


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_price_that_is_none_is_refused(worked, tmp_path, cost):
    with pytest.raises(InvalidInput, match="cost_per_label must be a positive number"):
        project_of(tmp_path / "p", cost_per_label=cost)
    with pytest.raises(InvalidInput, match="cost_per_label must be a positive number"):
        summary(worked, cost)


def test_a_project_of_before_says_nothing_of_money(worked, tmp_path):
    project, _ = project_of(tmp_path / "p")
    assert "cost_per_label" not in project.settings.body()
    assert worked.settings.cost_per_label == 0.5
