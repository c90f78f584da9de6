"""Real projects and real clients for the tests of the server."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aced.project import Project

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette has a wish about the client it is tested with
    from starlette.testclient import TestClient

LOCAL = "http://127.0.0.1:8765"
FAR = "https://label.example.org"
POST = {"X-Aced": "1"}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1_700_000_000.0

    def __call__(self) -> float:
        return self.at


def make(
    folder: Path,
    rows: int = 60,
    *,
    contents: list[Any] | None = None,
    kind: str = "text",
    root: Path | None = None,
    clock: Callable[[], float] = time.time,
    **settings: Any,
) -> Project:
    """A project with a first round drawn."""
    contents = [f"text {i}" for i in range(rows)] if contents is None else contents
    features = np.random.default_rng(0).normal(size=(len(contents), 4)).astype(np.float32)
    made = Project.create(
        folder,
        ids=[f"item-{i}" for i in range(len(contents))],
        contents=contents,
        kind=kind,
        features=features,
        root=root,
        clock=clock,
        **{"classes": ["no", "yes"], "batch": 10, "strategy": "passive", **settings},
    )
    made.refill()
    return made


def local_client(app: Any) -> TestClient:
    """Somebody at the machine the server runs on."""
    return TestClient(app, base_url=LOCAL, client=("127.0.0.1", 5000), follow_redirects=False)


def far_client(app: Any, token: str | None = None, address: str = "192.0.2.1") -> TestClient:
    """Somebody elsewhere, by their access link if they have one."""
    client = TestClient(app, base_url=FAR, client=(address, 5000), follow_redirects=False)
    if token is not None:
        assert client.get("/enter", params={"token": token}).status_code == 303
    return client


def post(client: TestClient, path: str, body: Any) -> Any:
    return client.post(path, json=body, headers=POST)


def answer(client: TestClient, row: int, request: str, label: str | None = "yes", **more: Any) -> Any:
    kind = "label" if label is not None else "skip"
    body = {"row": row, "kind": kind, "label": label, "seconds": 1.5, "key": request, **more}
    return post(client, "/api/answer", body)
