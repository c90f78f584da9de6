"""Learners that an earlier version saved go on as they would have then.

Probabilities are compared to a thousandth: the file was made on a processor that rounds otherwise.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from aced import Learner

BEFORE = Path(__file__).parents[1] / "data" / "before"


@pytest.mark.parametrize("name", ["aced", "passive", "iwal0", "oac", "aced-two", "margin-two"])
def test_they_ask_for_the_same_rows_with_the_same_probabilities(name):
    expected = json.loads((BEFORE / f"{name}.json").read_text())
    truth = np.where(load_breast_cancer().target, "yes", "no")
    learner = Learner.load(BEFORE / f"{name}.npz", np.load(BEFORE / "rows.npy"), threads=1)
    pending = learner.pending
    learner.tell(pending, truth[pending])
    for ids, probabilities in expected["next"]:
        queries = learner.ask(5 if name in ("iwal0", "oac") else 10)
        assert queries.ids.tolist() == ids
        assert queries.probabilities == pytest.approx(probabilities, rel=1e-3)
        learner.tell(queries.ids, truth[queries.ids])


@pytest.mark.parametrize("name", ["aced", "aced-two"])
def test_design_and_incumbent_are_there_before_the_next_round(name):
    """The second was saved when an incumbent was true or false, for two classes."""
    learner = Learner.load(BEFORE / f"{name}.npz", np.load(BEFORE / "rows.npy"), threads=1)
    assert learner.design is not None
    assert learner.design.sum() == pytest.approx(1)
    assert learner.incumbent is not None
    assert set(learner.incumbent) == {"no", "yes"}


def test_draws_of_blend_say_the_same_as_they_did_then():
    """It was saved when blend had no draws by what rows tell."""
    learner = Learner.load(BEFORE / "blend.npz", np.load(BEFORE / "rows.npy"), threads=1)
    found = learner.accuracy()
    expected = json.loads((BEFORE / "blend.json").read_text())["accuracy"]
    assert [found.estimate, found.low, found.high] == pytest.approx(expected, abs=1e-3)
    assert learner.strategy.options() == {"explore": 0.1, "tell": 0.0, "bait": 0.5}
