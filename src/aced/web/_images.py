"""Send images from the items folder, and no other files.

A file that Pillow reads as PNG, JPEG, GIF, WebP or BMP is sent as it is, under the type that Pillow
found, whatever its name says. A few other formats are converted to PNG. SVG can run code in the
visitor's browser, and EPS on this server: neither is opened.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

AS_IS = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
}
ANEW = ("TIFF", "PPM", "TGA", "ICO", "JPEG2000", "AVIF", "PCX")
LARGEST_FILE = 64 * 1024 * 1024
MOST_PIXELS = 64_000_000
LONGEST_SIDE = 4096


def read_image(root: str | None, content: Any) -> tuple[bytes, str] | None:
    """Bytes and media type of an image; None if there is no image that may be shown."""
    if root is None or not isinstance(content, str):
        return None
    try:
        top = Path(root).resolve(strict=True)
        path = (top / content).resolve(strict=True)  # links followed
        if not path.is_relative_to(top) or not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError, RuntimeError):
        return None
    # The file is read once, so that the bytes that were checked are the bytes that are sent.
    return None if len(data) > LARGEST_FILE else _shown(data)


def _shown(data: bytes) -> tuple[bytes, str] | None:
    try:
        with Image.open(io.BytesIO(data), formats=(*AS_IS, *_known(ANEW))) as image:
            if image.format in AS_IS:
                return data, AS_IS[image.format]
            if image.width * image.height > MOST_PIXELS:
                return None
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            drawn = io.BytesIO()
            image.convert("RGBA" if "A" in image.getbands() else "RGB").save(drawn, "PNG")
            return drawn.getvalue(), "image/png"
    except Exception:  # decoders fail in many ways on damaged files
        return None


def _known(formats: tuple[str, ...]) -> list[str]:
    """The formats that this build of Pillow knows."""
    Image.init()
    return [name for name in formats if name in Image.OPEN]
