"""Features of texts: TF-IDF of words and word pairs, then a truncated singular value decomposition."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from aced._errors import InvalidInput
from aced._types import Array, Float32, Float64
from aced._workers import Workers
from aced.items._encoder import State, kept
from aced.items._items import Items, Kind

COMPONENTS, TERMS = 100, 50_000
FIRST = 1_000_000
"""Features are computed from this many characters of a text, its first ones."""
ENOUGH = 50
"""From this many texts on, terms that occur in only one text are left out."""


def _vectorizer(**options: Any) -> TfidfVectorizer:
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, **options)


def _texts(items: Items) -> list[str]:
    return [unicodedata.normalize("NFC", str(text)[:FIRST]) for text in items.contents]


@dataclass(frozen=True, eq=False)
class TfidfSvd:
    """Embeds texts. ``terms`` are in the order of the columns of ``components``, shape (d, terms).

    A text without a known term (an empty one, for example) gets a row of zeros.
    """

    terms: list[str]
    idf: Float64
    components: Float32
    kind: Kind = "text"
    how: str = "tfidf-svd"

    @classmethod
    def fit(cls, items: Items, dimension: int | None, seed: int) -> TfidfSvd:
        """Fit with scikit-learn. The seed is used by the randomised decomposition."""
        texts = _texts(items)
        vectorizer, tfidf = _fitted(texts, least=2 if len(texts) >= ENOUGH else 1)
        components = _axes(tfidf, dimension or COMPONENTS, seed)
        return cls(vectorizer.get_feature_names_out().tolist(), vectorizer.idf_, components)

    def transform(self, items: Items) -> Float32:
        vectorizer = _vectorizer(vocabulary={term: place for place, term in enumerate(self.terms)})
        vectorizer.idf_ = self.idf
        with Workers(1).session():
            rows = vectorizer.transform(_texts(items)) @ self.components.T
        return np.asarray(rows, dtype=np.float32)

    def describe(self) -> str:
        terms = f"{len(self.terms)} term{'s' * (len(self.terms) > 1)}"
        parts = f"{len(self.components)} component{'s' * (len(self.components) > 1)}"
        return f"TF-IDF of words and word pairs ({terms}), {parts}"

    def state(self) -> State:
        return {"terms": self.terms}, {"idf": self.idf, "components": self.components}

    @classmethod
    def restored(cls, meta: dict[str, Any], arrays: dict[str, Array]) -> TfidfSvd:
        terms, idf, components = meta["terms"], arrays["idf"], arrays["components"]
        if len(set(terms)) != len(terms) or idf.shape != (len(terms),):
            raise ValueError("terms and idf differ in length")
        if components.ndim != 2 or components.shape[1] != len(terms):
            raise ValueError("components of another vocabulary")
        return cls([str(term) for term in terms], idf.astype(np.float64), components.astype(np.float32))


def _fitted(texts: list[str], least: int) -> tuple[TfidfVectorizer, Any]:
    vectorizer = _vectorizer(min_df=least, max_features=TERMS)
    try:
        return vectorizer, vectorizer.fit_transform(texts)
    except ValueError as error:  # no term is left
        if least > 1:
            return _fitted(texts, least=1)
        raise InvalidInput(
            "items", "no text holds a word of two letters or more; pass features of your own instead"
        ) from error


def _axes(tfidf: Any, most: int, seed: int) -> Float32:
    """The leading right singular vectors, shape (at most ``most``, terms)."""
    if tfidf.shape[1] == 1:
        return np.ones((1, 1), np.float32)  # scikit-learn refuses a single column
    svd = TruncatedSVD(min(most, *tfidf.shape), random_state=seed)
    with Workers(1).session(), np.errstate(invalid="ignore"):  # one text explains 0 of 0 variance
        svd.fit(tfidf)
    return np.asarray(svd.components_[: kept(svd.singular_values_)], dtype=np.float32)
