"""The rows to choose from."""

from aced.pool._blocks import BLOCK_ROWS, Blocks, InMemory, Source
from aced.pool._free_memory import GIB, available_memory, in_words, room_for, total_memory
from aced.pool._pool import Pool

__all__ = [
    "BLOCK_ROWS",
    "GIB",
    "Blocks",
    "InMemory",
    "Pool",
    "Source",
    "available_memory",
    "in_words",
    "room_for",
    "total_memory",
]
