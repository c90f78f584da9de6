"""Strata: parts of the pool that lie together and have the same share of the draws.

One row drawn from each spreads a batch over the pool, as picking distant rows would, and the
probability of each draw is known: λ_i / Σ λ over the stratum. The rows are halved along the direction in
which they spread most, weighted by λ, so that each half has the mass for its number of strata; then
each half is halved, and so on.
"""

from __future__ import annotations

import numpy as np

from aced._types import Float32, Float64, Ints, Rng

STEPS = 6
"""Steps of the power iteration that finds a direction; it need not be exact."""


def strata(places: Float32, mass: Float64, count: int, rng: Rng) -> list[Ints]:
    """``count`` parts of the rows with these places (m, q), of about equal mass (m,), each not empty.

    >>> places = np.arange(8.0, dtype=np.float32)[:, None]
    >>> parts = strata(places, np.ones(8), 4, np.random.default_rng(0))
    >>> sorted(sorted(part.tolist()) for part in parts)
    [[0, 1], [2, 3], [4, 5], [6, 7]]
    """
    return _halved(places, mass, np.arange(len(mass)), count, rng)


def _halved(places: Float32, mass: Float64, rows: Ints, count: int, rng: Rng) -> list[Ints]:
    if count == 1:
        return [rows]
    w, here = np.asarray(mass[rows], dtype=np.float32), places[rows]
    here = here - (w @ here) / max(float(w.sum()), 1e-30)
    direction = np.asarray(rng.normal(size=places.shape[1]), dtype=np.float32)
    for _ in range(STEPS):
        direction = here.T @ (w * (here @ direction))
        direction /= max(float(np.linalg.norm(direction)), 1e-30)
    order = np.argsort(here @ direction, kind="stable")
    ends, first = np.cumsum(mass[rows[order]]), count // 2
    wanted = ends[-1] * first / count
    cut = int(np.argmin(np.abs(ends - wanted))) + 1  # where the sum is nearest
    cut = min(max(cut, first), len(rows) - (count - first))
    parts = (order[:cut], first), (order[cut:], count - first)
    return [one for part, number in parts for one in _halved(places, mass, rows[part], number, rng)]


def capped(mass: Float64, most: float) -> Float64:
    """Mass scaled to the sum 1, with no row above ``most``; what is cut goes to the others.

    >>> capped(np.array([8.0, 1.0, 1.0]), 0.5)
    array([0.5 , 0.25, 0.25])
    """
    share = mass / mass.sum()
    over = np.zeros(len(share), bool)
    while (share > most * (1 + 1e-12))[~over].any():
        over |= share > most
        rest = share[~over].sum()
        if rest <= 0:
            break
        share = np.where(over, most, share * (1 - over.sum() * most) / rest)
    return np.asarray(share)
