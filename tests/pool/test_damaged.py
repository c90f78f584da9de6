"""Files of rows that claim what they do not hold, and files that are no files, get one sentence."""

import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
import zarr

from aced import InvalidInput, Pool
from tests.test_npy import FALSE_HEADERS, claiming, packed

ROWS = np.random.default_rng(0).normal(size=(50, 3))


def one_sentence(path, match):
    with pytest.raises(InvalidInput, match=match) as caught:
        Pool(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", FALSE_HEADERS)
def test_a_npy_file_with_a_false_header(name, tmp_path):
    (tmp_path / "x.npy").write_bytes(FALSE_HEADERS[name])
    one_sentence(tmp_path / "x.npy", "cannot be read as a .npy file: ")
    one_sentence(tmp_path, "cannot be read as a .npy file: ")


def test_a_folder_in_which_one_file_claims_a_pebibyte(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    (tmp_path / "b.npy").write_bytes(claiming((2**45, 3)))
    one_sentence(tmp_path, "b.npy cannot be read as a .npy file: the header claims")


# -- sparse ---------------------------------------------------------------------


def parts(**changes):
    """The arrays of a CSR matrix of 3 rows and 5000 columns, some of them changed."""
    return {
        "format": np.array("csr"),
        "shape": np.array([3, 5000]),
        "data": np.ones(4),
        "indices": np.array([0, 1, 4999, 2]),
        "indptr": np.array([0, 2, 3, 4]),
        **changes,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.array([0, 1, 5000, 2])},
        {"indices": np.array([0, -1, 4999, 2])},
        {"indices": np.array([0, 1, 4999])},
        {"indices": np.array([2**40, 1, 4999, 2])},
        {"indptr": np.array([0, 3, 2, 4])},
        {"indptr": np.array([0, 2**30, 0, 0])},
        {"indptr": np.array([0, 2, 3, 40])},
        {"indptr": np.array([1, 2, 3, 4])},
        {"indptr": np.array([0, 4])},
        {"data": np.ones((2, 2))},
        {"data": np.ones(3)},
        {"shape": np.array([3, 4])},
        {"shape": np.array([-3, 5000])},
        {"shape": np.array([3, 5000, 2])},
        {"shape": np.array([2**40, 5000])},
        {"shape": np.array([3, 2**50])},
        {"format": np.array("nothing")},
        {"format": np.array("coo"), "row": np.array([2**40]), "col": np.array([0]), "data": np.ones(1)},
        {"format": np.array("coo"), "row": np.array([0]), "col": np.array([0]), "data": np.ones(1),
         "shape": np.array([2**40, 5000])},
        {"format": np.array("coo"), "row": np.array([0]), "col": np.array([0]), "data": np.ones(1),
         "shape": np.array([2**40, 3])},
        {"format": np.array("dia"), "offsets": np.array([0]), "data": np.ones((1, 3)),
         "shape": np.array([2**50, 3])},
    ],
)  # fmt: skip
def test_a_sparse_file_with_parts_that_do_not_fit(changes, tmp_path):
    np.savez(tmp_path / "x.npz", **parts(**changes))
    one_sentence(tmp_path / "x.npz", "^rows: ")


def test_a_sparse_file_with_parts_that_fit(tmp_path):
    np.savez(tmp_path / "x.npz", **parts())
    assert Pool(tmp_path / "x.npz").rows().nnz == 4


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("width", [6, 6000])
def test_sparse_matrices_of_all_kinds_are_taken(kind, width):
    rows = scipy.sparse.random_array((20, width), density=0.1, rng=np.random.default_rng(0))
    pool = Pool(rows.asformat(kind))
    held = pool.rows().toarray() if pool.sparse else pool.rows()
    np.testing.assert_array_equal(held, rows.toarray().astype(np.float32))


def test_a_damaged_sparse_matrix_in_memory_is_refused():
    rows = scipy.sparse.csr_matrix(np.eye(4))
    rows.indices[2] = 10**6
    one_sentence(rows, "its indices point outside it")


@pytest.mark.parametrize("name", FALSE_HEADERS)
def test_a_sparse_file_with_a_false_header(name, tmp_path):
    packed(tmp_path / "x.npz", {"data.npy": FALSE_HEADERS[name], "format.npy": claiming((), "|S3")})
    one_sentence(tmp_path / "x.npz", r"cannot be read as a sparse \.npz file")


def test_a_sparse_file_that_grows_beyond_the_memory(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", **parts(data=np.ones(10**6)))
    monkeypatch.setattr("aced._free_memory.available_memory", lambda: 10**6)
    one_sentence(tmp_path / "x.npz", "have to fit in memory")


# -- Zarr -----------------------------------------------------------------------


def changed_zarr(folder: Path, **changes) -> Path:
    """A stored array whose description was changed by hand."""
    array = zarr.create_array(folder / "x.zarr", shape=(50, 3), chunks=(10, 3), dtype="f8")
    array[:] = ROWS
    note = folder / "x.zarr" / "zarr.json"
    said = json.loads(note.read_text())
    for name, value in changes.items():
        if name == "chunks":
            said["chunk_grid"]["configuration"]["chunk_shape"] = value
        else:
            said[name] = value
    note.write_text(json.dumps(said))
    return folder / "x.zarr"


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [2**50, 3]},
        {"shape": [50, 2**50]},
        {"shape": [2**33, 3]},
        {"shape": [10**6, 10**4]},
        {"shape": [-5, 3]},
        {"shape": [50]},
        {"shape": "all"},
        {"chunks": [2**50, 3]},
        {"chunks": [0, 3]},
        {"chunks": [5, 3]},
        {"data_type": "nothing"},
        {"data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}},
        {"codecs": []},
        {"codecs": None},
        {"node_type": "thing"},
        {"chunk_grid": {}},
    ],
    ids=str,
)
def test_a_zarr_array_whose_description_is_false(changes, tmp_path):
    one_sentence(changed_zarr(tmp_path, **changes), "^rows")


def test_a_zarr_array_of_which_nothing_is_stored(tmp_path):
    zarr.create_array(tmp_path / "x.zarr", shape=(2**27, 3), chunks=(2**20, 3), dtype="f4")
    one_sentence(tmp_path / "x.zarr", r"claims 1\.5 GiB, and .* bytes are stored; write all its chunks")


def test_a_zarr_array_of_millions_of_chunks_that_are_not_there(tmp_path):
    zarr.create_array(tmp_path / "x.zarr", shape=(200_000, 100), chunks=(1, 1), dtype="f4")
    one_sentence(tmp_path / "x.zarr", r"claims 20000000 chunks, and .* are stored; write all its chunks")


def test_a_zarr_array_with_a_few_empty_chunks_is_taken(tmp_path):
    zarr.create_array(tmp_path / "x.zarr", shape=(100, 3), chunks=(10, 3), dtype="f4")[:10] = 1.0
    assert Pool(tmp_path / "x.zarr").rows().sum() == 30


# -- Parquet --------------------------------------------------------------------


def with_note(path: Path, note) -> Path:
    table = pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    text = note if isinstance(note, bytes) else json.dumps(note).encode()
    pq.write_table(table.replace_schema_metadata({b"pandas": text}), path)
    return path


@pytest.mark.parametrize(
    "note",
    [
        {"index_columns": [{"kind": "range", "start": 0, "stop": 2**60, "step": 1}]},
        {"index_columns": [{"kind": "range", "start": 5, "stop": 2**60, "step": 2**50}]},
        {"index_columns": [{"kind": "range", "start": 0, "stop": 50, "step": 0}]},
        {"index_columns": [{"kind": "range", "start": "a", "stop": None, "step": []}]},
        {"index_columns": [{}]},
        {"index_columns": 7},
        {"columns": []},
        [1],
        b"{",
        b"[" * 100_000,
    ],
    ids=lambda note: str(note)[:40],
)
def test_a_note_about_an_index_that_pandas_did_not_write_is_ignored(note, tmp_path):
    pool = Pool(with_note(tmp_path / "x.parquet", note))
    assert pool.ids.tolist() == list(range(50))
    assert pool.features == 2


@pytest.mark.parametrize("index", [pd.RangeIndex(5, 105, 2), pd.RangeIndex(100, 0, -2)])
def test_a_range_that_pandas_wrote_gives_the_ids(index, tmp_path):
    pd.DataFrame(ROWS, index=index, columns=list("abc")).to_parquet(tmp_path / "x.parquet")
    assert Pool(tmp_path / "x.parquet").ids.tolist() == list(index)


def test_more_rows_than_there_is_memory_for_are_refused(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": np.zeros(2 * 10**6, np.int8)}), tmp_path / "x.parquet")
    monkeypatch.setattr("aced._free_memory.available_memory", lambda: 10**7)
    one_sentence(tmp_path / "x.parquet", "2000000 rows, and a few numbers for each need: ")


def test_flipped_bytes_of_files_never_end_in_another_error(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    scipy.sparse.save_npz(tmp_path / "b.npz", scipy.sparse.random(20, 5000, 0.01, random_state=0))
    pq.write_table(pa.table({"a": ROWS[:, 0]}), tmp_path / "c.parquet")
    rng = np.random.default_rng(0)
    for path in sorted(tmp_path.iterdir()):
        good = path.read_bytes()
        for _ in range(60):
            bad = bytearray(good)
            for place in rng.integers(len(bad), size=3):
                bad[place] = rng.integers(256)
            path.write_bytes(bad[: rng.integers(len(bad))] if rng.random() < 0.2 else bad)
            with suppress(InvalidInput):
                Pool(path)


# -- files that are no files ----------------------------------------------------


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.parquet", "x.zarr", "x"])
def test_a_pipe_or_a_device_is_not_read(name, tmp_path):
    os.mkfifo(tmp_path / name)
    one_sentence(tmp_path / name, "is a pipe or a device; copy its content into a file")
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / name).symlink_to("/dev/zero")
    one_sentence(tmp_path / "device" / name, "is a pipe or a device")


@pytest.mark.parametrize("name", ["x.npy", "x.parquet"])
def test_a_pipe_in_a_folder_is_not_left_out(name, tmp_path):
    np.save(tmp_path / "a.npy", ROWS) if name == "x.npy" else with_note(tmp_path / "a.parquet", {})
    os.mkfifo(tmp_path / name)
    one_sentence(tmp_path, f"{name} is a pipe or a device")


@pytest.mark.parametrize("inner", ["zarr.json", "c/0/0"])
def test_a_pipe_in_a_zarr_folder_is_not_waited_for(inner, tmp_path):
    path = changed_zarr(tmp_path)
    (path / inner).unlink()
    os.mkfifo(path / inner)
    one_sentence(path, "is a pipe or a device")


@pytest.mark.parametrize("shape", [(True, 3), (1,) * 70])
def test_a_npy_file_whose_header_has_a_shape_that_is_none(tmp_path, shape):
    with (tmp_path / "x.npy").open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(80))
    one_sentence(tmp_path / "x.npy", "there is no array of shape")


@pytest.mark.parametrize("dtype", ["float16", ">f8", ">i4"])
def test_sparse_numbers_that_scipy_cannot_make_dense_are_taken(dtype):
    rows = scipy.sparse.csr_matrix(np.eye(3))
    rows.data = rows.data.astype(dtype)
    np.testing.assert_array_equal(Pool(rows).rows(), np.eye(3))


def test_a_parquet_file_whose_column_names_are_no_text(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"zzzzzzzz": [1.0, 2.0]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zzzzzzzz", b"\xf8zzzzzzz"))
    one_sentence(path, "x.parquet")
