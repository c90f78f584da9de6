"""Whether a request comes from this machine, as far as its headers tell."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that proxies add."""


def passed_on(headers: Mapping[str, str]) -> bool:
    """Whether a proxy passed the request on; the names in ``headers`` must be in lower case."""
    return any(name in headers for name in PASSED_ON)


def is_loopback(name: str) -> bool:
    """Whether only this machine can reach the address ``name``.

    >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def names_this_machine(host: str) -> bool:
    """Whether a Host header names this machine; a hostile page may lead here under another name.

    >>> [names_this_machine(host) for host in ("[::1]:8765", "LOCALHOST:80", "a@localhost", "[")]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(f"//{host}")
        plain = parts.netloc == host and parts.username is None
        return plain and is_loopback(parts.hostname or "")
    except ValueError:
        return False
