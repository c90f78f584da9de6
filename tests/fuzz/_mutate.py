"""Damage done to bytes and to values of JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

LONG = "x" * 5000
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    7,
    2**31,
    2**63 - 1,
    2**63,
    -(2**64),
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    " ",
    "\0",
    "a\0",
    "0",
    "1",
    "-1",
    "1e999",
    "null",
    "NaN",
    "=1+1",
    "'=1",
    "@x",
    "../../x",
    "/etc/passwd",
    "\ud800",
    "\x1b[2J",
    "a\nb",
    "\r",
    "\u202ex",
    "\ufeff",
    "ä",
    "🙂",
    LONG,
    [],
    {},
    [[]],
    [None],
    [1, 2],
    {"a": None},
    {"": {}},
    ["x"] * 40,
)
"""Values that code rarely expects."""


def odd(rng: random.Random) -> Any:
    return copy.deepcopy(rng.choice(ODD))


def as_json(value: Any) -> bytes:
    """The value as JSON; half a surrogate pair stays what it is, written with a backslash."""
    return json.dumps(value).encode()


def damaged(rng: random.Random, content: bytes) -> bytes:
    """The bytes after one or a few accidents."""
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        content = rng.choice(ACCIDENTS)(rng, content)
    return content


def _span(rng: random.Random, content: bytes) -> tuple[int, int]:
    """A part of the bytes; short parts are as likely as long ones."""
    size = len(content)
    start = rng.randrange(size + 1)
    return start, min(size, start + int(2 ** rng.uniform(0, max(1, size.bit_length()))))


def _flip(rng: random.Random, content: bytes) -> bytes:
    held = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 30))):
        if held:
            held[rng.randrange(len(held))] ^= 1 << rng.randrange(8)
    return bytes(held)


def _overwrite(rng: random.Random, content: bytes) -> bytes:
    start, stop = _span(rng, content)
    fill = rng.choice((b"\0", b"\xff", b" ", b"\n", b"0", None))
    new = rng.randbytes(stop - start) if fill is None else fill * (stop - start)
    return content[:start] + new + content[stop:]


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.choice((0, len(content) // 2, rng.randrange(len(content) + 1)))]


def _remove(rng: random.Random, content: bytes) -> bytes:
    start, stop = _span(rng, content)
    return content[:start] + content[stop:]


def _insert(rng: random.Random, content: bytes) -> bytes:
    start, _ = _span(rng, content)
    new = rng.choice(
        (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b'"', b"\x1b", b"\xed\xa0\x80", b"[" * 5000)
    )
    return content[:start] + new + content[start:]


def _repeat(rng: random.Random, content: bytes) -> bytes:
    start, stop = _span(rng, content)
    return content[:stop] + content[start:stop] + content[stop:]


def _swap(rng: random.Random, content: bytes) -> bytes:
    middle = rng.randrange(len(content) + 1)
    return content[middle:] + content[:middle]


def _replace(rng: random.Random, content: bytes) -> bytes:
    return rng.choice(
        (b"", b"\n", b"null", b"{}", b"[]", b"PK\x05\x06" + b"\0" * 18, rng.randbytes(300))
    )


def _utf16(rng: random.Random, content: bytes) -> bytes:
    return content.decode("latin-1").encode("utf-16")


ACCIDENTS = (
    _flip,
    _flip,
    _flip,
    _overwrite,
    _overwrite,
    _cut,
    _cut,
    _remove,
    _insert,
    _repeat,
    _swap,
    _replace,
    _utf16,
)


# -- JSON ---------------------------------------------------------------------------------


def edited(rng: random.Random, value: Any, times: int | None = None) -> Any:
    """A copy of a JSON value with a few of its parts replaced, removed, renamed, doubled or moved."""
    held = [copy.deepcopy(value)]
    for _ in range(rng.choice((1, 1, 2, 4)) if times is None else times):
        places = list(_places(held))
        rng.choice(EDITS)(rng, *rng.choice(places), places)
    return held[0]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or position) below a value."""
    listed = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in listed:
        yield value, key
        if isinstance(part, dict | list):
            yield from _places(part)


def _set(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    holder[key] = odd(rng)


def _drop(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    if holder is places[0][0]:
        return  # the value itself stays
    del holder[key]


def _wrap(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    holder[key] = rng.choice(([holder[key]], {"a": holder[key]}, [holder[key]] * 2, str(holder[key])))


def _rename(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    if isinstance(holder, dict):
        holder[rng.choice(("", "id", "label", "row", "\ud800", LONG, str(key).upper()))] = holder.pop(
            key
        )


def _double(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    if isinstance(holder, list) and holder is not places[0][0]:
        holder.insert(key, copy.deepcopy(holder[key]))


def _move(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    other, place = rng.choice(places)
    holder[key] = copy.deepcopy(other[place])


def _nudge(rng: random.Random, holder: Any, key: Any, places: Any) -> None:
    if isinstance(holder[key], int | float):
        holder[key] += rng.choice((-1, 1, 10**6, 0.5 if isinstance(holder[key], float) else 2))
    elif isinstance(holder[key], str):
        holder[key] = holder[key][:-1] + rng.choice("aB0 \n\0")


EDITS = (_set, _set, _set, _drop, _wrap, _rename, _double, _move, _nudge)
