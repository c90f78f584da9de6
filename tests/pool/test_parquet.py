import os
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import InvalidInput, Pool
from tests.pool.stores import large_group, parquet, table

ROWS = np.random.default_rng(0).normal(size=(6000, 4))


def one(columns):
    return lambda folder: pq.write_table(pa.table(columns), folder / "rows.parquet")


def two(first, second):
    def store(folder):
        pq.write_table(pa.table(first), folder / "a.parquet")
        pq.write_table(pa.table(second), folder / "b.parquet")

    return store


def no_columns(folder):
    pd.DataFrame(index=["a", "b"]).to_parquet(folder / "rows.parquet")


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (one({"a": [1.0], "name": ["x"]}), "column 'name' is not numeric; drop it or encode it"),
        (one({"name": ["x"], "day": ["y"]}), r"column 'name' is not numeric \(nor are 1 others\)"),
        (one({"v": [[1.0, 2.0]]}), "column 'v' is not numeric"),
        (one({"a": [1.0, None, 2.0]}), "row 1, column a is NaN; fill or drop"),
        (one({"a": [1, None, 2]}), "row 1, column a is NaN"),
        (one({"a": [True, True, None]}), "row 2, column a is NaN"),
        (one({"a": pa.array([], pa.float32())}), "the pool is empty"),
        (no_columns, "there are no features"),
        (
            lambda folder: (folder / "rows.parquet").write_bytes(b"PAR1"),
            "cannot be read as a .parquet file",
        ),
        (two({"a": [1.0]}, {"a": [1.0], "b": [2.0]}), "a.parquet has 1 columns and .*b.parquet has 2"),
        (two({"a": [1.0]}, {"b": [1.0]}), "a.parquet has the column 'a', .*b.parquet has 'b'"),
    ],
)
def test_files_that_cannot_be_used(store, sentence, tmp_path):
    store(tmp_path)
    path = tmp_path / "rows.parquet"
    with pytest.raises(InvalidInput, match=sentence) as caught:
        Pool(path if path.exists() else tmp_path)
    assert "\n" not in str(caught.value)


def test_a_damaged_page_is_named(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(ROWS), path, use_dictionary=False, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[40:300] = bytes(260)
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"rows.parquet cannot be read as a .parquet file"):
        Pool(path)


def test_columns_of_several_types(tmp_path):
    columns = {"a": np.arange(5, dtype="u1"), "b": np.arange(5) / 2, "c": np.arange(5) > 2}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=2)
    pool = Pool(tmp_path / "rows.parquet")
    assert pool.fingerprint == Pool(np.column_stack(list(columns.values()))).fingerprint


@pytest.mark.parametrize("index", [["x", "y", "z"], [7, 9, 8], range(2, 8, 2), range(3)])
def test_the_pandas_index_is_the_ids_as_for_frames(index, tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4, 5, 6]}, index=index)
    frame.to_parquet(tmp_path / "rows.parquet")
    pool = Pool(tmp_path / "rows.parquet")
    assert pool.features == 2
    assert pool.ids.tolist() == list(index)
    assert pool.fingerprint == Pool(frame).fingerprint
    assert Pool(tmp_path / "rows.parquet", ids=["p", "q", "r"]).ids.tolist() == ["p", "q", "r"]


def test_the_pandas_index_of_several_files(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    frame.to_parquet(tmp_path / "0.parquet")
    frame.to_parquet(tmp_path / "1.parquet")
    assert Pool(tmp_path).ids.tolist() == [0, 1, 2, 3, 4, 5]
    for k in range(2):
        frame.set_index([[f"{k}{j}" for j in range(3)]]).to_parquet(tmp_path / f"{k}.parquet")
    assert Pool(tmp_path).ids.tolist() == ["00", "01", "02", "10", "11", "12"]
    frame.set_index([[1, 2, 3], [4, 5, 6]]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InvalidInput, match="index of 2 levels; pass ids"):
        Pool(tmp_path / "rows.parquet")


def decoded_rows(monkeypatch):
    """Counts rows as they are decoded."""
    from aced.pool import _parquet

    counted, decoded = [], _parquet.decoded

    def counting(*args):
        for chunk in decoded(*args):
            counted.append(len(chunk))
            yield chunk

    monkeypatch.setattr(_parquet, "decoded", counting)
    return counted


def test_only_the_row_groups_needed_are_decoded(tmp_path, monkeypatch):
    source = pickle.loads(pickle.dumps(Pool(parquet(tmp_path, ROWS)).data.source))
    counted = decoded_rows(monkeypatch)
    source.take(np.array([0, 5999, 3]))
    assert counted == [857, 1]


@pytest.mark.usefixtures("small_chunks")
class TestLargeGroups:
    def test_a_pass_decodes_every_row_once(self, tmp_path, monkeypatch):
        pool = Pool(large_group(tmp_path, ROWS))
        counted = decoded_rows(monkeypatch)
        source = pickle.loads(pickle.dumps(pool.data.source))
        for rows in pool.slices:
            source.read(rows.start, rows.stop)
        assert sum(counted) == len(ROWS)
        assert max(counted) == 1024

    def test_two_readers_at_different_places_do_not_start_again(self, tmp_path, monkeypatch):
        pool, rows = Pool(large_group(tmp_path, np.tile(ROWS, (10, 1)))), np.tile(ROWS, (10, 1))
        counted = decoded_rows(monkeypatch)
        source = pickle.loads(pickle.dumps(pool.data.source))
        source._send_for = lambda index: None
        half = pool.blocks // 2
        for first, second in zip(range(half), range(half, 2 * half), strict=True):
            for j in (first, second):
                at = pool.slices[j]
                found = source.read(at.start, at.stop)
                np.testing.assert_array_equal(found, rows[at].astype(np.float32))
        # every row, and once more the half that the second has to pass
        assert sum(counted) < 1.6 * len(pool)
        assert len(source._waiting) <= source._most_waiting

    def test_blocks_in_reverse(self, tmp_path):
        pool = Pool(large_group(tmp_path, ROWS))
        for j in reversed(range(pool.blocks)):
            np.testing.assert_array_equal(pool.block(j), ROWS[pool.slices[j]].astype(np.float32))


def test_a_file_that_changes_while_it_is_read(tmp_path, small_chunks):
    path = parquet(tmp_path, ROWS)
    pool = Pool(path)
    pq.write_table(table(ROWS + 1), path, row_group_size=len(ROWS) // 7)
    os.utime(path, ns=(1, 1))
    with pytest.raises(InvalidInput, match=r"rows.parquet has changed since the pool was made"):
        pool.rows()
    path.unlink()
    with pytest.raises(InvalidInput, match=r"rows.parquet does not exist"):
        pool.rows()


def test_many_files_share_few_footers(tmp_path, monkeypatch):
    from aced.pool import _parquet

    monkeypatch.setattr(_parquet, "MOST_FOOTERS", 2)
    for k in range(8):
        pq.write_table(table(ROWS[10 * k : 10 * k + 10]), tmp_path / f"{k}.parquet")
    pool = Pool(tmp_path)
    np.testing.assert_array_equal(pool.rows(), ROWS[:80].astype(np.float32))
    assert len(pool.data.source._footers) == 2
    assert len(pickle.dumps(pool.data)) < 1500
