"""The pool: all rows that may be asked for."""

from aced._free_memory import (
    GIB as GIB,
    available_memory as available_memory,
    in_words as in_words,
    room_for as room_for,
    total_memory as total_memory,
)
from aced.pool._blocks import (
    BLOCK_ROWS as BLOCK_ROWS,
    Blocks as Blocks,
    InMemory as InMemory,
    Source as Source,
)
from aced.pool._dask import Dask as Dask
from aced.pool._mapped import Mapped as Mapped
from aced.pool._pool import Pool as Pool
from aced.pool._sparse import SPARSE_BLOCK_ROWS as SPARSE_BLOCK_ROWS, Sparse as Sparse
from aced.pool._spread import constant as constant, inverse_spread as inverse_spread, unit as unit
from aced.pool._stored import as_float32 as as_float32
from aced.pool._to_source import (
    MOST_DENSE_BYTES as MOST_DENSE_BYTES,
    MOST_DENSE_FEATURES as MOST_DENSE_FEATURES,
)
