"""Field tasks that are texts: the docstrings of Python's library, numpy, scipy and scikit-learn.

Which package, or which part of it, does a docstring come from? The texts are on every machine that
runs aced, but they change a little from version to version, and results with them. ``aced[field]``
brings wordllama, whose wheel holds word vectors: with them a text becomes one dense vector.
"""

from __future__ import annotations

import ast
import os
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from aced._types import Float64, Ints
from aced.datasets._field_tables import package_home

SHORTEST, LONGEST = 40, 1000
"""Characters of a docstring: shorter ones are left out, longer ones are cut."""
LEFT_OUT = {
    "tests", "test", "site-packages", "dist-packages", "idlelib", "lib2to3", "distutils", "externals",
    "_lib", "turtledemo", "ensurepip", "__pycache__",
}  # fmt: skip

Texts = tuple[list[str], Ints]
PYTHON = "python"  # its library has no package of its own


def parts(package: str, *names: str) -> Texts:
    """The docstrings below the folders ``names`` of a package, and the number of the folder of each."""
    found = _docstrings(package)
    return _joined([[text for folder, text in found if folder == name] for name in names])


def packages(*names: str) -> Texts:
    """The docstrings of whole packages, and the number of the package of each."""
    return _joined([[text for _, text in _docstrings(name)] for name in names])


def _joined(found: list[list[str]]) -> Texts:
    """Texts that occur twice are taken once, so that none is in the pool and in the holdout."""
    known: dict[str, int] = {}
    for number, texts in enumerate(found):
        for text in texts:
            known.setdefault(text, number)
    return list(known), np.array(list(known.values()), dtype=np.int64)


@lru_cache(maxsize=4)
def _docstrings(package: str) -> tuple[tuple[str, str], ...]:
    """(folder below the package, text) of each docstring, in the order of files and lines."""
    return tuple(_read(_root(package)))


def _read(root: Path) -> Iterator[tuple[str, str]]:
    for path in _modules(root):
        folder = path.relative_to(root).parts[0]
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:  # a file that another Python reads
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = _prose(ast.get_docstring(node) or "")
                if len(text) >= SHORTEST:
                    yield folder, text[:LONGEST]


def _root(package: str) -> Path:
    if package == PYTHON:
        return Path(sysconfig.get_paths()["stdlib"])
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None  # aced itself needs it
    return Path(found.origin).parent


def _modules(root: Path) -> Iterator[Path]:
    for folder, below, files in os.walk(root):
        below[:] = sorted(set(below) - LEFT_OUT)
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".py"))


def _prose(docstring: str) -> str:
    """Without the lines that a person would type."""
    lines = [line.strip() for line in docstring.splitlines()]
    return " ".join(line for line in lines if line and not line.startswith((">>>", "...")))


def counted(pool: list[str], holdout: list[str], words: int) -> list[Any]:
    """TF-IDF rows, sparse, of the most frequent words of the pool, with weights from the pool alone."""
    vectoriser = TfidfVectorizer(max_features=words, sublinear_tf=True, dtype=np.float32)
    return [vectoriser.fit_transform(pool).tocsr(), vectoriser.transform(holdout).tocsr()]


def embedded(texts: list[str]) -> Float64:
    """The mean of the vectors of a text's tokens, of length 1; (n, 256)."""
    home = package_home("wordllama", "embeddings")
    from safetensors.numpy import load_file  # both come with wordllama
    from tokenizers import Tokenizer

    vectors = next(iter(load_file(home / "weights" / "l2_supercat_256.safetensors").values()))
    tokenizer = Tokenizer.from_file(str(home / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokens = [code.ids for code in tokenizer.encode_batch(texts, add_special_tokens=False)]
    rows = np.array([vectors[ids].astype(float).mean(axis=0) for ids in tokens])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
