"""Numbers that float32 cannot hold, cannot compute with or cannot tell apart."""

import warnings

import dask.array
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from aced import InvalidInput, Pool
from aced.pool import BLOCK_ROWS
from tests.pool.stores import STORES

ROWS = np.random.default_rng(0).normal(size=(360, 3))
TIMES = 1.7e9 + 10.0 * np.arange(360)


def with_times(rows=ROWS):
    rows = rows.copy()
    rows[:, 1] = 1.7e9 + 10.0 * np.arange(len(rows))
    return rows


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (np.ma.masked_array(ROWS, ROWS[2, 1] == ROWS), r"\[2, 1\]"),
        ([np.ma.masked_array(row, row == ROWS[2, 1]) for row in ROWS], r"\[2, 1\]"),
        (dask.array.from_array(np.ma.masked_array(ROWS, ROWS[2, 1] == ROWS), chunks=(100, 3)), ""),
    ],
    ids=["array", "list", "dask"],
)
def test_masked_values_are_refused(rows, where):
    with pytest.raises(InvalidInput, match=rf"value at {where}.* is masked; .* rows\.filled\(value\)"):
        Pool(rows)


def test_a_mask_that_hides_nothing_is_no_mask():
    held = np.ma.masked_array(ROWS, np.zeros(ROWS.shape, bool))
    assert Pool(held).fingerprint == Pool(ROWS).fingerprint


def test_masked_ids_are_refused():
    with pytest.raises(InvalidInput, match="ids must not be masked"):
        Pool(ROWS[:2], ids=np.ma.masked_array([1, 2], [False, True]))


def test_missing_values_of_a_nullable_column_are_refused():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")})
    with pytest.raises(InvalidInput, match="row 1, column a is NaN; fill or drop"):
        Pool(frame)


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        (with_times(), "1"),
        (with_times().astype(np.int64), "1"),
        (pd.DataFrame(with_times(), columns=["a", "time", "c"]), "time"),
        (ROWS * [1, 1e-50, 1], "1"),
        (with_times() * (np.arange(360) > 0)[:, None], "1"),
    ],
    ids=["float64", "int64", "frame", "tiny column", "a missing value filled with 0"],
)
def test_a_column_whose_values_collapse_in_float32_is_warned_about(rows, column):
    with pytest.warns(
        UserWarning, match=rf"makes \d+ of the 360 values looked at in column {column}; subt"
    ):
        pool = Pool(rows)
    assert len(np.unique(pool.rows()[:, 1])) < 40


@pytest.mark.parametrize("store", STORES)
def test_the_warning_comes_wherever_rows_are_kept(store, tmp_path):
    rows = with_times(np.random.default_rng(0).normal(size=(3 * BLOCK_ROWS, 3)))
    with pytest.warns(
        UserWarning, match=r"float32 makes \d+ of the 1023 values looked at in column c?1;"
    ):
        Pool(store(tmp_path, rows))
    rows[:, 1] -= rows[0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tmp_path / "again").mkdir()
        Pool(store(tmp_path / "again", rows))


@pytest.mark.parametrize(
    "rows",
    [
        1000 + ROWS,
        np.full((50, 2), 1.7e9),
        1e6 + np.arange(400.0).reshape(200, 2) % 4,
        with_times().astype(np.float32),
        1e8 + 1000 * ROWS,
    ],
    ids=["offset", "constant", "two values", "float32", "large offset"],
)
def test_columns_that_float32_holds_are_not_warned_about(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Pool(rows)


def wide(rows):
    return scipy.sparse.hstack(
        [scipy.sparse.csr_matrix(rows), scipy.sparse.csr_matrix((len(rows), 5000))]
    )


@pytest.mark.parametrize("keep", [np.asarray, wide], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e30, 1e20])
def test_numbers_too_large_for_squares_are_refused(keep, scale):
    rows = np.ones((4, 3))
    rows[2, 1] = scale
    with pytest.raises(
        InvalidInput, match=r"row 2, column 1 is 1e\+.0, too large for float32 arithmetic"
    ):
        Pool(keep(rows))


@pytest.mark.parametrize("keep", [np.asarray, wide], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", [1e-15, 1e-40, 1e-60])
def test_pools_of_tiny_numbers_are_refused(keep, scale):
    with pytest.raises(InvalidInput, match=r"the largest number is 3\..e-.*; multiply all rows by"):
        Pool(keep(ROWS * scale))


@pytest.mark.parametrize("store", STORES)
def test_tiny_and_large_numbers_on_disk_are_refused(store, tmp_path):
    with pytest.raises(InvalidInput, match="too small for float32 arithmetic"):
        Pool(store(tmp_path, ROWS * 1e-60))
    (tmp_path / "again").mkdir()
    with pytest.raises(InvalidInput, match="too large for float32 arithmetic"):
        Pool(store(tmp_path / "again", ROWS * 1e30))


def test_a_pool_of_zeros_is_a_pool():
    assert Pool(np.zeros((3, 2))).largest == 0
    assert Pool(scipy.sparse.csr_matrix((3, 5000))).largest == 0
