"""Paths: what is opened, and the sentence for what is not."""

import os
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse
import zarr

from aced import InvalidInput, Pool
from tests.pool import stores


def npy_of(shape):
    return lambda folder: stores.npy(folder, np.zeros(shape, np.float32))


def written(name, content=b"not what it says"):
    def store(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return store


def cut_short(folder):
    path = stores.npy(folder, np.zeros((1000, 4)))
    os.truncate(path, 5000)
    return path


def mixed_kinds(folder):
    np.save(folder / "a.npy", np.eye(3))
    return stores.parquet(folder, np.eye(3)).parent


def two_widths(folder):
    np.save(folder / "a.npy", np.eye(3))
    np.save(folder / "b.npy", np.eye(4))
    return folder


def with_labels(folder):
    np.save(folder / "x.npy", np.eye(3))
    np.save(folder / "y.npy", np.zeros(3))
    return folder


def dense_npz(folder):
    np.savez(folder / "rows.npz", x=np.eye(3))
    return folder / "rows.npz"


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (lambda folder: folder / "none.npy", "none.npy does not exist"),
        (lambda folder: str(folder / "none.parquet"), "none.parquet does not exist"),
        (lambda folder: folder, "holds no .npy and no .parquet files"),
        (written("rows.csv"), "rows.csv is of no known kind"),
        (written("rows.npy"), "rows.npy cannot be read as a .npy file"),
        (written("rows.npy", b""), "rows.npy cannot be read as a .npy file"),
        (cut_short, "cannot be read as a .npy file"),
        (npy_of((0, 3)), "the pool is empty"),
        (npy_of((3, 0)), "no features"),
        (npy_of((3,)), "two-dimensional"),
        (lambda folder: stores.npy(folder, np.array([[1j]])), "real numbers"),
        (lambda folder: stores.npy(folder, np.array([["a"]])), "real numbers"),
        (lambda folder: stores.npy_folder(folder, np.zeros((0, 3))), "the pool is empty"),
        (mixed_kinds, r"both .npy and .parquet files \(a.npy, rows.parquet\)"),
        (two_widths, "a.npy has 3 columns and .*b.npy has 4"),
        (with_labels, "y.npy must be two-dimensional"),
        (written("rows.npz"), "cannot be read as a sparse .npz file"),
        (dense_npz, "cannot be read as a sparse .npz file"),
    ],
)
def test_paths_that_cannot_be_used(store, sentence, tmp_path):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        Pool(store(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "store", "sentence"),
    [
        ("pyarrow", stores.parquet, r"needs pyarrow; pip install 'aced\[tables\]'"),
        ("zarr", stores.zarr_path, r"needs zarr; pip install 'aced\[zarr\]'"),
    ],
)
def test_missing_libraries_are_named(module, store, sentence, tmp_path, monkeypatch):
    path = store(tmp_path, np.eye(3))
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InvalidInput, match=sentence):
        Pool(path)


@pytest.mark.parametrize("width", [5, 5000])
def test_sparse_files(width, tmp_path):
    rows = scipy.sparse.random(60, width, density=0.05, format="csr", rng=np.random.default_rng(0))
    scipy.sparse.save_npz(tmp_path / "rows.npz", rows)
    pool = Pool(tmp_path / "rows.npz")
    assert pool.sparse == (width == 5000)
    assert pool.fingerprint == Pool(rows).fingerprint


def test_a_sparse_value_too_large_for_float32_is_named():
    rows = scipy.sparse.csr_matrix(([1.0, 1e300], ([0, 1], [7, 4321])), shape=(3, 5000))
    with pytest.raises(InvalidInput, match=r"row 1, column 4321 is 1e\+300, too large for float32"):
        Pool(rows)


def test_sparse_duplicates_add_up_before_rounding():
    twice = scipy.sparse.coo_matrix(([1.0, 2.0**-24], ([0, 0], [1, 1])), shape=(2, 5000))
    assert Pool(twice).block(0)[0, 1] == np.float32(1 + 2.0**-24) == 1
    third = scipy.sparse.coo_matrix(([1.0, 2.0**-24, 2.0**-24], ([0] * 3, [1] * 3)), shape=(2, 5000))
    assert Pool(third).block(0)[0, 1] == np.float32(1 + 2.0**-23)


@pytest.mark.parametrize(
    "store", [stores.npy, stores.npy_folder, stores.parquet, stores.parquet_folder, stores.zarr_path]
)
@pytest.mark.parametrize("change", ["gone", "other shape"])
def test_files_that_are_gone_or_changed_when_unpickled(store, change, tmp_path):
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    path = store(tmp_path, rows)
    pickled = pickle.dumps(Pool(path).data)
    for file in sorted(tmp_path.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    if change == "other shape":
        store(tmp_path, rows[:2500])
    with pytest.raises(InvalidInput, match=r"does not exist|has changed since the pool was made"):
        pickle.loads(pickled).source.read(2000, 3000)


def test_a_map_whose_file_is_cut_short_is_not_read(tmp_path):
    pool = Pool(stores.npy(tmp_path, np.ones((200_000, 4))))
    os.truncate(tmp_path / "rows.npy", 4096)
    with pytest.raises(InvalidInput, match=r"rows.npy has changed"):
        pool.block(pool.blocks - 1)
    with pytest.raises(InvalidInput, match=r"rows.npy has changed"):
        pool.rows([199_999])


def test_more_files_than_may_be_open(tmp_path, monkeypatch):
    from aced.pool import _npy_folder

    monkeypatch.setattr(_npy_folder, "MOST_OPEN", 2)
    rows = np.arange(40.0).reshape(20, 2)
    for k in range(10):
        np.save(tmp_path / f"{k}.npy", rows[2 * k : 2 * k + 2])
    pool = Pool(tmp_path)
    np.testing.assert_array_equal(pool.rows(), rows)
    np.testing.assert_array_equal(pool.rows([19, 0, 7]), rows[[19, 0, 7]])
    assert len(pool.data.source._maps) == 2


def three_dimensions(folder):
    return zarr.create_array(folder / "rows.zarr", shape=(4, 3, 2), dtype="f4").store.root


def group_of(*names):
    def store(folder):
        group = zarr.create_group(folder / "rows.zarr")
        for name in names:
            group.create_array(name, shape=(4, 2), dtype="f4")
        return folder / "rows.zarr"

    return store


def empty_zarr(folder):
    (folder / "rows.zarr").mkdir()
    return folder / "rows.zarr"


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (three_dimensions, "got 3 dimension"),
        (group_of(), "holds no two-dimensional array"),
        (group_of("a", "b"), r"holds several \(a, b\); pass the path of one"),
        (empty_zarr, "cannot be read as a Zarr array or group"),
        (lambda f: zarr.create_array(f / "rows.zarr", shape=(4, 2), dtype="c8"), "real numbers"),
        (lambda f: zarr.create_array(f / "rows.zarr", shape=(0, 2), dtype="f4"), "the pool is empty"),
    ],
)
def test_zarr_that_cannot_be_used(store, sentence, tmp_path):
    with pytest.raises(InvalidInput, match=sentence):
        Pool(store(tmp_path))


def test_one_array_of_a_zarr_group_by_its_path(tmp_path):
    path = group_of("a", "b")(tmp_path)
    assert len(Pool(path / "a")) == 4


def test_a_zarr_folder_that_is_deleted_does_not_read_as_zeros(tmp_path):
    import shutil

    pool = Pool(stores.zarr_path(tmp_path, np.ones((100, 3))))
    source = pickle.loads(pickle.dumps(pool.data.source))
    shutil.rmtree(tmp_path / "rows.zarr")
    with pytest.raises(InvalidInput, match="does not exist"):
        source.read(0, 10)
