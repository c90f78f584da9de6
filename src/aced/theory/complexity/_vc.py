"""The VC dimension of an explicit class, level by level.

A set of rows is shattered when all patterns occur on it. Then each of its subsets is shattered
too, so shattered sets of d + 1 rows are looked for among extensions of those with d rows.

The VC dimension is a notion for two classes, and so are the paper's bounds in which it stands.
"""

from __future__ import annotations

import numpy as np

from aced._labelings import classes_in, only_two
from aced._types import Array, Ints

WORK = 200_000
"""How many sets of rows are looked at per level before the search gives up."""


def vc_dimension(sets: Array) -> tuple[int, bool]:
    """The dimension and True; or, if the search gives up, the bound log2 of the class size and False.

    >>> vc_dimension(np.arange(6)[None, :] <= np.arange(6)[:, None])
    (1, True)
    """
    only_two("sets", classes_in(sets), "the VC dimension is defined")
    most = int(np.log2(len(sets)))
    columns = np.unique(np.asarray(sets, dtype=np.int64), axis=1)
    varied = columns[:, (columns != columns[0]).any(axis=0)]  # (H, rows that differ)
    if most == 0 or varied.shape[1] == 0:
        return 0, True
    first, second = _shattered_pairs(varied)
    if len(first) == 0 or most == 1:
        return 1, True
    if len(first) > WORK // 10:
        return most, False
    codes = (2 * varied[:, first] + varied[:, second]).T  # one number a hypothesis and set, (sets, H)
    last = second
    dimension = 2
    while dimension < most:
        later = [np.arange(row + 1, varied.shape[1]) for row in last.tolist()]
        if sum(map(len, later)) > WORK:
            return most, False
        grown: list[Ints] = []
        ends: list[int] = []
        for code, following in zip(codes, later, strict=True):
            extended = 2 * code[None, :] + varied.T[following]  # (candidates, H)
            for row, pattern in zip(following.tolist(), extended, strict=True):
                if len(np.unique(pattern)) == 2 ** (dimension + 1):
                    grown.append(pattern)
                    ends.append(row)
        if not grown:
            return dimension, True
        codes, last = np.array(grown), np.array(ends)
        dimension += 1
    return dimension, True


def _shattered_pairs(columns: Ints) -> tuple[Ints, Ints]:
    """Pairs of rows on which 00, 01, 10 and 11 all occur: counts by one matrix product."""
    table = columns.astype(np.float32)
    both = np.rint(table.T @ table).astype(np.int64)
    ones = np.diag(both)
    neither = len(columns) - ones[:, None] - ones[None, :] + both
    full = (both > 0) & (neither > 0) & (ones[:, None] > both) & (ones[None, :] > both)
    first, second = np.nonzero(np.triu(full, 1))
    return first.astype(np.int64), second.astype(np.int64)
