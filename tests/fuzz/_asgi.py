"""Requests sent to the application without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from aced.project import Project
from aced.web import make_app


@dataclass(frozen=True)
class Request:
    """A request as a server hands it on. ``chunks`` is the body; None in it is a client that leaves."""

    method: str = "GET"
    path: str = "/"
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    chunks: tuple[bytes | None, ...] = (b"",)

    def with_header(self, name: str, value: str) -> Request:
        return replace(self, headers=(*self.headers, (name, value)))


@dataclass
class Response:
    """An answer; status 0 if there was none."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """The application of a project, in this thread."""

    def __init__(self, project: Project, **options: Any) -> None:
        self.app = make_app(project, design=False, **options)
        self.loop = asyncio.new_event_loop()
        self.lifespan = self.app.router.lifespan_context(self.app)
        self.wait(self.lifespan.__aenter__())

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.wait(self.lifespan.__aexit__(None, None, None))
        self.wait(self.loop.shutdown_default_executor())
        self.loop.close()

    def send(self, request: Request) -> Response:
        found: Response = self.wait(self._send(request))
        return found

    async def _send(self, request: Request) -> Response:
        response, waiting = Response(), list(request.chunks)

        async def receive() -> dict[str, Any]:
            if not waiting or waiting[0] is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                response.status = message["status"]
                pairs = [
                    (a.decode("latin-1").lower(), b.decode("latin-1")) for a, b in message["headers"]
                ]
                response.headers.update(pairs)
            elif message["type"] == "http.response.body":
                response.body += message.get("body", b"")

        await self.app(_scope(request), receive, send)
        return response


def _scope(request: Request) -> dict[str, Any]:
    """What uvicorn makes of a request."""
    raw = request.path.encode("ascii", "replace")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(raw.decode()),
        "raw_path": raw,
        "root_path": "",
        "query_string": request.query.encode("ascii", "replace"),
        "headers": [
            (a.lower().encode("latin-1", "replace"), b.encode("latin-1", "replace"))
            for a, b in request.headers
        ],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8765),
    }


def log_in(server: Server, token: str) -> str:
    """The cookie that a person gets for the token of their link."""
    host = (("host", "127.0.0.1:8765"),)
    response = server.send(Request("GET", "/enter", f"token={token}", host))
    return response.headers["set-cookie"].split(";")[0]
