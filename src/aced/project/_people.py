"""Names of people, and the tokens by which they are known."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping

from aced._errors import InvalidInput
from aced.ledger import Person

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


def new_token() -> str:
    return secrets.token_urlsafe(24)


def holder_of(token: str, people: Mapping[str, Person]) -> tuple[str, str] | None:
    """Name and role of a token's holder. The time it takes does not tell whether there is one."""
    given, found = hash_of(token), None
    for name, person in people.items():
        if hmac.compare_digest(person.token or "", given) and person.active:
            found = (name, person.role)
    return found
