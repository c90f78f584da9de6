import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from aced import InvalidInput
from aced.items import Embedding, _text
from aced.items._items import text_items

WORDS = [
    "river",
    "stone",
    "cloud",
    "amber",
    "quick",
    "north",
    "lamp",
    "paper",
    "violet",
    "engine",
    "harbour",
    "copper",
]


def _texts(count, seed=0, vocabulary=WORDS, length=12):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(vocabulary, length)) for _ in range(count)]


def _items(texts):
    return text_items(list(texts), [str(place) for place in range(len(texts))])


def test_equals_scikit_learn(tmp_path):
    texts, new = _texts(120), [*_texts(10, seed=1), "unknown words only", "", "river"]
    pipeline = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2, max_features=50_000),
        TruncatedSVD(100, random_state=3),
    ).fit(texts)
    embedding, features = Embedding.fit(_items(texts), seed=3)
    embedding.save(tmp_path / "e.npz")
    loaded = Embedding.load(tmp_path / "e.npz")
    assert features.shape == (120, 100)
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, pipeline.transform(texts), atol=1e-5)
    np.testing.assert_allclose(loaded.transform(_items(new)), pipeline.transform(new), atol=1e-5)
    np.testing.assert_array_equal(loaded.transform(_items(texts)), features)
    assert embedding.how == loaded.how == "tfidf-svd"
    terms = len(pipeline[0].vocabulary_)
    said = f"TF-IDF of words and word pairs ({terms} terms), 100 components"
    assert embedding.describe() == loaded.describe() == said


def test_the_seed_decides_the_bytes(tmp_path):
    # more words than axes: then the decomposition is a random one
    items = _items(_texts(300, vocabulary=[f"word{i}" for i in range(400)]))
    runs = [Embedding.fit(items, dimension=20, seed=seed) for seed in (0, 0, 1)]
    for place, (embedding, _) in enumerate(runs):
        embedding.save(tmp_path / f"{place}.npz")
    saved = [(tmp_path / f"{place}.npz").read_bytes() for place in range(3)]
    assert saved[0] == saved[1] != saved[2]
    assert runs[0][1].tobytes() == runs[1][1].tobytes() != runs[2][1].tobytes()
    assert runs[0][1].shape == (300, 20)


def test_empty_and_wordless_texts_are_rows_of_zeros():
    _, features = Embedding.fit(_items(["", "a I ?", "the of and", "river stone", "river lamp"]))
    assert not features[:2].any()
    assert features[2].any()  # common words are words like any other
    assert np.isfinite(features).all()


def test_few_texts_get_few_components():
    embedding, features = Embedding.fit(_items(["river stone"]))
    assert features.shape == (1, 1)
    assert abs(features[0, 0]) == pytest.approx(1)
    assert embedding.describe().endswith("(3 terms), 1 component")
    _, alike = Embedding.fit(_items(["river stone"] * 4))
    assert alike.shape == (4, 1)  # no columns of rounding errors
    _, one_word = Embedding.fit(_items(["river", "river river", "lamp"]))
    assert one_word.shape[1] <= 3


def test_composed_and_decomposed_letters_are_one_word():
    _, features = Embedding.fit(_items(["café noir", "cafe\u0301 noir", "tea leaf"]))
    np.testing.assert_array_equal(features[0], features[1])


def test_terms_that_occur_once_are_kept_if_there_are_no_others():
    texts = [f"word{place}" for place in range(60)]
    embedding, _ = Embedding.fit(_items(texts))
    assert "(60 terms)" in embedding.describe()


def test_texts_without_words_are_refused():
    with pytest.raises(InvalidInput, match="items: no text holds a word"):
        Embedding.fit(_items(["", "?", "a"]))


@pytest.mark.parametrize(
    "texts", [["word"], ["word", "word!", ""], ["word" + "!" * n for n in range(60)]], ids=len
)
def test_a_vocabulary_of_one_term_is_one_feature(tmp_path, texts):
    embedding, rows = Embedding.fit(_items(texts))
    np.testing.assert_array_equal(rows, [[float("word" in text)] for text in texts])
    embedding.save(tmp_path / "e.npz")
    np.testing.assert_array_equal(Embedding.load(tmp_path / "e.npz").transform(_items(texts)), rows)


def test_features_come_from_the_beginning_of_a_long_text(monkeypatch):
    texts = _texts(20)
    _, usual = Embedding.fit(_items(texts))
    monkeypatch.setattr(_text, "FIRST", max(map(len, texts)) + 1)
    _, found = Embedding.fit(_items([f"{text:<{_text.FIRST}}never seen" for text in texts]))
    np.testing.assert_array_equal(found, usual)
