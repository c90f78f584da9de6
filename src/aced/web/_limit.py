"""Wrong tokens, counted by where they came from.

A token has 192 random bits, so nobody guesses one. The limit is there against load and noise. Whoever
has a right token is let in whatever was counted: the callers look the token up before they ask here.
"""

from __future__ import annotations

import hashlib
import ipaddress
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable

WRONG_TOKENS = 10
"""Different wrong tokens of one address within ``WITHIN`` seconds, after which it has to wait."""
WRONG_TOKENS_OF_A_PEER = 100
"""The same for the other end of the socket, such as a proxy: those behind it may claim any address."""
WITHIN = 60.0
REMEMBERED = 4096
"""The most addresses and tokens remembered. What was quiet longest is forgotten first."""


class WrongTokens:
    """Counts wrong tokens. The same token sent again counts once: it may be a page left open."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._tokens, self._addresses = _Times(1), _Times(WRONG_TOKENS)
        self._peers = _Times(WRONG_TOKENS_OF_A_PEER)

    def known(self, token: str) -> bool:
        """Whether this token was found wrong a short while ago."""
        with self._lock:
            return self._tokens.wait(_digest(token), self._clock()) > 0

    def wait(self, address: str, peer: str) -> int:
        """Seconds until this address may try a new token; 0 if it may try now."""
        with self._lock:
            now = self._clock()
            left = max(
                self._addresses.wait(network_of(address), now), self._peers.wait(network_of(peer), now)
            )
        return int(left) + 1 if left > 0 else 0

    def add(self, token: str, address: str, peer: str) -> None:
        with self._lock:
            now = self._clock()
            self._tokens.add(_digest(token), now)
            self._addresses.add(network_of(address), now)
            self._peers.add(network_of(peer), now)


class _Times:
    """When something happened last, ``limit`` times for each key at most."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._times: OrderedDict[Hashable, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def wait(self, key: Hashable, now: float) -> float:
        """Seconds until the oldest of ``limit`` times is ``WITHIN`` seconds old."""
        times = self._times.get(key)
        if times is None or len(times) < self._limit:
            return 0.0
        return max(0.0, times[0] + WITHIN - now)

    def add(self, key: Hashable, now: float) -> None:
        self._times.setdefault(key, deque(maxlen=self._limit)).append(now)
        self._times.move_to_end(key)
        while len(self._times) > REMEMBERED:
            self._times.popitem(last=False)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def network_of(address: str) -> str:
    """The address, or its network: an IPv6 customer has 2⁶⁴ addresses, which count as one.

    >>> network_of("2001:db8::1") == network_of("2001:db8::2"), network_of("::ffff:192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:  # an IPv4 address as a socket for both kinds writes it
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((int(known) >> 64 << 64, 64)))
