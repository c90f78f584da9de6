import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from aced.items import Embedding, _image_encoder, read_items
from aced.items._hog import hog
from aced.items._thumbnails import BLOCK, thumbnail

HOWS = ("pixels-pca", "hog", "hog+pixels")


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """150 digits as a folder of PNG files, and what they are."""
    folder = tmp_path_factory.mktemp("digits")
    data = load_digits()
    for place in range(150):
        Image.fromarray((data.images[place] * 15).astype(np.uint8)).save(folder / f"{place:03}.png")
    return read_items(folder), data.target[:150]


def _coloured(folder, count=5, seed=0):
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    for place in range(count):
        Image.fromarray(rng.integers(0, 256, (9, 7, 3), dtype=np.uint8)).save(folder / f"{place}.png")
    return read_items(folder)


def _rows(items, part):
    pairs = [thumbnail(items.root / name) for name in items.contents]
    if part == "hog":
        return hog(np.stack([grey for _, grey in pairs]))
    return np.stack([grey.reshape(32, 2, 32, 2).mean(axis=(1, 3)).ravel() / 255 for _, grey in pairs])


@pytest.mark.parametrize(("how", "part"), [("pixels-pca", "pixels"), ("hog", "hog")])
def test_equals_scikit_learns_pca(digits, how, part):
    items, _ = digits
    _, features = Embedding.fit(items, how=how)
    rows = _rows(items, part)
    expected = PCA(64, svd_solver="full").fit(rows).transform(rows)
    assert features.shape == (150, 64)
    np.testing.assert_allclose(features, expected, atol=2e-4)


def test_both_parts_weigh_the_same(digits):
    items, _ = digits
    _, features = Embedding.fit(items, dimension=10)
    parts = [_rows(items, name) for name in ("hog", "pixels")]
    both = np.hstack([part / np.sqrt(part.var(axis=0).sum()) for part in parts])
    np.testing.assert_allclose(features, PCA(10, svd_solver="full").fit_transform(both), atol=2e-4)


def test_saved_and_loaded_it_gives_the_same_bytes(digits, tmp_path):
    items, _ = digits
    for how in HOWS:
        embedding, features = Embedding.fit(items, how=how)
        again, same = Embedding.fit(items, how=how)
        embedding.save(tmp_path / "a.npz")
        again.save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
        assert features.tobytes() == same.tobytes()
        assert Embedding.load(tmp_path / "a.npz").transform(items).tobytes() == features.tobytes()
        assert embedding.how == how


def test_auto_tells_digits_apart(digits):
    items, digit = digits
    embedding, features = Embedding.fit(items)
    assert embedding.how == "hog+pixels"
    small = digit < 5
    classifier = LogisticRegression(C=100, max_iter=1500).fit(features[:100], small[:100])
    assert classifier.score(features[100:], small[100:]) > 0.8


def test_grey_or_colour(digits, tmp_path):
    grey, _ = Embedding.fit(digits[0], how="pixels-pca")
    assert grey.describe() == "Pixels (32 x 32, grey), 64 principal components"
    items = _coloured(tmp_path / "c")
    colour, features = Embedding.fit(items, how="pixels-pca")
    assert "colour" in colour.describe()
    assert features.shape == (5, 4)  # five points span four axes
    assert grey.transform(items).shape == (5, 64)
    auto, _ = Embedding.fit(items)
    said = "Edge directions (HOG, 64 x 64) and pixels (32 x 32, colour), 4 principal components"
    assert auto.describe() == said


def test_one_image_and_images_all_alike_have_one_feature(tmp_path):
    for name in ("a.png", "b.png"):
        Image.new("RGB", (1, 1), "red").save(tmp_path / name)
        for how in HOWS:
            embedding, features = Embedding.fit(read_items(tmp_path), how=how)
            assert features.tolist() == [[0.0]] * len(features)
            assert embedding.describe().endswith("1 principal component")


def test_axes_of_many_images_come_from_a_sample(digits, monkeypatch):
    items, _ = digits
    monkeypatch.setattr(_image_encoder, "SAMPLE", 50)
    runs = [Embedding.fit(items, how="pixels-pca", dimension=5, seed=seed)[1] for seed in (0, 0, 1)]
    assert runs[0].shape == (150, 5)
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_a_block_is_all_that_is_decoded_at_once(digits, monkeypatch):
    items, _ = digits
    embedding, features = Embedding.fit(items)
    sizes = []
    project = type(embedding._encoder)._project

    def watched(self, colours, greys):
        sizes.append(len(greys))
        return project(self, colours, greys)

    monkeypatch.setattr(type(embedding._encoder), "_project", watched)
    np.testing.assert_array_equal(embedding.transform(items), features)
    assert sorted(sizes) == [150 % BLOCK, BLOCK, BLOCK]
