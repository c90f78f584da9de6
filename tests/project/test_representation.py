"""The representation of a project: kept, planned with, explained, and the same after replay."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from aced import InvalidInput, Learner
from aced.ledger import replay
from aced.project import LEDGER, MEMORY, Project, repeat_rounds, summary

BEFORE = Path(__file__).parents[1] / "data" / "before"
RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(400, 2)).astype(np.float32)
RINGS = (np.square(ROWS).sum(axis=1) < 1.4).astype(int)  # no line tells them apart
BOXES = RNG.normal(size=(700, 12)).astype(np.float32)
IN_BOX = (((BOXES[:, 0] > 0.3) & (BOXES[:, 1] < 0.5)) | (BOXES[:, 2] > 1)).astype(int)


def make(folder, rows=ROWS, **options):
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(len(rows))],
        contents=[f"text {i}" for i in range(len(rows))],
        kind="text",
        features=rows,
        classes=["out", "in"],
        **{"batch": 20, "check": 0.1, "seed": 3, "strategy": "passive", **options},
    )
    project.add_person("ann", token=False)
    return project


def label(project, truth, rounds):
    for _ in range(rounds):
        assert project.refill(threads=1)
        while items := project.give("ann", 5):
            for item in items:
                project.answer("ann", item.row, "label", project.classes[truth[item.row]])


def said(project):
    return project.classifier().predict_proba(project.features)


@pytest.mark.parametrize("strategy", ["passive", "aced", "margin"])
def test_rounds_in_a_representation_are_repeated_to_the_bit_without_their_memory(tmp_path, strategy):
    drawn, shares = [], []
    for lose in (False, True):
        project = make(tmp_path / f"p{lose}", ROWS[:200], strategy=strategy)
        for _ in range(3):
            label(project, RINGS, 1)
            if lose:
                (project.folder / MEMORY).unlink()
        drawn.append(list(project.state.draws))
        shares.append(said(project))
        assert project.state.rounds[-1]["design"]["representation"] in ("rbf", "weighted")
        assert all(r.differs is None for r in repeat_rounds(project.ledger, lambda p=project: p.pool))
        assert replay(project.folder / LEDGER).problems == []
    assert drawn[0] == drawn[1]
    np.testing.assert_array_equal(shares[0], shares[1])


def test_the_classifier_of_a_project_is_that_of_its_next_round(tmp_path):
    """A round that is planned without new labels does not change what the classifier says."""
    project = make(tmp_path / "p")
    label(project, RINGS, 3)
    before = said(project)
    assert (before.argmax(axis=1) == RINGS).mean() > 0.85  # no line has more than 0.6
    assert project.refill(threads=1)
    np.testing.assert_array_equal(said(project), before)


def test_the_classifier_is_the_learners(tmp_path):
    project = make(tmp_path / "p", check=0.0)
    learner = Learner(project.pool, strategy="passive", classes=[0, 1], batch_size=20, seed=3)
    for _ in range(3):
        queries = learner.ask()
        label(project, RINGS, 1)
        learner.tell(queries.ids, RINGS[queries.ids])
    np.testing.assert_array_equal(said(project), learner.classifier.predict_proba(project.features))


def test_the_setting_decides(tmp_path):
    used = {}
    for wanted in ("auto", "linear", "rbf"):
        project = make(tmp_path / wanted, representation=wanted)
        label(project, RINGS, 3)
        assert Project(project.folder).brief().representation == wanted
        used[wanted] = summary(project)["representation"]["used"]
    assert used["linear"] == "linear"
    assert used["rbf"] == "rbf"
    assert used["auto"] in ("rbf", "weighted")


def test_a_fixed_penalty_takes_rows_as_they_are(tmp_path):
    project = make(tmp_path / "p", l2=2.0)
    label(project, RINGS, 2)
    assert project.settings.representation == "linear"
    assert "representation" not in project.state.rounds[-1]["design"]
    found = summary(project)["representation"]
    assert "l2 = 2" in found["sentence"]
    assert found["advice"] is None
    assert said(project).shape == (400, 2)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"representation": "cubic"}, "must be one of auto, linear, rbf"),
        ({"representation": "auto", "l2": 1.0}, "but l2 is for rows as they are"),
        ({"representation": "rbf", "l2": 0.0}, "but l2 is for rows as they are"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, options, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        make(tmp_path / "p", **options)


def test_a_project_of_before_stays_linear(tmp_path):
    """It has no representation among its settings; its first event stays what it was."""
    project = Project(shutil.copytree(BEFORE / "project", tmp_path / "p"))
    assert project.settings.representation is None
    assert "representation" not in project.settings.body()
    assert project.brief().representation == "linear"
    assert project.brief().memory is None
    assert summary(project)["representation"]["wanted"] is None


def test_the_sentence_names_the_round_since_which_it_holds(tmp_path):
    project = make(tmp_path / "p", batch=30)
    label(project, RINGS, 5)
    kinds = [one["design"]["representation"] for one in project.state.rounds]
    found = summary(project)["representation"]
    since = found["since"]["round"]
    assert kinds[0] == "linear"  # there were no labels
    assert set(kinds[since - 1 :]) == {found["used"]} != {kinds[since - 2]}
    assert found["since"]["labels"] == 30 * (since - 1)
    assert found["errors"]["linear"] > found["errors"][found["used"]]
    assert f"rows as they are would err {found['errors']['linear']:.3f}" in found["sentence"]


@pytest.mark.usefixtures("whole_forests")
def test_a_lead_is_told_where_a_random_forest_is_clearly_better(tmp_path):
    """The comparison is made at 120 and 240 labels, not in between, and remembered by the memory."""
    project = make(tmp_path / "p", BOXES, batch=60)
    label(project, IN_BOX, 5)
    shares = [one["design"].get("forest") for one in project.state.rounds]
    assert shares[:2] == [None, None]
    assert shares[2] == shares[3]
    assert shares[3] != shares[4]
    found = summary(project)["representation"]
    assert found["forest"] == shares[4] > found["model"] + 0.01
    assert found["advice"].startswith("A random forest would be right on 0.")
    assert "classifier=" not in found["advice"]  # projects have no such argument
    assert all(r.differs is None for r in repeat_rounds(project.ledger, lambda: project.pool))
