"""The headers of every response, and the response to an error that nobody caught."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers as Asked, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aced.web._refusal import refusal

FIXED = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
LONGEST_PATH = 200
"""Characters of a path that the log shows."""
_log = logging.getLogger("aced.web")


class Headers:
    """The outermost layer: every response of the layers inside gets the headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def dressed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in FIXED.items():
                    headers[name] = value
                static = scope["path"].startswith("/static/")
                headers["Cache-Control"] = "no-cache" if static else "no-store"
            await send(message)

        try:
            await self.app(scope, receive, dressed)
        except ClientDisconnect:
            return
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"][:LONGEST_PATH])
            if started:
                raise
            sentence = "something went wrong here; the server's log says what"
            await refusal(500, sentence, Asked(scope=scope))(scope, receive, dressed)
