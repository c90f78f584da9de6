"""Read and write .npz files of arrays, without pickle. A JSON text in the file holds everything else."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from aced._errors import InvalidInput
from aced._files import check_writable, replacing
from aced._types import Array

FORMAT = 1


def plain_arrays(path: Path, argument: str) -> dict[str, Array]:
    """All arrays of an .npz file, by name; the single array of a .npy file has the name ""."""
    if not path.is_file():
        raise InvalidInput(argument, f"there is no file {path}")
    try:
        with path.open("rb") as file:
            held = np.load(file, allow_pickle=False)
            return {"": held} if isinstance(held, np.ndarray) else dict(held.items())
    except Exception as error:  # a damaged archive fails in many ways
        raise InvalidInput(argument, f"{path} is not a readable file of plain arrays") from error


def write(path: str | os.PathLike[str], meta: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write ``meta`` and ``arrays`` to one file; the old file stays until the new one is whole."""
    target = Path(path)
    check_writable("path", target)
    text = np.frombuffer(json.dumps({"format": FORMAT, **meta}).encode(), dtype=np.uint8)
    stored: dict[str, Any] = {"meta": text, **arrays}
    with replacing(target) as file:
        np.savez(file, **stored)


def read(
    path: str | os.PathLike[str], needed: set[str], what: str
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The JSON part and the arrays of a saved ``what``; a file that lacks a ``needed`` is refused."""
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            arrays = dict(archive.items())
        meta = json.loads(arrays.pop("meta").tobytes())
    except FileNotFoundError:
        raise InvalidInput("path", f"there is no file {os.fspath(path)}") from None
    except (ValueError, KeyError, OSError, EOFError, AttributeError, BadZipFile, zlib.error) as error:
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what}") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        known = f"of a format that this version reads ({FORMAT})"
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what} {known}")
    if not needed <= set(meta) | set(arrays):
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what}")
    return meta, arrays
