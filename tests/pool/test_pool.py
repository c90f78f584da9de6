import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from aced import InvalidInput, Pool
from aced.pool import BLOCK_ROWS
from aced.pool import _convert as convert


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
        ([1.5, 2.5, 3.5], "integers or strings"),
        ([1, "a", None], "integers or strings"),
    ],
)
def test_bad_ids_get_one_sentence(ids, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Pool(np.eye(3), ids=ids)


def test_unknown_ids_are_named():
    with pytest.raises(InvalidInput, match="99 is not in the pool"):
        Pool(np.eye(3)).positions([0, 99])


def test_a_sparse_pool_too_large_to_densify_is_refused(monkeypatch):
    monkeypatch.setattr(convert, "DENSIFY_BYTES", 100)
    with pytest.raises(InvalidInput, match="TruncatedSVD"):
        Pool(scipy.sparse.random(10, 10, density=0.1, format="csr", rng=np.random.default_rng(0)))
