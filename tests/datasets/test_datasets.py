import datetime
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import DataUnavailable, InvalidInput
from aced.datasets import Dataset, _images, load_dataset
from aced.datasets._images import Task, checksum, features, from_openml

REAL_DATA = os.environ.get("ACED_DATA", "")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ACED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ACED_DATA", raising=False)
    return tmp_path / "cache"


def _images_like(n, seed=0, side=6):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n, side, side), dtype=np.uint8), rng.integers(0, 10, n).astype(np.uint8)


def test_digits_ship_with_a_holdout():
    data = load_dataset("digits")
    assert data.X.shape == (1347, 64)
    assert data.X_test.shape == (450, 64)
    assert set(data.y.tolist()) == {0, 1}
    ten = load_dataset("digits10")
    np.testing.assert_array_equal(ten.X, data.X)
    np.testing.assert_array_equal(ten.y >= 5, data.y)
    np.testing.assert_array_equal(ten.y_test >= 5, data.y_test)
    assert set(ten.y.tolist()) == set(range(10))
    np.testing.assert_array_equal(data.X, load_dataset("digits").X)


def test_mnist_features_are_a_rotation_of_the_centred_pixels():
    X, y = _images_like(80)
    X_test, y_test = _images_like(20, seed=1)
    built = features("mnist", X, y, X_test, y_test)
    pixels = X.reshape(80, -1) / 255
    centred = pixels - pixels.mean(axis=0)
    gram, turned = centred @ centred.T, built["X"].astype(float)
    np.testing.assert_allclose(turned @ turned.T, gram, atol=1e-4)
    spread = turned.var(axis=0)
    assert (np.diff(spread) <= 1e-6).all()  # largest axes first
    np.testing.assert_array_equal(built["y"], y >= 5)
    ten = features("mnist10", X, y, X_test, y_test)
    np.testing.assert_array_equal(ten["X"], built["X"])
    np.testing.assert_array_equal(ten["y"], y)
    np.testing.assert_array_equal(ten["y_test"], y_test)
    cross = (X_test.reshape(20, -1) / 255 - pixels.mean(axis=0)) @ centred.T
    np.testing.assert_allclose(built["X_test"] @ turned.T, cross, atol=1e-4)


def test_projected_features_are_standardised_singular_directions(monkeypatch):
    monkeypatch.setitem(_images.COMPONENTS, "cifar", 5)
    X, y = _images_like(60)
    built = features("cifar", X, y % 2, *_images_like(10, seed=1))
    assert built["X"].shape == (60, 5)
    np.testing.assert_allclose(built["X"].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(built["X"].std(axis=0), 1, atol=1e-5)
    flat = X.reshape(60, -1) / 127.5 - 1
    _, _, vt = np.linalg.svd(flat, full_matrices=False)
    projected = flat @ vt[:5].T
    expected = (projected - projected.mean(axis=0)) / projected.std(axis=0)
    np.testing.assert_allclose(np.abs(built["X"]), np.abs(expected), atol=1e-3)


def test_a_pixel_that_only_the_holdout_varies_keeps_its_unit():
    X, y = _images_like(60)
    X_test, y_test = _images_like(10, seed=1)
    X[:, 0, 0], X_test[0, 0, 0] = 77, 80  # the mean of 77 / 127.5 - 1 is rounded
    built = features("fashion", X, y % 2, X_test, y_test % 2)
    np.testing.assert_allclose(built["X"][:, 0], 0, atol=1e-12)
    assert built["X_test"][0, 0] == pytest.approx(3 / 127.5)


def test_a_task_is_read_from_data_home_and_its_features_are_cached(cache, tmp_path, monkeypatch):
    X, y = _images_like(50)
    X_test, y_test = _images_like(20, seed=1)
    arrays = {"X_train": X, "y_train": y % 2, "X_test": X_test, "y_test": y_test % 2}
    home = tmp_path / "home"
    home.mkdir()
    np.savez(home / "fashion-tshirt-trouser.npz", **arrays)
    first = load_dataset("fashion", data_home=home)
    assert first.X.shape == (50, 36)
    (kept,) = cache.glob("features-fashion-*.npz")
    monkeypatch.setattr(_images, "features", lambda *_: pytest.fail("built again"))
    np.testing.assert_array_equal(load_dataset("fashion", data_home=home).X, first.X)
    monkeypatch.undo()
    monkeypatch.setenv("ACED_CACHE", str(cache))
    with np.load(kept) as archive:  # one changed number: the checksum notices, it is built again
        stored = {name: archive[name] for name in archive.files}
    stored["X"] = stored["X"] + 1
    np.savez(kept, **stored)
    np.testing.assert_array_equal(load_dataset("fashion", data_home=str(home)).X, first.X)


def test_a_name_that_ends_in_pixels_has_the_pixels(cache, tmp_path):
    X, y = _images_like(50)
    X_test, y_test = _images_like(20, seed=1)
    np.savez(tmp_path / "mnist.npz", X_train=X, y_train=y, X_test=X_test, y_test=y_test)
    ten, two = (load_dataset(f"{name}-pixels", data_home=tmp_path) for name in ("mnist10", "mnist"))
    np.testing.assert_allclose(ten.X * 255, X.reshape(50, 36), rtol=1e-6)
    np.testing.assert_allclose(two.X_test * 255, X_test.reshape(20, 36), rtol=1e-6)
    assert ten.y.tolist() == y.tolist()
    assert two.y_test.tolist() == (y_test >= 5).astype(int).tolist()
    with pytest.raises(InvalidInput, match="must be one of"):
        load_dataset("digits-pixels")


def test_aced_data_is_looked_in_too(cache, tmp_path, monkeypatch):
    X, y = _images_like(30)
    np.savez(tmp_path / "fashion-tshirt-trouser.npz", X_train=X, y_train=y % 2, X_test=X, y_test=y % 2)
    monkeypatch.setenv("ACED_DATA", str(tmp_path))
    assert len(load_dataset("fashion").X) == 30


def test_what_is_missing_is_said_in_one_sentence(cache, tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    with pytest.raises(
        DataUnavailable, match=r"cifar: there is no cifar-plane-bird.npz in .*OpenML"
    ) as caught:
        load_dataset("cifar", data_home=tmp_path)
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInput, match="there is no folder"):
        load_dataset("cifar", data_home=tmp_path / "none")
    (tmp_path / "mnist.npz").write_bytes(b"PK broken")
    with pytest.raises(InvalidInput, match=r"data_home: .* is not a readable"):
        load_dataset("mnist", data_home=tmp_path)
    np.savez(tmp_path / "mnist.npz", X_train=np.eye(2))
    with pytest.raises(InvalidInput, match="has no array 'y_train'"):
        load_dataset("mnist", data_home=tmp_path)


def test_openml_tables_become_tasks(monkeypatch):
    monkeypatch.setitem(_images.TASKS, "cifar", Task("c.npz", "CIFAR_10", ("0", "2"), 30, (9, 4)))
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, (40, 3072)).astype(float)
    target = np.array((["0", "1", "2"] * 14)[:40])
    target[:30] = np.where(np.arange(30) < 9, np.where(np.arange(30) % 2, "2", "0"), "5")
    target[30:] = ["0", "2", "0", "2"] + ["7"] * 6
    arrays = from_openml("cifar", data, target)
    assert arrays["X_train"].shape == (9, 32, 32, 3)
    assert arrays["y_train"].tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0]
    assert arrays["y_test"].tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(arrays["X_train"].reshape(9, -1), data[:9])
    with pytest.raises(DataUnavailable, match="rows where"):
        from_openml("cifar", data[:33], target[:33])
    assert checksum(arrays) != checksum({**arrays, "y_test": 1 - arrays["y_test"]})


@pytest.mark.skipif(not REAL_DATA, reason="ACED_DATA is not set")
def test_the_real_fashion_task(cache, monkeypatch):
    monkeypatch.setenv("ACED_DATA", REAL_DATA)
    data = load_dataset("fashion")
    assert data.X.shape == (12000, 784)
    assert data.X_test.shape == (2000, 784)


# -- files ----------------------------------------------------------------------


def _npz(path, **arrays):
    np.savez(path, **arrays)
    return str(path)


GOOD = {"X": np.random.default_rng(0).normal(size=(20, 3)), "y": np.arange(20) % 2}


def test_npz_with_and_without_holdout(tmp_path):
    assert load_dataset(_npz(tmp_path / "a.npz", **GOOD)).X_test is None
    both = load_dataset(_npz(tmp_path / "b.npz", **GOOD, X_test=GOOD["X"], y_test=GOOD["y"]))
    assert both.X_test.shape == (20, 3)
    words = load_dataset(_npz(tmp_path / "c.npz", X=GOOD["X"], y=np.where(GOOD["y"], "cat", "dog")))
    assert set(words.y) == {"cat", "dog"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables(tmp_path, ending):
    table = pa.table(
        {"age": [20, 30, 40, 50], "open": [True, False, True, False], "kind": ["a", "b", "a", "b"]}
    )
    path = tmp_path / f"t.{ending}"
    if ending == "csv":
        import pyarrow.csv

        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    data = load_dataset(str(path), label="kind")
    assert data.y.tolist() == ["a", "b", "a", "b"]
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1)
    with pytest.raises(InvalidInput, match="label: name the column"):
        load_dataset(str(path))
    with pytest.raises(InvalidInput, match="has no column 'colour'; it has age, open, kind"):
        load_dataset(str(path), label="colour")
    with pytest.raises(InvalidInput, match="column 'kind' is not numeric"):
        load_dataset(str(path), label="open")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": GOOD["X"]}, "has no array 'y'; it holds X"),
        ({"X": GOOD["X"], "y": np.zeros(20)}, "all rows have the label 0.0"),
        ({"X": np.eye(150), "y": np.arange(150)}, "150 different labels, and 100 is the most; merge or"),
        ({"X": GOOD["X"], "y": np.arange(19) % 2}, "one label per row"),
        ({"X": GOOD["X"][:, 0], "y": GOOD["y"]}, "two-dimensional"),
        ({**GOOD, "X_test": GOOD["X"]}, "must both be given, or neither"),
        ({**GOOD, "X_test": GOOD["X"][:, :2], "y_test": GOOD["y"]}, "X has 3 features"),
        ({**GOOD, "X_test": GOOD["X"] * np.nan, "y_test": GOOD["y"]}, "X_test holds NaN, inf"),
        ({**GOOD, "X_test": GOOD["X"] * 1e300, "y_test": GOOD["y"]}, "too large"),
        ({**GOOD, "X_test": GOOD["X"].astype(str), "y_test": GOOD["y"]}, "X_test must hold real"),
        ({**GOOD, "X_test": np.array(3.0), "y_test": GOOD["y"]}, "X has 3 features"),
        ({**GOOD, "X_test": GOOD["X"], "y_test": GOOD["y"] + 5}, "do not occur in y"),
        ({"X": GOOD["X"], "y": np.where(GOOD["y"], 1.0, np.nan)}, "row 0 has no label"),
    ],
)
def test_bad_npz_files_get_one_sentence(tmp_path, arrays, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        load_dataset(_npz(tmp_path / "bad.npz", **arrays))


def test_unreadable_files_get_one_sentence(tmp_path):
    for name in ("empty.npz", "empty.csv", "empty.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(InvalidInput, match="read"):
            load_dataset(str(tmp_path / name), label="y")
    (tmp_path / "twice.csv").write_text("a,a,y\n1,2,0\n3,4,1\n")
    with pytest.raises(InvalidInput, match="more than one column 'a'"):
        load_dataset(str(tmp_path / "twice.csv"), label="y")
    (tmp_path / "gap.csv").write_text("a,y\n1,0\n,1\n")
    with pytest.raises(InvalidInput, match="'a' has 1 missing values"):
        load_dataset(str(tmp_path / "gap.csv"), label="y")
    np.savez(tmp_path / "pickled.npz", X=np.array([{}], dtype=object), y=GOOD["y"])
    with pytest.raises(InvalidInput, match="plain arrays"):
        load_dataset(str(tmp_path / "pickled.npz"))
    with pytest.raises(InvalidInput, match="there is no file"):
        load_dataset(str(tmp_path / "none.npz"))
    with pytest.raises(InvalidInput, match="must be one of digits, digits10, breast, mnist, mnist10"):
        load_dataset("imagenet")


def test_a_dataset_checks_itself():
    with pytest.raises(InvalidInput, match="dtype object"):
        Dataset("x", GOOD["X"], np.array([None] * 20))


def test_a_table_may_be_in_utf_16_if_its_first_bytes_say_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("größe,y\n1,0\n3,1\n4,1\n".encode("utf-16"))
    assert load_dataset(str(path), label="y").y.tolist() == [0, 1, 1]
    path.write_bytes("größe,y\n1,0\n3,1\n4,1\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"a\.csv is not UTF-8; save it as UTF-8"):
        load_dataset(str(path), label="y")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a\0", "a", "b"], "NUL character"),
        (["a\0", "a", "a"], "NUL character"),
        ([datetime.date(2020, 1, 1)] * 3, "must be a string, a number or a bool, got date"),
        ([{"x": 1}] * 3, "holds values of type struct<x: int64>; use strings, bools or whole numbers"),
        (pa.array([b"0" * 16] * 3, pa.uuid()), "holds values of type extension<arrow.uuid>; use str"),
        (pa.array([2**60] * 3, pa.timestamp("ms")), r"values of type timestamp\[ms\]; use strings"),
        ([0.5, 1.0, 1.0], "use strings, bools or whole numbers"),
    ],
)
def test_labels_of_a_table_are_read_as_they_are_or_refused(tmp_path, labels, said):
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0], "y": labels}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match=f"label: column 'y' .*{said}"):
        load_dataset(str(tmp_path / "t.parquet"), label="y")


def test_numbers_whose_squares_overflow_are_refused_without_a_warning(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0, -1e300], "y": ["a", "b", "a"]}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInput, match="column 'x' holds 1e\\+300, which is too large; rescale it"):
        load_dataset(str(tmp_path / "t.parquet"), label="y")


@pytest.mark.parametrize("classes", [3, 30, 100])
def test_files_may_have_any_number_of_classes(classes, tmp_path):
    y = np.arange(300) % classes
    names = np.array([f"class {code}" for code in range(classes)])[y]
    X = np.random.default_rng(0).normal(size=(300, 3))
    np.savez(tmp_path / "many.npz", X=X, y=y, X_test=X[:9], y_test=y[:9])
    assert len(np.unique(load_dataset(str(tmp_path / "many.npz")).y)) == classes
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "kind": names}), tmp_path / "many.parquet")
    held = load_dataset(str(tmp_path / "many.parquet"), label="kind")
    assert held.y.tolist() == names.tolist()
