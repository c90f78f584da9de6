"""How long a client may keep a connection waiting, and how many connections there may be.

uvicorn waits for ever for the rest of a header or of a body. Here every wait for a client has an end.
If there are as many connections as there may be, a new one takes the place of the one that has kept us
waiting longest. So an honest client gets in at once while somebody holds a thousand half requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from heapq import nsmallest

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from aced._local import is_loopback
from aced.web._limit import network_of

MOST = 1000
"""The most connections, however many file descriptors there are."""
RESERVE = 256
"""Descriptors that are kept for the ledger, images, pipes, and connections on their way in and out."""
FEWEST = 8
SHARE = 4
"""One address may have this part of all connections. A proxy on this machine may have all of them."""
BUSY = b'{"error":"too many connections; try again"}'
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(BUSY), BUSY)
)
_log = logging.getLogger("aced.web")


@dataclass(frozen=True)
class Patience:
    """Seconds that a client may take."""

    head: float = 10.0
    """From connecting, or from the first byte of a request, until the header is complete."""
    idle: float = 30.0
    """From a response to the next request."""
    body: float = 35.0
    """For the body of a request; a second more for every ``rate`` bytes."""
    unread: float = 60.0
    """For reading a response; a second more for every ``rate`` bytes."""
    refused: float = 1.0
    """For reading that there is no room."""
    rate: float = 4096.0


class Wait(IntEnum):
    """What a connection waits for, in the order in which connections give way to new ones."""

    REFUSED = 0
    HEAD = 1
    BODY = 2
    UNREAD = 3
    US = 4
    """The request is there, and the response is not: the client does not keep us waiting."""


def most_connections() -> int:
    """As many as the limit of file descriptors allows.

    >>> FEWEST <= most_connections() <= MOST
    True
    """
    try:
        import resource
    except ImportError:  # not on every system
        return MOST // 2
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY:
        return MOST
    return max(FEWEST, min(MOST, limit - min(RESERVE, limit // 2)))


class Connections:
    """The open connections of one server."""

    def __init__(self, most: int | None = None, patience: Patience | None = None) -> None:
        self.most = most_connections() if most is None else most
        self.each = max(1, self.most // SHARE)
        self._full = self.most
        self.patience = Patience() if patience is None else patience
        self._open: set[Guarded] = set()
        self._of: Counter[str] = Counter()
        self._every = min(1.0, self.patience.head / 4)
        self._sweeping = False

    def protocol(self) -> type[Guarded]:
        """The class that uvicorn makes an object of for every connection."""
        return type("Guarded", (Guarded,), {"table": self})

    def add(self, new: Guarded) -> bool:
        """Take a connection in; False if there is no room, and none of the others can give way."""
        room = self._make_room(self._open, self.most)
        if room and not new.local and self._of[new.network] >= self.each:
            room = self._make_room({one for one in self._open if one.network == new.network}, self.each)
        self._open.add(new)
        self._of[new.network] += 1
        if not self._sweeping:
            self._sweeping = True
            new.loop.call_later(self._every, self._sweep, new.loop)
        return room

    def remove(self, one: Guarded) -> None:
        if one in self._open:
            self._open.remove(one)
            self._of[one.network] -= 1
            if not self._of[one.network]:
                del self._of[one.network]

    def shrink(self, count: int) -> None:
        """Have ``count`` connections less than now, since there are no descriptors for more. Every
        second one more is tried again."""
        self.most = max(FEWEST, len(self._open) - count)
        self._make_room(self._open, self.most)

    def _make_room(self, crowd: set[Guarded], most: int) -> bool:
        """Close connections of the crowd, those that have kept us waiting longest, until it is smaller
        than ``most``; False if the rest does not wait for its clients."""
        more = len(crowd) - most + 1
        if more <= 0:
            return True
        waiting = (one for one in crowd if one.wait < Wait.US)
        oldest = nsmallest(more, waiting, key=lambda one: (one.wait, one.since))
        for one in oldest:
            one.drop()
        _log.warning("too many connections; those that have kept us waiting longest are closed")
        if len(oldest) < more:
            _log.warning("too many connections; new ones are refused until some are answered")
        return len(oldest) == more

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close the connections whose time is over."""
        now = loop.time()
        self.most = min(self.most + 1, self._full)
        for one in list(self._open):
            if one.is_over(now, self._every):
                one.drop()
        self._sweeping = bool(self._open)
        if self._sweeping:
            loop.call_later(self._every, self._sweep, loop)


class Guarded(H11Protocol):
    """One connection, which knows for what it waits and since when."""

    table: Connections
    left = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self.network = network_of(peer)
        self.local = is_loopback(peer) or is_loopback(self.network)
        self.app_state = {**self.app_state, "peer": peer}  # before a header can claim another
        self._wait_for(Wait.HEAD, self.table.patience.head)
        if not self.table.add(self):
            self._refuse()

    def connection_lost(self, exc: Exception | None) -> None:
        self.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.wait == Wait.REFUSED:
            return
        self.moved += len(data)
        if self.wait == Wait.HEAD and self.idle:
            self._wait_for(Wait.HEAD, self.table.patience.head)
        super().data_received(data)
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Answer a request that is no HTTP. The application may be answering it already: it stops."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # an answer is on its way, and cannot become another one
            self.transport.close()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def is_over(self, now: float, passed: float) -> bool:
        """Whether the client has had its time; ``passed`` seconds ago this was asked last."""
        self._look_at_response()
        if self.wait == Wait.BODY and self.flow.read_paused:
            self.since += passed  # it is we who do not read
        if self.wait == Wait.US:
            return False
        more = self.moved / self.table.patience.rate
        return now > self.since + self.limit + (more if self.wait > Wait.HEAD else 0.0)

    def drop(self) -> None:
        self.table.remove(self)
        self.transport.abort()

    def _wait_for(self, what: Wait, limit: float = 0.0) -> None:
        self.wait, self.limit, self.idle = what, limit, False
        self.since, self.moved = self.loop.time(), 0

    def _look(self) -> None:
        """See from the state of the request for what we wait now."""
        patience, found, limit = self.table.patience, Wait.US, 0.0
        if self.conn.their_state is h11.IDLE:
            found, limit = Wait.HEAD, patience.idle
        elif self.conn.their_state is h11.SEND_BODY:
            found, limit = Wait.BODY, patience.body
        if self.wait not in (found, Wait.UNREAD):
            self._wait_for(found, limit)
            self.idle = found == Wait.HEAD

    def _look_at_response(self) -> None:
        """See whether the client has not read what was written, and how much it read meanwhile."""
        left = self.transport.get_write_buffer_size()
        if self.wait == Wait.UNREAD:
            self.moved += max(0, self.left - left)
            if not left:
                self.wait = Wait.US
                self._look()
        elif left:
            self._wait_for(Wait.UNREAD, self.table.patience.unread)
        self.left = left

    def _refuse(self) -> None:
        """Say that there is no room. To close at once might take the sentence back on its way."""
        self._wait_for(Wait.REFUSED, self.table.patience.refused)
        self.transport.write(REFUSAL)
        self.transport.write_eof()
