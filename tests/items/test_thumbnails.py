import struct
import threading
import time
import zlib

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from aced import InvalidInput
from aced.items import Embedding, _thumbnails, read_items
from aced.items._thumbnails import Unreadable, check_header, thumbnail, tried


def _half(mode="RGB", left="black", right="white", size=(40, 20)):
    image = Image.new(mode, size, right)
    image.paste(left, (0, 0, size[0] // 2, size[1]))
    return image


def _saved(tmp_path, image, name="a.png", **options):
    image.save(tmp_path / name, **options)
    return tmp_path / name


def test_sizes_and_values(tmp_path):
    colour, grey = thumbnail(_saved(tmp_path, _half(left="red", right="blue")))
    assert colour.shape == (32, 32, 3)
    assert grey.shape == (64, 64)
    assert colour.dtype == grey.dtype == np.uint8
    assert colour[5, 2].tolist() == [255, 0, 0]
    assert colour[5, -2].tolist() == [0, 0, 255]


def test_one_pixel_is_an_image(tmp_path):
    colour, grey = thumbnail(_saved(tmp_path, Image.new("RGB", (1, 1), (9, 9, 9))))
    assert (colour == 9).all()
    assert (grey == 9).all()


@pytest.mark.parametrize(
    ("mode", "name"),
    [("1", "a.png"), ("L", "a.png"), ("P", "a.gif"), ("CMYK", "a.jpg"), ("CMYK", "a.tif")],
)
def test_modes_are_read_alike(tmp_path, mode, name):
    # the edge lies between two of a JPEG's blocks, so that it survives the compression
    path = _saved(tmp_path, _half(size=(64, 64)).convert(mode), name)
    _, grey = thumbnail(path)
    assert grey[:, :28].max() < 12
    assert grey[:, 36:].min() > 243


def test_what_is_transparent_is_white(tmp_path):
    half = _half("RGBA", left=(0, 0, 0, 255), right=(0, 0, 0, 0))
    palette = _half("P", left=1, right=0)
    palette.putpalette([0, 0, 0] * 256)
    for path in (
        _saved(tmp_path, half, "rgba.png"),
        _saved(tmp_path, half.convert("LA"), "la.png"),
        _saved(tmp_path, palette, "p.png", transparency=0),
        _saved(tmp_path, palette, "bytes.png", transparency=b"\x00\xff"),
    ):
        colour, _ = thumbnail(path)
        assert (colour[:, :14] == 0).all(), path.name
        assert (colour[:, -14:] == 255).all(), path.name


def test_sixteen_bits_are_scaled_to_eight(tmp_path):
    ramp = np.repeat(np.linspace(0, 65535, 64).astype(np.uint16)[None], 64, axis=0)
    _, grey = thumbnail(_saved(tmp_path, Image.fromarray(ramp)))
    np.testing.assert_allclose(grey, ramp / 257, atol=1)
    _, wide = thumbnail(_saved(tmp_path, Image.fromarray(ramp.astype(np.int32)), "a.tif"))
    np.testing.assert_array_equal(wide, grey)


def test_floats_are_stretched_over_their_range(tmp_path):
    ramp = np.repeat(np.linspace(-3, 5, 64, dtype=np.float32)[None], 64, axis=0)
    _, grey = thumbnail(_saved(tmp_path, Image.fromarray(ramp), "a.tif"))
    np.testing.assert_allclose(grey, (ramp + 3) / 8 * 255, atol=1)
    _, flat = thumbnail(_saved(tmp_path, Image.fromarray(ramp * 0), "b.tif"))
    assert (flat == 0).all()


def test_exif_turns_an_image_upright(tmp_path):
    lying = _half(size=(40, 20))
    exif = Image.Exif()
    exif[0x0112] = 6  # stored lying on its side: a quarter turn clockwise makes it upright
    turned = thumbnail(_saved(tmp_path, lying, "turned.png", exif=exif))
    upright = thumbnail(_saved(tmp_path, lying.rotate(-90, expand=True), "upright.png"))
    np.testing.assert_array_equal(turned[1], upright[1])
    assert (turned[1][:20] == 0).all()


def test_a_large_photograph_decoded_at_a_fraction_looks_the_same(tmp_path):
    photograph = Image.fromarray(load_sample_images().images[0]).resize((1280, 960))
    fraction = thumbnail(_saved(tmp_path, photograph, "a.jpg", quality=95))
    whole = thumbnail(_saved(tmp_path, photograph, "a.png"))
    assert np.abs(fraction[0].astype(int) - whole[0]).mean() < 3


def test_a_truncated_image_is_named(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    for name in ("b.jpg", "c.png"):
        path = _saved(tmp_path, Image.fromarray(noise), name)
        path.write_bytes(path.read_bytes()[:1500])
    _saved(tmp_path, Image.fromarray(noise), "a.png")
    items = read_items(tmp_path)  # their first bytes are those of images
    with pytest.raises(
        InvalidInput, match=r"^items: b\.jpg \(.*truncated.* and c\.png \(.* cannot be read as images"
    ):
        Embedding.fit(items)
    (tmp_path / "b.jpg").unlink()
    with pytest.raises(InvalidInput, match=r"b\.jpg .*No such file"):
        Embedding.fit(items)


def _bomb(side):
    """A PNG that says it is ``side`` pixels square."""

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [11_000, 60_000])  # beyond our limit, and beyond Pillow's own
def test_decompression_bombs_are_refused_before_they_are_decoded(tmp_path, side):
    (tmp_path / "a.png").write_bytes(_bomb(side))
    with pytest.raises(InvalidInput, match=r"^items: a\.png .*more than 120 million"):
        read_items(tmp_path)


def test_other_decoders_are_not_tried(tmp_path):
    _saved(tmp_path, _half(), "a.eps")
    (tmp_path / "a.eps").rename(tmp_path / "a.png")
    with pytest.raises(InvalidInput, match="none of PNG, JPEG"):
        read_items(tmp_path)


def test_the_limit_holds_when_embedding_too(tmp_path, monkeypatch):
    path = _saved(tmp_path, _half())
    items = read_items(tmp_path)
    monkeypatch.setattr(_thumbnails, "MOST_PIXELS", 799)
    assert isinstance(tried(check_header, path), Unreadable)
    with pytest.raises(InvalidInput, match="40 x 20 pixels"):
        Embedding.fit(items)


def test_large_images_are_decoded_one_at_a_time(tmp_path, monkeypatch):
    for number in range(2 * _thumbnails.BLOCK):
        _saved(tmp_path, Image.new("RGB", (20, 20), (number, 0, 0)), f"{number}.png")
    items = read_items(tmp_path)
    _, usual = Embedding.fit(items, "pixels-pca")
    now, squeezed = threading.Lock(), _thumbnails._squeezed

    def watched(image):
        assert now.acquire(blocking=False), "two large images are decoded at once"
        try:
            time.sleep(0.001)
            return squeezed(image)
        finally:
            now.release()

    monkeypatch.setattr(_thumbnails, "_squeezed", watched)
    monkeypatch.setattr(_thumbnails, "LARGE", 399)
    _, found = Embedding.fit(items, "pixels-pca")
    np.testing.assert_array_equal(found, usual)
