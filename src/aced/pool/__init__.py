"""The rows to choose from."""

from aced.pool._pool import BLOCK_ROWS, Pool

__all__ = ["BLOCK_ROWS", "Pool"]
