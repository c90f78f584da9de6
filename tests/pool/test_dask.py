import pickle

import dask.array
import numpy as np
import pytest
import scipy.sparse
from distributed import Client

from aced import InvalidInput, Pool

ROWS = np.random.default_rng(0).normal(size=(3000, 4))


def test_a_graph_with_functions_that_pickle_cannot_name():
    array = dask.array.from_array(ROWS, chunks=(700, 4)).map_blocks(lambda block: 2 * block)
    data = pickle.loads(pickle.dumps(Pool(array).data))
    np.testing.assert_array_equal(data.source.read(0, 3000), (2 * ROWS).astype(np.float32))


def test_pickles_hold_the_graph_not_the_rows():
    array = dask.array.arange(400_000, chunks=20_000).reshape((100_000, 4)) % 7
    pool = Pool(array)
    assert len(pickle.dumps(pool.data)) < 20_000
    assert pool.fingerprint == Pool(array.compute()).fingerprint


def test_a_chunk_is_computed_when_it_is_wanted(small_chunks):
    seen = []

    def mark(block, block_info=None):
        seen.append(block_info[None]["chunk-location"][0])
        return block

    array = dask.array.from_array(ROWS, chunks=(300, 4)).map_blocks(
        mark, dtype=float, meta=np.empty((0, 0))
    )
    source = Pool(array).data.source
    assert sorted(seen) == list(range(10))
    del seen[:]
    np.testing.assert_array_equal(source.take(np.array([650, 2])), ROWS[[650, 2]].astype(np.float32))
    assert seen == [0, 2]


def test_chunks_without_rows_and_sparse_chunks():
    array = dask.array.from_array(ROWS, chunks=((0, 1000, 0, 2000), 4))
    assert Pool(array).fingerprint == Pool(ROWS).fingerprint
    assert Pool(array.map_blocks(scipy.sparse.csr_matrix)).fingerprint == Pool(ROWS).fingerprint


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (lambda x: x[x[:, 0] > 0], "compute_chunk_sizes"),
        (lambda x: x[:, :0], "no features"),
        (lambda x: x[:0], "the pool is empty"),
        (lambda x: x[:, 0], "two-dimensional"),
        (lambda x: x.astype(complex), "real numbers"),
        (
            lambda x: x.map_blocks(lambda block: block[1:], dtype=float, meta=np.empty((0, 0))),
            "has changed",
        ),
    ],
)
def test_arrays_that_cannot_be_used(array, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Pool(array(dask.array.from_array(ROWS, chunks=(700, 4))))
    unknown = dask.array.from_array(ROWS, chunks=(700, 4))
    assert len(Pool(unknown[unknown[:, 0] > 0].compute_chunk_sizes())) == (ROWS[:, 0] > 0).sum()


def test_what_a_cluster_holds_is_fetched():
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
        held = dask.array.from_array(ROWS, chunks=(700, 4)).persist()
        pool = Pool(held + 1)
        assert pool.fingerprint == Pool(ROWS + 1).fingerprint
        with pytest.raises(InvalidInput, match="pass the array as it was before"):
            pickle.dumps(pool.data)
