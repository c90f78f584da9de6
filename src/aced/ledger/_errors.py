"""What can be wrong with a ledger."""

from __future__ import annotations

from aced._errors import Damaged, InvalidInput


class LedgerError(InvalidInput):
    """The file cannot be read or written; nothing was saved."""


class LedgerDamaged(LedgerError, Damaged):
    """The file is not what was written."""
