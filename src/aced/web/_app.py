"""The routes of the server. Handlers run in threads; the ledger has its own lock."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from aced._errors import InvalidInput
from aced.adapters import label_studio as studio
from aced.ledger import LedgerError
from aced.project import (
    ClassGone,
    Item,
    KeyTaken,
    Project,
    class_keys,
    export_rows,
    progress,
    write_csv,
    write_jsonl,
)
from aced.web._access import LABEL_STUDIO, Access, Gate, Refused, Visitor
from aced.web._body import number, own_key, read_object, text, whole
from aced.web._classes import change_classes
from aced.web._designer import Designer
from aced.web._headers import Headers
from aced.web._history import history_view
from aced.web._images import apart, read_image
from aced.web._json import Json
from aced.web._map import Map
from aced.web._views import Reader, item_view, why_view

STATIC = Path(__file__).parent / "static"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
MOST_GIVEN = 5

Handler = Callable[[Request, Visitor], Response]
Change = Callable[[Request, Visitor, dict[str, Any]], Response]


def make_app(
    project: Project,
    *,
    tokens_required: bool,
    local_user: str | None = None,
    design: bool = True,
    label_studio: bool = False,
) -> Starlette:
    """The application that ``aced serve`` runs.

    Without ``tokens_required``, whoever reaches the server from this machine is ``local_user``, a lead.
    With ``design``, rounds are planned in another process while the application runs. With
    ``label_studio``, it also answers Label Studio under /label-studio.
    """
    if not tokens_required:
        if local_user is None:
            raise InvalidInput("local_user", "must be named where tokens are not required")
        known = project.state.people.get(local_user)
        if known is not None and not known.active:
            raise InvalidInput("local_user", f"{local_user!r} may no longer label here; use aced invite")
        project.add_person(local_user, "lead", token=False)
    api = Api(project, Access(project, None if tokens_required else local_user))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(project.item, 0)  # loads items before the first visitor comes
        await run_in_threadpool(project.tally.update)
        if design:
            api.designer.start()
        try:
            yield
        finally:
            await run_in_threadpool(api.close)

    routes: list[BaseRoute] = list(api.routes())
    if label_studio:
        theirs = studio.routes(
            project,
            local=not tokens_required,
            changed=lambda: api.designer.wake("Label Studio"),
            role_of=api.access.role_of,
        )
        routes.append(Mount(LABEL_STUDIO, routes=theirs))
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Headers), Middleware(Gate, local=not tokens_required)],
        exception_handlers={HTTPException: _http_error, InvalidInput: _invalid},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would send people to any address that Host says
    app.state.designer, app.state.access = api.designer, api.access
    return app


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, Refused):
        return error.response(request)
    sentences = {404: "there is no such page", 405: "this page takes other HTTP methods"}
    sentence = sentences.get(error.status_code, error.detail)
    return Refused(error.status_code, sentence, error.headers).response(request)


async def _invalid(request: Request, error: Exception) -> Response:
    if isinstance(error, ClassGone):
        return Json({"error": str(error), "classes": error.classes}, status_code=409)
    if isinstance(error, KeyTaken):
        return Refused(409, str(error)).response(request)
    if not isinstance(error, LedgerError):
        return Refused(400, str(error)).response(request)
    full = "the disk is full" in str(error)
    what = "the disk is full" if full else "the ledger cannot be used now"
    return Refused(503, f"{what}; nothing was saved, try again").response(request)


class Api:
    """The handlers of requests about one project."""

    def __init__(self, project: Project, access: Access) -> None:
        self.project, self.access = project, access
        self.designer, self.reader, self.map = Designer(project), Reader(project), Map(project)

    def close(self) -> None:
        self.designer.stop()
        self.reader.close()

    def routes(self) -> list[Route]:
        get, post = self._get, self._post
        return [
            Route("/", partial(self.page, "label.html", False)),
            Route("/lead", partial(self.page, "lead.html", True)),
            Route("/history", partial(self.page, "history.html", False)),
            Route("/enter", self.enter),
            Route("/static/{name}", self.static),
            Route("/api/me", get(self.me)),
            Route("/api/next", get(self.next)),
            Route("/api/answer", post(self.answer), methods=["POST"]),
            Route("/api/undo", post(self.undo), methods=["POST"]),
            Route("/api/history", get(self.history)),
            Route("/api/return", post(self.put_back), methods=["POST"]),
            Route("/api/why/{row}", get(self.why)),
            Route("/api/image/{row}", apart(get(self.image))),
            Route("/api/item/{row}", get(self.item, lead=True)),
            Route("/api/lead", get(self.lead, lead=True)),
            Route("/api/map", get(self.positions, lead=True)),
            Route("/api/export", get(self.export, lead=True)),
            Route("/api/people", post(self.invite, lead=True), methods=["POST"]),
            Route("/api/revoke", post(self.revoke, lead=True), methods=["POST"]),
            Route("/api/classes", post(self.classes, lead=True), methods=["POST"]),
        ]

    # -- who asks -----------------------------------------------------------------------

    def _visitor(self, request: Request, lead: bool) -> Visitor:
        visitor = self.access.visitor(request)
        if lead and visitor.role != "lead":
            raise Refused(403, "only leads may see this")
        return visitor

    def _get(self, handler: Handler, lead: bool = False) -> Callable[[Request], Response]:
        def endpoint(request: Request) -> Response:
            visitor = self._visitor(request, lead)
            return self.access.renew_cookie(request, handler(request, visitor))

        return endpoint

    def _post(self, change: Change, lead: bool = False) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            visitor = await run_in_threadpool(self._visitor, request, lead)
            body = await read_object(request)
            # A page that was opened before somebody else's link has answers of another visitor.
            if body.get("as", visitor.name) != visitor.name:
                sentence = f"this browser belongs to {visitor.name} now; load the page again"
                raise Refused(403, sentence)
            return await run_in_threadpool(change, request, visitor, body)

        return endpoint

    # -- pages --------------------------------------------------------------------------

    def page(self, name: str, lead: bool, request: Request) -> Response:
        """A page. An unknown visitor gets it with status 401: after a click on another site, browsers
        leave a strict cookie out of this request, but not out of the requests that the page makes."""
        try:
            self._visitor(request, lead)
        except Refused as refused:
            if refused.status_code != 401:
                raise
            return _file(name, 401, refused.headers)
        return self.access.renew_cookie(request, _file(name))

    def static(self, request: Request) -> Response:
        return _file(request.path_params["name"])

    def enter(self, request: Request) -> Response:
        token = request.query_params.get("token", "")
        visitor = self.access.enter(request, token)
        response = RedirectResponse("/lead" if visitor.role == "lead" else "/", status_code=303)
        self.access.give_cookie(request, response, token)
        return response

    # -- labelling ----------------------------------------------------------------------

    def me(self, _: Request, visitor: Visitor) -> Response:
        settings = self.project.settings
        with self.project.ledger.reading() as state:
            version, classes, codes = state.classes_seq, self.project.classes, self.project.codes
        return Json(
            {
                "project": self.project.id,  # tells apart projects that were served on one address
                "pool": settings.pool,  # under which older pages kept answers that were not sent
                "name": visitor.name,
                "role": visitor.role,
                "kind": settings.kind,
                "classes": classes,
                "codes": codes,  # they stay when others are merged, and so do marks and digits
                "classes_version": version,
                "keys": class_keys(classes, codes),
                "lease": settings.lease,
            }
        )

    def next(self, request: Request, visitor: Visitor) -> Response:
        count = _whole(request.query_params.get("count", "1"), "count")
        late = self.designer.coming()
        items = self.project.give(visitor.name, min(max(count, 1), MOST_GIVEN), late=late)
        return Json(self._given(visitor, items))

    def answer(self, _: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        row, then = whole(body, "row"), min(max(whole(body, "then", 0), 0), MOST_GIVEN)
        label = None if body.get("label") is None else text(body, "label")
        key, kind = own_key(body), text(body, "kind")
        seconds = number(body, "seconds", 0.0)
        event, items = self.project.answer(
            visitor.name,
            row,
            kind,
            label,
            seconds=seconds,
            key=key,
            then=then,
            late=then > 0 and self.designer.coming(),
        )
        return Json({"seq": event.seq, **self._given(visitor, items, wanted=then > 0)})

    def undo(self, _: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        again = body.get("again", True) is not False
        undone = self.project.undo(visitor.name, key=own_key(body), again=again)
        kind = None if undone is None else undone.kind
        shown = None if undone is None else item_view(undone.item)
        now = progress(self.project, visitor.name)
        return Json({"undone": kind, "item": shown, "progress": now})

    def history(self, request: Request, visitor: Visitor) -> Response:
        return Json(history_view(self.project, visitor, request))

    def put_back(self, _: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        self.project.put_back(visitor.name, whole(body, "answer"), key=own_key(body))
        self.designer.wake(visitor.name)
        return Json({"progress": progress(self.project, visitor.name)})

    def _given(self, visitor: Visitor, items: list[Item], wanted: bool = True) -> dict[str, Any]:
        self.designer.wake(visitor.name)
        return {
            "items": [item_view(item) for item in items],
            "progress": progress(self.project, visitor.name),
            "designing": self.designer.busy or (wanted and not items and self.designer.coming()),
        }

    def why(self, request: Request, visitor: Visitor) -> Response:
        row = self._row(request, visitor)
        found = why_view(self.project, row)
        if found is None:
            raise Refused(404, f"row {row} has not been drawn")
        return Json(found)

    def image(self, request: Request, visitor: Visitor) -> Response:
        row = self._row(request, visitor)
        item = self.project.item(row)
        root = self.project.settings.root if item.kind == "image" else None
        found = read_image(root, item.content)
        if found is None:
            raise Refused(404, f"row {row} has no image that can be shown")
        return Response(found[0], media_type=found[1])

    def item(self, request: Request, visitor: Visitor) -> Response:
        return Json(item_view(self.project.item(self._row(request, visitor))))

    def _row(self, request: Request, visitor: Visitor) -> int:
        """A row that this visitor may see. Leads may see any row, others the rows they were given."""
        row = _whole(request.path_params["row"], "row")
        known = 0 <= row < self.project.settings.rows
        if not known or not (visitor.role == "lead" or self.project.state.was_given(visitor.name, row)):
            raise Refused(404, "there is no such item, or it was not given to you")
        return row

    # -- leading ------------------------------------------------------------------------

    def lead(self, _: Request, visitor: Visitor) -> Response:
        shown = self.reader.lead() | {"progress": progress(self.project, visitor.name)}
        return Json(shown | {"problem": self.designer.problem})

    def positions(self, _: Request, visitor: Visitor) -> Response:
        self.map.points  # noqa: B018  (computed before the reader's lock is taken)
        with self.reader.reading() as project:
            return Json(self.map.shown(project))

    def export(self, request: Request, visitor: Visitor) -> Response:
        how = request.query_params.get("format", "csv")
        writers = {"csv": (write_csv, "text/csv"), "jsonl": (write_jsonl, "application/jsonl")}
        if how not in writers:
            raise Refused(400, "format must be csv or jsonl")
        write, media = writers[how]
        file = io.BytesIO()
        with self.reader.reading() as project:
            write(export_rows(project), file)
        headers = {"Content-Disposition": f'attachment; filename="labels.{how}"'}
        return Response(file.getvalue(), media_type=media, headers=headers)

    def invite(self, request: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        name, role = text(body, "name"), text(body, "role")
        if name == visitor.name:
            raise Refused(400, "name: that is you; aced invite gives you a new link")
        token = self.project.add_person(name, role)
        return Json({"link": f"{_base(request)}/enter?{urlencode({'token': token or ''})}"})

    def revoke(self, _: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        name = text(body, "name")
        if name == visitor.name:
            raise Refused(400, "name: that is you; ask another lead")
        self.project.revoke(name)
        return Json({})

    def classes(self, _: Request, visitor: Visitor, body: dict[str, Any]) -> Response:
        done = change_classes(self.project, visitor.name, body)
        self.designer.wake(visitor.name)
        return Json(done)


def _whole(value: str, name: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise Refused(400, f"{name} must be a whole number") from None


def _file(name: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A file of the folder ``static``; no other file is ever opened."""
    media = TYPES.get(Path(name).suffix)
    if media is None or not STATIC.is_dir() or name not in {file.name for file in STATIC.iterdir()}:
        raise Refused(404, "there is no such page")
    return Response((STATIC / name).read_bytes(), status, headers, media)


def _base(request: Request) -> str:
    """The address at which people reach this server: the page's Origin, which the gate has checked."""
    origin = request.headers.get("origin")
    if origin is not None:
        parts = urlsplit(origin)
        return f"{parts.scheme}://{parts.netloc}"
    return f"{request.scope['scheme']}://{request.headers.get('host', '')}"
