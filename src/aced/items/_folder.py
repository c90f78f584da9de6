"""The images in a folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from aced._errors import InvalidInput
from aced.items._items import Items, first_alike
from aced.items._thumbnails import check_header, quiet, refuse, tried_all, undecodable

READ = frozenset({".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"})
LEFT_OUT = frozenset({".svg", ".svgz", ".heic", ".heif", ".avif"})


def image_items(folder: Path, skip_broken: bool = False) -> Items:
    """All images below a folder, in the order of their paths. Hidden files are left out.

    Images that cannot be read are refused, or left out with ``skip_broken``.
    """
    names, skipped = _found(folder)
    if not names:
        left_out = f" ({skipped} left out: other formats, or links to elsewhere)" if skipped else ""
        raise InvalidInput(
            "items",
            f"there are no images in {folder}{left_out}; "
            f"put some there that end in {', '.join(sorted(READ))}",
        )
    with quiet():
        found, bad = tried_all(_digest, folder, names)
    unread = {name for name, _ in bad}
    digests = dict(zip((name for name in names if name not in unread), found, strict=True))
    if bad or skip_broken:  # else those that cannot be decoded are found with the features
        bad = sorted([*bad, *undecodable(folder, list(digests))])
    if not skip_broken:
        refuse(bad)
    if len(bad) == len(names):
        raise InvalidInput(
            "items", f"none of the {len(names)} images in {folder} can be read; put others there"
        )
    broken = {name for name, _ in bad}
    whole = [name for name in names if name not in broken]
    alike = first_alike(digests[name] for name in whole)
    return Items(
        "image", whole, list(whole), folder.resolve(), None, alike, skipped, broken=sorted(broken)
    )


def _found(folder: Path) -> tuple[list[str], int]:
    """Paths relative to the folder, with forward slashes, and how many images were left out."""
    inside = folder.resolve()
    names: list[str] = []
    skipped = 0
    for place, folders, files in os.walk(folder):
        here = Path(place)
        skipped += sum(_leaves(here / name, inside) for name in folders if not name.startswith("."))
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            ending = Path(name).suffix.lower()
            if name.startswith(".") or ending not in READ | LEFT_OUT:
                continue
            if ending in LEFT_OUT or _leaves(here / name, inside):
                skipped += 1
                continue
            names.append(_utf8((here / name).relative_to(folder).as_posix()))
    return sorted(names), skipped


def _leaves(path: Path, inside: Path) -> bool:
    """Whether a link leads out of the folder, or nowhere."""
    if not path.is_symlink():
        return False
    try:
        return not path.resolve(strict=True).is_relative_to(inside)
    except (OSError, RuntimeError):
        return True


def _utf8(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidInput("items", f"the name of {name!r} is not UTF-8; rename the file") from None
    return name


def _digest(path: Path) -> bytes:
    check_header(path)
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.digest()
