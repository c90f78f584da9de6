"""Names of people, and the tokens by which they are known."""

from __future__ import annotations

import hashlib

from aced._errors import InvalidInput

LONGEST_NAME = 64


def check_name(name: str) -> None:
    """Refuse a name that cannot be shown on one line."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidInput(
            "name", f"must be 1 to {LONGEST_NAME} printable characters, got {name[:80]!r}"
        )


def hash_of(token: str) -> str:
    """The hash of a token. A plain hash is enough, since tokens are long and random."""
    return hashlib.sha256(token.encode()).hexdigest()
