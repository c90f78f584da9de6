"""What is sent if a request is refused: a small page to browsers, and JSON to programs.

A browser that opens an address accepts text/html. Our pages' own requests ask for JSON, and programs
that say nothing get it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response

from aced.web._json import Json

PAGES = {
    401: (
        "This link does not let you in",
        "It may have been revoked, or a newer link may have taken its place. Ask whoever leads the "
        "project for a new link. Answers that this browser has not sent yet are kept in it.",
    ),
    403: (
        "This page is not for you",
        "You can go on labelling. If you should see this page, ask a lead of the project for a link "
        "that lets you.",
    ),
    404: ("There is no such page", "Look at the address again, or go on labelling."),
    429: ("Please wait", "After that, open your link again. If it is refused again, ask for a new one."),
}
"""By status: a heading, and what to do."""
OTHERWISE = (
    "This did not work",
    "Go back and try again. If it happens again, tell whoever leads the project.",
)
WITHOUT_LINK = (401, 429)

_PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
    <meta name="color-scheme" content="light dark">
    <title>{heading} – aced</title>
    <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/static/style.css">
  </head>
  <body class="label">
    <main id="stage">
      <div class="item">
        <div class="message refused">
          <h1>{heading}</h1>
          <p>{sentence}</p>
          <p>{advice}</p>{link}
        </div>
      </div>
    </main>
  </body>
</html>
"""
_LINK = '\n          <p><a class="tool" href="/">Label</a></p>'


def refusal(
    status: int, sentence: str, asked: Headers, headers: Mapping[str, str] | None = None
) -> Response:
    """The response to a request with the headers ``asked`` that is refused with one sentence."""
    if "text/html" not in asked.get("accept", "").lower():
        return Json({"error": sentence}, status_code=status, headers=headers)
    heading, advice = PAGES.get(status, OTHERWISE)
    page = _PAGE.format(
        heading=escape(heading),
        sentence=escape(f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."),
        advice=escape(advice),
        link="" if status in WITHOUT_LINK else _LINK,
    )
    return HTMLResponse(page.encode("utf-8", "replace"), status, headers)
