"""Read .npy and .npz files whose headers were checked against the bytes that are there.

A header of a few bytes can claim an array of any size, and a compressed file can hold a thousand times
its own size. So nothing is allocated before the sizes are known to be true.
"""

from __future__ import annotations

import io
import math
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from aced._errors import reason
from aced._free_memory import in_words, room_for
from aced._types import Array

KINDS = "biufcSUmM"
"""The kinds of plain values; objects would need pickle."""
MOST_HEADER = 2**16
MOST_SIDES = 32
"""Dimensions of an array, as every version of numpy allows them."""
_VERSIONS = ((1, 0), (2, 0), (3, 0))


class Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int
    """The bytes of the array."""


def read_header(file: IO[bytes], size: int) -> Header:
    """The header at the start of a .npy file of ``size`` bytes; a ValueError if it cannot be true."""
    start = io.BytesIO(file.read(MOST_HEADER))  # so that a header that claims to be long is not read
    try:
        version = np.lib.format.read_magic(start)
        old = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        with _without_advice():
            shape, _, dtype = read(start)
    except Exception as error:  # a header is a Python expression, which can be wrong in many ways
        raise ValueError(f"its header is damaged: {reason(error)}") from error
    if version not in _VERSIONS:
        raise ValueError(f"version {version} of the .npy format is not known")
    if dtype.kind not in KINDS or dtype.itemsize == 0:
        raise ValueError(f"values of type {dtype} are not plain numbers or texts")
    if len(shape) > MOST_SIDES or any(type(side) is not int or side < 0 for side in shape):
        raise ValueError(f"there is no array of shape {shape!s:.60}")
    need, rest = math.prod(shape) * dtype.itemsize, size - start.tell()
    if need > rest:
        raise ValueError(f"the header claims {in_words(need)}, and {in_words(rest)} are there")
    return Header(tuple(map(int, shape)), dtype, need)


def read_npy(file: IO[bytes], what: str) -> Array:
    """The array of an open .npy file; ``what`` begins the sentence if there is no memory for it."""
    found = read_header(file, os.fstat(file.fileno()).st_size)
    room_for(found.size, what)
    file.seek(0)
    return _array(file)


def read_npz(file: IO[bytes], what: str, most: int | None = None) -> dict[str, Array]:
    """The arrays of an open .npz file; all together must not have more than ``most`` bytes.

    Without ``most``, the free memory is the limit; ``what`` begins the sentence about it.
    """
    with zipfile.ZipFile(file) as archive:
        check_npz(archive, what, most)
        found = {}
        for member in archive.infolist():
            with archive.open(member) as part:
                found[member.filename.removesuffix(".npy")] = _array(part)
        return found


def check_npz(archive: zipfile.ZipFile, what: str, most: int | None = None) -> None:
    """Check all headers of an .npz file, and that its arrays have no more bytes than they may have."""
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if most is None:
        room_for(total, what)
    elif total > most:
        raise ValueError(f"it claims to hold {in_words(total)}")
    for member in members:
        with archive.open(member) as part:
            read_header(part, member.file_size)


def is_npz(file: IO[bytes]) -> bool:
    """Whether an open file is a zip archive, as .npz files are; it is read from its start."""
    found = file.read(2) == b"PK"
    file.seek(0)
    return found


def _array(file: IO[bytes]) -> Array:
    with _without_advice():
        read: Array = np.lib.format.read_array(file, allow_pickle=False)
    return read


@contextmanager
def _without_advice() -> Iterator[None]:
    """numpy advises to save files of Python 2 again, which is no concern of who passes one here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Reading `.npy` or `.npz` file", UserWarning)
        yield
