"""The reduction, observations and instances."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced.theory import Bandit, from_file, random, rectangles, separators, spread, thresholds
from tests.helpers import blobs


def test_the_reduction_keeps_errors():
    rng = np.random.default_rng(0)
    labelings = np.unique(rng.random((20, 9)) < 0.5, axis=0)
    eta = rng.random(9)
    problem = Bandit.from_classification(labelings, eta)
    by_definition = np.where(labelings, 1 - eta, eta).mean(axis=1)
    np.testing.assert_allclose(problem.errors, by_definition)
    np.testing.assert_allclose(problem.gaps / 9, by_definition - by_definition.min(), atol=1e-9)
    assert problem.best == by_definition.argmin()
    assert problem.nu == pytest.approx(by_definition.min())
    assert problem.delta_min / 9 == pytest.approx(np.diff(np.sort(by_definition))[0])


@pytest.mark.parametrize("noise", ["sign", "uniform", "none"])
def test_draws_have_the_means_and_the_design(noise):
    """Within 5 standard errors for 6 rows each: alarm rate 1e-5."""
    mu = np.array([-1.0, -0.4, 0.0, 0.3, 0.8, 1.0])
    problem = Bandit(np.eye(6, dtype=bool), mu, noise)
    lam = np.array([0.1, 0.2, 0.1, 0.3, 0.2, 0.1])
    t = 40_000
    sample = problem.draw(lam, t, np.random.default_rng(0))
    assert sample.t == t
    assert (np.abs(sample.counts - t * lam) < 5 * np.sqrt(t * lam * (1 - lam))).all()
    assert (np.abs(sample.sums / sample.counts - mu) < 5 / np.sqrt(sample.counts) + 1e-12).all()


def test_persistent_labels_are_drawn_once():
    problem = Bandit(np.eye(40, dtype=bool), np.zeros(40))
    world = problem.realise(np.random.default_rng(0))
    assert set(world.mu.tolist()) == {-1.0, 1.0}
    again = world.draw(np.full(40, 1 / 40), 4000, np.random.default_rng(1))
    np.testing.assert_allclose(again.sums, again.counts * world.mu)


def test_instances_are_what_they_say():
    wide = spread(4)
    assert wide.sets.shape == (17, 20)
    np.testing.assert_allclose(np.delete(wide.gaps, wide.best), 5)
    assert wide.distances.max() == 5
    cut = thresholds(9, 0.2, cut=3)
    assert cut.best == 2
    np.testing.assert_allclose(cut.gaps, 0.6 * np.abs(np.arange(1, 10) - 3))
    boxes = rectangles(8)
    assert any(not row.any() for row in boxes.sets)
    assert any(row.all() for row in boxes.sets)
    assert random(6, 20, seed=4).sets.shape == (20, 6)


def test_rectangles_are_all_labelings_by_rectangles():
    points = np.random.default_rng(0).random((6, 2))
    found = {row.tobytes() for row in rectangles(6).sets}
    edges = [np.concatenate([[-1.0], np.sort(points[:, a]), [2.0]]) for a in (0, 1)]
    middle = [(e[1:] + e[:-1]) / 2 for e in edges]
    expected = set()
    for left in middle[0]:
        for right in middle[0]:
            for low in middle[1]:
                for high in middle[1]:
                    inside = (points > [left, low]).all(axis=1) & (points < [right, high]).all(axis=1)
                    expected.add(inside.tobytes())
    assert found == expected


def test_separators_of_a_pool():
    rows, labels = blobs(120, 3)
    problem = separators(rows, labels, 30)
    assert problem.sets.shape == (30, 120)
    assert problem.errors.min() < 0.3 < problem.errors.max()


def test_files(tmp_path):
    path = tmp_path / "class.npz"
    np.savez(path, H=np.array([[0, 1], [1, 1]]), eta=np.array([0.2, 0.9]))
    assert from_file(path).best == 0
    np.savez(path, H=np.array([[0, 1], [1, 1]]), mu=np.array([0.2, 0.9]))
    assert from_file(path).best == 1
    np.savez(path, X=np.ones(2))
    with pytest.raises(InvalidInput, match="needs arrays H"):
        from_file(path)
    path.write_text("no archive")
    with pytest.raises(InvalidInput, match="is not a readable file of plain arrays"):
        from_file(path)
    with pytest.raises(InvalidInput, match="instance: there is no file"):
        from_file(tmp_path / "absent.npz")
    for content in (b"", b"PK\x03\x04 broken"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="is not a readable file of plain arrays"):
            from_file(path)
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(InvalidInput, match="needs arrays H"):
        from_file(tmp_path / "array.npy")
    np.savez(path, H=np.eye(2), eta=np.array(["a", "b"]))
    with pytest.raises(InvalidInput, match="eta must be an array of numbers"):
        from_file(path)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Bandit(np.empty((0, 3)), np.zeros(3)), "sets must have shape"),
        (lambda: Bandit(np.array([[0, 2]]), np.zeros(2)), "only 0 and 1"),
        (lambda: Bandit(np.eye(2), np.zeros(3)), "one mean a row"),
        (lambda: Bandit(np.eye(2), np.array([0, np.nan])), "mu must lie"),
        (lambda: Bandit(np.eye(2), np.array([0, 1.5])), "mu must lie"),
        (lambda: Bandit(np.ones((2, 2)), np.zeros(2)), "remove duplicates"),
        (lambda: Bandit(np.eye(2), np.zeros(2), "cauchy"), "noise must be"),
        (lambda: Bandit.from_classification(np.eye(2), [0, 2]), "eta must lie"),
        (lambda: spread(0), "m must be at least 1"),
        (lambda: spread(3, 0.5), "noise must lie"),
        (lambda: thresholds(1), "n must be at least 2"),
        (lambda: thresholds(8, cut=9), "cut must lie"),
        (lambda: rectangles(60), "too many rectangles"),
        (lambda: spread(10**6), "at most 20000"),
        (lambda: thresholds(10**8), "at most 20000"),
        (lambda: random(9, 9, seed=-1), "seed must be at least 0"),
        (lambda: Bandit([[0, 1], [1]], [0, 0]), "sets must be an array"),
        (lambda: separators(np.ones((4, 1)), np.ones(3)), "one label a row"),
        (lambda: random(3, 9), "only 8 labelings"),
        (lambda: random(10, 9, noise=0.4), "noise must lie"),
        (lambda: separators(np.ones((4, 1)), np.ones(4)), "two classes"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
