"""One .npz file: arrays, and a JSON text for the rest. No pickle, written in one move."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array

FORMAT = 1


def write(path: str | os.PathLike[str], meta: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Write beside the target, then rename over it: the old file stays until the new is whole."""
    target = Path(path)
    text = np.frombuffer(json.dumps({"format": FORMAT, **meta}).encode(), dtype=np.uint8)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name, suffix=".part")
    except OSError as error:
        raise InvalidInput(f"path: cannot write in {target.parent}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, meta=text, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Array]]:
    try:
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            arrays = {name: archive[name] for name in archive.files}
        meta = json.loads(arrays.pop("meta").tobytes())
    except FileNotFoundError:
        raise InvalidInput(f"path: there is no file {os.fspath(path)}") from None
    except (ValueError, KeyError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"path: {os.fspath(path)} is not a saved learner") from error
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise InvalidInput(
            f"path: {os.fspath(path)} is not a learner saved in a format this version reads ({FORMAT})"
        )
    return meta, arrays
