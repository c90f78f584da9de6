"""What the project's classifier says of its items, for tools that show a first guess."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aced.pool import Pool
from aced.project import Project

Guess = tuple[str, float, str]
"""A class, its probability, and the version of the classifier."""


def version_of(project: Project) -> str:
    """The version of the classifier. It changes if and only if the labels or the classes do."""
    found = project.opinions()
    content = found.rows.tobytes() + found.codes.tobytes()
    if project.state.classes_seq:
        content += "\n".join(project.classes).encode()
    return f"aced-{len(found.rows)}-{hashlib.sha256(content).hexdigest()[:8]}"


@dataclass(frozen=True)
class Predictor:
    """A trained classifier; ``model`` is None until two classes have been seen."""

    version: str
    model: Any
    pool: Pool
    names: list[str]  # of the classes, by code

    @classmethod
    def of(cls, project: Project) -> Predictor:
        version, model = version_of(project), project.classifier()
        if len(getattr(model, "classes_", ())) < 2:
            model = None
        return cls(version, model, project.pool, project.names)

    def __call__(self, rows: Sequence[int]) -> list[Guess | None]:
        """A guess for each row; None if there is no classifier yet."""
        if self.model is None or not rows:
            return [None] * len(rows)
        shares = self.model.predict_proba(self.pool.rows(np.asarray(rows, dtype=np.int64)))
        codes = self.model.classes_[shares.argmax(axis=1)]
        best = zip(codes.tolist(), shares.max(axis=1).tolist(), strict=True)
        return [(self.names[code], round(share, 4), self.version) for code, share in best]
