"""Small copies of images of all kinds."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from aced import _preview
from aced._preview import TooLarge, preview


def written(image: Image.Image, form: str, **options: object) -> io.BytesIO:
    file = io.BytesIO()
    image.save(file, form, **options)
    file.seek(0)
    return file


def half(mode: str, size: tuple[int, int] = (400, 200)) -> Image.Image:
    """Black on the left, white on the right."""
    image = Image.new("L", size, 255)
    image.paste(0, (0, 0, size[0] // 2, size[1]))
    if mode.startswith("I;16"):
        return Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
    return image.convert(mode)


@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("1", "PNG"), ("L", "PNG"), ("P", "GIF"), ("RGB", "JPEG"), ("RGBA", "PNG"), ("CMYK", "TIFF"),
        ("I;16", "PNG"), ("I;16", "TIFF"), ("F", "TIFF"), ("LA", "PNG"), ("1", "TIFF"), ("RGB", "WEBP"),
    ],
)  # fmt: skip
def test_every_mode_becomes_a_small_picture_in_colour(mode, form):
    small = preview(written(half(mode), form), 100)
    assert small.size == (100, 50)
    assert small.mode in ("RGB", "RGBA")
    pixels = np.asarray(small.convert("L"))
    assert pixels[:, :45].max() < 20
    assert pixels[:, 55:].min() > 235


def test_a_small_image_keeps_its_pixels():
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8))
    assert preview(written(noise, "PNG"), 100).tobytes() == noise.tobytes()


@pytest.mark.parametrize("form", ["JPEG", "TIFF", "PNG"])
def test_an_image_is_turned_upright(form):
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright
    small = preview(written(half("RGB"), form, exif=exif), 100)
    assert small.size == (50, 100)
    pixels = np.asarray(small.convert("L"))
    assert pixels[:45].max() < 20
    assert pixels[55:].min() > 235


def test_a_large_jpeg_is_decoded_smaller(monkeypatch):
    sizes, shrink = [], Image.Image.thumbnail

    def watched(image, size):
        sizes.append(image.size)
        shrink(image, size)

    monkeypatch.setattr(Image.Image, "thumbnail", watched)
    preview(written(half("RGB", (1600, 800)), "JPEG"), 100)
    assert sizes == [(200, 100)]


def test_the_header_is_enough_to_refuse(monkeypatch):
    monkeypatch.setattr(_preview, "MOST_PIXELS", 79_999)
    file = written(half("L"), "PNG")
    cut = io.BytesIO(file.getvalue()[:60])  # nothing that could be decoded
    with pytest.raises(TooLarge, match="400 x 200 pixels"):
        preview(cut, 100)


def test_a_copy_of_other_colours_has_no_profile_of_the_old_ones():
    assert "icc_profile" not in preview(written(half("CMYK"), "TIFF", icc_profile=b"cmyk"), 100).info
    assert preview(written(half("RGB"), "JPEG", icc_profile=b"rgb"), 100).info["icc_profile"] == b"rgb"
