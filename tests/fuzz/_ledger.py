"""The ledger's file, after accidents and after hands on it: rows, pages, the log beside it."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aced.ledger import Event
from tests.fuzz._mutate import damaged, edited, odd
from tests.fuzz._projects import Good, make, put

LEDGER, WAL = "ledger.sqlite", "ledger.sqlite-wal"
COLUMNS = ("seq", "at", "kind", "who", "item", "body", "request", "hash")
KINDS = (
    "created",
    "annotator",
    "revoked",
    "draw",
    "lease",
    "label",
    "skip",
    "unsure",
    "returned",
    "undo",
    "imported",
    "class-added",
    "class-renamed",
    "class-merged",
    "class-undone",
    "x",
)


@dataclass(frozen=True)
class Case:
    """``how`` is the name of the damage; ``seed`` decides its details; ``killed`` leaves a log."""

    how: str
    seed: int
    killed: bool
    order: tuple[str, ...]


class Boundary:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        project = make(folder / "project")
        self.killed = Good.of(folder / "project")  # the last events are in the log alone
        project.close()
        self.closed = Good.of(folder / "project")

    def case(self, rng: random.Random) -> Case:
        order = ["status", "export", "replay"]
        rng.shuffle(order)
        return Case(rng.choice(list(DAMAGES)), rng.randrange(2**32), rng.random() < 0.5, tuple(order))

    def run(self, case: Case) -> str:
        good = self.killed if case.killed else self.closed
        copy = self.folder / "copy"
        put(good.files, copy)
        DAMAGES[case.how](random.Random(case.seed), copy)
        return good.compare(copy, list(case.order))

    def close(self) -> None:
        pass


# -- bytes --------------------------------------------------------------------------------


def damage_file(rng: random.Random, folder: Path) -> None:
    path = folder / LEDGER
    path.write_bytes(damaged(rng, path.read_bytes()))


def damage_page(rng: random.Random, folder: Path) -> None:
    """Damage one page other than the first, as a bad sector does."""
    content = bytearray((folder / LEDGER).read_bytes())
    start = 4096 * rng.randrange(max(1, len(content) // 4096))
    content[start : start + 4096] = damaged(rng, bytes(content[start : start + 4096]))[:4096].ljust(4096)
    (folder / LEDGER).write_bytes(content)


def damage_log(rng: random.Random, folder: Path) -> None:
    path = folder / WAL
    content = path.read_bytes() if path.exists() else b""
    path.write_bytes(damaged(rng, content))


def remove_log(rng: random.Random, folder: Path) -> None:
    (folder / WAL).unlink(missing_ok=True)


def halve_log(rng: random.Random, folder: Path) -> None:
    path = folder / WAL
    content = path.read_bytes() if path.exists() else b""
    frame = 24 + 4096
    path.write_bytes(content[: 32 + frame * rng.randrange(max(1, len(content) // frame))])


def leave_files(rng: random.Random, folder: Path) -> None:
    """Files beside the ledger that SQLite takes for its own."""
    for ending in rng.sample(("-shm", "-journal", "-wal"), rng.randrange(1, 3)):
        path = folder / f"{LEDGER}{ending}"
        if not path.exists():
            path.write_bytes(rng.choice((b"", rng.randbytes(600), rng.randbytes(40000))))


def replace_file(rng: random.Random, folder: Path) -> None:
    path = folder / LEDGER
    path.unlink()
    rng.choice((lambda: None, path.mkdir, lambda: path.symlink_to(path), lambda: path.write_text("x")))()


# -- rows ---------------------------------------------------------------------------------


def _open(folder: Path) -> sqlite3.Connection:
    base = sqlite3.connect(folder / LEDGER, isolation_level=None)
    base.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug here
    base.execute("DROP TRIGGER events_stay")
    base.execute("DROP TRIGGER events_remain")
    return base


def _rows(base: sqlite3.Connection) -> list[list[Any]]:
    return [list(row) for row in base.execute(f"SELECT {', '.join(COLUMNS)} FROM events ORDER BY seq")]


def _write(base: sqlite3.Connection, rows: list[list[Any]]) -> None:
    base.execute("BEGIN")
    base.execute("DELETE FROM events")
    for row in rows:
        with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):  # SQLite refuses some values
            base.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    base.execute("COMMIT")


def _chained(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows with numbers and hashes as if they had been written like this."""
    before, found = "0" * 64, []
    for number, (_, at, kind, who, item, body, request, _) in enumerate(rows, 1):
        with suppress(ValueError, TypeError, RecursionError):
            before = Event(number, at, kind, who, item, json.loads(body), request).link(before)
        found.append([number, at, kind, who, item, body, request, before])
    return found


def _value(rng: random.Random) -> Any:
    """Something that a cell of SQLite can hold."""
    value = odd(rng)
    if isinstance(value, list | dict):
        value = json.dumps(value)
    return rng.choice((value, value, rng.randbytes(6), b"\xff", rng.choice(KINDS)))


def edit_cell(rng: random.Random, rows: list[list[Any]]) -> None:
    rng.choice(rows)[rng.randrange(len(COLUMNS))] = _value(rng)


def edit_body(rng: random.Random, rows: list[list[Any]]) -> None:
    row = rng.choice(rows)
    row[5] = json.dumps(edited(rng, json.loads(row[5])))


def edit_label(rng: random.Random, rows: list[list[Any]]) -> None:
    row = rng.choice([row for row in rows if row[2] == "label"])
    body = json.loads(row[5])
    body["label"] = rng.choice((1 - body["label"], 2, -1, "yes", None, True, 0.0, [], 10**30))
    row[5] = json.dumps(body, sort_keys=True, separators=(",", ":"))


def edit_kind(rng: random.Random, rows: list[list[Any]]) -> None:
    rng.choice(rows)[2] = rng.choice(KINDS)


def edit_item(rng: random.Random, rows: list[list[Any]]) -> None:
    rng.choice(rows)[4] = rng.choice((None, 0, 1, -1, 23, 24, 999999, 2**62, 1.5, "a"))


def swap_rows(rng: random.Random, rows: list[list[Any]]) -> None:
    one, other = rng.sample(range(len(rows)), 2)
    rows[one][1:], rows[other][1:] = rows[other][1:], rows[one][1:]


def drop_row(rng: random.Random, rows: list[list[Any]]) -> None:
    del rows[rng.randrange(len(rows))]


def cut_rows(rng: random.Random, rows: list[list[Any]]) -> None:
    del rows[rng.randrange(len(rows)) :]


def drop_last(rng: random.Random, rows: list[list[Any]]) -> None:
    del rows[-rng.choice((1, 1, 2, 5)) :]


def double_row(rng: random.Random, rows: list[list[Any]]) -> None:
    row = list(rng.choice(rows))
    rows.append([rows[-1][0] + rng.choice((1, 1, 2, 10**6)), *row[1:6], None, row[7]])


def _of_rows(change: Callable[[random.Random, list[list[Any]]], None], chained: bool) -> Any:
    def damage(rng: random.Random, folder: Path) -> None:
        with closing(_open(folder)) as base:
            rows = _rows(base)
            change(rng, rows)
            _write(base, _chained(rows) if chained else rows)

    return damage


# -- tables -------------------------------------------------------------------------------

_MAKE, _ROW = "ALTER TABLE events RENAME TO old; CREATE", "kind, who, item"
SCRIPTS = (
    "PRAGMA user_version = 99",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = -1",
    "DROP TABLE events",
    "ALTER TABLE events RENAME TO happened",
    "DELETE FROM events",
    "ALTER TABLE events RENAME COLUMN body TO text",
    "ALTER TABLE events ADD COLUMN more TEXT DEFAULT 'x'",
    f"{_MAKE} VIEW events AS SELECT * FROM old WHERE seq < 20",
    f"{_MAKE} VIEW events AS SELECT * FROM old",
    f"{_MAKE} TABLE events AS SELECT seq, CAST(at AS TEXT) AS at, {_ROW}, body, request, hash FROM old",
    f"{_MAKE} TABLE events AS SELECT seq, at, {_ROW}, CAST(body AS BLOB) body, request, hash FROM old",
    f"{_MAKE} TABLE events AS SELECT NULL AS seq, at, {_ROW}, body, request, hash FROM old",
    f"{_MAKE} TABLE events AS SELECT * FROM old UNION ALL SELECT * FROM old",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA encoding = 'UTF-16'; VACUUM",
    "PRAGMA application_id = 7",
    "CREATE TRIGGER none BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
)


def change_tables(rng: random.Random, folder: Path) -> None:
    with closing(_open(folder)) as base:
        base.executescript(rng.choice(SCRIPTS))


DAMAGES: dict[str, Callable[[random.Random, Path], None]] = {
    function.__name__: function
    for function in (
        damage_file,
        damage_page,
        damage_log,
        remove_log,
        halve_log,
        leave_files,
        replace_file,
        change_tables,
    )
}
for _change in (
    edit_cell,
    edit_body,
    edit_label,
    edit_kind,
    edit_item,
    swap_rows,
    drop_row,
    cut_rows,
    drop_last,
    double_row,
):
    DAMAGES[_change.__name__] = _of_rows(_change, chained=False)
    DAMAGES[f"{_change.__name__}_and_chain"] = _of_rows(_change, chained=True)
del DAMAGES["double_row_and_chain"]  # an event more, rightly chained, is what writing an event is
