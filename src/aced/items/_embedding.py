"""Features of items, and the fitted embedding kept in a file for items that come later."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from aced import _archive
from aced._check import whole
from aced._errors import InvalidInput
from aced._types import Array, Float32
from aced.items._image_encoder import AUTO, PARTS, ImageEncoder
from aced.items._items import Items, Kind
from aced.items._rows import TableRows
from aced.items._text import TfidfSvd

HOWS: dict[Kind, tuple[str, ...]] = {"text": ("tfidf-svd",), "image": tuple(PARTS), "row": ("table",)}
Encoder = TfidfSvd | ImageEncoder | TableRows


class Embedding:
    """How items become features: the same for the items it was fitted on and for new ones.

    ``how`` is ``"tfidf-svd"`` for texts, ``"table"`` for rows, and for images ``"pixels-pca"``,
    ``"hog"`` or ``"hog+pixels"``; ``"auto"`` takes the last. ``dimension`` is the largest number of
    features for texts and images (default: 100 and 64). ``seed`` draws the sample that is fitted on.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    @classmethod
    def fit(
        cls, items: Items, how: str = "auto", dimension: int | None = None, seed: int = 0
    ) -> tuple[Embedding, Float32]:
        """The embedding, and the features of these items, shape (n, d)."""
        if how == "auto":
            how = AUTO if items.kind == "image" else HOWS[items.kind][0]
        if how not in HOWS[items.kind]:
            raise InvalidInput(
                "how",
                f"{how!r} does not embed items of kind {items.kind!r}; "
                f"use auto or {', '.join(HOWS[items.kind])}",
            )
        whole("seed", seed, least=0)
        if dimension is not None:
            whole("dimension", dimension, least=1)
        if items.kind == "image":
            encoder, features = ImageEncoder.fit(items, how, dimension, seed)
            return cls(encoder), features
        if items.kind == "text":
            fitted = cls(TfidfSvd.fit(items, dimension, seed))
        elif dimension is None:
            fitted = cls(TableRows.fit(items))
        else:
            raise InvalidInput("dimension", "is decided by the columns of a table; leave it out")
        return fitted, fitted.transform(items)

    @property
    def how(self) -> str:
        return self._encoder.how

    @property
    def kind(self) -> Kind:
        """The kind of items it embeds."""
        return self._encoder.kind

    def __repr__(self) -> str:
        return f"Embedding({self.describe()})"

    def describe(self) -> str:
        """The embedding in one line, for people."""
        return self._encoder.describe()

    def transform(self, items: Items) -> Float32:
        """Features of these items, shape (n, d)."""
        if items.kind != self.kind:
            raise InvalidInput(
                "items",
                f"these are of kind {items.kind!r}, and the features were made "
                f"for kind {self.kind!r}; pass items of that kind",
            )
        return self._encoder.transform(items)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the embedding as one file of arrays and a JSON text, without pickle."""
        meta, arrays = self._encoder.state()
        _archive.write(path, {"embeds": self.kind, "how": self.how, "encoder": meta}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Embedding:
        """The embedding that ``save`` wrote to ``path``."""
        meta, arrays = _archive.read(path, {"embeds", "how", "encoder"}, "embedding")
        try:
            return cls(_restored(meta, arrays))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise InvalidInput("path", f"{os.fspath(path)} is not a saved embedding") from error


def _restored(meta: dict[str, Any], arrays: dict[str, Array]) -> Encoder:
    kind, how, encoder = meta["embeds"], meta["how"], meta["encoder"]
    if how not in HOWS[kind]:
        raise ValueError("an embedding of another version")
    if any(array.dtype.kind != "f" or not np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("arrays that no embedding has")
    if kind == "image":
        return ImageEncoder.restored(how, encoder, arrays)
    return TfidfSvd.restored(encoder, arrays) if kind == "text" else TableRows.restored(encoder, arrays)
