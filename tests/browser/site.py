"""A real project behind a real server, and what a page shows."""

from __future__ import annotations

import os
import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from aced.ledger import Event, State
from aced.project import Project
from tests import warm

CLASSES = ["even", "odd"]
PATIENCE = 60.0


def until(true: Callable[[], Any], what: str) -> Any:
    """Wait for something that happens in another process."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"did not happen: {what}")


class Site:
    """A project's folder and the ``aced serve`` that runs over it."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """On the port it had before, if any."""
        said = self.folder.parent / "said.txt"
        said.write_text("")
        streams = (os.devnull, str(said), str(said))
        words = ("serve", self.folder, *self.options, "--port", self.port)
        self.server = warm.start(streams, os.environ, *words)
        line = until(lambda: re.search(r"(http://[^/]*:(\d+)/\S*) ", said.read_text()), "an address")
        self.link, self.port = line[1], int(line[2])
        until(self._answers, "the server answers")

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/static/style.css", timeout=5):
                return True
        except (urllib.error.URLError, ConnectionError):
            return False

    def kill(self) -> None:
        """As a power cut would."""
        self.end(signal.SIGKILL)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.server.is_alive():
            os.kill(self.server.pid or 0, how)
        self.server.join(30)
        assert not self.server.is_alive()

    def state(self) -> State:
        """What is on disk now."""
        project = Project(self.folder)
        try:
            return project.state
        finally:
            project.close()

    def planned(self) -> None:
        """Wait until a round has rows left to give, as it has for people, who are slower than tests."""
        project = Project(self.folder)
        until = time.monotonic() + 20
        while project.state.untouched() < 3 and time.monotonic() < until:
            time.sleep(0.02)
        project.close()

    def events(self, *kinds: str) -> list[Event]:
        project = Project(self.folder)
        try:
            return [event for event, _ in project.ledger.events() if event.kind in kinds]
        finally:
            project.close()


def digits(folder: Path, n: int = 300, **options: Any) -> np.ndarray:
    """Pictures of digits; returns the label of every row."""
    pixels, values = load_digits(return_X_y=True)
    pictures = folder / "pictures"
    pictures.mkdir(parents=True)
    names = [f"{i:04d}.png" for i in range(n)]
    for name, row in zip(names, pixels[:n], strict=True):
        Image.fromarray((255 - 15 * row.reshape(8, 8)).astype(np.uint8)).save(pictures / name)
    project = Project.create(
        folder / "project",
        ids=names,
        contents=names,
        kind="image",
        features=pixels[:n].astype(np.float32) / 16,
        classes=CLASSES,
        root=pictures,
        **options,
    )
    project.refill()  # the first batch is there when the page opens
    project.close()
    return values[:n] % 2


def texts(
    folder: Path, contents: list[Any], classes: list[str], kind: str = "text", **options: Any
) -> None:
    """Texts or rows whose features do not matter."""
    project = Project.create(
        folder / "project",
        ids=[f"t{i}" for i in range(len(contents))],
        contents=contents,
        kind=kind,
        features=np.random.default_rng(0).normal(size=(len(contents), 3)).astype(np.float32),
        classes=classes,
        **{"batch": len(contents), **options},
    )
    project.refill()
    project.close()


class Annotator:
    """Somebody with a browser: presses keys, and sees."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def open(self, url: str) -> Annotator:
        self.page.goto(url)
        self.row()
        return self

    def row(self) -> int:
        """The row shown, once there is one."""
        found = self.page.wait_for_selector("#item .zoom img", timeout=1000 * PATIENCE)
        return int(found.get_attribute("src").rsplit("/", 1)[1])

    def press(self, key: str) -> None:
        """Once the item has changed, which a key does at once if the next is loaded."""
        before = self.page.evaluate("document.querySelector('#item').firstChild.outerHTML")
        self.page.wait_for_selector("#first:enabled", timeout=1000 * PATIENCE)
        self.page.keyboard.press(key)
        script = "before => document.querySelector('#item').firstChild.outerHTML !== before"
        self.page.wait_for_function(script, arg=before, timeout=1000 * PATIENCE)

    def saved(self) -> None:
        self.says("Saved")
        empty = "() => Object.keys(localStorage).filter(key => key.startsWith('aced:')).length === 0"
        self.page.wait_for_function(empty, timeout=1000 * PATIENCE)

    def says(self, text: str) -> None:
        script = "text => document.querySelector('#saved').textContent === text"
        self.page.wait_for_function(script, arg=text, timeout=1000 * PATIENCE)
