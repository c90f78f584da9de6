"""Images of both pages for docs/labelling.md: text and images, two, five and thirty classes, wide and on
a phone, light and dark.

    python benchmarks/screenshots.py [FOLDER] [NAME ...]

Projects are made with a few hundred simulated labels by three people who are wrong now and then,
served on this machine, and looked at with Debian's Chromium. NAME: text, image, five, thirty. Without a
folder, those that the documentation shows are made; with one, all.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
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


ORDERS = [
    "is what I would like to order {days} times, sent to the office",
    "please, by express, and {days} of the small ones with it",
    "again, the same as in my last order, but in green",
]
PRAISE = [
    "is the best that I have ever had, {days} out of {days} stars",
    "made my whole family happy, you do wonderful work",
    "still looks like new after {days} months, thank you so much",
]
ADVERTS = [
    "at half the price: click here, {days} left, limited offer",
    "winner! you were chosen out of {number} people, claim your prize",
    "makes you rich in {days} days, no risk, send this to your friends",
]
TOPICS = {
    "astronomy": "telescope orbit comet planet galaxy",
    "aviation": "runway pilot airline cockpit altitude",
    "banking": "loan interest account branch deposit",
    "beekeeping": "hive queen honey swarm pollen",
    "chemistry": "acid molecule reaction solvent catalyst",
    "chess": "opening endgame bishop checkmate grandmaster",
    "climate": "emissions warming drought glacier carbon",
    "cooking": "oven recipe simmer garlic dough",
    "cricket": "wicket innings bowler umpire batsman",
    "cycling": "peloton gears saddle climb sprint",
    "education": "pupils curriculum teacher classroom exam",
    "elections": "ballot candidate turnout coalition poll",
    "fashion": "runway designer fabric couture tailor",
    "film": "director screenplay premiere actor scene",
    "fishing": "trawler net quota herring harbour",
    "football": "striker penalty goalkeeper league offside",
    "forestry": "timber spruce felling sawmill bark",
    "gardening": "seedlings compost pruning roses weeds",
    "geology": "basalt fault erosion sediment tectonic",
    "health insurance": "premium deductible claim coverage policy",
    "health research": "trial placebo vaccine patients dose",
    "housing": "rent tenant mortgage landlord vacancy",
    "music": "orchestra melody concert violin album",
    "opera": "soprano libretto aria overture stage",
    "photography": "lens exposure tripod aperture shutter",
    "rail transport": "locomotive platform timetable carriage signal",
    "road transport": "motorway lorry junction toll traffic",
    "sailing": "spinnaker mast regatta keel wind",
    "software": "compiler bug release server patch",
    "tax": "income deduction return revenue audit",
}
SENTENCES = [
    "After the {0} the {1} was all that people spoke of, and nobody had seen the {2} coming.",
    "Our reporter asked about the {0}, but was told to wait for the {1} and the {2} first.",
    "A {0} like this has not been seen for {days} years, says an expert on the {1}.",
    "What the {0} means for the {1} will be known in {days} days at the earliest.",
    "The {0}, the {1} and the {2}: a visit on a quiet morning.",
]


def articles(folder: Path, n: int = 1200) -> tuple[Items, np.ndarray]:
    """Sentences from a newspaper: thirty topics, some more frequent than others."""
    rng = random.Random(4)
    found: dict[str, int] = {}
    weights = [1 / (2 + place) ** 0.5 for place in range(len(TOPICS))]
    names = list(TOPICS)
    while len(found) < n:
        topic = rng.choices(range(len(names)), weights)[0]
        words = rng.sample(TOPICS[names[topic]].split(), 3)
        text = " ".join(rng.sample(SENTENCES, 2)).format(*words, days=rng.randint(2, 90))
        found[text] = topic
    return _written(folder, found)


def letters(folder: Path, n: int = 900) -> tuple[Items, np.ndarray]:
    """Letters to a shop of five kinds."""
    rng = random.Random(3)
    found: dict[str, int] = {}
    while len(found) < n:
        kind = rng.choices(range(5), [5, 5, 3, 2, 2])[0]
        body = rng.choice([FAULTS, WISHES, ORDERS, PRAISE, ADVERTS][kind])
        parts = [rng.choice(OPENINGS), f"the {rng.choice(THINGS)} {body}.", rng.choice(CLOSINGS)]
        text = " ".join(part for part in parts if part)
        text = text.format(days=rng.randint(2, 40), number=rng.randint(10_000, 99_999))
        found[text[0].upper() + text[1:]] = kind
    return _written(folder, found)


def _written(folder: Path, found: dict[str, int]) -> tuple[Items, np.ndarray]:
    path = folder / "texts.csv"
    path.write_text("text\n" + "\n".join(f'"{line}"' for line in found), encoding="utf-8")
    return read_items(path), np.array(list(found.values()))


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
    return _written(folder, found)


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
                slip = rng.randrange(1, len(classes)) if rng.random() < wrong else 0
                code = (truth[item.row] + slip) % len(classes)
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
    # The most frequent colours stay as they are, also those of small marks; the others are for shades.
    found = sorted(picture.getcolors(picture.width * picture.height) or [], reverse=True)[:COLOURS]
    shades = picture.quantize(256 - len(found)).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*(value for _, colour in found for value in colour), *shades])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")


def look(browser: Browser, address: str, shown: Shown, out: Path, all_of_them: bool) -> None:
    name = shown.name
    for size, viewport in SIZES.items():
        for scheme in ("light", "dark"):
            views = [
                view for view in ("label", "lead") if all_of_them or (view, size, scheme) in shown.kept
            ]
            if not views:
                continue
            touch = size == "phone"
            context = browser.new_context(
                viewport=viewport, color_scheme=scheme, has_touch=touch, is_mobile=touch
            )
            page = context.new_page()
            if "label" in views:
                page.goto(address)
                page.wait_for_selector("#skip:enabled")
                if size == "desktop":
                    page.keyboard.press("1")
                    page.wait_for_selector("#skip:enabled")
                if size == "desktop" and scheme == "light" and len(shown.classes) == 2:
                    page.keyboard.press("w")
                    page.wait_for_selector("#why-facts dd")
                if size == "desktop" and scheme == "dark" and len(shown.classes) > 9:
                    page.keyboard.type("he")
                page.wait_for_timeout(300)
                shoot(page, out / f"label-{name}-{size}-{scheme}.png")
            if "lead" in views:
                page.goto(f"{address}/lead")
                page.wait_for_selector("#curve .point")
                page.wait_for_selector("#disputes li")
                page.wait_for_timeout(800)
                shoot(page, out / f"lead-{name}-{size}-{scheme}.png", full=size == "desktop")
            context.close()


@dataclass(frozen=True)
class Shown:
    """A project to look at, and the images of it that the documentation has."""

    name: str
    make: Callable[[Path], tuple[Items, np.ndarray]]
    classes: list[str]
    kept: set[tuple[str, str, str]]


ALL = [
    Shown(
        "text",
        messages,
        ["complaint", "question"],
        {("label", "desktop", "light"), ("label", "phone", "dark")},
    ),
    Shown(
        "image",
        pictures,
        ["even", "odd"],
        {("label", "phone", "light")},
    ),
    Shown(
        "five",
        letters,
        ["complaint", "question", "order", "praise", "advert"],
        {("label", "desktop", "light"), ("label", "phone", "dark"), ("lead", "desktop", "light")},
    ),
    Shown(
        "thirty",
        articles,
        list(TOPICS),
        {
            ("label", "desktop", "light"),
            ("label", "desktop", "dark"),
            ("label", "phone", "light"),
        },
    ),
]


def main() -> None:
    elsewhere = len(sys.argv) > 1
    out = Path(sys.argv[1]) if elsewhere else Path(__file__).parents[1] / "docs" / "images"
    wanted = sys.argv[2:] or [one.name for one in ALL]
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for one in ALL:
            if one.name not in wanted:
                continue
            folder = Path(scratch) / one.name
            folder.mkdir()
            items, truth = one.make(folder)
            server, thread, address = serve(labelled(folder, items, truth, one.classes))
            look(browser, address, one, out, elsewhere)
            server.should_exit = True
            thread.join()
        browser.close()


if __name__ == "__main__":
    main()
