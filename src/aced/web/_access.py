"""Who may come in, and from where.

- A token comes once in the link ``/enter?token=…``, and from then on in an HttpOnly cookie.
- If tokens are not required, whoever can reach this machine's own addresses is the local user, other
  users of the machine as well. Such a server answers only requests that name this machine, so that no
  other site's name can be pointed at it. It does not answer requests that a proxy passed on.
- A request that changes something needs a header that no form and no other site can send.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from aced._local import names_this_machine, passed_on
from aced.project import Project
from aced.web._limit import WrongTokens
from aced.web._refusal import refusal

COOKIE_BEFORE = "aced"
"""The cookie of every project before cookies had a name for each; it is still taken, and replaced."""
LABEL_STUDIO = "/label-studio"
"""Routes under this path have their own guard: another server calls them, not one of our pages."""
COOKIE_DAYS = 90
LONGEST_TOKEN = 200


class Refused(HTTPException):
    """A request is refused: the status and one sentence."""

    def response(self, request: Request) -> Response:
        return refusal(self.status_code, self.detail, request.headers, self.headers)


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
            request = Request(scope)
            try:
                self._check(request)
            except Refused as refused:
                await refused.response(request)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _check(self, request: Request) -> None:
        host = request.headers.get("host", "")
        if self.local and not names_this_machine(host):
            sentence = "this server answers to localhost only; behind a proxy, leave --no-token out"
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
        self.cookie = f"aced-{project.id}"  # browsers send a host's cookies to all projects on it
        self.wrong = WrongTokens()

    def visitor(self, request: Request) -> Visitor:
        """The person who sent a request, which is refused if nobody did."""
        names = [name for name in (self.cookie, COOKIE_BEFORE) if name in request.cookies]
        for name in names:
            found = self._who(request.cookies[name])
            if found is not None:
                request.state.before = name == COOKIE_BEFORE
                return found
        if not names:
            self.project.ledger.catch_up()  # with a token, ``who_is`` does this
        local = self._local(request)
        if local is not None:
            return local
        for name in names:
            self._count(request, request.cookies[name])
        # The browser deletes a cookie that is no longer valid.
        gone = {"set-cookie": f"{self.cookie}=; Max-Age=0; Path=/; HttpOnly; SameSite=strict"}
        sentence = "open the access link that you were given or that aced serve printed"
        raise Refused(401, sentence, gone if self.cookie in names else None)

    def enter(self, request: Request, token: str) -> Visitor:
        """The person whose link this is."""
        found = self.holder(request, token)
        if found is None:
            raise Refused(401, "this access link is not valid, or no longer valid; ask for a new one")
        return found

    def holder(self, request: Request, token: str) -> Visitor | None:
        """The holder of a token. A wrong token counts against the address; a right one is let in even
        if the address has to wait, so that people who guess shut nobody out."""
        found = self._who(token)
        if found is None:
            self._count(request, token)
        return found

    def role_of(self, request: Request, token: str) -> str | None:
        found = self.holder(request, token)
        return None if found is None else found.role

    def give_cookie(self, request: Request, response: Response, token: str) -> None:
        age, secure = COOKIE_DAYS * 86400, request.scope["scheme"] == "https"
        response.set_cookie(self.cookie, token, age, httponly=True, samesite="strict", secure=secure)

    def renew_cookie(self, request: Request, response: Response) -> Response:
        """Give a visitor who came with the cookie of before the one of this project in its place."""
        if getattr(request.state, "before", False):
            self.give_cookie(request, response, request.cookies[COOKIE_BEFORE])
            response.delete_cookie(COOKIE_BEFORE, httponly=True, samesite="strict")
        return response

    def _who(self, token: str) -> Visitor | None:
        if len(token) > LONGEST_TOKEN or not token.isascii() or self.wrong.known(token):
            return None  # a token is drawn once, so that a wrong one never becomes a right one
        found = self.project.who_is(token)
        return None if found is None else Visitor(*found)

    def _count(self, request: Request, token: str) -> None:
        if self.wrong.known(token):
            return
        address = "" if request.client is None else request.client.host
        peer = getattr(request.state, "peer", address)  # the server in front of this one, if any
        wait = self.wrong.wait(address, peer)
        if wait:
            sentence = f"too many wrong access links from this address; try again in {wait} s"
            raise Refused(429, sentence, {"Retry-After": str(wait)})
        self.wrong.add(token, address, peer)

    def _local(self, request: Request) -> Visitor | None:
        if self.local_user is None or passed_on(request.headers):
            return None
        person = self.project.ledger.state.people.get(self.local_user)
        return Visitor(self.local_user, person.role) if person is not None and person.active else None
