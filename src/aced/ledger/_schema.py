"""The table of a ledger's file, and how a file of an earlier version is brought up to date."""

from __future__ import annotations

_CREATE = """
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    who TEXT NOT NULL,
    item INTEGER,
    body TEXT NOT NULL,
    request TEXT UNIQUE,
    hash TEXT NOT NULL
);
CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER events_remain BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
"""

MIGRATIONS: list[str] = [_CREATE, "", "", "", "", ""]
"""The i-th script brings a file from schema version i to i + 1. Version 2 has a head record; version 3
may have more than two classes, and changes of them, which an earlier aced would take for damage, version
4 a representation among its settings, version 5 may audit predictions or say when to stop. A
file of version 6 may say which columns its items were read from, and skipped and unsure rows may come
back into the queue."""
WITH_HEAD = 2

COLUMNS = "seq, at, kind, who, item, body, request"
"""Columns in the order of an event's fields. The file calls ``row`` item, and ``key`` request."""
