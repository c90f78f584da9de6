"""Small projects for the tests of what goes out of one and comes in."""

from __future__ import annotations

import numpy as np

from aced.project import Project
from tests.helpers import blobs


def make(folder, n=60, **options):
    """Texts; the last one repeats the first."""
    features, _ = blobs(n, 4)
    given = {
        "ids": [f"t{i}" for i in range(n + 1)],
        "contents": [f"text {i}" for i in range(n)] + ["text 0"],
        "rows": [*range(n), 0],
        "kind": "text",
        "classes": ["no", "yes"],
        "batch": 8,
        "features": np.asarray(features),
    }
    return Project.create(folder, **{**given, **options})


def votes(project):
    """Who says what: {row: {name: class}}."""
    return {
        row: {who: project.names[vote.code] for who, vote in said.items()}
        for row, said in project.state.votes.items()
        if said
    }
