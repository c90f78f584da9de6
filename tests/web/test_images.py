"""Large images are decoded one at a time and once, and never sent whole."""

from __future__ import annotations

import io
import os
import threading
import time
from pathlib import Path

import pytest
from PIL import Image

from aced import _preview
from aced.web import _images
from aced.web._images import read_image
from aced.web._kept import ENTRY, Kept
from tests.web.test_files import gallery

SIDE = 64


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Small limits; and the files that were decoded, in this order."""
    monkeypatch.setattr(_images, "SMALL_FILE", 4096)
    monkeypatch.setattr(_images, "LONGEST_SIDE", SIDE)
    monkeypatch.setattr(_images, "LOSSLESS", 8 * 8)
    monkeypatch.setattr(_images, "KEPT", Kept(100_000))
    made: list[Path] = []
    now = threading.Lock()
    copy = _images._copy

    def watched(path: Path) -> _images.Result:
        assert now.acquire(blocking=False), "two images are decoded at once"
        try:
            made.append(path)
            time.sleep(0.01)
            return copy(path)
        finally:
            now.release()

    monkeypatch.setattr(_images, "_copy", watched)
    return made


def saved(path: Path, size: tuple[int, int] = (200, 100), mode: str = "RGB", **options: object) -> Path:
    Image.effect_noise(size, 80).convert(mode).save(path, **options)
    return path


def opened(found: _images.Result) -> Image.Image:
    assert found is not None
    image = Image.open(io.BytesIO(found[0]))
    assert Image.MIME[str(image.format)] == found[1]
    return image


def all_at_once(root: Path, names: list[str]) -> list[_images.Result]:
    found: list[_images.Result] = [None] * len(names)

    def ask(place: int) -> None:
        found[place] = read_image(str(root), names[place])

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(names))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_people_who_ask_at_once_cost_one_decoding_at_a_time_and_one_for_each_image(tmp_path, decoded):
    names = [saved(tmp_path / f"{place}.tiff").name for place in range(4)]
    found = all_at_once(tmp_path, names * 3)
    assert sorted(path.name for path in decoded) == names
    assert all(opened(one).size == (SIDE, SIDE // 2) for one in found)
    assert found[0] == found[4] == found[8]


def test_memory_is_bounded_and_the_image_used_last_stays(tmp_path, decoded, monkeypatch):
    names = [saved(tmp_path / f"{place}.tiff").name for place in range(3)]
    sizes = [len(one[0]) + ENTRY for one in all_at_once(tmp_path, names) if one]
    kept = Kept(sizes[0] + max(sizes[1:]))
    monkeypatch.setattr(_images, "KEPT", kept)
    decoded.clear()
    for name in (names[0], names[1], names[0], names[2], names[0], names[1]):
        read_image(str(tmp_path), name)
        assert kept.bytes <= kept.most
    assert [path.name for path in decoded] == [names[0], names[1], names[2], names[1]]


def test_a_damaged_file_is_decoded_once_and_again_when_it_was_repaired(tmp_path, decoded):
    path = saved(tmp_path / "a.tiff")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert [read_image(str(tmp_path), "a.tiff") for _ in range(5)] == [None] * 5
    assert len(decoded) == 1
    path.write_bytes(whole)
    assert opened(read_image(str(tmp_path), "a.tiff")).size == (SIDE, SIDE // 2)


def test_a_file_that_cannot_be_opened_now_is_tried_again(tmp_path, decoded, monkeypatch):
    path, opening = saved(tmp_path / "a.tiff"), Path.open
    monkeypatch.setattr(Path, "open", lambda *_: (_ for _ in ()).throw(OSError(24, "too many files")))
    assert read_image(str(tmp_path), path.name) is None
    monkeypatch.setattr(Path, "open", opening)
    assert read_image(str(tmp_path), path.name) is not None


def test_an_image_that_changes_is_read_again(tmp_path, decoded):
    path = saved(tmp_path / "a.tiff")
    first = read_image(str(tmp_path), path.name)
    saved(path, (100, 200))
    os.utime(path, ns=(1, 1))
    assert opened(read_image(str(tmp_path), path.name)).size == (SIDE // 2, SIDE)
    assert first != read_image(str(tmp_path), path.name)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.gif"])
def test_only_small_originals_are_sent(tmp_path, decoded, name):
    small, wide, heavy = (
        tmp_path / f"small-{name}",
        tmp_path / f"wide-{name}",
        tmp_path / f"heavy-{name}",
    )
    Image.new("RGB", (20, 10), "red").save(small)
    Image.new("RGB", (SIDE + 1, 1), "red").save(wide)
    saved(heavy, (SIDE, SIDE))
    heavy.write_bytes(heavy.read_bytes() + bytes(5000))
    assert read_image(str(tmp_path), small.name) == (small.read_bytes(), _images.AS_IS[_form(small)])
    for path in (wide, heavy):
        found = opened(read_image(str(tmp_path), path.name))
        assert max(found.size) <= SIDE
        assert found.tobytes() != path.read_bytes()
    assert len(decoded) == 2


def _form(path: Path) -> str:
    with Image.open(path) as image:
        return str(image.format)


def test_an_image_that_claims_too_many_pixels_is_not_decoded(tmp_path, decoded, monkeypatch):
    path = saved(tmp_path / "bomb.png")
    monkeypatch.setattr(_preview, "MOST_PIXELS", 200 * 100 - 1)
    assert read_image(str(tmp_path), path.name) is None
    monkeypatch.setattr(_preview, "MOST_PIXELS", 200 * 100)
    assert read_image(str(tmp_path), path.name) is None  # the failure is kept
    os.utime(path, ns=(1, 1))
    assert read_image(str(tmp_path), path.name) is not None


def test_what_is_transparent_stays_so(tmp_path, decoded):
    image = Image.new("RGBA", (200, 100), (255, 0, 0, 255))
    image.paste((0, 0, 0, 0), (0, 0, 100, 100))
    image.save(tmp_path / "a.tiff")
    found = opened(read_image(str(tmp_path), "a.tiff")).convert("RGBA")
    assert found.getpixel((5, 5))[3] < 10
    assert found.getpixel((60, 5))[3] > 245


def test_images_have_threads_of_their_own(tmp_path, decoded, monkeypatch):
    """However many people wait for an image, nobody waits with a label."""
    root = tmp_path / "root"
    root.mkdir()
    saved(root / "a.tiff")
    go = threading.Event()
    monkeypatch.setattr(_images, "_copy", lambda path: (go.wait(30), None)[1])
    client = gallery(tmp_path, ["a.tiff"])
    with client:
        waiting = [
            threading.Thread(target=client.get, args=("/api/image/0",), daemon=True) for _ in range(60)
        ]
        for thread in waiting:
            thread.start()
        try:
            began = time.monotonic()
            assert client.get("/api/me").status_code == 200
            assert time.monotonic() - began < 20
        finally:
            go.set()
            for thread in waiting:
                thread.join()


def test_a_client_gets_the_smaller_copy(tmp_path, decoded):
    root = tmp_path / "root"
    root.mkdir()
    saved(root / "a.tiff")
    reply = gallery(tmp_path, ["a.tiff"]).get("/api/image/0")
    assert reply.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(reply.content)).size == (SIDE, SIDE // 2)
