"""What a classifier says of rows, as probabilities of all classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aced._types import Float64


def class_shares(model: Any, rows: Any, codes: Sequence[int]) -> Float64:
    """The probability of each class of ``codes`` for each row, shape (n, K).

    A class of which the model has seen no label has probability 0.
    """
    place = {code: i for i, code in enumerate(codes)}
    shares = np.zeros((len(rows), len(place)))
    shares[:, [place[int(code)] for code in model.classes_]] = model.predict_proba(rows)
    return shares
