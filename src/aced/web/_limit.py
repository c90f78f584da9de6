"""Wrong tokens, counted by the address they came from."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable

WRONG_TOKENS = 10
WITHIN = 60.0
ADDRESSES = 4096
"""The most addresses remembered. The address that was quiet longest is forgotten first."""


class WrongTokens:
    """After ``WRONG_TOKENS`` wrong tokens within ``WITHIN`` seconds an address has to wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """Seconds until this address may try again; 0 if it may try now."""
        with self._lock:
            times = self._times.get(_network(address))
            if times is None or len(times) < WRONG_TOKENS:
                return 0
            left = times[0] + WITHIN - self._clock()
            return max(0, int(left) + 1) if left > 0 else 0

    def add(self, address: str) -> None:
        with self._lock:
            network = _network(address)
            times = self._times.setdefault(network, deque(maxlen=WRONG_TOKENS))
            times.append(self._clock())
            self._times.move_to_end(network)
            while len(self._times) > ADDRESSES:
                self._times.popitem(last=False)


def _network(address: str) -> str:
    """The address, or its network: an IPv6 customer has 2⁶⁴ addresses, which count as one.

    >>> _network("2001:db8::1") == _network("2001:db8::2"), _network("192.0.2.7")
    (True, '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(known) >> 64 << 64, 64)))
    return str(known)
