import pytest
from PIL import Image

from aced import InvalidInput
from aced.items import read_items


def _image(path, colour="red", size=(4, 3)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)
    return path


def test_images_below_a_folder(tmp_path):
    for name in ("b.PNG", "a/deep/c.jpg", "a/d.webp", "e.gif", "f.bmp", "g.tiff"):
        _image(tmp_path / name, colour=(len(name), 0, 0))
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "logo.svg").write_text("<svg/>")
    (tmp_path / "._b.png").write_text("a Mac's second half")
    _image(tmp_path / ".cache/h.png")
    items = read_items(tmp_path)
    assert items.kind == "image"
    assert items.contents == ["a/d.webp", "a/deep/c.jpg", "b.PNG", "e.gif", "f.bmp", "g.tiff"]
    assert items.ids == items.contents
    assert items.root == tmp_path.resolve()
    assert items.skipped == 1  # the SVG


def test_the_same_bytes_are_the_same_image(tmp_path):
    for name in ("a.png", "b.png"):
        _image(tmp_path / name)
    _image(tmp_path / "c.png", "blue")
    assert read_items(tmp_path).same_as.tolist() == [0, 0, 2]


def test_links_that_leave_the_folder_are_left_out(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    _image(inside / "a.png")
    _image(outside / "b.png")
    (inside / "link.png").symlink_to(outside / "b.png")
    (inside / "nowhere.png").symlink_to(inside / "gone.png")
    (inside / "folder").symlink_to(outside, target_is_directory=True)
    (inside / "alias.png").symlink_to(inside / "a.png")
    items = read_items(inside)
    assert items.contents == ["a.png", "alias.png"]
    assert items.skipped == 3


def test_what_is_refused(tmp_path):
    (tmp_path / "logo.svg").write_text("<svg/>")
    with pytest.raises(InvalidInput, match=r"items: there are no images in .*\(1 left out"):
        read_items(tmp_path)
    _image(tmp_path / "a.png")
    for name in ("b.png", "c.jpg"):
        (tmp_path / name).write_bytes(b"no image")
    with pytest.raises(InvalidInput, match=r"items: b\.png \(.*\) and c\.jpg \(.*\) cannot be read"):
        read_items(tmp_path)
    with pytest.raises(InvalidInput, match="folder"):
        read_items(tmp_path, kind="text")
    with pytest.raises(InvalidInput, match="no column 'x'"):
        read_items(tmp_path, column="x")


def _truncated(path, colour="red"):
    _image(path, colour, size=(60, 60))
    path.write_bytes(path.read_bytes()[:-40])


def test_broken_images_are_all_named_at_once_however_they_are_broken(tmp_path):
    """Some have no header, others cannot be decoded to their ends."""
    for place in range(3):
        _image(tmp_path / f"good{place}.png", (place, 0, 0))
    (tmp_path / "b.png").write_bytes(b"no image")
    _truncated(tmp_path / "a.png")
    with pytest.raises(InvalidInput) as caught:
        read_items(tmp_path)
    assert caught.value.sentence.startswith("a.png (")
    assert ") and b.png (none of PNG" in caught.value.sentence
    assert caught.value.sentence.endswith("as images; repair them or take them out of the folder")
    for name in "cdefg":
        (tmp_path / f"{name}.png").write_bytes(b"no image")
    with pytest.raises(InvalidInput, match=r"e\.png \([^)]*\) and 2 more cannot be read as images"):
        read_items(tmp_path)


def test_broken_images_are_left_out_if_so_wished(tmp_path):
    for place in range(3):
        _image(tmp_path / f"good{place}.png", ("red", "blue", "red")[place])
    (tmp_path / "b.png").write_bytes(b"no image")
    _truncated(tmp_path / "a.png")
    items = read_items(tmp_path, skip_broken=True)
    assert items.ids == ["good0.png", "good1.png", "good2.png"]
    assert items.same_as.tolist() == [0, 1, 0]
    assert items.broken == ["a.png", "b.png"]
    for place in range(3):
        (tmp_path / f"good{place}.png").unlink()
    with pytest.raises(InvalidInput, match=r"none of the 2 images in .* can be read"):
        read_items(tmp_path, skip_broken=True)
