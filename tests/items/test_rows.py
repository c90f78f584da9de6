import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aced import InvalidInput
from aced.items import Embedding
from aced.items._items import row_items


def _items(**columns):
    names = list(columns)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return row_items(rows, [f"r{place}" for place in range(len(rows))], names)


def test_numbers_and_categories(tmp_path):
    items = _items(age=["1", " 3 ", "5"], city=["Oslo", "Rome", "Oslo"], old=[False, True, True])
    embedding, features = Embedding.fit(items)
    root = np.sqrt(1.5)
    expected = [[-root, 1, 0, -np.sqrt(2)], [0, 0, 1, np.sqrt(0.5)], [root, 1, 0, np.sqrt(0.5)]]
    np.testing.assert_allclose(features, expected, rtol=1e-6)
    assert features.dtype == np.float32
    assert embedding.describe() == "2 numbers and 1 category of a table, scaled and one-hot encoded"
    embedding.save(tmp_path / "e.npz")
    loaded = Embedding.load(tmp_path / "e.npz")
    assert loaded.transform(items).tobytes() == features.tobytes()
    again, _ = Embedding.fit(items)
    again.save(tmp_path / "f.npz")
    assert (tmp_path / "e.npz").read_bytes() == (tmp_path / "f.npz").read_bytes()


def test_against_scikit_learn():
    rng = np.random.default_rng(0)
    number = rng.normal(5, 3, 300)
    city = [f"c{place}" for place in rng.geometric(0.05, 300)]
    embedding, features = Embedding.fit(_items(number=number.tolist(), city=city))
    encoder = OneHotEncoder(
        max_categories=51, min_frequency=2, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(np.array(city)[:, None])
    expected = np.hstack(
        [StandardScaler().fit_transform(number[:, None]), encoder.transform(np.array(city)[:, None])]
    )
    np.testing.assert_allclose(features, expected, atol=1e-5)
    unseen = embedding.transform(_items(number=[5.0], city=["nowhere"]))
    assert unseen[0, -1] == 1  # one of the others
    assert unseen[0, 1:-1].sum() == 0


def test_at_most_fifty_values_have_a_column():
    city = [f"c{place}" for place in range(70)] * 2
    _, features = Embedding.fit(_items(city=city))
    assert features.shape == (140, 51)
    assert (features.sum(axis=1) == 1).all()


def test_an_unseen_value_where_there_were_no_others_is_zeros():
    embedding, _ = Embedding.fit(_items(city=["a", "b"]))
    assert embedding.transform(_items(city=["c"])).tolist() == [[0, 0]]


def test_what_is_missing():
    embedding, features = Embedding.fit(_items(n=["1", "", "3", "NA"], c=["x", None, "x", ""]))
    np.testing.assert_allclose(features[:, 0], [-1, 0, 1, 0])
    assert features[:, 1].tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(features[1, 2:], features[3, 2:])  # empty is a value of a category
    assert features[1, 2:].sum() == 1
    later, _ = Embedding.fit(_items(n=[1, 3]))
    assert later.transform(_items(n=[float("nan"), 2])).tolist() == [[0], [0]]
    assert embedding.transform(_items(c=["x"], extra=["y"], n=[2])).shape == (1, 4)


def test_constant_and_empty_columns_and_a_single_row():
    _, features = Embedding.fit(_items(same=[7, 7], empty=["", None], n=[1, 2]))
    assert features.shape == (2, 2)
    assert not features[:, 0].any()
    _, single = Embedding.fit(_items(n=[4], c=["x"]))
    assert single.tolist() == [[0, 1]]


def test_what_is_refused():
    embedding, _ = Embedding.fit(_items(age=[1, 2], city=["a", "b"]))
    with pytest.raises(InvalidInput, match="items: column 'city' is missing"):
        embedding.transform(_items(age=[1]))
    with pytest.raises(InvalidInput, match=r"items: column 'age' holds 'old' for id 'r0'.*no number"):
        embedding.transform(_items(age=["old"], city=["a"]))
    for value in ("inf", float("-inf"), 10**400, 1e39):
        with pytest.raises(InvalidInput, match=r"'n' holds .* infinite or too large"):
            Embedding.fit(_items(n=[1, value]))
    with pytest.raises(InvalidInput, match="no column of the table holds a value"):
        Embedding.fit(_items(n=["", None]))
    with pytest.raises(InvalidInput, match=r"^dimension"):
        Embedding.fit(_items(n=[1, 2]), dimension=3)
