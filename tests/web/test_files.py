"""Files that must not be shown, and bodies that are too large."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anyio
import pytest
from PIL import Image

from aced.project import Project
from aced.web import make_app
from tests.web.helpers import POST, TestClient, local_client, make

JSON = {"Content-Type": "application/json"}
POSTS = ["/api/answer", "/api/undo", "/api/people", "/api/revoke", "/api/classes", "/api/return"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make(tmp_path / "p")


@pytest.fixture
def local(project: Project) -> TestClient:
    return local_client(make_app(project, tokens_required=False, local_user="ann", design=False))


# -- files ------------------------------------------------------------------------------


def png(colour: str = "red") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(file, "PNG")
    return file.getvalue()


def gallery(tmp_path: Path, contents: list[str]) -> TestClient:
    root = tmp_path / "root"
    root.mkdir(exist_ok=True)
    project = make(tmp_path / "p", contents=contents, kind="image", root=root, batch=1)
    return local_client(make_app(project, tokens_required=False, local_user="ann", design=False))


def test_pictures_out_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "good.png").write_bytes(png())
    (root / "inner/good.png").write_bytes(png())
    (tmp_path / "secret.png").write_bytes(png())
    (tmp_path / "rootless").mkdir()
    (tmp_path / "rootless/secret.png").write_bytes(png())
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    (root / "folder").symlink_to(tmp_path)
    (root / "loop.png").symlink_to(root / "loop.png")
    (root / "kept.png").symlink_to(root / "good.png")
    os.mkfifo(root / "pipe.png")
    bad = [
        "../secret.png", "../rootless/secret.png", "../../../../../../etc/passwd", "/etc/passwd",
        str(tmp_path / "secret.png"), "link.png", "folder/secret.png", "loop.png", "pipe.png",
        "inner/../../secret.png", ".", "", "none.png", "bad\x00name.png", "x" * 5000,
    ]  # fmt: skip
    good = ["good.png", "inner/good.png", "inner/../good.png", "kept.png"]
    client = gallery(tmp_path, bad + good)
    for row, name in enumerate(bad):
        reply = client.get(f"/api/image/{row}")
        assert reply.status_code == 404, name
        assert reply.headers["content-type"] == "application/json"
    for row, name in enumerate(good, len(bad)):
        reply = client.get(f"/api/image/{row}")
        assert (reply.status_code, reply.content) == (200, png()), name


def test_what_only_looks_like_a_picture(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    files = {
        "svg.png": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        "page.png": b"<html><script>alert(1)</script></html>",
        "script.jpg": b"alert(1)",
        "post.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run\n",
        "empty.gif": b"",
        "half.tiff": b"II*\x00\x08\x00\x00\x00",
    }
    for name, data in files.items():
        (root / name).write_bytes(data)
    # Few decoders are let near a file: Pillow reads SGI, and EPS with the help of another program.
    Image.new("RGB", (3, 2), "red").save(root / "rare.png", "SGI")
    names = [*files, "rare.png"]
    client = gallery(tmp_path, names)
    for row, name in enumerate(names):
        assert client.get(f"/api/image/{row}").status_code == 404, name


def test_pictures_are_sent_under_the_type_they_have(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "named.html").write_bytes(png())
    for name, how in (("a.jpg", "JPEG"), ("a.gif", "GIF"), ("a.webp", "WEBP"), ("a.bmp", "BMP")):
        Image.new("RGB", (3, 2), "red").save(root / name, how)
    Image.new("RGB", (3, 2), "red").save(root / "a.png", "TIFF")
    Image.new("CMYK", (3, 2)).save(root / "b.tiff", "TIFF")
    expected = {
        "named.html": "image/png", "a.jpg": "image/jpeg", "a.gif": "image/gif", "a.webp": "image/webp",
        "a.bmp": "image/bmp", "a.png": "image/png", "b.tiff": "image/png",
    }  # fmt: skip
    client = gallery(tmp_path, list(expected))
    for row, (name, media) in enumerate(expected.items()):
        reply = client.get(f"/api/image/{row}")
        assert reply.headers["content-type"] == media, name
        assert reply.headers["x-content-type-options"] == "nosniff"
        with Image.open(io.BytesIO(reply.content)) as picture:
            assert picture.size == (3, 2)
            assert Image.MIME[str(picture.format)] == media


def test_a_text_is_no_picture(local: TestClient) -> None:
    assert local.get("/api/image/0").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "../_app.py", "..%2f_app.py", "%2e%2e/_app.py", "%2e%2e%2f_app.py", "..%5c_app.py", "..", ".",
        "", "%2e%2e", "%00", "label.html%00.css", "/etc/passwd", "%2fetc%2fpasswd",
        "none.css", "%ff.css",
    ],
)  # fmt: skip
def test_static_files_only(project: Project, name: str) -> None:
    """Asked without a client that would tidy the path up first."""
    app = make_app(project, tokens_required=False, local_user="ann", design=False)
    for path in (f"/static/{name}", f"/static/{unquote(name)}"):
        status, body = bare_get(app, path)
        assert status == 404
        assert list(json.loads(body)) == ["error"]


def test_no_redirect_to_wherever_host_says(local: TestClient) -> None:
    for path in ("/api/me/", "/lead/", "/static/"):
        reply = local.get(path)
        assert reply.status_code == 404
        assert "location" not in reply.headers


def bare_get(app: Any, path: str) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def collect(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": quote(path).encode(),
        "query_string": b"", "headers": [(b"host", b"127.0.0.1")], "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8765), "scheme": "http", "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    anyio.run(app, scope, receive, collect)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


# -- size -------------------------------------------------------------------------------


def test_bodies_that_are_too_large(local: TestClient, project: Project) -> None:
    before = project.state.seq
    body = json.dumps({"key": "r", "more": "x" * 70_000}).encode()
    headers = {**JSON, **POST}

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    for path in POSTS:
        assert local.post(path, content=body, headers=headers).status_code == 413
        assert local.post(path, content=pieces(), headers=headers).status_code == 413
        long = {**headers, "Content-Length": "9" * 30}
        assert local.post(path, content=b"{}", headers=long).status_code == 413
    assert project.state.seq == before
