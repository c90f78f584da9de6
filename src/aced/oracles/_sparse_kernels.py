"""Products with CSR rows, and sweeps over B points side by side, compiled.

Matrices that a product reads or fills have B contiguous numbers for each feature, (p, B), so a stored
number of a row meets B neighbours in memory. scipy's products do the same work in about twice the time.
Points and gradients in standardised coordinates are (p + 1, B) in float32, the bias last; sums over
the features are in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from aced._types import Array, Bools, Float32, Float64
from aced._workers import Workers
from aced.oracles._kernels import fast

T = TypeVar("T")

SPAN = 16384
"""Threads share a sweep in spans of this many features."""


def spans(workers: Workers, task: Callable[[slice], T], features: int) -> list[T]:
    """``task`` for each span of the features, in order."""
    return workers.map(lambda k: task(slice(k * SPAN, (k + 1) * SPAN)), -(-features // SPAN))


def times(block: Any, matrix: Float32) -> Float32:
    """X W of CSR rows X (m, p) and W (p, B); (m, B)."""
    out = np.zeros((block.shape[0], matrix.shape[1]), np.float32)
    _times(block.indptr, block.indices, block.data, np.ascontiguousarray(matrix), out)
    return out


def transposed_times(block: Any, matrix: Float32) -> Float32:
    """Xᵀ R of CSR rows X (m, p) and R (m, B); (p, B)."""
    out = np.zeros((block.shape[1], matrix.shape[1]), np.float32)
    _transposed_times(block.indptr, block.indices, block.data, np.ascontiguousarray(matrix), out)
    return out


@fast
def _times(indptr: Array, indices: Array, values: Float32, matrix: Float32, out: Float32) -> None:
    for i in range(out.shape[0]):
        row = out[i]
        for k in range(indptr[i], indptr[i + 1]):
            x, column = values[k], matrix[indices[k]]
            for b in range(len(row)):
                row[b] += x * column[b]


@fast
def _transposed_times(
    indptr: Array, indices: Array, values: Float32, matrix: Float32, out: Float32
) -> None:
    for i in range(matrix.shape[0]):
        row = matrix[i]
        for k in range(indptr[i], indptr[i + 1]):
            x, column = values[k], out[indices[k]]
            for b in range(len(row)):
                column[b] += x * row[b]


@fast
def moments(
    indptr: Array, indices: Array, values: Float32, weight: Float64, first: Float64, second: Float64
) -> None:
    """Add Σ_i c_i x_ij and Σ_i c_i x_ij² to ``first`` and ``second``, (p,)."""
    for i in range(len(weight)):
        for k in range(indptr[i], indptr[i + 1]):
            x = np.float64(values[k])
            first[indices[k]] += weight[i] * x
            second[indices[k]] += weight[i] * x * x


@fast
def quadratic(
    indptr: Array, indices: Array, values: Float32, square: Float64, cross: Float64, out: Float64
) -> None:
    """Add Σ_j square_j x_ij² + cross_j x_ij to ``out``, (m,)."""
    for i in range(len(out)):
        for k in range(indptr[i], indptr[i + 1]):
            x = np.float64(values[k])
            out[i] += x * (x * square[indices[k]] + cross[indices[k]])


@fast
def centre(raw: Float64, total: Float64, centre: Float64, inverse: Float64) -> Float32:
    """Σ r x (p, B) and Σ r (B,) to Σ r z, z = ((x - centre) · inverse, 1); (p + 1, B)."""
    p = len(raw)
    out = np.empty((p + 1, raw.shape[1]), np.float32)
    for j in range(p):
        for b in range(raw.shape[1]):
            out[j, b] = (raw[j, b] - total[b] * centre[j]) * inverse[j]
    for b in range(raw.shape[1]):
        out[p, b] = total[b]
    return out


@fast
def unfold(points: Float32, centre: Float64, inverse: Float64) -> Float32:
    """Weights for z to weights for x, the bias last; (p + 1, B)."""
    p = len(centre)
    points = np.ascontiguousarray(points)
    out, shift = np.empty(points.shape, np.float32), np.zeros(points.shape[1])
    for j in range(p):
        for b in range(points.shape[1]):
            slope = points[j, b] * inverse[j]
            shift[b] += slope * centre[j]
            out[j, b] = slope
    for b in range(points.shape[1]):
        out[p, b] = points[p, b] - shift[b]
    return out


@fast
def slopes(step: Float32, before: Float32, after: Float32, out: Float64) -> None:
    """Add the products of the columns, step·before and step·after, to ``out`` (2, B)."""
    for j in range(step.shape[0]):
        for b in range(step.shape[1]):
            out[0, b] += np.float64(step[j, b]) * np.float64(before[j, b])
            out[1, b] += np.float64(step[j, b]) * np.float64(after[j, b])


@fast
def settle(
    back: Bools,
    share: Float32,
    step: Float32,
    here: Float32,
    before: Float32,
    after: Float32,
    out: Float32,
) -> None:
    """Where not ``back``, take the step and its gradient; out = gradient - share · change.

    ``here`` becomes the point, ``after`` its gradient and ``before`` the change, before - after.
    """
    for j in range(step.shape[0]):
        for b in range(step.shape[1]):
            change = before[j, b] - after[j, b]
            if back[b]:
                after[j, b] = before[j, b]
            else:
                here[j, b] += step[j, b]
            before[j, b] = change
            out[j, b] = after[j, b] - share[b] * change


@fast
def dots(one: Float32, other: Float32, out: Float64) -> None:
    """Add the products of the columns to ``out``, (B,)."""
    for j in range(one.shape[0]):
        for b in range(one.shape[1]):
            out[b] += np.float64(one[j, b]) * np.float64(other[j, b])


@fast
def move(share: Float32, turned: Float32, step: Float32, here: Float32, point: Float32) -> None:
    """step ← turned + share · step; point = here + step."""
    for j in range(step.shape[0]):
        for b in range(step.shape[1]):
            step[j, b] = turned[j, b] + share[b] * step[j, b]
            point[j, b] = here[j, b] + step[j, b]
