"""Images of both pages for docs/labelling.md: text and images, wide and on a phone, light and dark.

    python benchmarks/screenshots.py [FOLDER]

Two projects are made with a few hundred simulated labels by three people who are wrong now and then,
served on this machine, and looked at with Debian's Chromium.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sklearn.datasets import load_digits

from aced.items import Embedding, Items, read_items
from aced.project import Project
from aced.web import make_app

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-proxy-server"]
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PEOPLE = {"Ana": 0.02, "Ben": 0.10, "Eva": 0.05}  # how often each is wrong
LABELS = 420
COLOURS = 128

THINGS = [
    *("kettle", "lamp", "desk", "raincoat", "backpack", "keyboard", "teapot", "blender", "tent"),
    *("suitcase", "bicycle pump", "coffee grinder", "garden hose", "wool blanket", "office chair"),
]
FAULTS = [
    "stopped working after {days} days and nobody answers my messages",
    "arrived with a crack along the side, and the box was wet",
    "is the wrong colour; I have asked for a replacement twice now",
    "never came, although the parcel service says it was delivered {days} days ago",
    "makes a noise that was not there when I tried it in the shop",
    "was charged twice and I would like my money back",
]
WISHES = [
    "looks just right; does it also come in a smaller size",
    "is on my list, can you tell me when it will be back in stock",
    "should be a present, could you wrap it and leave the bill out",
    "works well; which spare parts would you keep in the house for it",
    "would have to fit a shelf of {days} cm, do you have its measures",
    "was recommended by a friend, is there a difference to the one of last year",
]
OPENINGS = ["Hello,", "Good morning,", "Dear all,", "Hi there,", "To whom it may concern,", ""]
CLOSINGS = [
    "Thank you for your help.",
    "I am at home on weekdays after five.",
    "My order has the number {number}.",
    "Please write rather than call.",
    "",
]


def messages(folder: Path, n: int = 900) -> tuple[Items, np.ndarray]:
    """Letters to a shop: complaints and questions."""
    rng = random.Random(3)
    found: dict[str, int] = {}
    while len(found) < n:
        complaint = rng.random() < 0.45
        body = rng.choice(FAULTS if complaint else WISHES)
        parts = [rng.choice(OPENINGS), f"the {rng.choice(THINGS)} {body}.", rng.choice(CLOSINGS)]
        text = " ".join(part for part in parts if part)
        text = text.format(days=rng.randint(2, 40), number=rng.randint(10_000, 99_999))
        found[text[0].upper() + text[1:]] = int(not complaint)
    path = folder / "messages.csv"
    path.write_text("text\n" + "\n".join(f'"{line}"' for line in found), encoding="utf-8")
    return read_items(path), np.array(list(found.values()))


def pictures(folder: Path, n: int = 900) -> tuple[Items, np.ndarray]:
    """Handwritten digits: even or odd."""
    pixels, values = load_digits(return_X_y=True)
    where = folder / "digits"
    where.mkdir()
    for i, row in enumerate(pixels[:n]):
        small = Image.fromarray((255 - 15 * row.reshape(8, 8)).astype(np.uint8))
        small.resize((240, 240), Image.Resampling.LANCZOS).save(where / f"{i:04d}.png")
    return read_items(where), values[:n] % 2


class Clock:
    """Runs as the people work, and ends at now."""

    def __init__(self, ahead: float) -> None:
        self.now = time.time() - ahead

    def __call__(self) -> float:
        return min(self.now, time.time())


def labelled(folder: Path, items: Items, truth: np.ndarray, classes: list[str]) -> Path:
    """A project with labels by three people, who take their time."""
    rng, clock = random.Random(5), Clock(3.8 * LABELS)
    features = Embedding.fit(items, seed=0)[1]
    project = Project.create(
        folder / "project",
        ids=items.ids,
        contents=items.contents,
        kind=items.kind,
        features=features,
        classes=classes,
        root=items.root,
        batch=40,
        check=0.15,
        overlap=0.15,
        clock=clock,
    )
    for name in PEOPLE:
        project.add_person(name, "lead" if name == "Ana" else "annotator", token=False)
    given = 0
    while given < LABELS:
        project.refill()
        for name, wrong in PEOPLE.items():
            for item in project.give(name, 3):
                seconds = rng.lognormvariate(1.2, 0.5)
                clock.now += seconds
                code = truth[item.row] ^ (rng.random() < wrong)
                kind = "label" if rng.random() > 0.02 else rng.choice(["skip", "unsure"])
                label = classes[code] if kind == "label" else None
                project.answer(name, item.row, kind, label, seconds=seconds)
                given += 1
    project.refill()
    project.close()
    return folder / "project"


def serve(folder: Path) -> tuple[uvicorn.Server, threading.Thread, str]:
    app = make_app(Project(folder), tokens_required=False, local_user="Ana")
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    port = server.servers[0].sockets[0].getsockname()[1]
    return server, thread, f"http://127.0.0.1:{port}"


def shoot(page: Page, path: Path, full: bool = False) -> None:
    page.screenshot(path=path, full_page=full, animations="disabled")
    picture = Image.open(path).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")


def look(browser: Browser, address: str, name: str, out: Path) -> None:
    for size, viewport in SIZES.items():
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=viewport, color_scheme=scheme)
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("#first:enabled")
            if size == "desktop":
                page.keyboard.press("1")
                page.wait_for_selector("#first:enabled")
            if size == "desktop" and scheme == "light":
                page.keyboard.press("w")
                page.wait_for_selector("#why-facts dd")
            page.wait_for_timeout(300)
            shoot(page, out / f"label-{name}-{size}-{scheme}.png")
            page.goto(f"{address}/lead")
            page.wait_for_selector("#curve .point")
            page.wait_for_selector("#disputes li")
            page.wait_for_timeout(800)
            shoot(page, out / f"lead-{name}-{size}-{scheme}.png", full=size == "desktop")
            context.close()


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images"
    out.mkdir(parents=True, exist_ok=True)
    made = {
        "text": (messages, ["complaint", "question"]),
        "image": (pictures, ["even", "odd"]),
    }
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for name, (make, classes) in made.items():
            folder = Path(scratch) / name
            folder.mkdir()
            items, truth = make(folder)
            server, thread, address = serve(labelled(folder, items, truth, classes))
            look(browser, address, name, out)
            server.should_exit = True
            thread.join()
        browser.close()


if __name__ == "__main__":
    main()
