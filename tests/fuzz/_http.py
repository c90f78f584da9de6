"""Requests to the server: methods, paths, headers, cookies and bodies."""

from __future__ import annotations

import json
import logging
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aced.ledger import replay
from aced.project import Project
from tests.fuzz._asgi import Request, Response, Server, log_in
from tests.fuzz._mutate import LONG, as_json, damaged, edited, odd
from tests.fuzz._projects import make, put
from tests.fuzz._runner import REFUSED, TAKEN, Problem

PATHS = (
    "/",
    "/lead",
    "/enter",
    "/static/label.js",
    "/static/..%2f_app.py",
    "/static/",
    "/api/me",
    "/api/next",
    "/api/answer",
    "/api/undo",
    "/api/why/1",
    "/api/image/1",
    "/api/item/1",
    "/api/lead",
    "/api/map",
    "/api/export",
    "/api/people",
    "/api/revoke",
    "/api/classes",
    "/history",
    "/api/history",
    "/api/return",
    "/label-studio/health",
    "/label-studio/predict",
    "/label-studio/webhook",
    "/label-studio/setup",
    "//",
    "/api",
    "/%00",
    "/%ff%fe",
    "/api/item/%F0%9F",
)
ROWS = ("0", "23", "24", "-1", "1e3", "٣", "9" * 5000, "", "%00", "1/..", " 1", "+1", "0x1", "_", "1_0")
METHODS = (
    "GET",
    "GET",
    "GET",
    "POST",
    "POST",
    "POST",
    "HEAD",
    "PUT",
    "DELETE",
    "OPTIONS",
    "PATCH",
    "get",
    "X" * 50,
)
HEADERS = (
    "host",
    "origin",
    "cookie",
    "content-type",
    "content-length",
    "x-aced",
    "sec-fetch-site",
    "authorization",
    "x-forwarded-for",
    "forwarded",
    "via",
    "transfer-encoding",
    "range",
    "accept-encoding",
    "expect",
    "if-none-match",
    "user-agent",
)
VALUES = (
    "",
    " ",
    "1",
    "127.0.0.1",
    "localhost:8765",
    "evil.example",
    "http://127.0.0.1:8765",
    "http://[",
    "null",
    "\xff",
    "application/json",
    "text/plain",
    "aced=x",
    "aced=" + "é",
    "aced=" + "x" * 5000,
    "=;=;=",
    "aced",
    "Basic eA==",
    "Basic ====",
    "Basic " + "é",
    "Bearer x",
    "Token",
    "99999999999999999999",
    "-1",
    "chunked",
    "bytes=0-",
    "cross-site",
    "same-origin",
    LONG,
    "1.2.3.4, 5.6.7.8",
)
QUERIES = (
    "count=5",
    "count=",
    "count=x",
    "count=-9",
    "count=" + "9" * 5000,
    "count=1&count=x",
    "format=jsonl",
    "format=csv",
    "format=../x",
    "token=x",
    "token=",
    "token=%ff",
    "token=%00" + "x" * 300,
    "&&==",
    "%",
    "count=%F0%9F",
)


@dataclass(frozen=True)
class Case:
    """A few requests, one after another. ``who`` sends them: ann, a lead; bob; or nobody."""

    who: str
    local: bool
    requests: tuple[Request, ...]


class Boundary:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        made = make(folder / "project")
        self.tokens = {
            "ann": made.add_person("ann", "lead"),
            "bob": made.add_person("bob"),
            "nobody": None,
        }
        made.close()
        self.files = {path.name: path.read_bytes() for path in (folder / "project").iterdir()}
        self.errors = Errors()
        logging.getLogger("aced.web").addHandler(self.errors)

    def case(self, rng: random.Random) -> Case:
        who = rng.choice(("ann", "ann", "bob", "nobody"))
        requests = tuple(request(rng) for _ in range(rng.randrange(1, 24)))
        return Case(who, rng.random() < 0.3, requests)

    def run(self, case: Case) -> str:
        put(self.files, self.folder / "copy")
        project = Project(self.folder / "copy")
        how: dict[str, Any] = {"tokens_required": not case.local, "label_studio": True}
        server = Server(project, **how, **({"local_user": "ann"} if case.local else {}))
        try:
            token = self.tokens[case.who]
            cookie = None if token is None else log_in(server, token)
            outcomes = [self._send(server, project, one, cookie) for one in case.requests]
            problems = replay(project.ledger).problems
        finally:
            server.close()
            project.close()
        if problems:
            raise Problem(f"the ledger has problems afterwards: {problems[0]}")
        return TAKEN if TAKEN in outcomes else REFUSED

    def _send(self, server: Server, project: Project, one: Request, cookie: str | None) -> str:
        if cookie is not None and not any(name == "cookie" for name, _ in one.headers):
            one = one.with_header("cookie", cookie)
        response = server.send(one)
        judge(one, response)
        self.errors.check(f"{one.method} {one.path[:60]}")
        if response.status == 200 and one.path == "/api/answer":
            _check_answer(project, one, response)
        return TAKEN if 200 <= response.status < 400 else REFUSED

    def close(self) -> None:
        pass


class Errors(logging.Handler):
    """Keeps the errors that are written to a log."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self.found.append(f"{error!r}: {record.getMessage()}"[:300])

    def check(self, what: str) -> None:
        """Nothing was written since the last look."""
        found, self.found = self.found, []
        if found:
            raise Problem(f"{what} writes a traceback to the log: {found[0]}")


def judge(request: Request, response: Response) -> None:
    """A request is answered, never with 5xx but 503, and a refusal says why in a sentence."""
    left = None in request.chunks
    if response.status == 0 and not left:
        raise Problem(f"{request.method} {request.path} gets no answer")
    if response.status >= 500 and response.status != 503:
        raise Problem(f"{request.method} {request.path} gets {response.status}: {response.body[:200]!r}")
    if response.status >= 400 and request.method != "HEAD" and request.path.startswith("/api/"):
        said = response.json().get("error")
        if not (isinstance(said, str) and said):
            raise Problem(f"{request.method} {request.path} is refused without a sentence")
    if response.status and response.headers.get("x-content-type-options") != "nosniff":
        raise Problem(f"{request.method} {request.path} is answered without the usual headers")


def _check_answer(project: Project, request: Request, response: Response) -> None:
    """An answer that was acknowledged is in the ledger."""
    body = json.loads(b"".join(part for part in request.chunks if part))
    event = project.ledger.find(body.get("request", body.get("key")))
    if event is None or event.seq != response.json()["seq"]:
        raise Problem("silent loss: an answer is acknowledged and not in the ledger")
    label = project.classes.index(body["label"]) if body["kind"] == "label" else None
    given = (body["kind"], body["row"], label)
    if event.kind != "undo" and (event.kind, event.row, event.body.get("label")) != given:
        raise Problem(f"silent success: the key of {body} belongs to another answer, {event}")


# -- making requests ----------------------------------------------------------------------


def request(rng: random.Random) -> Request:
    """A request that makes sense, with a few things in it that do not."""
    often, seldom = (_answer, _any) * 3, (_undo, _invite, _revoke, _classes, _return)
    made = rng.choice((*often, *seldom))(rng)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        made = rng.choice((_bad_header, _bad_body, _bad_body, _bad_path, _bad_query, _bad_method))(
            rng, made
        )
    return made


def _post(path: str, body: Any) -> Request:
    headers = (("host", "127.0.0.1:8765"), ("content-type", "application/json"), ("x-aced", "1"))
    return Request("POST", path, "", headers, (as_json(body),))


def _answer(rng: random.Random) -> Request:
    body = {
        "row": rng.randrange(24),
        "kind": rng.choice(("label", "label", "skip", "unsure")),
        "label": rng.choice(("no", "yes")),
        "key": f"k{rng.randrange(6)}",
        "seconds": 2.5,
        "then": 3,
    }
    return _post("/api/answer", body if rng.random() < 0.5 else edited(rng, body))


def _undo(rng: random.Random) -> Request:
    return _post(
        "/api/undo", edited(rng, {"key": f"k{rng.randrange(6)}"}) if rng.random() < 0.5 else {"key": "u"}
    )


def _invite(rng: random.Random) -> Request:
    body = {"name": rng.choice(("zoë", "bob", "eve", "ann")), "role": rng.choice(("annotator", "lead"))}
    return _post("/api/people", edited(rng, body))


def _revoke(rng: random.Random) -> Request:
    return _post("/api/revoke", edited(rng, {"name": rng.choice(("zoë", "bob", "nobody"))}))


def _classes(rng: random.Random) -> Request:
    names = ("no", "yes", "maybe", "never", "NO", "a,b", "<b>", "")
    body = {
        "action": rng.choice(("add", "rename", "merge", "undo")),
        **{field: rng.choice(names) for field in ("name", "from", "to", "into")},
        "dry": rng.random() < 0.3,
    }
    return _post("/api/classes", edited(rng, body) if rng.random() < 0.5 else body)


def _return(rng: random.Random) -> Request:
    body = {"answer": rng.randrange(60), "key": f"b{rng.randrange(6)}"}
    return _post("/api/return", edited(rng, body) if rng.random() < 0.5 else body)


def _any(rng: random.Random) -> Request:
    path = rng.choice(PATHS)
    headers = (("host", "127.0.0.1:8765"), ("x-aced", "1"), ("content-type", "application/json"))
    return Request(rng.choice(METHODS), path, rng.choice(("", *QUERIES)), headers, (as_json(odd(rng)),))


def _bad_header(rng: random.Random, made: Request) -> Request:
    name = rng.choice(HEADERS)
    kept = tuple(pair for pair in made.headers if pair[0] != name)
    return replace(
        made, headers=rng.choice((kept, (*kept, (name, rng.choice(VALUES))), made.headers * 2))
    )


def _bad_body(rng: random.Random, made: Request) -> Request:
    body = b"".join(part for part in made.chunks if part)
    body = rng.choice(
        (
            damaged(rng, body),
            as_json(odd(rng)),
            b"[" * 60_000,
            b'{"a":' * 9000,
            b"x" * 70_000,
            b'{"row":1e999}',
            b'{"row":NaN}',
            body + body,
            body,
            b'{"key":"a","key":"b"}',
        )
    )
    cut = rng.randrange(len(body) + 1)
    return replace(
        made,
        chunks=rng.choice(((body,), (body[:cut], body[cut:]), (body[:cut], None), (None,), (b"", body))),
    )


def _bad_path(rng: random.Random, made: Request) -> Request:
    row = f"/api/{rng.choice(('why', 'image', 'item'))}/{rng.choice(ROWS)}"
    return replace(
        made,
        path=rng.choice(
            (row, row, made.path + "/", made.path.upper(), "/" + made.path, made.path + "%00")
        ),
    )


def _bad_query(rng: random.Random, made: Request) -> Request:
    return replace(made, query=rng.choice(QUERIES))


def _bad_method(rng: random.Random, made: Request) -> Request:
    return replace(made, method=rng.choice(METHODS))
