import shutil
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from aced import InvalidInput, Pool
from aced.pool import BLOCK_ROWS
from tests.pool.stores import STORES


def test_blocks_cover_the_rows_in_order():
    rows = np.arange(2 * (2 * BLOCK_ROWS + 5), dtype=float).reshape(-1, 2)
    pool = Pool(rows)
    assert pool.blocks == 3
    joined = np.concatenate([pool.block(j) for j in range(pool.blocks)])
    assert joined.dtype == np.float32
    np.testing.assert_array_equal(joined, rows.astype(np.float32))


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [3, 4], [5, 6]],
        np.array([[1, 2], [3, 4], [5, 6]], dtype=np.uint8),
        np.asfortranarray([[1.0, 2], [3, 4], [5, 6]]),
        pd.DataFrame({"a": [1, 3, 5], "b": [2.0, 4, 6]}),
        pl.DataFrame({"a": [1, 3, 5], "b": [2.0, 4, 6]}),
        scipy.sparse.csr_matrix([[1.0, 2], [3, 4], [5, 6]]),
        scipy.sparse.coo_array(np.array([[1.0, 2], [3, 4], [5, 6]])),
    ],
)
def test_what_users_hold_becomes_the_same_pool(rows):
    np.testing.assert_array_equal(Pool(rows).rows(), [[1, 2], [3, 4], [5, 6]])


def test_bools_are_numbers():
    np.testing.assert_array_equal(Pool(pd.DataFrame({"a": [True, False]})).rows(), [[1], [0]])


def test_ids_come_from_the_pandas_index_unless_given():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"])
    assert Pool(frame).ids.tolist() == ["x", "y"]
    assert Pool(frame, ids=[7, 9]).ids.tolist() == [7, 9]
    assert Pool(frame).positions(["y", "x"]).tolist() == [1, 0]


def test_fingerprint_tells_pools_apart():
    rows = np.eye(3)
    assert Pool(rows).fingerprint == Pool(rows.astype(np.float32)).fingerprint
    assert Pool(rows).fingerprint != Pool(rows, ids=[3, 4, 5]).fingerprint
    assert Pool(rows).fingerprint != Pool(2 * rows).fingerprint
    assert Pool(rows).fingerprint != Pool(rows, ids=["0", "1", "2"]).fingerprint


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[1.0, np.nan]], "row 0, column 1 is NaN"),
        ([[1.0], [np.inf]], "row 1, column 0 is infinite"),
        ([[1e300]], "too large for float32"),
        (np.zeros((0, 3)), "the pool is empty"),
        (np.zeros((3, 0)), "no features"),
        ([1.0, 2.0], "two-dimensional"),
        (np.zeros((2, 4, 4)), "reshape"),
        ([["a", "b"]], "real numbers"),
        (np.array([[1 + 2j]]), "real numbers"),
        (scipy.sparse.csr_matrix([[1 + 2j]]), "real numbers"),
        (scipy.sparse.csr_matrix([[1e300]]), "too large for float32"),
        ([[1.0], [1.0, 2.0]], "different lengths"),
        (pd.DataFrame({"a": [1.0], "name": ["x"]}), "column 'name' is not numeric"),
        (pd.DataFrame({"a": [1.0, np.nan]}), "column a is NaN"),
        (pl.DataFrame({"a": [1.0], "name": ["x"]}), "column 'name' is not numeric"),
        (pl.DataFrame({"a": [1.0, None]}), "NaN"),
    ],
)
def test_bad_rows_get_one_sentence(rows, sentence):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        Pool(rows)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ([1, 1, 2], "1 stands for 2 rows"),
        ([1, 2], "one value per row"),
        ([1.5, 2.5, 3.5], "all integers or all strings"),
        ([1, "a", None], "all integers or all strings"),
        ([1, 2, "a"], "all integers or all strings"),
        ([True, False, True], "all integers or all strings"),
        ([2**64 - 1, 1, 2], "fit in 64 bits"),
        ([[1], [2, 3], [4]], "integers or"),
    ],
)
def test_bad_ids_get_one_sentence(ids, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Pool(np.eye(3), ids=ids)


def test_unknown_ids_are_named():
    with pytest.raises(InvalidInput, match="99 is not in the pool"):
        Pool(np.eye(3)).positions([0, 99])
    for mask in (np.array([True, False, True]), [1.0], [[0], [1, 2]]):
        with pytest.raises(InvalidInput, match="ids"):
            Pool(np.eye(3)).positions(mask)


def test_the_pool_is_a_copy():
    rows = np.zeros((3, 2), np.float32)
    pool = Pool(rows)
    rows[0, 0] = np.nan
    assert pool.rows()[0, 0] == 0


def test_frames_of_mixed_and_nullable_numbers():
    frame = pd.DataFrame({"a": [True, False], "b": [1.5, 2.5], "c": pd.array([1, 2], dtype="Int64")})
    np.testing.assert_array_equal(Pool(frame).rows(), [[1, 1.5, 1], [0, 2.5, 2]])
    np.testing.assert_array_equal(Pool(pl.from_pandas(frame)).rows(), [[1, 1.5, 1], [0, 2.5, 2]])
    with pytest.raises(InvalidInput, match="row 1, column c is NaN"):
        Pool(frame.assign(c=pd.array([1, None], dtype="Int64")))


def test_a_sparse_pool_with_many_columns_stays_sparse():
    rows = scipy.sparse.random(50, 6000, density=0.01, format="coo", rng=np.random.default_rng(0))
    pool = Pool(rows)
    assert pool.sparse
    assert not Pool(rows.tocsc()[:, :100]).sparse
    assert scipy.sparse.issparse(pool.block(0))
    np.testing.assert_array_equal(pool.block(0).toarray(), rows.toarray().astype(np.float32))
    np.testing.assert_array_equal(pool.rows([3, 1]).toarray(), pool.block(0).toarray()[[3, 1]])
    with pytest.raises(InvalidInput, match="is NaN"):
        Pool(scipy.sparse.csr_matrix(([np.nan], ([0], [1])), shape=(2, 6000)))


def test_a_pool_says_how_large_it_is_and_where_its_rows_are(tmp_path):
    rows = np.random.default_rng(0).random((300, 8))
    assert repr(Pool(rows)) == "Pool(300 rows x 8 features, float32, 9 KiB in memory)"
    assert repr(Pool(rows[:2], ids=[7, 3])).endswith("64 bytes in memory, ids 7 … 3)")
    np.save(tmp_path / "rows.npy", rows)
    on_disk = Pool(tmp_path / "rows.npy")
    assert repr(on_disk) == "Pool(300 rows x 8 features, float64, 19 KiB on disk at rows.npy)"
    (tmp_path / "parts").mkdir()
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / "parts" / name, rows)
    assert repr(Pool(tmp_path / "parts")).endswith("38 KiB on disk at parts in 2 files)")
    sparse = scipy.sparse.random(300, 5000, 0.01, "csr", dtype=np.float32, rng=np.random.default_rng(0))
    assert repr(Pool(sparse)).endswith("sparse float32, 118 KiB in memory, density 0.01)")


@pytest.mark.parametrize("store", STORES)
def test_a_pool_says_where_its_rows_are_even_when_they_are_gone(tmp_path, store):
    pool = Pool(store(tmp_path, np.eye(3)))
    shutil.rmtree(tmp_path)
    assert repr(pool).startswith("Pool(3 rows x 3 features, ")


class Name(str, Enum):
    FIRST = "first"
    FIFTH = "fifth"


def test_ids_keep_their_characters():
    pool = Pool(np.eye(2), ids=list(Name))
    assert pool.ids.tolist() == ["first", "fifth"]
    assert pool.positions([Name.FIFTH, "first"]).tolist() == [1, 0]
    assert Pool(np.eye(2), ids=[2**63 - 1, 5]).positions([2**63 - 1]).tolist() == [0]


@pytest.mark.parametrize("wanted", [["first\0"], [1], [2**63], [2**64], np.array([2**63], np.uint64)])
def test_an_id_is_not_found_under_another_value(wanted):
    for pool in (Pool(np.eye(2), ids=["first", "1"]), Pool(np.eye(2), ids=[2**63 - 1, 5])):
        with pytest.raises(InvalidInput, match="is not in the pool"):
            pool.positions(wanted if wanted != [1] else [1, "first"])


def test_ids_with_a_nul_character_are_refused():
    with pytest.raises(InvalidInput, match=r"'a\\x00' has a NUL character, which numpy cuts off"):
        Pool(np.eye(2), ids=["a\0", "b"])
