"""The VC dimension of an explicit class, level by level.

A set of rows is shattered when all patterns occur on it, and then so is each of its
subsets; so shattered sets of d + 1 rows are looked for among extensions of those of d.
"""

from __future__ import annotations

import numpy as np

from aced._types import Bools, Ints

WORK = 200_000
"""Sets of rows looked at per level before the search gives up."""


def vc_dimension(sets: Bools) -> tuple[int, bool]:
    """The dimension and whether it is exact; otherwise the bound log2 of the class.

    >>> vc_dimension(np.arange(6)[None, :] <= np.arange(6)[:, None])
    (1, True)
    """
    most = int(np.log2(len(sets)))
    columns = np.unique(np.asarray(sets, dtype=np.int64), axis=1)
    varied = columns[:, (columns != columns[0]).any(axis=0)]  # (H, rows that differ)
    codes = varied.T.copy()  # one number a hypothesis and candidate set, (sets of rows, H)
    last = np.arange(len(codes))
    if most == 0 or len(codes) == 0:
        return 0, True
    dimension = 1
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
