import json

import numpy as np
import pytest

from aced import InvalidInput
from aced.items import Embedding
from aced.items._items import row_items, text_items

TEXTS = text_items(["river stone", "river lamp", "amber"], ["a", "b", "c"])
ROWS = row_items([{"n": 1}, {"n": 2}], ["a", "b"], ["n"])


@pytest.fixture
def saved(tmp_path):
    Embedding.fit(TEXTS)[0].save(tmp_path / "e.npz")
    return tmp_path / "e.npz"


def test_bad_arguments_are_refused():
    for options, said in [
        ({"how": "hog"}, "how: 'hog' .* 'text'.* auto or tfidf-svd"),
        ({"dimension": 0}, "dimension must be"),
        ({"dimension": 2.0}, "dimension must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": None}, "seed must be"),
    ]:
        with pytest.raises(InvalidInput, match=said):
            Embedding.fit(TEXTS, **options)
    embedding, _ = Embedding.fit(TEXTS)
    assert repr(embedding).startswith("Embedding(TF-IDF")
    with pytest.raises(InvalidInput, match=r"kind 'row'.* kind 'text'"):
        embedding.transform(ROWS)


def test_a_file_that_is_no_embedding_is_refused(tmp_path, saved):
    whole = saved.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2], whole[:-10]):
        saved.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"^path: .* is not a saved embedding$"):
            Embedding.load(saved)
    np.savez(saved, X=np.zeros(3))
    with pytest.raises(InvalidInput, match="is not a saved embedding"):
        Embedding.load(saved)
    np.save(tmp_path / "objects.npz.npy", np.array([{}], dtype=object))
    with pytest.raises(InvalidInput, match="is not a saved embedding"):
        Embedding.load(tmp_path / "objects.npz.npy")
    with pytest.raises(InvalidInput, match="there is no file"):
        Embedding.load(tmp_path / "none.npz")
    with pytest.raises(InvalidInput, match="no folder"):
        Embedding.fit(TEXTS)[0].save(tmp_path / "none" / "e.npz")


@pytest.mark.parametrize(
    "damage",
    [
        {"meta": {"format": 1}},
        {"meta": {"embeds": "poem"}},
        {"meta": {"how": "hog"}},
        {"meta": {"encoder": {}}},
        {"meta": {"encoder": {"terms": ["river"]}}},
        {"meta": {"encoder": None}},
        {"idf": np.array(["x"])},
        {"idf": np.zeros(2)},
        {"components": np.zeros(3)},
        {"components": np.full((1, 5), np.nan)},
    ],
)
def test_a_damaged_part_is_noticed(saved, damage):
    with np.load(saved) as archive:
        parts = {name: archive[name] for name in archive.files}
    meta = json.loads(parts["meta"].tobytes())
    changes = damage.pop("meta", {})
    meta = {"format": 1} if changes == {"format": 1} else {**meta, **changes}
    parts.update(damage, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8))
    np.savez(saved, **parts)
    with pytest.raises(InvalidInput, match="is not a saved embedding"):
        Embedding.load(saved)
