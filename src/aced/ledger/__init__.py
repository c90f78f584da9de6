"""What happened, on disk: an append-only file of events, and the state they make."""

from aced.ledger._events import Event
from aced.ledger._file import Ledger, LedgerError, Transaction
from aced.ledger._replay import Replay, replay
from aced.ledger._settings import Settings
from aced.ledger._state import Draw, Person, State, Vote

__all__ = [
    "Draw",
    "Event",
    "Ledger",
    "LedgerError",
    "Person",
    "Replay",
    "Settings",
    "State",
    "Transaction",
    "Vote",
    "replay",
]
