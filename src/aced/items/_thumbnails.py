"""Decode each image file to two small arrays, and name the files that cannot be decoded."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from aced._errors import InvalidInput
from aced._preview import MOST_PIXELS, eight_bits
from aced._types import Array
from aced._workers import Workers
from aced.items._hog import SIDE
from aced.items._items import Items

T = TypeVar("T")
Bad = list[tuple[str, str]]
"""Names of images that cannot be read, each with the reason."""

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
"""The only decoders of Pillow that are used, whatever a file is called."""

HANDFUL = 5
"""The most images that a sentence names."""

BLOCK = 64
"""The number of images that one thread decodes in turn."""

LARGE = 8_000_000
"""Images with more pixels are decoded one at a time, however many threads there are."""

_ALONE = ThreadPoolExecutor(1, "large images")


class BrokenImages(InvalidInput):
    """Images cannot be read. ``read_items(skip_broken=True)`` leaves them out."""


class Unreadable(Exception):
    """Why an image cannot be used, in a few words."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Pillow's warnings: they are about images that are refused anyway, or about metadata."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _opened(path: Path) -> Image.Image:
    if path.exists() and not path.is_file():  # a pipe would keep its reader waiting for ever
        raise Unreadable("no regular file")
    image: Image.Image = Image.open(path, formats=FORMATS)
    width, height = image.size
    if width * height > MOST_PIXELS:
        image.close()
        raise Unreadable(f"{width} x {height} pixels, more than {MOST_PIXELS / 1e6:.0f} million")
    return image


def tried(look: Callable[[Path], T], path: Path) -> T | Unreadable:
    """What ``look`` finds in an image, or why it fails: damaged images fail in many ways."""
    try:
        return look(path)
    except (InvalidInput, MemoryError):
        raise
    except Unreadable as error:
        return error
    except Image.DecompressionBombError:
        return Unreadable(f"more than {MOST_PIXELS / 1e6:.0f} million pixels")
    except UnidentifiedImageError:
        return Unreadable(f"none of {', '.join(FORMATS)}")
    except OSError as error:
        return Unreadable(error.strerror or str(error))
    except Exception as error:
        lines = str(error).splitlines()
        return Unreadable(lines[0] if lines else type(error).__name__)


def check_header(path: Path) -> None:
    """Refuse a file that is no image or too large, without decoding it."""
    with _opened(path):
        pass


def thumbnail(path: Path) -> tuple[Array, Array]:
    """An image squeezed to 32 x 32 in colour and to 64 x 64 in grey, as uint8.

    It is the first frame, turned upright as its EXIF says, on white where it is transparent.
    """
    with _opened(path) as image:
        if image.format == "JPEG":
            image.draft(image.mode, (4 * SIDE, 4 * SIDE))  # decodes large photographs smaller
        large = image.width * image.height > LARGE
        small = _ALONE.submit(_squeezed, image).result() if large else _squeezed(image)
        half = small.resize((SIDE // 2, SIDE // 2), Image.Resampling.BOX)
        return np.asarray(half), np.asarray(small.convert("L"))


def _squeezed(image: Image.Image) -> Image.Image:
    upright = ImageOps.exif_transpose(image)
    return _in_colour(upright).resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def _in_colour(image: Image.Image) -> Image.Image:
    """Any mode to RGB, on white where it is transparent."""
    image = eight_bits(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        above = image.convert("RGBA")
        white = Image.new("RGBA", above.size, "white")
        image = Image.alpha_composite(white, above)
    return image.convert("RGB")


def refuse(bad: Bad) -> None:
    """Refuse images that cannot be read, in one sentence for all of them."""
    if not bad:
        return
    if len(bad) == 1:
        name, reason = bad[0]
        raise BrokenImages(
            "items",
            f"{name} cannot be read as an image ({reason}); repair it or take it out of the folder",
        )
    named = [f"{name} ({reason})" for name, reason in bad[:HANDFUL]]
    parts = [*named, f"{len(bad) - HANDFUL} more"] if len(bad) > HANDFUL else named
    raise BrokenImages(
        "items",
        f"{', '.join(parts[:-1])} and {parts[-1]} cannot be read as images; "
        "repair them or take them out of the folder",
    )


def tried_all(look: Callable[[Path], T], root: Path, names: list[str]) -> tuple[list[T], Bad]:
    """What ``look`` finds in these images, and the images on which it fails."""
    looked = [(name, tried(look, root / name)) for name in names]
    bad = [(name, str(found)) for name, found in looked if isinstance(found, Unreadable)]
    return [found for _, found in looked if not isinstance(found, Unreadable)], bad


def undecodable(root: Path, names: list[str]) -> Bad:
    """The images that cannot be decoded, looked for on all cores. It takes as long as their features."""

    def one(index: int) -> Bad:
        return tried_all(thumbnail, root, names[index * BLOCK : (index + 1) * BLOCK])[1]

    with quiet():
        return [entry for bad in Workers().map(one, -(-len(names) // BLOCK)) for entry in bad]


def over_blocks(items: Items, task: Callable[[Array, Array], T]) -> list[T]:
    """Call ``task`` with the thumbnails of each block, (b, 32, 32, 3) and (b, 64, 64), on all cores."""
    assert items.root is not None
    root, names = items.root, [str(name) for name in items.contents]

    def one(index: int) -> tuple[T | None, Bad]:
        pairs, bad = tried_all(thumbnail, root, names[index * BLOCK : (index + 1) * BLOCK])
        return None if bad else task(*map(np.stack, zip(*pairs, strict=True))), bad

    with quiet():
        parts = Workers().map(one, -(-len(names) // BLOCK))
    refuse([entry for _, bad in parts for entry in bad])
    return [result for result, _ in parts if result is not None]
