"""Histograms of oriented gradients (Dalal and Triggs, 2005) of many small grey images at once.

64 x 64 pixels, cells of 8 x 8, nine directions over half a turn, blocks of 2 x 2 cells
scaled to unit length: 7 * 7 * 4 * 9 = 1764 numbers an image.
"""

from __future__ import annotations

import numpy as np

from aced._types import Array, Float32

SIDE, CELL, DIRECTIONS = 64, 8, 9
CELLS = SIDE // CELL
LENGTH = (CELLS - 1) ** 2 * 4 * DIRECTIONS
FLOOR = 1e-2
"""Its square is added to a block's squared length, so that flat patches stay near zero."""


def hog(grey: Array) -> Float32:
    """Descriptors, shape (n, LENGTH), of images with values 0 to 255, shape (n, SIDE, SIDE)."""
    tall = np.zeros((len(grey), SIDE, SIDE), np.float32)
    wide = np.zeros_like(tall)
    pixels = grey.astype(np.float32) / np.float32(255)
    tall[:, 1:-1] = pixels[:, 2:] - pixels[:, :-2]
    wide[:, :, 1:-1] = pixels[:, :, 2:] - pixels[:, :, :-2]
    strength = np.hypot(tall, wide)
    turn = np.mod(np.arctan2(tall, wide) / np.float32(np.pi), 1) * DIRECTIONS - np.float32(0.5)
    low = np.floor(turn)
    share = turn - low  # the part of the vote that goes to the next direction
    lower = low.astype(np.int64) % DIRECTIONS
    cells = np.empty((len(grey), CELLS, CELLS, DIRECTIONS), np.float32)
    for direction in range(DIRECTIONS):
        vote = np.where(lower == direction, strength * (1 - share), np.float32(0))
        vote += np.where((lower + 1) % DIRECTIONS == direction, strength * share, np.float32(0))
        cells[..., direction] = vote.reshape(-1, CELLS, CELL, CELLS, CELL).sum(axis=(2, 4))
    corners = [cells[:, :-1, :-1], cells[:, :-1, 1:], cells[:, 1:, :-1], cells[:, 1:, 1:]]
    blocks = np.concatenate(corners, axis=-1)  # (n, CELLS - 1, CELLS - 1, 4 * DIRECTIONS)
    length = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + np.float32(FLOOR**2))
    return np.asarray((blocks / length).reshape(len(grey), LENGTH), dtype=np.float32)
