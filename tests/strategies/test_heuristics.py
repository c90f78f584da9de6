"""The strategies people use, against their definitions computed the long way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from aced import InvalidInput, Learner, Pool
from aced._workers import Workers
from aced.strategies import Badge, Committee, CoreSet, Density, View, make_strategy
from aced.strategies._density import similarity
from aced.strategies._distances import Nearest
from tests.helpers import blobs

ROWS, LABELS = blobs(n=200, p=3, flip=0.1)


def view_of(labelled: int = 30) -> View:
    positions = np.arange(labelled)
    learner = Learner(Pool(ROWS))
    learner.tell(positions, LABELS[:labelled])
    still_open = np.ones(len(ROWS), dtype=bool)
    still_open[:labelled] = False
    return View(
        pool=learner.pool,
        workers=Workers(1),
        positions=positions,
        codes=LABELS[:labelled],
        open=still_open,
        batch_size=10,
        tolerance=0.0,
        scores=learner._scores,
    )


@pytest.mark.parametrize("name", ["entropy", "least-confidence"])
def test_with_two_classes_they_order_as_margin_does(name):
    view, rng = view_of(), np.random.default_rng(0)
    margin = make_strategy("margin").plan(view, 40, rng).positions
    np.testing.assert_array_equal(make_strategy(name).plan(view, 40, rng).positions, margin)


def test_core_set_is_farthest_first():
    view = view_of()
    found = CoreSet().plan(view, 12, np.random.default_rng(0)).positions
    centres = list(range(30))
    for row in found.tolist():
        distance = np.linalg.norm(ROWS[:, None] - ROWS[centres], axis=2).min(axis=1)
        distance[~view.open] = -1
        assert distance[row] == pytest.approx(distance.max(), rel=1e-4)
        centres.append(row)


def test_badge_draws_in_proportion_to_squared_distances():
    view = view_of()
    plan = Badge().plan(view, 8, np.random.default_rng(3))
    scores = view.scores()
    p = expit(scores)
    embedding = (p - (scores > 0))[:, None] * np.column_stack([ROWS, np.ones(len(ROWS))])
    left, drawn = view.open.copy(), []
    for row, probability in zip(plan.positions.tolist(), plan.probabilities, strict=True):
        apart = embedding[:, None] - embedding[drawn] if drawn else embedding[:, None]
        weight = np.square(apart).sum(axis=2).min(axis=1) * left
        assert probability == pytest.approx(weight[row] / weight.sum(), rel=1e-3)
        left[row] = False
        drawn.append(row)


def test_density_is_the_mean_cosine_similarity():
    centred = ROWS - ROWS.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    expected = (1 + (unit @ unit.T).mean(axis=1)) / 2
    np.testing.assert_allclose(similarity(Pool(ROWS), Workers(1)), expected, atol=1e-6)
    view = view_of()
    value = expit(-np.abs(view.scores())) * expected**2
    value[~view.open] = -1
    best = np.argsort(-value, kind="stable")[:5]
    np.testing.assert_array_equal(
        Density(beta=2).plan(view, 5, np.random.default_rng(0)).positions, best
    )


def test_committee_asks_where_members_differ():
    view = view_of(60)
    found = Committee(members=20).plan(view, 20, np.random.default_rng(0)).positions
    rest = np.setdiff1d(np.flatnonzero(view.open), found)
    margins = np.abs(view.scores())
    assert np.median(margins[found]) < np.median(margins[rest])


def test_distances_grow_no_further_than_the_nearest():
    nearest = Nearest(Pool(ROWS), Workers(1))
    nearest.add(np.array([3, 7, 11]))
    expected = np.square(ROWS[:, None] - ROWS[[3, 7, 11]]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(nearest.squares, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "words"), [(lambda: Density(-1), "beta"), (lambda: Committee(1), "members")]
)
def test_bad_options_are_named(make, words):
    with pytest.raises(InvalidInput, match=words):
        make()
