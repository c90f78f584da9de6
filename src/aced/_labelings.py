"""Labelings of a pool by K classes, written out as a table, and the sums that are taken over them.

Only differences between classes matter, so whatever belongs to a class is taken relative to class 0 and
kept for the other K - 1 classes: μ has shape (n, K - 1), and (n,) for two classes.

=============== ================ ==========================================================
symbol          name in code     meaning
=============== ================ ==========================================================
h, H            table            labelings, (H, n), whole numbers 0 … K-1
μ_ic            mu               η_ic - η_i0, c = 1 … K-1; μ_i0 = 0
μ·h             agreement        Σ_i μ_{i,h(i)}
x_c             corners          corner c of a simplex whose K corners are all 1 apart
=============== ================ ==========================================================

The corners carry two classes over to K. Let every row and class have noise of its own, N(0, ½). Relative
to class 0 the others have the covariance ½ (I + 11ᵀ) = L Lᵀ, so with ε standard normal in K - 1
dimensions the noise of class c is x_c·ε, x_c the row c of the Cholesky factor L and x_0 = 0:

    x_cc = sqrt((c + 1) / 2c),   x_cj = 1 / sqrt(2j (j + 1)) for j < c,   0 for j > c.

Then |x_c - x_c'|² = 1 for c ≠ c': with λ the squared distance of h and h' is Σ_i 1{h(i) ≠ h'(i)} / λ_i,
as for two classes, where the corners are 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aced._check import class_count
from aced._errors import InvalidInput
from aced._types import Array, Codes, Float64, Ints


def to_labelings(argument: str, values: Any, classes: int | None = None) -> Codes:
    """The table (H, n), if it holds only classes 0 … K-1; K is ``classes``, or else the largest + 1.

    >>> to_labelings("H", [[False, True], [True, True]]).tolist()
    [[0, 1], [1, 1]]
    """
    try:
        table = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInput(argument, f"must be an array of numbers ({error})") from None
    if table.ndim != 2 or 0 in table.shape:
        raise InvalidInput(argument, f"must have shape (hypotheses, rows), got {table.shape}")
    if not (np.isfinite(table).all() and (table >= 0).all() and (table == np.floor(table)).all()):
        raise InvalidInput(argument, "must hold only the numbers of classes: 0, 1, 2, …")
    needed = classes_in(table)
    if classes is not None and needed > classes:
        only = "0 and 1 (or False and True)" if classes == 2 else f"the classes 0 to {classes - 1}"
        raise InvalidInput(argument, f"must hold only {only}, got {needed - 1}")
    class_count("classes", needed)
    return np.asarray(table, dtype=np.int8)


def only_two(argument: str, classes: int, what: str) -> None:
    """Refuse a third class where the paper has two."""
    if classes > 2:
        raise InvalidInput(argument, f"there are {classes} classes, but {what} for two only")


def classes_in(table: Array) -> int:
    """The largest class + 1, at least two."""
    return max(2, int(np.max(table, initial=0)) + 1)


def columns_of(mu: Array) -> Float64:
    """μ with one column for each class but class 0, (n, K - 1)."""
    return np.asarray(mu, dtype=float).reshape(len(mu), -1)


def agreement(table: Array, mu: Array) -> Float64:
    """μ·h of every labelling, (H,).

    >>> agreement(np.array([[0, 2], [1, 1]]), np.array([[0.5, 0.25], [-1.0, 1.0]]))
    array([ 1. , -0.5])
    """
    parts = [(table == c) @ column for c, column in enumerate(columns_of(mu).T, start=1)]
    return np.asarray(sum(parts[1:], parts[0]), dtype=float)


def behind(table: Array, best: int, mu: Array) -> Float64:
    """μ·(h̃ - h) of every labelling h, with h̃ number ``best``; (H,)."""
    parts = [
        ((table[best] == c).astype(float) - (table == c)) @ column
        for c, column in enumerate(columns_of(mu).T, start=1)
    ]
    return np.asarray(sum(parts[1:], parts[0]), dtype=float)


def likeliest(mu: Array) -> Ints:
    """The class with the largest μ in each row, the first one of several; (n,).

    >>> likeliest(np.array([[-0.5, 0.2], [0.1, 0.1], [-1.0, -1.0]])), likeliest(np.array([-1.0, 1.0]))
    (array([2, 1, 0]), array([0, 1]))
    """
    columns = columns_of(mu)
    return np.asarray(np.hstack([np.zeros((len(columns), 1)), columns]).argmax(axis=1), np.int64)


def one_hot(codes: Array, classes: int) -> Float64:
    """1{y = c} - 1{y = 0} for c = 1 … K-1, whose mean is μ: (m, K - 1), or ±1 (m,) for two classes.

    >>> one_hot(np.array([0, 1]), 2), one_hot(np.array([0, 2]), 3).tolist()
    (array([-1.,  1.]), [[-1.0, -1.0], [0.0, 1.0]])
    """
    given = np.asarray(codes)[:, None]
    found = (given == np.arange(1, classes)).astype(float) - (given == 0)
    return np.asarray(found[:, 0] if classes == 2 else found)


def simplex(classes: int) -> Float64:
    """The corners x_0 … x_{K-1}, (K, K - 1)."""
    c, j = np.arange(classes)[:, None], np.arange(1, classes)[None, :]
    return np.asarray(
        np.where(j < c, 1 / np.sqrt(2 * j * (j + 1)), np.where(j == c, np.sqrt((j + 1) / (2 * j)), 0.0))
    )


def corners(table: Array, classes: int | None = None) -> Float64:
    """The corner of every row's class, (H, n, K - 1); K is ``classes`` or the largest class + 1."""
    codes = np.asarray(table, dtype=np.int64)
    return np.asarray(simplex(classes_in(codes) if classes is None else classes)[codes])
