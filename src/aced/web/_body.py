"""The body of a POST: a JSON object of bounded size, and its fields."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import anyio
from starlette.requests import Request

from aced.web._access import Refused

LARGEST = 64 * 1024
PATIENCE = 30.0
"""Seconds within which a body has to arrive."""
LONGEST_TEXT = 200


async def read_object(request: Request) -> dict[str, Any]:
    """The JSON object in a request. At most ``LARGEST`` bytes and a chunk are ever held."""
    declared = request.headers.get("content-length", "0")
    if len(declared) > 9 or (declared.isdecimal() and int(declared) > LARGEST):
        raise _too_large()
    body = bytearray()
    with anyio.move_on_after(PATIENCE) as time:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                raise _too_large()
    if time.cancelled_caught:
        raise Refused(400, f"the body did not arrive within {PATIENCE:.0f} s")
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON") from None
    if not isinstance(value, dict):
        raise Refused(400, "the body must be a JSON object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _too_large() -> Refused:
    return Refused(413, f"the body is larger than {LARGEST // 1024} KiB")


def text(body: dict[str, Any], name: str) -> str:
    """A field that is a text: not too long, without half a surrogate pair."""
    value = body.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT:
        raise Refused(400, f"{name} must be a text of 1 to {LONGEST_TEXT} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(400, f"{name} must be Unicode text") from None
    return value


def whole(body: dict[str, Any], name: str, default: int | None = None) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(400, f"{name} must be a whole number")
    return value


def number(body: dict[str, Any], name: str, default: float) -> float:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise Refused(400, f"{name} must be a number")
    return float(value)


def own_key(body: dict[str, Any]) -> str:
    """The key of an answer, so that an answer sent twice counts once.

    A colon marks the keys of imports and of Label Studio, which pages may not use.
    """
    found = text(body, "request" if "request" in body else "key")  # older pages say request
    if ":" in found:
        raise Refused(400, "key must not hold a colon")
    return found
