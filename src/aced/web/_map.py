"""The pool in two dimensions: its first two principal components, computed once."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import numpy as np

from aced._files import replacing
from aced._types import Float32
from aced.project import Project

MAP = "map.npy"
SHOWN = 2000
BLOCK = 4096
_STEPS = 8
_EXTRA = 6  # directions carried beside the two, so that subspace iteration converges fast


class Map:
    """Coordinates of every row, kept in PROJECT/map.npy."""

    def __init__(self, project: Project) -> None:
        self._project, self._lock = project, threading.Lock()
        self._points: Float32 | None = None

    @property
    def points(self) -> Float32:
        """Shape (rows, 2), within [-1, 1]."""
        with self._lock:
            if self._points is None:
                self._points = self._load()
            return self._points

    def _load(self) -> Float32:
        path, rows = self._project.folder / MAP, self._project.settings.rows
        try:
            kept = np.load(path, allow_pickle=False)
            if kept.shape == (rows, 2) and kept.dtype == np.float32 and np.isfinite(kept).all():
                return np.asarray(kept)
        except (OSError, ValueError, EOFError):
            pass
        points = flatten(self._project.features)
        # If the disk is full or read-only, the points are computed again next time.
        with suppress(OSError), replacing(path) as file:
            np.save(file, points)
        return points

    def shown(self, project: Project) -> dict[str, Any]:
        """The map as plain values. Nobody else may change the state of ``project`` meanwhile."""
        points, state = self.points, project.ledger.state
        rows = np.arange(len(points))
        if len(rows) > SHOWN:
            rows = np.sort(np.random.default_rng(0).choice(len(points), SHOWN, replace=False))
        found = project.opinions(state)
        codes = dict(zip(found.rows.tolist(), found.codes.tolist(), strict=True))
        drawn = [
            [*_rounded(points[row]), draw.round, codes.get(row, -1), draw.note.get("lam"), row]
            for row, draw in state.draws.items()
        ]
        pool = [_rounded(point) for point in points[rows]]
        classes = [
            {"code": code, "name": name}
            for code, name in zip(project.codes, project.classes, strict=True)
        ]
        return {"pool": pool, "drawn": drawn, "names": project.names, "classes": classes}


def _rounded(point: Float32) -> list[float]:
    return [round(float(value), 4) for value in point]


def flatten(features: Float32) -> Float32:
    """Scores on the first two principal components, by subspace iteration; the largest score is ±1."""
    rows, columns = features.shape
    mean = features.mean(axis=0, dtype=np.float64)
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(columns, min(columns, 2 + _EXTRA))))[0]
    for _ in range(_STEPS):
        spread = np.zeros_like(basis)
        for start in range(0, rows, BLOCK):
            block = features[start : start + BLOCK] - mean
            spread += block.T @ (block @ basis)
        # Rayleigh-Ritz within the subspace sorts the directions by their variance.
        within = basis.T @ spread
        turn = np.linalg.eigh((within + within.T) / 2)[1]
        basis = np.linalg.qr(spread @ turn[:, ::-1])[0]
    axes = basis[:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])] < 0, -1, 1)
    points = np.zeros((rows, 2), np.float32)
    for start in range(0, rows, BLOCK):
        points[start : start + BLOCK, : axes.shape[1]] = (features[start : start + BLOCK] - mean) @ axes
    largest = np.abs(points).max(initial=0.0)
    return points / largest if largest > 0 else points
