"""Read and write .npz files of arrays, without pickle. A JSON text in the file holds everything else."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput, reason
from aced._files import check_file, check_writable, replacing
from aced._npy import is_npz, read_npy, read_npz
from aced._types import Array

FORMAT = 1


def plain_arrays(path: Path, argument: str) -> dict[str, Array]:
    """All arrays of an .npz file, by name; the single array of a .npy file has the name ""."""
    check_file(argument, path)
    what = f"{argument}: the arrays in {path} have to fit in memory"
    try:
        with path.open("rb") as file:
            return read_npz(file, what) if is_npz(file) else {"": read_npy(file, what)}
    except InvalidInput:
        raise
    except Exception as error:  # a damaged archive fails in many ways
        sentence = f"{path} is not a readable file of plain arrays: {reason(error)}"
        raise InvalidInput(argument, sentence) from error


def write(path: str | os.PathLike[str], meta: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write ``meta`` and ``arrays`` to one file; the old file stays until the new one is whole."""
    target = Path(path)
    if target.exists():
        check_file("path", target)
    check_writable("path", target)
    whole = {"format": FORMAT, **meta}
    whole["digest"] = _digest(whole, arrays)
    text = np.frombuffer(json.dumps(whole).encode(), dtype=np.uint8)
    stored: dict[str, Any] = {"meta": text, **arrays}
    with replacing(target) as file:
        np.savez(file, **stored)


def read(
    path: str | os.PathLike[str], needed: set[str], what: str
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The JSON part and the arrays of a saved ``what``; a file that lacks a ``needed`` is refused.

    ``write`` does not compress, so the arrays of a file that it wrote are not larger than the file.
    """
    check_file("path", Path(path))
    try:
        with open(path, "rb") as file:
            arrays = read_npz(file, "path", most=os.fstat(file.fileno()).st_size)
        meta = json.loads(arrays.pop("meta").tobytes())
    except Exception as error:  # a damaged archive fails in many ways
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what}") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        known = f"of a format that this version reads ({FORMAT})"
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what} {known}")
    if "digest" in meta and meta.pop("digest") != _digest(meta, arrays):  # older files have none
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what}: it is damaged")
    if not needed <= set(meta) | set(arrays):
        raise InvalidInput("path", f"{os.fspath(path)} is not a saved {what}")
    return meta, arrays


def _digest(meta: dict[str, Any], arrays: dict[str, Array]) -> str:
    """A hash of all that is saved: what was damaged on disk is noticed, whatever part it is."""
    digest = hashlib.sha256(json.dumps(meta, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        array = np.ascontiguousarray(array)
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
