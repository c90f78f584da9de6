"""aced invite: make a link by which someone may label."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

import typer

from aced._errors import InvalidInput
from aced.cli._own_link import enter, keep_if_own
from aced.cli._project import Folder
from aced.project import Project


def invite(
    project: Folder,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the person who may label.")],
    lead: Annotated[
        bool, typer.Option("--lead", help="Let the person also see all labels and invite others.")
    ] = False,
    url: Annotated[
        str, typer.Option(metavar="BASE", help="Address at which people reach aced serve.")
    ] = "http://127.0.0.1:8765",
) -> None:
    """Print an access link. It is shown once; a new link for the same name ends the old one."""
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise InvalidInput("url", f"must begin with http:// or https://, got {url!r}")
    opened = Project(project)
    token = opened.add_person(name, "lead" if lead else "annotator") or ""
    keep_if_own(opened, name, token)
    opened.close()
    typer.echo(enter(f"{url.rstrip('/')}/", token))
