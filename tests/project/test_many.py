"""Projects with three, five and thirty classes: labels, rounds, opinions, exports."""

from __future__ import annotations

import numpy as np
import pytest

from aced.crowd import agreement, dawid_skene
from aced.learner import Learner
from aced.project import Project, export_rows, guess, repeat_rounds, summary
from tests.project.places import make

LETTERS = [f"class {i}" for i in range(30)]


def labelled(folder, classes, rounds=2, **options) -> tuple[Project, np.ndarray]:
    """A project whose people label by the angle of the first two features."""
    project = make(folder, n=120, classes=classes, batch=30, check=0.4, **options)
    rows = project.features
    angle = np.arctan2(rows[:, 1], rows[:, 0])
    truth = ((angle + np.pi) / (2 * np.pi) * len(classes)).astype(int) % len(classes)
    project.add_person("ann", token=False)
    for _ in range(rounds):
        assert project.refill(threads=1)
        while items := project.give("ann"):
            project.answer("ann", items[0].row, "label", classes[truth[items[0].row]])
    return project, truth


@pytest.mark.parametrize("strategy", ["aced", "passive", "margin"])
@pytest.mark.parametrize("k", [3, 5, 30])
def test_a_project_takes_many_classes(tmp_path, k, strategy):
    project, truth = labelled(tmp_path / "p", LETTERS[:k], strategy=strategy)
    found = project.opinions()
    assert found.eta.shape == (len(found.rows), k)
    assert (found.codes == truth[found.rows]).all()
    lines = {line["item"]: line for line in export_rows(project)}
    assert all(line["combined_label"] == line["label"] for line in lines.values())
    assert set(project.classifier().predict(project.features)) <= set(range(k))
    assert sum(summary(project)["balance"].values()) == len(found.rows)
    assert list(summary(project)["balance"]) == LETTERS[:k]
    second = [draw.note for draw in project.state.draws.values() if draw.round == 2]
    guesses = [guess(note) for note in second]
    assert all(code in range(k) and 1 / k - 0.01 < sure <= 1 for code, sure in guesses)
    repeated = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert [one.differs for one in repeated] == [None] * len(project.state.rounds)
    if strategy == "aced":
        assert {note["incumbent"] for note in second if "incumbent" in note} <= set(range(k))
        assert all(0 <= note["separates"] <= note["of"] for note in second if "of" in note)


def test_second_opinions_of_many_classes(tmp_path):
    """A share of requests goes to rows with one label; two labels are combined by Dawid and Skene."""
    classes = LETTERS[:4]
    project = make(tmp_path / "p", n=120, classes=classes, batch=20, overlap=0.4, strategy="passive")
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=120)
    for who in ("ann", "bob"):
        project.add_person(who, token=False)
    for _ in range(4):
        assert project.refill(threads=1)
        for who, right in (("ann", 1.0), ("bob", 0.5)):
            while items := project.give(who):
                row = items[0].row
                code = truth[row] if rng.random() < right else (truth[row] + 1) % 4
                project.answer(who, row, "label", classes[code])
    state = project.state
    twice = [row for row, said in state.votes.items() if len(said) == 2]
    assert len(twice) >= 8
    assert all(state.wanted[row] == 2 for row in twice)
    found = project.opinions()
    fit = dawid_skene(found.votes)
    assert found.eta == pytest.approx(fit.eta)
    best = fit.eta.max(axis=1)
    assert fit.eta[np.arange(len(best)), found.codes] == pytest.approx(best)
    assert summary(project)["agreement"]["alpha"] == pytest.approx(agreement(found.votes).alpha)
    repeated = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert [one.differs for one in repeated] == [None] * 4


def test_a_tie_is_decided_by_the_earliest_of_the_tied_votes(tmp_path):
    project = make(tmp_path / "p", classes=LETTERS[:3], combine="majority", strategy="passive")
    for who, code in (("ann", 2), ("bob", 1), ("eve", 0), ("joe", 1), ("kim", 0)):
        project.add_person(who, token=False)
        with project.ledger.writing() as writing:
            writing.append("label", who, 7, {"label": code})
    assert project.opinions().codes.tolist() == [1]  # bob before eve; ann's class has one vote


def test_accuracy_by_class_and_confusion_are_those_of_the_last_round(tmp_path):
    """With 90 of 120 rows labelled: against the classifier of that round, trained here."""
    project, truth = labelled(tmp_path / "p", LETTERS[:3], rounds=3, strategy="passive")
    assert project.refill(threads=1)
    shown, last = summary(project), project.state.rounds[-1]
    assert last["labels"] == 90
    table = np.array(shown["confusion"]["counts"])
    assert shown["confusion"]["classes"] == LETTERS[:3]
    assert abs(table.sum() - 120) <= 4  # rounded, cell by cell
    assert np.trace(table) / table.sum() == pytest.approx(last["accuracy"]["estimate"], abs=0.02)
    known = sorted(row for row, draw in project.state.draws.items() if draw.round < 4)
    model = Learner(project.pool, classes=[0, 1, 2], strategy="passive").train(known, truth[known])
    said = model.predict(project.features)
    assert table.sum(axis=0) == pytest.approx(np.bincount(said, minlength=3), abs=2)
    for code, one in enumerate(shown["accuracy_by_class"]):
        assert one["class"] == LETTERS[code]
        assert one["low"] <= (said[truth == code] == code).mean() <= one["high"]
        assert one["precision"]["low"] <= (truth[said == code] == code).mean()
        assert (truth[said == code] == code).mean() <= one["precision"]["high"]
