"""The link of the person who starts ``aced serve``.

Its token is kept in the person's own state folder, where no other user of the machine can read it, so
that the link and the browser's cookie outlive the server. It is never kept in the project's folder,
which others may read.
"""

from __future__ import annotations

import hashlib
import html
import os
import stat
import sys
from pathlib import Path
from urllib.parse import urlencode

from aced._errors import InvalidInput
from aced.project import Project

LONGEST = 200


def enter(address: str, token: str | None) -> str:
    """The link by which the holder of a token comes in; ``address`` ends with a slash."""
    return f"{address}enter?{urlencode({'token': token or ''})}"


def own_token(project: Project, name: str) -> str:
    """The token of ``name``, a lead: the one of the last time while it is valid, or a new one."""
    known = project.state.people.get(name)
    if known is not None and not known.active:
        raise InvalidInput("as", f"{name!r} may no longer label here; use aced invite")
    kept = _read(_place(project, name))
    if kept is not None and project.who_is(kept) == (name, "lead"):
        return kept
    token = project.add_person(name, "lead") or ""
    _write(_place(project, name), token)
    return token


def keep_if_own(project: Project, name: str, token: str) -> None:
    """Note the new token of a person who starts ``aced serve`` here, which would make another."""
    place = _place(project, name)
    if place is not None and place.exists():
        _write(place, token)


def stepping_stone(project: Project, name: str, link: str) -> Path | None:
    """A page that leads to the link, for a browser: other users can read a program's arguments, but
    not this page. None if it cannot be written."""
    place = _place(project, name)
    page = None if place is None else place.with_suffix(".html")
    target = html.escape(f"0; url={link}")
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="{target}">\n'
    return page if page is not None and _write(page, text) else None


def _place(project: Project, name: str) -> Path | None:
    """The file for a person's token, in the folder that the XDG specification names."""
    if sys.platform == "win32":  # there, a file's mode does not keep others out
        return None
    try:
        home = Path.home()
    except RuntimeError:  # this user has no home
        return None
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    folder = named if named.is_absolute() else home / ".local" / "state"
    who = hashlib.sha256(name.encode()).hexdigest()[:16]
    return folder / "aced" / f"{project.id}-{who}"


def _read(place: Path | None) -> str | None:
    """What the file holds, unless others may have read or written it."""
    if place is None:
        return None
    try:
        opened = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(opened, "rb") as file:
        found = os.fstat(file.fileno())
        private = found.st_uid == os.getuid() and not found.st_mode & 0o077
        if not private or not stat.S_ISREG(found.st_mode):
            return None
        return file.read(LONGEST).decode("ascii", "replace").strip()


def _write(place: Path | None, text: str) -> bool:
    """Write a file that only this user can read, from its first moment on; say whether it is there."""
    if place is None:
        return False
    part = place.with_name(f"{place.name}.{os.getpid()}.part")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.chmod(0o700)
        part.unlink(missing_ok=True)
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(opened, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, place)
        finally:
            part.unlink(missing_ok=True)
    except OSError:
        return False
    return True
