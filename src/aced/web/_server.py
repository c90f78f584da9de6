"""The HTTP server that runs the application."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from aced.web._connections import Connections

AT_A_TIME = 16
"""Connections accepted before those accepted earlier are looked at."""
WAITING = 1024
"""Connections that the system may hold until they are accepted."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PAUSE = 0.5
MINUTE = 60.0
_log = logging.getLogger("aced.web")


def make_server(app: ASGIApp, connections: Connections | None = None) -> uvicorn.Server:
    """A server for ``app``, which is started with ``run(sockets=[…])``."""
    kept = Connections() if connections is None else connections
    config = uvicorn.Config(
        app,
        http=kept.protocol(),
        loop="asyncio",
        backlog=AT_A_TIME,
        log_level="warning",
        access_log=False,  # it would write tokens down
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=5,
    )
    for name in ("uvicorn.error", "asyncio", "aced.web"):
        logging.getLogger(name).addFilter(SELDOM)
    return _Server(config, kept)


class Listening(socket.socket):
    """A socket that listens, and that pauses when there are no descriptors for more connections."""

    _until = 0.0

    def listen(self, backlog: int = WAITING, /) -> None:
        """Hold ``WAITING`` connections: asyncio asks for as many as it accepts at a time."""
        super().listen(WAITING)

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection. asyncio waits for a second after the first error; it does not notice
        in the same turn, and would try and report again and again."""
        if time.monotonic() < self._until:
            raise BlockingIOError
        try:
            return super().accept()
        except OSError as error:
            if error.errno in EXHAUSTED:
                self._until = time.monotonic() + PAUSE
            raise


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, connections: Connections) -> None:
        super().__init__(config)
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._report)
        await super().startup(sockets)

    def _report(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in EXHAUSTED:
            loop.default_exception_handler(context)
            return
        _log.warning("no more connections can be opened (%s); some that wait are closed", error.strerror)
        self._connections.shrink(2 * AT_A_TIME)


class _Seldom(logging.Filter):
    """Lets a warning through once a minute. Anybody can cause warnings, as many as they like."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno > logging.WARNING:
            return True
        now, text = time.monotonic(), str(record.msg)
        if now - self._last.get(text, -MINUTE) < MINUTE:
            return False
        self._last[text] = now
        return True


SELDOM = _Seldom()
