"""A random forest is compared with the model on labels that neither has seen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from aced import Learner, Pool
from aced._workers import Workers
from aced.learner._forest import Compared, clearly_better, compare, forest_right
from aced.representations import Choice, Representations

pytestmark = pytest.mark.usefixtures("whole_forests")

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(1500, 12)).astype(np.float32)
BOXES = (((ROWS[:, 0] > 0.3) & (ROWS[:, 1] < 0.5)) | (ROWS[:, 2] > 1)).astype(int)
LINE = (ROWS @ RNG.normal(size=12) > 0).astype(int)


def model_of(positions, codes, choice="rbf"):
    return Representations(Pool(ROWS), Workers(1)).fit(Choice(choice), positions, codes[positions])


def run(truth, labels=250, **options):
    said = []
    learner = Learner(
        ROWS, strategy="passive", budget=labels, batch_size=50, report=said.append, **options
    )
    while queries := learner.ask():
        learner.tell(queries.ids, truth[queries.ids])
    return learner, said


def test_the_forest_is_right_as_often_as_cross_validation_says():
    """The parts differ, so the shares do by chance: 0.04 is more than three standard errors."""
    forest = RandomForestClassifier(n_estimators=100, random_state=0)
    expected = cross_val_score(forest, ROWS[:400], BOXES[:400], cv=5).mean()
    assert abs(forest_right(ROWS[:400], BOXES[:400]).mean() - expected) < 0.04


def test_no_row_is_predicted_by_a_forest_that_knew_it():
    """A forest that has seen a row of pure noise remembers its label; one that has not is at chance.

    Its hits among 400 are then 200 ± 10: fewer than 250 with all but 3e-7 probability."""
    noise = np.random.default_rng(1).integers(2, size=400)
    assert forest_right(ROWS[:400], noise).sum() < 250


def test_the_paired_test_is_that_of_its_formula():
    rng = np.random.default_rng(2)
    for gain in (0.0, 0.02, 0.05, 0.1):
        model = rng.random(300) < 0.8
        forest = model | (rng.random(300) < gain)
        d = forest.astype(int) - model.astype(int)
        expected = d.mean() > 0.01 and d.mean() > 2.5 * np.sqrt(d.var() / 300)
        assert clearly_better(forest, model) == expected


def test_equal_classifiers_are_seldom_called_different():
    """With 1000 pairs that are right alike the rate is at most 0.62 %, the normal tail; more than 18
    false alarms have a probability below 1e-4. The seed is fixed."""
    rng = np.random.default_rng(3)
    alarms = sum(clearly_better(rng.random(400) < 0.85, rng.random(400) < 0.85) for _ in range(1000))
    assert alarms <= 18


def test_it_is_due_at_a_hundred_labels_and_when_they_have_doubled():
    pool, found = Pool(ROWS), None
    compared = []
    for labels in (60, 99, 100, 150, 199, 200, 260):
        positions = np.arange(labels)
        found = compare(found, pool, positions, model_of(positions, BOXES))
        compared.append(None if found is None else found.labels)
    assert compared == [None, None, 100, 100, 100, 200, 200]


def test_of_many_labels_some_are_compared():
    positions = np.arange(1200)
    model = model_of(positions, BOXES)
    found = compare(None, Pool(ROWS), positions, model)
    right = (model.left_out.argmax(axis=1) == BOXES[:1200])[::2]
    assert found.labels == 1200
    assert found.model == pytest.approx(right.mean())
    assert found.forest == pytest.approx(forest_right(ROWS[:1200:2], BOXES[:1200:2]).mean())


def test_the_user_is_told_where_it_is_clearly_better():
    learner, said = run(BOXES, 450)
    record = learner.history[-1]
    assert record["forest"] > record["model"] + 0.01
    assert record["advice"] in said
    assert f"{record['forest']:.2f} of left-out labels, this model on {record['model']:.2f}" in said[-1]


def test_nothing_is_said_where_a_line_is_better():
    learner, said = run(LINE, 250)
    assert learner.history[-1]["forest"] < learner.history[-1]["model"]
    assert "advice" not in learner.history[-1]
    assert said == []


def test_no_draw_depends_on_the_comparison(monkeypatch):
    drawn = []
    for fewest in (100, 10**9):
        monkeypatch.setattr("aced.learner._forest.FEWEST", fewest)
        learner, _ = run(BOXES, 200)
        drawn.append((learner.labelled()[0].tolist(), learner.memory.rng["state"]))
    assert drawn[0] == drawn[1]


def test_a_saved_learner_remembers_it(tmp_path):
    learner, _ = run(BOXES, 250)
    learner.save(tmp_path / "l.npz")
    again = Learner.load(tmp_path / "l.npz", ROWS)
    np.testing.assert_array_equal(again.memory.arrays["forest"], learner.memory.arrays["forest"])
    assert Compared.of_arrays(again.memory.arrays).labels == 200


@pytest.mark.parametrize("options", [{"l2": 1.0}, {"classifier": RandomForestClassifier(5)}])
def test_a_classifier_that_the_user_chose_is_compared_with_nothing(options):
    learner, _ = run(BOXES, 200, **options)
    assert "forest" not in learner.history[-1]
    assert "forest" not in learner.memory.arrays
