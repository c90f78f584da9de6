"""How much one more label would lower the model's variance where it matters: the Fisher ratio.

====== ============ ===========================================================
symbol name in code meaning
====== ============ ===========================================================
x_i    places       rows in coordinates in which the penalty is 1 / m: (n, q)
g_i    gaps         p of the first class minus p of the second, (n,)
w_i    information  1 - g², at least LEAST: what a label there tells, (n,)
A                   I + (1/m) Σ_labelled w_i x_i x_iᵀ
M      target       Σ_i (1 - g_i²)² x_i x_iᵀ over the pool: where variance hurts
====== ============ ===========================================================

The variance of a score is xᵀ A⁻¹ x up to a factor, and its weighted sum over the pool is tr(A⁻¹ M). A
label of row i changes A by w_i x_i x_iᵀ / m, which lowers that sum by

    w_i x_iᵀ A⁻¹ M A⁻¹ x_i / (m + w_i x_iᵀ A⁻¹ x_i).

This is the objective of BAIT (Ash, Goel, Krishnamurthy, Kakade, Gone fishing: neural active learning
with Fisher embeddings, 2021) with the calibrated model's information. With u = A⁻¹ x of the row taken,
both forms follow for all rows from x_i·u and x_i·A⁻¹Mu: two products of a matrix and a vector.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from aced._types import Float32, Float64, Ints

LEAST = 0.02
"""The information of a row of which the model is certain: it may be wrong."""


def information(gaps: Float64) -> Float64:
    """w, (n,)."""
    return np.asarray(np.maximum(1 - np.square(gaps), LEAST))


class Fisher:
    """Gains of the rows, brought up to date with every row that is taken."""

    def __init__(
        self, places: Float32, gaps: Float64, labelled: Ints, copies: Float64 | float = 1.0
    ) -> None:
        """``labelled`` are the labelled rows among the places; a row stands for ``copies`` rows."""
        self.places, self.information = places, information(gaps)
        self.count = max(1, len(labelled))
        known = places[labelled].astype(float)
        form = np.eye(places.shape[1])
        form += (known * self.information[labelled, None]).T @ known / self.count
        weight = np.square(1 - np.square(gaps)) * copies
        self.target = ((places * weight[:, None].astype(np.float32)).T @ places).astype(float)
        self.inverse: Float64 = scipy.linalg.inv(form)
        moved = places @ self.inverse.astype(np.float32)
        self._own = np.einsum("ij,ij->i", moved, places).astype(float)  # xᵀ A⁻¹ x
        across = moved @ self.target.astype(np.float32)
        self._pull = np.einsum("ij,ij->i", across, moved).astype(float)  # xᵀ A⁻¹ M A⁻¹ x

    def gains(self) -> Float64:
        """What a label of each row is worth, (n,)."""
        top = self.information * np.maximum(self._pull, 0.0)
        return np.asarray(top / (self.count + self.information * np.maximum(self._own, 0.0)))

    def take(self, row: int) -> None:
        """Reckon with a label of this row."""
        x, w = self.places[row].astype(float), self.information[row]
        u = self.inverse @ x
        c = w / (self.count + w * float(x @ u))
        along = self.places @ u.astype(np.float32)
        across = self.places @ (self.inverse @ (self.target @ u)).astype(np.float32)
        self._pull += along * (c * c * float(u @ self.target @ u) * along - 2 * c * across)
        self._own -= c * np.square(along)
        self.inverse -= c * np.outer(u, u)
