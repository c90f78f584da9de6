"""What happened, on disk: an append-only file of events, and the state they make."""

from aced.ledger._classes import Change as Change, Class as Class
from aced.ledger._errors import LedgerDamaged as LedgerDamaged, LedgerError as LedgerError
from aced.ledger._events import Event as Event
from aced.ledger._file import Ledger as Ledger, Transaction as Transaction
from aced.ledger._replay import Replay as Replay, replay as replay
from aced.ledger._settings import Settings as Settings
from aced.ledger._state import (
    AHEAD as AHEAD,
    Draw as Draw,
    Person as Person,
    State as State,
    Vote as Vote,
)
