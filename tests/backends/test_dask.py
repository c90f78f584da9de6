import gc
import time

import numpy as np
import pytest

from aced import InvalidInput
from aced._workers import PerRow, Workers
from aced.backends import _dask as backend, make_workers
from aced.learner import Learner
from aced.pool import Pool
from tests.backends.kernels import (
    KINDS,
    arguments,
    assert_same,
    dying,
    failing,
    make_pool,
    moments,
    rows,
    scaled,
    scores,
    weighed,
)
from tests.backends.learning import asked, assert_same_rounds

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
    ) as local:
        yield local


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as found:
        yield found


def wait_until_held(client, **expected):
    """Until the cluster holds so many of ours under each name and no others; it lets go in its time."""

    def counts(dask_scheduler):
        keys = [str(key) for key in dask_scheduler.tasks if "aced-" in str(key)]
        names = [key.split("-")[1] for key in keys]
        return {name: names.count(name) for name in names}

    for _ in range(200):
        gc.collect()
        found = client.run_on_scheduler(counts)
        if found == expected:
            return
        time.sleep(0.1)
    raise AssertionError(f"the cluster holds {found}, not {expected}")


@pytest.mark.parametrize("kind", KINDS)
def test_fold_and_each_equal_threads_to_the_bit(client, kind, tmp_path):
    pool, threads, workers = make_pool(kind, tmp_path), Workers(2), make_workers(client=client)
    args = arguments(pool)
    for _ in range(2):  # the second time from what is held
        assert_same(workers.fold(moments, pool, *args), threads.fold(moments, pool, *args))
        assert_same(workers.each(scores, pool, *args), threads.each(scores, pool, *args))


def test_a_persisted_dask_array_stays_where_it_is(client):
    import dask.array

    array = client.persist(dask.array.from_array(rows(), chunks=(7_000, -1)))
    pool = Pool(array)
    workers = make_workers(client=client)
    args = arguments(pool)
    assert_same(workers.fold(moments, pool, *args), Workers(1).fold(moments, pool, *args))
    assert workers.traffic["pool_sent"] < 10_000


@pytest.fixture(scope="module")
def expected():
    return asked(threads=2)


@pytest.mark.parametrize("count", [2, 3])
def test_two_rounds_equal_those_of_threads(cluster, client, expected, count):
    cluster.scale(count)
    client.wait_for_workers(count)
    assert_same_rounds(asked(client=client), expected)


@pytest.mark.parametrize("strategy", ["margin", "core-set"])
def test_other_strategies_ask_for_the_same_rows(client, strategy):
    assert_same_rounds(asked(strategy=strategy, client=client), asked(strategy=strategy, threads=2))


def test_a_saved_learner_goes_on_with_a_cluster(client, tmp_path):
    given = rows(500)
    labels = (given[:, 0] > 0).astype(int)
    learner = Learner(Pool(given), classes=[0, 1], batch_size=20)
    first = learner.ask()
    learner.tell(first.ids, labels[first.ids])
    learner.save(tmp_path / "it")
    loaded = Learner.load(tmp_path / "it", Pool(given), client=client)
    np.testing.assert_array_equal(loaded.ask().ids, learner.ask().ids)
    assert loaded.workers.traffic["calls"] > 0


def traffic(client, n):
    """What two sums and one array over rows, all with the same vector, send and receive."""
    pool, workers = Pool(rows(n, 2)), make_workers(client=client)
    values, large = PerRow(np.ones((n, 1), np.float32)), np.ones(1000)
    workers.fold(weighed, pool, values, large)
    workers.fold(weighed, pool, values, large)
    workers.each(scaled, pool, values)
    return workers.traffic


def test_what_moves_besides_rows_does_not_grow_with_the_pool(client):
    n = 32 * 16 * 1024  # 32 parts, and of twice as many rows 32 as well
    small, large = traffic(client, n), traffic(client, 2 * n)
    assert small["calls"] == large["calls"] == 3
    assert 2 * 8000 < small["sent"] == large["sent"] < 2 * 8000 + 1000
    assert small["received"] == large["received"] == 2 * 32 * 8 * (2 + 3)  # float64
    for found, count in ((small, n), (large, 2 * n)):
        assert 4 * count < found["per_row_sent"] < 4 * count + 32 * 500  # once, not three times
        assert found["per_row_received"] == 2 * 4 * count
        assert 2 * 4 * count < found["pool_sent"] < 2 * 4 * count + 32 * 1000


def test_nothing_is_held_longer_than_needed(client):
    wait_until_held(client)
    pool, workers = Pool(rows()), make_workers(client=client)
    args = arguments(pool)
    workers.fold(moments, pool, *args)
    wait_until_held(client, rows=3, vector=3)
    del args
    wait_until_held(client, rows=3)
    del pool
    wait_until_held(client)


def test_an_error_in_a_kernel_comes_back_and_leaves_nothing(client):
    pool, workers = Pool(rows()), make_workers(client=client)
    with pytest.raises(ZeroDivisionError, match="told so"):
        workers.fold(failing, pool, "told so")
    del pool
    wait_until_held(client)


def test_rows_that_others_cancelled_are_sent_again(client):
    pool, workers = Pool(rows()), make_workers(client=client)
    args = arguments(pool)
    expected = workers.fold(moments, pool, *args)
    client.cancel(workers._pools[pool.data] + workers._rows[args[1]][pool.data])
    assert_same(workers.fold(moments, pool, *args), expected)


def test_a_file_that_workers_cannot_read(client, tmp_path):
    pool, workers = make_pool("file", tmp_path), make_workers(client=client)
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(InvalidInput, match=r"does not exist.*all workers must be able to read the rows"):
        workers.fold(moments, pool, *arguments(pool))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("memory", "save them with numpy.save where all"), ("sparse", "keep fewer rows or columns")],
)
def test_too_many_rows_to_send(client, kind, sentence, tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "MOST_SENT", 1_000_000)
    pool = make_pool(kind, tmp_path)
    with pytest.raises(InvalidInput, match=sentence):
        make_workers(client=client).fold(moments, pool, *arguments(pool))


def test_large_arguments_raise_no_warning_and_results_come_in_turns(client, monkeypatch):
    monkeypatch.setattr(backend, "AT_ONCE", 100)
    pool, workers = Pool(rows()), make_workers(client=client)
    args = PerRow(np.ones((len(pool), 100), np.float32)), np.arange(3_000_000.0)  # 16 and 24 MB
    assert_same(workers.fold(weighed, pool, *args), Workers(1).fold(weighed, pool, *args))


def test_a_closed_client_is_refused(cluster):
    with distributed.Client(cluster, set_as_default=False) as other:
        workers = make_workers(client=other)
    with pytest.raises(InvalidInput, match="was closed; go on with a new Client"):
        workers.fold(moments, Pool(rows()))
    with pytest.raises(InvalidInput, match="was closed; go on with a new Client"):
        make_workers(client=other)


def test_workers_that_die_over_a_task(client, tmp_path):
    pool, workers = Pool(rows()), make_workers(client=client)
    _, weight, _ = arguments(pool)
    found = workers.fold(dying, pool, tmp_path / "mark", weight)  # one death
    assert_same(found, Workers(1).fold(dying, pool, tmp_path / "mark", weight))

    def give_up_at_once(dask_scheduler):
        dask_scheduler.allowed_failures = 0

    client.run_on_scheduler(give_up_at_once)
    with pytest.raises(InvalidInput, match="1 workers died over the same task"):
        workers.fold(dying, pool, None, weight)
