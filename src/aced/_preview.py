"""An image made small enough to be looked at, at a cost that its header tells before it is decoded."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, ImageOps

from aced._types import Array

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "TGA", "ICO", "JPEG2000", "AVIF", "PCX")
"""The decoders that are used, whatever a file is called. EPS would run code on this machine."""

MOST_PIXELS = 120_000_000
"""An image with more pixels is not decoded: a few kilobytes can claim gigabytes."""

SIXTEEN_BIT = ("I", "I;16", "I;16B", "I;16L", "I;16N")


class TooLarge(ValueError):
    """An image has more than ``MOST_PIXELS`` pixels."""


def opened(file: Path | IO[bytes]) -> Image.Image:
    """The image in a file, of which only the header is read. The caller closes it."""
    Image.init()
    known = [name for name in FORMATS if name in Image.OPEN]  # a build of Pillow may lack some
    return Image.open(file, formats=known)


def preview(file: Path | IO[bytes], side: int) -> Image.Image:
    """The first frame, at most ``side`` pixels wide and high, upright, as RGB or RGBA of 8 bits."""
    with opened(file) as image:
        if image.width * image.height > MOST_PIXELS:
            raise TooLarge(
                f"{image.width} x {image.height} pixels, more than {MOST_PIXELS / 1e6:g} million"
            )
        image.draft(None, (side, side))  # JPEG decodes itself to a half, a quarter or an eighth
        mode, frame = image.mode, _blendable(image)
        frame.thumbnail((side, side))
        frame.load()  # a small one has not been read yet
    small = eight_bits(ImageOps.exif_transpose(frame))
    small = small.convert("RGBA" if _transparent(small) else "RGB")
    if small.mode != mode:
        small.info.pop("icc_profile", None)  # it describes other colours
    return small


def _blendable(image: Image.Image) -> Image.Image:
    """The image in a mode whose neighbouring pixels can be averaged."""
    if image.mode == "1":
        return image.convert("L")
    if image.mode.startswith("I;16"):
        return image.convert("I")
    if image.mode in ("P", "PA"):
        return image.convert("RGBA" if _transparent(image) else "RGB")
    return image


def _transparent(image: Image.Image) -> bool:
    return image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info


def eight_bits(image: Image.Image) -> Image.Image:
    """16 bits scaled to 8, floats stretched over their range; all other modes stay as they are."""
    if image.mode in SIXTEEN_BIT:
        values = np.clip(np.asarray(image, dtype=np.float32), 0, None)
        return _grey(values / max(65535.0, float(values.max())))
    if image.mode == "F":
        values = np.nan_to_num(np.asarray(image, dtype=np.float32), posinf=0, neginf=0)
        span = float(values.max() - values.min())
        return _grey((values - values.min()) / span if span > 0 else np.zeros_like(values))
    return image


def _grey(values: Array) -> Image.Image:
    return Image.fromarray(np.rint(values * 255).astype(np.uint8))
