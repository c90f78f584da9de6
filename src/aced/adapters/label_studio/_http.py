"""The HTTP routes that Label Studio calls on a machine learning backend.

GET  /health   says that the backend is there
POST /setup    says which version of the classifier would answer
POST /predict  gives one result for each task, in order; without a guess its list is empty
POST /webhook  takes an annotation that was made, changed or deleted there, or "start training"

Label Studio cannot send the header that our pages send. These routes therefore ask for a lead's token,
as the password of HTTP Basic, after ``Bearer`` or ``Token``, or as ``?token=``. Without a token only a
server on loopback answers that was started so (``aced serve --no-token``), and only requests that no
web page can send: JSON to a local name, without an Origin, not passed on by a proxy.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aced._errors import InvalidInput
from aced._local import names_this_machine, passed_on
from aced.adapters.label_studio._annotations import delete, read_export, row_of
from aced.adapters.label_studio._predictor import Predictor, version_of
from aced.adapters.label_studio._tasks import prediction
from aced.ledger import LedgerError
from aced.project import Project, row_finder

LARGEST = 64 * 2**20
"""The most bytes of one request."""
CHANGED = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")

Answer = Callable[[dict[str, Any]], dict[str, Any]]
RoleOf = Callable[[Request, str], str | None]


def routes(
    project: Project,
    *,
    local: bool = False,
    changed: Callable[[], object] | None = None,
    role_of: RoleOf | None = None,
) -> list[Route]:
    """The routes, to be mounted under any path.

    ``local`` says that the server listens on loopback alone and trusts everybody there, so that no
    token is needed. ``changed`` is called after labels came in and when training is asked for, in a
    thread of its own; by default the next round is designed if one is due. ``role_of`` says what the
    holder of a token is (lead, annotator or None), and may refuse the request of somebody who guesses.
    """
    backend = _Backend(project, project.refill if changed is None else changed)
    may = partial(_may, local, role_of or partial(_role_of, project))
    health = _guarded(may, None)
    return [
        Route("/", health, methods=["GET"]),
        Route("/health", health, methods=["GET"]),
        Route("/setup", _guarded(may, backend.setup), methods=["POST"]),
        Route("/predict", _guarded(may, backend.predict), methods=["POST"]),
        Route("/webhook", _guarded(may, backend.webhook, 201), methods=["POST"]),
    ]


class _Backend:
    def __init__(self, project: Project, changed: Callable[[], object]) -> None:
        self._project, self._changed = project, changed
        self._where = row_finder(project)
        self._trained: Predictor | None = None
        self._lock, self._reacting = threading.Lock(), threading.Lock()

    def setup(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"model_version": version_of(self._project)}

    def predict(self, body: dict[str, Any]) -> dict[str, Any]:
        tasks = body.get("tasks")
        if not isinstance(tasks, list):
            raise InvalidInput("tasks", "must be a list")
        data = [task.get("data") if isinstance(task, dict) else None for task in tasks]
        rows = [row_of(one, self._where) for one in data]
        model = self._classifier()
        guesses = iter(model([row for row in rows if row is not None]))
        found = [None if row is None else next(guesses) for row in rows]
        none = {"result": [], "score": 0.0, "model_version": model.version}
        results = [none if guess is None else prediction(guess) for guess in found]
        return {"results": results, "model_version": model.version}

    def _classifier(self) -> Predictor:
        """The classifier, trained once for each set of labels, however many requests come."""
        with self._lock:
            if self._trained is None or self._trained.version != version_of(self._project):
                self._trained = Predictor.of(self._project)
            return self._trained

    def webhook(self, body: dict[str, Any]) -> dict[str, Any]:
        action, ignored = body.get("action"), 0
        if action in CHANGED:
            found = read_export(self._project, _as_export(body))
            count, ignored = found.taken, found.ignored
        elif action in DELETED:
            count = delete(self._project, _ids(body))
        elif action == "START_TRAINING":
            count = 0
        else:
            return {"status": "Unknown event"}
        if count or action == "START_TRAINING":
            threading.Thread(target=self._react, daemon=True).start()
        return {"status": "ok", "result": {"changed": count, "ignored": ignored}}

    def _react(self) -> None:
        if not self._reacting.acquire(blocking=False):
            return  # the thread that runs takes care of it
        try:
            self._changed()
        except InvalidInput:
            pass  # a full disk, say; the next change tries again
        finally:
            self._reacting.release()


def _as_export(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The annotations of a webhook as tasks of an export. A webhook has one of each, or lists."""
    annotations, tasks = _list(body.get("annotation")), _list(body.get("task"))
    if not annotations or not all(isinstance(one, dict) for one in annotations + tasks):
        raise InvalidInput("annotation", "is missing; let the webhook send its payload")
    if len(tasks) == 1 == len(annotations):
        return [{**tasks[0], "annotations": annotations}]
    found = []
    for one in annotations:
        task = next((task for task in tasks if task.get("id") == one.get("task")), None)
        if task is None:
            raise InvalidInput(
                "task",
                "is missing: this Label Studio sends none with its webhooks; import its exports instead",
            )
        found.append({**task, "annotations": [one]})
    return found


def _ids(body: dict[str, Any]) -> list[Any]:
    listed = _list(body.get("annotations")) or _list(body.get("annotation")) or [body]
    if not all(isinstance(one, dict) for one in listed):
        raise InvalidInput("annotations", "must be objects with an id")
    return [one.get("id") for one in listed]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


# -- the guard --------------------------------------------------------------------------


def _guarded(
    may: Callable[[Request], bool], answer: Answer | None, status: int = 200
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if not await run_in_threadpool(may, request):
            heads = {"WWW-Authenticate": 'Basic realm="aced"'}
            return _error("a lead's token is needed, as the password of HTTP Basic", 401, heads)
        if answer is None:
            return JSONResponse({"status": "UP"})
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            return _error("Content-Type must be application/json", 415)
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > LARGEST:
                return _error(f"a request may have at most {LARGEST} bytes", 413)
        try:
            body = json.loads(bytes(content))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            return _error("the request is no JSON object", 400)
        try:
            return JSONResponse(await run_in_threadpool(answer, body), status)
        except LedgerError as error:
            return _error(str(error), 503)
        except InvalidInput as error:
            return _error(error.sentence if error.argument == "file" else str(error), 400)

    return endpoint


def _error(sentence: str, status: int, headers: dict[str, str] | None = None) -> Response:
    # Half a surrogate pair cannot be sent.
    printable = sentence.encode(errors="backslashreplace").decode()
    return JSONResponse({"error": printable}, status, headers)


def _role_of(project: Project, request: Request, token: str) -> str | None:
    known = project.who_is(token)  # takes equally long for every token
    return None if known is None else known[1]


def _may(local: bool, role_of: RoleOf, request: Request) -> bool:
    token = _token(request)
    if token is not None:
        return role_of(request, token) == "lead"
    if not local or "origin" in request.headers or passed_on(request.headers):
        return False
    return names_this_machine(request.headers.get("host", ""))


def _token(request: Request) -> str | None:
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "token"):
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return ""
    return request.query_params.get("token")
