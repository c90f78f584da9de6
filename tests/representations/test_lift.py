"""Lifted rows, against the kernel itself and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from aced import Learner, Pool
from aced._workers import Workers
from aced.backends import make_workers
from aced.representations import Choice, Representations, components, is_lifted
from aced.representations._lift import make_lift, median_distance
from tests.helpers import blobs

RBF, WIDE = Choice("rbf", 0, 1.0), Choice("rbf", 1, 0.25)


def lifted(pool: Pool, workers: Workers | None = None, choice: Choice = RBF, seed: int = 0) -> Pool:
    return Representations(pool, workers or Workers(1), "rbf", seed).pool_of(choice)


@pytest.mark.parametrize("choice", [RBF, WIDE, Choice("weighted", 0, 4.0, np.arange(6) / 5)])
def test_products_of_lifted_rows_are_the_kernel_where_every_row_is_a_landmark(choice):
    rows, _ = blobs(n=200)
    rows = rows * [1, 100, 0.01, 1, 1, 1] + 5
    whole = lifted(Pool(rows), choice=choice).rows().astype(float)
    rows = rows.astype(np.float32).astype(float)
    spread = rows.std(axis=0) if choice.scaling == 0 else np.sqrt(rows.var(axis=0).mean())
    z = (rows - rows.mean(axis=0)) / spread * (1 if choice.weights is None else choice.weights)
    distances = np.square(z[:, None] - z[None]).sum(axis=2)
    median = np.median(distances[np.triu_indices(200, 1)])
    expected = np.exp(-choice.width * distances / median)
    np.testing.assert_allclose(whole @ whole.T, expected, atol=0.01)  # axes below LEAST are left out
    assert np.abs(whole @ whole.T - expected).mean() < 1e-3
    assert np.square(whole).sum(axis=1).max() < 1 + 1e-4


def test_few_landmarks_give_what_nystroem_gives():
    rows = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    some = rows[:60]
    factor = np.full(4, 0.5, np.float32)
    lift = make_lift(np.zeros(4, np.float32), factor, some)
    ours = lift.apply(rows).astype(float)
    other = Nystroem(gamma=0.25, n_components=60, random_state=0)
    other.fit(some)  # all of its rows are landmarks
    theirs = other.transform(rows)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=2e-3)
    exact = rbf_kernel(rows, gamma=0.25)
    np.testing.assert_allclose((ours @ ours.T)[:60, :60], exact[:60, :60], atol=2e-3)


def test_axes_are_ordered_and_differ_in_spread():
    spread = lifted(Pool(blobs(n=1000)[0])).rows().std(axis=0)
    assert spread[1] > 20 * spread[-1]
    assert (np.diff(spread[1:]) < 0.3 * spread[1:-1]).all()


def test_equal_rows_and_constant_columns_are_no_error():
    rng = np.random.default_rng(0)
    few = np.repeat(rng.normal(size=(7, 3)), 30, axis=0)
    constant = np.column_stack([rng.normal(size=(100, 2)), np.full(100, 3.0), np.zeros(100)])
    for rows, most in ((few, 7), (np.ones((40, 3)), 1), (constant, 100)):
        found = lifted(Pool(rows))
        assert np.isfinite(found.rows()).all()
        assert found.features <= most
    whole = lifted(Pool(constant)).rows()
    np.testing.assert_array_equal(whole, lifted(Pool(constant[:, :2])).rows())
    assert median_distance(np.ones((5, 2))) == 1.0


def test_landmarks_depend_on_the_seed_and_on_nothing_else():
    pool = Pool(blobs(n=900)[0])
    first, again, other = (Representations(pool, Workers(1), seed=s).landmarks for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first)) == components(900) == 512
    assert len(np.intersect1d(first, other)) < 400  # 291 in the mean


@pytest.fixture
def no_memory(monkeypatch):
    """Lifted rows are not held."""
    return lambda: monkeypatch.setattr("aced.representations._lifted.available_memory", lambda: 0)


def test_rows_lifted_when_read_have_the_same_bits_as_rows_held(no_memory, tmp_path):
    rows = blobs(n=2500)[0]
    np.save(tmp_path / "rows.npy", rows)
    pools = [Pool(rows), Pool(tmp_path / "rows.npy")]
    held = lifted(pools[0])
    assert is_lifted(held)
    assert "lifted" in repr(held)
    assert not is_lifted(pools[0])
    expected = held.rows()
    np.testing.assert_array_equal(lifted(pools[1], Workers(3)).rows(), expected)
    no_memory()
    some = np.random.default_rng(0).permutation(2500)[:77]
    for pool in pools:
        read = lifted(pool)
        assert is_lifted(read)
        assert not read.in_memory
        with Workers(2).session():  # one thread of BLAS for each block
            blocks = [read.data.block(j) for j in range(read.blocks)]
            np.testing.assert_array_equal(np.concatenate(blocks), expected)
            np.testing.assert_array_equal(read.rows(), expected)
            for positions in (some, some[:1], some[:0]):
                np.testing.assert_array_equal(read.rows(positions), expected[positions])


def asked(pool, truth, **arguments):
    learner = Learner(pool, batch_size=25, seed=2, **arguments)
    found = []
    for _ in range(3):
        queries = learner.ask()
        learner.tell(queries.ids, truth[queries.ids])
        found.append(queries.ids)
    return np.concatenate(found), learner.predict(), learner.design, learner.classifier[-1].coef_


def test_runs_are_the_same_held_or_read_on_threads_and_processes(no_memory, tmp_path):
    rows, _ = blobs(n=1100, p=3)
    truth = (np.square(rows).sum(axis=1) > 2).astype(int)
    np.save(tmp_path / "rows.npy", rows)
    pools = [Pool(rows), Pool(tmp_path / "rows.npy")]
    first = asked(pools[0], truth, threads=1)
    runs = [asked(pools[0], truth, threads=3), asked(pools[1], truth, threads=1)]
    with make_workers("processes", 2, None, None).session():
        runs.append(asked(pools[0], truth, backend="processes", threads=2))
        no_memory()
        runs.append(asked(pools[1], truth, backend="processes", threads=2))
    runs += [asked(pool, truth, threads=2) for pool in pools]
    for other in runs:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, two)
