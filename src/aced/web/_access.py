"""Who may come in, and from where.

- A token comes once in the link ``/enter?token=…``, and from then on in an HttpOnly cookie.
- If tokens are not required, whoever sits at the machine is the local user. Such a server answers
  only requests that name this machine, so that no other site's name can be pointed at it. It does
  not answer requests that a proxy passed on.
- A request that changes something needs a header that no form and no other site can send.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from aced._local import names_this_machine, passed_on
from aced.project import Project
from aced.web._headers import Json
from aced.web._limit import WrongTokens

COOKIE = "aced"
LABEL_STUDIO = "/label-studio"
"""Routes under this path have their own guard: another server calls them, not one of our pages."""
COOKIE_DAYS = 90
LONGEST_TOKEN = 200


class Refused(HTTPException):
    """A request is refused: the status and one sentence."""

    def response(self) -> Response:
        return Json({"error": self.detail}, status_code=self.status_code, headers=self.headers)


@dataclass(frozen=True)
class Visitor:
    """Who sent a request."""

    name: str
    role: str


class Gate:
    """Refuses requests from the wrong place, before anything is looked up."""

    def __init__(self, app: ASGIApp, local: bool) -> None:
        self.app, self.local = app, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._check(Request(scope))
            except Refused as refused:
                await refused.response()(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, request: Request) -> None:
        host = request.headers.get("host", "")
        if self.local and not names_this_machine(host):
            sentence = "this server answers to localhost only; behind a proxy, serve with --tokens"
            raise Refused(403, sentence)
        site = request.headers.get("sec-fetch-site", "same-origin")
        if request.scope["path"].startswith("/api/") and site not in ("same-origin", "none"):
            raise Refused(403, "this request came from another site")
        theirs = request.scope["path"].startswith(f"{LABEL_STUDIO}/")
        if theirs or request.method in ("GET", "HEAD", "OPTIONS"):
            return
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            raise Refused(403, "Content-Type must be application/json")
        if request.headers.get("x-aced") != "1":
            raise Refused(403, "the header X-Aced: 1 is missing")
        origin = request.headers.get("origin")
        if origin is not None and _place(origin) != host.lower():
            raise Refused(403, "Origin and Host are different sites; a proxy must pass Host on")


def _place(origin: str) -> str | None:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


class Access:
    """Knows visitors by their cookie, or takes them for the local user."""

    def __init__(self, project: Project, local_user: str | None) -> None:
        self.project, self.local_user = project, local_user
        self.wrong = WrongTokens()
        self._once_right: set[bytes] = set()

    def visitor(self, request: Request) -> Visitor:
        """The person who sent a request, which is refused if nobody did."""
        found, token = None, request.cookies.get(COOKIE)
        if token is None:
            self.project.ledger.catch_up()  # with a token, ``who_is`` does this
        local = self._local(request)
        if token is not None:
            found = self._holder(request, token, counted=local is None)
        found = found or local
        if found is None:
            # The browser deletes a cookie that is no longer valid.
            gone = {"set-cookie": f"{COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=strict"}
            sentence = "open the access link you were given; only people with one may label here"
            raise Refused(401, sentence, gone if token is not None else None)
        return found

    def enter(self, request: Request, token: str) -> Visitor:
        """The person whose link this is."""
        found = self._holder(request, token, counted=True)
        if found is None:
            raise Refused(401, "this access link is not valid, or no longer valid; ask for a new one")
        return found

    def _local(self, request: Request) -> Visitor | None:
        if self.local_user is None or passed_on(request.headers):
            return None
        person = self.project.ledger.state.people.get(self.local_user)
        return Visitor(self.local_user, person.role) if person is not None and person.active else None

    def _holder(self, request: Request, token: str, *, counted: bool) -> Visitor | None:
        """The holder of a token. Wrong tokens count against the address. A token that was right once
        since the start is let in even from a blocked address: guessers nearby shut nobody out."""
        address = "" if request.client is None else request.client.host
        known = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        fresh = known not in self._once_right
        wait = self.wrong.wait(address) if counted and fresh else 0
        if wait:
            sentence = f"too many wrong access links from this address; try again in {wait} s"
            raise Refused(429, sentence, {"Retry-After": str(wait)})
        found = None
        if len(token) <= LONGEST_TOKEN and token.isascii():
            found = self.project.who_is(token)
        if found is not None:
            self._once_right.add(known)
            return Visitor(*found)
        if counted and fresh:
            self.wrong.add(address)
        return None


def give_cookie(response: Response, token: str, secure: bool) -> None:
    age = COOKIE_DAYS * 86400
    response.set_cookie(COOKIE, token, age, httponly=True, samesite="strict", secure=secure)
