"""Projects with three, five and thirty classes: labels, rounds, opinions, exports."""

from __future__ import annotations

import numpy as np
import pytest

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


@pytest.mark.parametrize("strategy", ["passive", "margin"])
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
