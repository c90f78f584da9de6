"""Everything that the processes of the fuzzers need, imported once and before they are forked."""

from tests.fuzz import (
    _folder as _folder,
    _http as _http,
    _label_studio as _label_studio,
    _learner as _learner,
    _ledger as _ledger,
    _sockets as _sockets,
    _tables as _tables,
)
