"""Every way to keep rows makes the same pool as the matrix in memory."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from aced import InvalidInput, Pool
from aced.pool import BLOCK_ROWS
from aced.pool._concatenated import Concatenated
from tests.pool.stores import ON_DISK, STORES, large_group, parquet, parquet_folder

N, P = 5 * BLOCK_ROWS + 77, 6


def some(dtype="f4", n=N):
    numbers = np.random.default_rng(0).normal(0, 40, (n, P))
    return (np.abs(numbers) if np.dtype(dtype).kind == "u" else numbers).astype(dtype)


@pytest.fixture(params=STORES, ids=lambda store: store.__name__)
def store(request):
    return request.param


@pytest.mark.usefixtures("small_chunks")
class TestSame:
    def test_blocks_and_fingerprint(self, store, tmp_path):
        rows = some()
        pool, same = Pool(store(tmp_path, rows)), Pool(rows)
        assert not pool.in_memory
        assert pool.blocks == same.blocks == 6
        for j in (0, 5, 2, 1, 4, 3, 0):  # in no order
            block = pool.block(j)
            assert block.dtype == np.float32
            assert block.flags.c_contiguous
            np.testing.assert_array_equal(block, same.block(j))
        np.testing.assert_array_equal(pool.rows(), rows)
        assert pool.fingerprint == same.fingerprint

    @pytest.mark.parametrize("dtype", ["f2", "u1", "i2", "f8", "?", "i8"])
    def test_dtypes(self, store, dtype, tmp_path):
        rows = some(dtype, 1500)
        assert Pool(store(tmp_path, rows)).fingerprint == Pool(rows).fingerprint

    def test_rows_at_positions(self, store, tmp_path):
        rows = some()
        pool = Pool(store(tmp_path, rows))
        rng = np.random.default_rng(1)
        for positions in (
            rng.integers(N, size=200),
            [3, 3, N - 1, 0],
            -np.arange(1, 9),
            np.arange(N) % 7 == 0,
        ):
            np.testing.assert_array_equal(pool.rows(positions), rows[positions])
        assert pool.rows(np.empty(0, int)).shape == (0, P)
        np.testing.assert_array_equal(pool.rows(17), rows[17])
        with pytest.raises(IndexError):
            pool.rows([N])

    def test_threads_that_read_interleaved_blocks(self, store, tmp_path):
        rows = some()
        pool = Pool(store(tmp_path, rows))

        def visit(seed):
            order = np.random.default_rng(seed).integers(pool.blocks, size=40)
            return all(np.array_equal(pool.block(j), rows[pool.slices[j]]) for j in order)

        with ThreadPoolExecutor(6) as threads:
            assert all(threads.map(visit, range(6)))

    def test_after_pickling(self, store, tmp_path):
        rows = some()
        data = Pool(store(tmp_path, rows)).data
        for _ in range(2):
            data = pickle.loads(pickle.dumps(data))
        np.testing.assert_array_equal(data.source.read(0, N), rows)


@pytest.mark.parametrize("store", ON_DISK, ids=lambda store: store.__name__)
def test_pickles_name_files(store, tmp_path):
    rows = some()
    assert len(pickle.dumps(Pool(store(tmp_path, rows)).data)) < 1500 < rows.nbytes / 50


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (np.nan, "row 3000, column .*4 is NaN"),
        (-np.inf, "row 3000, column .*4 is infinite"),
        (1e300, r"row 3000, column .*4 is 1e\+300, too large for float32"),
    ],
)
@pytest.mark.usefixtures("small_chunks")
def test_values_that_are_not_finite_are_named(store, value, sentence, tmp_path):
    rows = some("f8")
    rows[3000, 4] = value
    with pytest.raises(InvalidInput, match=sentence) as caught:
        Pool(store(tmp_path, rows))
    assert "\n" not in str(caught.value)
    column = "c4" if store in (parquet, large_group, parquet_folder) else "4"
    assert f"column {column} " in str(caught.value)


def test_pieces_are_read_once_for_rows_at_positions():
    class Counted(Concatenated):
        seen = ()

        def _rows(self, index, rows):
            self.seen += (index,)
            return np.full((len(rows), 1), index, np.float32)

        def _raw(self, index, rows):
            return self._rows(index, np.arange(rows.start, rows.stop))

    pieces = Counted(np.array([0, 10, 20, 30, 40]), 1)
    np.testing.assert_array_equal(pieces.take(np.array([35, 1, 39, 2, 30])).ravel(), [3, 0, 3, 0, 3])
    assert pieces.seen == (0, 3)


def test_the_next_chunk_is_read_ahead_and_its_errors_wait_for_a_reader(tmp_path, small_chunks):
    pool = Pool(parquet(tmp_path, some()))
    source = pickle.loads(pickle.dumps(pool.data.source))
    asked, ready = [], threading.Event()
    decode = source._decode

    def watched(index):
        asked.append((index, threading.current_thread().name))
        if index == 1:
            ready.set()
            raise OSError("this disk is broken")
        return decode(index)

    source._decode = watched
    np.testing.assert_array_equal(source.read(0, 10), pool.block(0)[:10])
    assert ready.wait(20)
    assert [index for index, _ in asked] == [0, 1] or [index for index, _ in asked] == [1, 0]
    assert dict(asked)[1].startswith("aced-read-ahead")
    with pytest.raises(OSError, match="broken"):
        source.read(int(source.starts[1]), int(source.starts[1]) + 5)


def test_a_chunk_that_was_passed_is_not_read_ahead(tmp_path, small_chunks):
    source = pickle.loads(pickle.dumps(Pool(parquet(tmp_path, some())).data.source))
    source._latest = 3
    for index in (1, 2, 5):
        source._load_ahead(index)
    assert not source._kept
    source._load_ahead(4)
    assert list(source._kept) == [4]


def test_what_is_kept_is_bounded(tmp_path, small_chunks):
    source = Pool(parquet(tmp_path, some())).data.source
    source.read(0, N)
    source._coming.result()
    assert (
        source._bytes == sum(chunk.nbytes for chunk in source._kept.values()) <= source._most < 4 * N * P
    )
