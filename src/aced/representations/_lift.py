"""Lifting: a row becomes the columns of a kernel, in which a linear separator is a curved one.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
x      rows         rows of the pool (m, p)
c, f   centre,      what a row is made of before: z = (x - c) f, where f has the
       factor       scale of each column, its weight and the kernel's width
L      landmarks    c rows of the pool, as z (c, p)
k      kernel       exp(-|z - z'|²), the Gaussian kernel
U, D                eigenvectors and eigenvalues of k(L, L)
M      mapping      U D^(-1/2), (c, r)
====== ============ ===========================================================

The lifted row is φ(x) = k(x, L) M, so that φ(x)·φ(x') is the best approximation of k(x, x') by functions
on the landmarks (Williams and Seeger, Using the Nyström method to speed up kernel machines, 2001). Its
columns are principal axes of the kernel, from wide to narrow, and |φ(x)| ≤ 1. Their spreads are the
kernel's prior for smooth functions: nobody may divide them away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from aced._types import Array, Float32, Float64

LEAST = 1e-6
"""Axes of the kernel with less than this share of its trace are left out: float32 does not hold them."""


@dataclass(frozen=True)
class Lift:
    """Rows (m, p) become lifted rows (m, r)."""

    centre: Float32  # (p,)
    factor: Float32  # (p,)
    landmarks: Float32  # (c, p)
    mapping: Float32  # (c, r)

    @property
    def columns(self) -> int:
        """r, the columns of a lifted row."""
        return int(self.mapping.shape[1])

    def apply(self, rows: Array) -> Float32:
        """φ of each row."""
        z = np.asarray((rows - self.centre) * self.factor, dtype=np.float32)
        return np.asarray(kernel(z, self.landmarks) @ self.mapping)


def make_lift(centre: Float32, factor: Float32, rows: Float32) -> Lift:
    """The lift whose landmarks are these rows (c, p) of the pool."""
    z = np.asarray((rows - centre) * factor, dtype=np.float32)
    values, vectors = scipy.linalg.eigh(kernel(z.astype(float), z.astype(float)))
    used = np.flatnonzero(values > LEAST * len(z))[::-1]
    mapping = vectors[:, used] / np.sqrt(values[used])
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(z))][used]
    return Lift(centre, factor, z, (mapping * np.sign(largest)).astype(np.float32))


def kernel(z: Array, others: Array) -> Array:
    """exp(-|z - z'|²) of every pair, (m, c), in the precision of ``z``."""
    found = z @ (-2 * others).T
    found += np.einsum("ij,ij->i", z, z)[:, None]
    found += np.einsum("ij,ij->i", others, others)
    np.maximum(found, 0, out=found)
    np.negative(found, out=found)
    return np.asarray(np.exp(found, out=found))


def squared_distances(z: Float64) -> Float64:
    """|z_i - z_j|² of all pairs of rows, (m, m)."""
    lengths = np.einsum("ij,ij->i", z, z)
    return np.asarray(np.maximum(lengths[:, None] + lengths - 2 * (z @ z.T), 0.0))


def median_distance(z: Float64) -> float:
    """The median squared distance of two different rows; 1 where most rows are equal.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    4.0
    """
    found = squared_distances(z)[np.triu_indices(len(z), 1)]
    found = found[found > 0] if len(found) else found
    return float(np.median(found)) if len(found) else 1.0


def lift_block(block: Array, lift: Lift) -> tuple[Array]:
    """The lifted rows of a block, as a kernel of the workers."""
    return (lift.apply(block),)
