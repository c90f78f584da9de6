"""Damage done to .npy and .npz files that their checksums do not show."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib
from functools import lru_cache
from typing import Any

import numpy as np

from tests.fuzz._mutate import as_json, edited

NUMBERS = (0, 1, -1, 2, 127, 2**31, 2**62, 1e30, 1e-40, 1e300, np.nan, np.inf, -np.inf)
TYPES = (
    "?",
    "i1",
    "u1",
    "<i8",
    ">i8",
    "<f2",
    "<f4",
    ">f8",
    "<f8",
    "<c16",
    "<U3",
    "S4",
    "M8[s]",
    "V8",
    "O",
    "<f16",
    [("a", "<f4"), ("b", "S2")],
)
CLAIMS = (
    (2**50,),
    (2**40, 2**20),
    (10**9, 3),
    (-1,),
    (0,),
    (2**63,),
    (10**30,),
    (1,) * 40,
    (3, 0),
    (0, 5),
)


def damaged_array(rng: random.Random, array: Any) -> Any:
    """Another array: other numbers, another shape, another type."""
    return rng.choice((_other_numbers, _other_shape, _other_type))(rng, np.array(array))


def _other_numbers(rng: random.Random, array: Any) -> Any:
    if not array.size or array.dtype.kind not in "biuf":
        return array
    for _ in range(rng.choice((1, 1, array.size))):
        with np.errstate(all="ignore"):
            number = np.array(rng.choice(NUMBERS)).astype(array.dtype, casting="unsafe")
        array.reshape(-1)[rng.randrange(array.size)] = number
    return array


def _other_shape(rng: random.Random, array: Any) -> Any:
    flat = array.reshape(-1)
    array = array if array.ndim else flat
    shapes = (
        array[:0],
        array[:-1],
        np.concatenate([flat, flat]),
        flat[:1],
        array[None],
        array.T,
        np.asfortranarray(array),
        np.array(0),
        array[..., None],
    )
    return rng.choice(shapes)


def _other_type(rng: random.Random, array: Any) -> Any:
    kind = rng.choice(TYPES)
    try:
        with np.errstate(all="ignore"):
            return array.astype(kind)
    except (ValueError, TypeError):
        return np.zeros(array.shape, kind)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)  # an array of objects must be refused, not unpickled
    return file.getvalue()


def damaged_npy(rng: random.Random, content: bytes) -> bytes:
    """A .npy file with other content, or one whose header is not true."""
    array = np.load(io.BytesIO(content))
    if rng.random() < 0.6:
        return npy(damaged_array(rng, array))
    descr = rng.choice((array.dtype.str, "<f4", "|O", "<U1000000000", "", "\0", None, [("a", "<f4")]))
    shape = rng.choice((*CLAIMS, array.shape, (*array.shape, 1), array.shape[::-1], "x", None, (1.5,)))
    words = {"descr": descr, "fortran_order": rng.choice((False, True, 1)), "shape": shape}
    if rng.random() < 0.1:
        words.pop(rng.choice(list(words)))
    text = rng.choice(
        (repr(words), repr(words), "{" * 3000, "(" * 200 + repr(words), "__import__('os')")
    )
    version = rng.choice((b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\x09\0"))
    size = struct.pack("<H" if version == b"\1\0" else "<I", len(text) + 1)
    return b"\x93NUMPY" + version + size + text.encode() + b"\n" + array.tobytes()


# -- archives -----------------------------------------------------------------------------


def parts_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts: dict[str, bytes], compressed: bool = False) -> bytes:
    file = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def damaged_npz(rng: random.Random, content: bytes) -> bytes:
    """A .npz file whose checksums are right, with one part of it changed."""
    parts = parts_of(content)
    name = rng.choice(list(parts))
    if "meta.npy" in parts and rng.random() < 0.5:
        name = "meta.npy"
    rng.choice(_CHANGES)(rng, parts, name)
    return packed(parts, compressed=rng.random() < 0.3)


def _part(rng: random.Random, parts: dict[str, bytes], name: str) -> None:
    if name == "meta.npy":
        _meta(rng, parts, name)
    else:
        parts[name] = damaged_npy(rng, parts[name])


def _meta(rng: random.Random, parts: dict[str, bytes], name: str) -> None:
    """The JSON text that goes with the arrays."""
    if "meta.npy" not in parts:
        return
    text = np.load(io.BytesIO(parts["meta.npy"])).tobytes()
    new = as_json(edited(rng, json.loads(text)))
    new = rng.choice((new, new, new, new, text[:-1], b"[" * 100_000, b"", b"\xff" + text))
    parts["meta.npy"] = npy(np.frombuffer(new, np.uint8))


def _lose(rng: random.Random, parts: dict[str, bytes], name: str) -> None:
    del parts[name]


def _rename(rng: random.Random, parts: dict[str, bytes], name: str) -> None:
    parts[rng.choice(("x.npy", "a", "../x.npy", "meta", name.upper(), "strategy_x.npy"))] = parts.pop(
        name
    )


def _exchange(rng: random.Random, parts: dict[str, bytes], name: str) -> None:
    parts[name] = parts[rng.choice(list(parts))]


_CHANGES = (_part, _part, _part, _part, _meta, _lose, _rename, _exchange)


@lru_cache
def bomb(name: str = "codes.npy", size: int = 640 * 2**20) -> bytes:
    """A .npz file of less than 1 MB with an array of ``size`` bytes, all of them zero."""
    header = {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    text = (repr(header) + "\n").encode()
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text
    block, press = bytes(2**20), zlib.compressobj(9, zlib.DEFLATED, -15)
    check = zlib.crc32(start)
    pressed = [press.compress(start)]
    for _ in range(size // len(block)):
        check = zlib.crc32(block, check)
        pressed.append(press.compress(block))
    return _zip(name.encode(), b"".join([*pressed, press.flush()]), check, len(start) + size)


def _zip(name: bytes, pressed: bytes, check: int, size: int) -> bytes:
    """An archive with one member, written by hand."""
    fields = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, check, len(pressed), size)
    local = b"PK\3\4" + fields + struct.pack("<HH", len(name), 0) + name + pressed
    central = b"PK\1\2" + struct.pack("<H", 20) + fields
    central += struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\5\6" + end
