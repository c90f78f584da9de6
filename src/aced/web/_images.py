"""Send images from the items folder, and no other files.

A small file that Pillow reads as PNG, JPEG, GIF, WebP or BMP is sent as it is, under the type that
Pillow found, whatever its name says. Of all others a smaller copy is sent. Copies are made one at a
time and kept in memory, so that many people who look at large images cost little. SVG can run code in
the visitor's browser, and EPS on this server: neither is opened.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO, Any

from anyio import CapacityLimiter, to_thread
from PIL import Image, features
from starlette.requests import Request
from starlette.responses import Response

from aced._preview import opened, preview
from aced.web._kept import Kept, Result

AS_IS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
}
SMALL_FILE = 2 * 1024 * 1024
LARGEST_FILE = 256 * 1024 * 1024
LONGEST_SIDE = 2048
"""A file with more bytes, or an image with a longer side, is not sent as it is."""
LOSSLESS = 512 * 512
"""A copy with at most this many pixels is a PNG: few bytes, and every pixel as it was."""
QUALITY = 90

KEPT = Kept(64 * 1024 * 1024)
THREADS = 16
"""How many requests for images may wait at once. They have threads of their own."""


def read_image(root: str | None, content: Any) -> Result:
    """Bytes and media type of an image; None if there is no image that may be shown."""
    if root is None or not isinstance(content, str):
        return None
    try:
        top = Path(root).resolve(strict=True)
        path = (top / content).resolve(strict=True)  # links followed
        if not path.is_relative_to(top) or not path.is_file():
            return None
        status = path.stat()
        if status.st_size > LARGEST_FILE:
            return None
        found = _as_is(path) if status.st_size <= SMALL_FILE else None
        return found or KEPT.get((path, status.st_size, status.st_mtime_ns), lambda: _copy(path))
    except (OSError, ValueError, RuntimeError, MemoryError):
        return None


def _as_is(path: Path) -> Result:
    """A small file, if a browser can show it. It is read once: what was checked is what is sent."""
    with path.open("rb") as file:
        data = file.read(SMALL_FILE + 1)
    try:
        with opened(io.BytesIO(data)) as image:
            fits = len(data) <= SMALL_FILE and max(image.size) <= LONGEST_SIDE
            return (data, AS_IS[image.format]) if fits and image.format in AS_IS else None
    except Exception:  # decoders fail in many ways on damaged files
        return None


def _copy(path: Path) -> Result:
    with path.open("rb") as file:  # a file that cannot be opened now may be opened later
        return _made(file)


def _made(file: IO[bytes]) -> Result:
    try:
        image = preview(file, LONGEST_SIDE)
        form = _form(image)
        drawn, profile = io.BytesIO(), image.info.get("icc_profile")
        image.save(drawn, form, quality=QUALITY, icc_profile=profile)
    except MemoryError:
        raise
    except Exception:
        return None
    return drawn.getvalue(), AS_IS[form]


def _form(image: Image.Image) -> str:
    if image.width * image.height <= LOSSLESS:
        return "PNG"
    if image.mode == "RGB":
        return "JPEG"
    return "WEBP" if features.check("webp") else "PNG"


def apart(endpoint: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint in threads of its own: people who wait for images keep no label waiting."""
    limiters: list[CapacityLimiter] = []

    async def waiting(request: Request) -> Response:
        if not limiters:
            limiters.append(CapacityLimiter(THREADS))  # it belongs to the loop that runs now
        return await to_thread.run_sync(endpoint, request, limiter=limiters[0])

    return waiting
