"""What cannot be seen: images that fail, images that are transparent, items that are empty."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from aced.project import Project
from tests.browser.site import texts

MISSING = ("404",)


def gallery(folder: Path, names: list[str]) -> tuple[Path, Path]:
    """Transparent images with a black frame; returns the project and the folder of the images."""
    pictures = folder / "pictures"
    pictures.mkdir()
    for name in names:
        draw_frame(pictures / name)
    project = Project.create(
        folder / "project",
        ids=names,
        contents=names,
        kind="image",
        features=np.random.default_rng(0).normal(size=(len(names), 3)).astype(np.float32),
        classes=["no", "yes"],
        root=pictures,
        batch=len(names),
    )
    project.refill()
    project.close()
    return folder / "project", pictures


def draw_frame(path: Path) -> None:
    image = Image.new("RGBA", (120, 60), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((0, 0, 119, 59), outline=(0, 0, 0, 255), width=8)
    image.save(path)


def test_an_image_that_fails_is_said_and_takes_no_label_until_it_is_there(
    tmp_path: Path, site, visit
) -> None:
    folder, pictures = gallery(tmp_path, ["a.png"])
    (pictures / "a.png").unlink()
    served = site(folder)
    ana = visit(expected=MISSING)
    page = ana.page
    page.goto(served.url)
    page.wait_for_selector("#retry")
    assert "cannot be shown" in page.inner_text("#item")
    assert page.locator("#item img").count() == 0
    assert page.locator("#first").is_disabled()
    assert page.locator("#skip").is_enabled()
    for key in ("1", "ArrowRight", "y"):
        page.keyboard.press(key)
    assert "Try again, or skip" in page.inner_text("#notice")
    assert page.evaluate("document.activeElement.id") == "retry"
    page.keyboard.press("Enter")  # it is still missing
    page.wait_for_selector("#retry")
    assert served.events("label") == []
    draw_frame(pictures / "a.png")
    page.wait_for_selector("#retry")
    page.click("#retry")
    page.wait_for_selector("#item .zoom img.ground")
    page.wait_for_selector("#first:enabled")
    page.keyboard.press("1")
    page.wait_for_selector(".message.done")
    ana.saved()
    assert len(served.events("label")) == 1


def test_an_item_whose_image_fails_can_be_skipped_and_the_next_be_labelled(
    tmp_path: Path, site, visit
) -> None:
    folder, pictures = gallery(tmp_path, ["a.png", "b.png"])
    (pictures / "a.png").write_bytes(b"no image at all")
    served = site(folder)
    ana = visit(expected=MISSING)
    page = ana.page
    page.goto(served.url)
    for _ in range(2):
        page.wait_for_selector("#retry, #item .zoom img.ground")
        key = "s" if page.locator("#retry").count() else "2"
        before = page.inner_html("#item")
        page.keyboard.press(key)
        page.wait_for_function("html => document.querySelector('#item').innerHTML !== html", arg=before)
    page.wait_for_selector(".message.done")
    ana.saved()
    state = served.state()
    assert {row: list(said) for row, said in state.votes.items() if said} == {1: ["ana"]}
    assert state.passed[0] == {"ana": "skip"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_transparent_has_a_light_ground_as_large_as_the_image(
    tmp_path: Path, site, visit, scheme: str
) -> None:
    folder, _ = gallery(tmp_path, ["a.png"])
    served = site(folder)
    ana = visit(color_scheme=scheme)
    page = ana.page
    page.goto(served.url)
    page.wait_for_selector("#item .zoom img.ground")
    box = page.locator("#item .zoom img").bounding_box()
    assert box["width"] / box["height"] == pytest.approx(2, rel=0.02)
    stage = page.locator("#stage").bounding_box()
    assert box["x"] >= stage["x"]
    assert box["y"] >= stage["y"]
    assert box["y"] + box["height"] <= stage["y"] + stage["height"] + 1
    shot = Image.open(io.BytesIO(page.screenshot())).convert("L")
    shown = np.asarray(shot.crop([round(box["x"] + part * box["width"]) if axis == 0 else round(
        box["y"] + part * box["height"]) for part in (0.25, 0.75) for axis in (0, 1)]))  # fmt: skip
    assert shown.min() > 200  # the inside of the frame is transparent
    edge = np.asarray(shot)[round(box["y"] + box["height"] / 2), round(box["x"] + 3)]
    assert edge < 60  # the frame itself is black


@pytest.mark.parametrize(
    ("kind", "contents"),
    [
        ("text", ["", " \n\t ", "\u200b\u2060"]),
        ("row", [{"a": None, "b": " "}, {"a": "", "b": None}, {}]),
    ],
)
def test_an_empty_item_says_so_and_can_be_answered(tmp_path: Path, site, visit, kind, contents) -> None:
    texts(tmp_path, [*contents], ["no", "yes"], kind)
    served = site(tmp_path / "project")
    ana = visit()
    page = ana.page
    page.goto(served.url)
    for left in range(3, 0, -1):
        page.wait_for_selector("#first:enabled")
        assert "This item is empty" in page.inner_text("#stage")
        page.keyboard.press("1")
        ana.saved()
        assert len(served.events("label")) == 4 - left
    page.goto(f"{served.url}/history")
    page.wait_for_selector(".entry")
    assert set(page.locator(".entry .what").all_text_contents()) == {"(empty)"}
