"""Debian's Chromium, driven by Playwright; without either, these tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.site import Annotator, Site

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not os.access(CHROMIUM, os.X_OK):
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield launched
        launched.close()


@pytest.fixture
def site() -> Iterator[Callable[..., Site]]:
    """Starts servers that end with the test."""
    started: list[Site] = []

    def start(folder: Path, *options: str) -> Site:
        started.append(Site(folder, *(options or ("--as", "ana", "--no-token"))))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Annotator]]:
    """A browser of one's own for each visitor; fails on anything the console complains of."""
    contexts: list[Any] = []
    visitors: list[Annotator] = []

    def come(context: Any = None, *, expected: tuple[str, ...] = (), **options: Any) -> Annotator:
        if context is None:
            context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
            contexts.append(context)
        visitors.append(Annotator(context))
        visitors[-1].expected = expected
        return visitors[-1]

    yield come
    for context in contexts:
        context.close()
    for visitor in visitors:
        surprising = [c for c in visitor.complaints if not any(part in c for part in visitor.expected)]
        assert not surprising
