"""Rows that were edited or damaged: one sentence that names the event, never a traceback."""

from __future__ import annotations

import json
import random

import pytest

from aced.ledger import Ledger, LedgerDamaged, LedgerError, replay
from aced.ledger._events import GENESIS, Event
from tests.helpers import SETTINGS
from tests.ledger.test_file import begin, label
from tests.ledger.test_head import without_triggers

EDITS = [
    "body = ''",
    "body = '{'",
    "body = '[]'",
    "body = 'null'",
    "body = x'ff00'",
    "body = 7",
    "body = replace(body, '1', 'x')",
    "body = '{\"label\": 1}'",
    "body = '{\"label\": 99}'",
    "body = '{\"label\": NaN}'",
    'body = \'{"label": 1, "note": "\\ud800"}\'',
    "body = '{\"label\": -1}'",
    "body = '" + "[" * 3000 + "'",
    "kind = 'party'",
    "kind = 'created'",
    "kind = 'undo'",
    "kind = 'draw'",
    "kind = 7",
    "who = 'eve'",
    "who = x'ff'",
    "at = 'noon'",
    "at = -1e300",
    "at = 9e999",
    "item = 'row'",
    "item = 100000",
    "item = -3",
    "item = NULL",
    "item = 2.5",
    "request = x'00'",
    "hash = ''",
    "hash = x'00'",
    "seq = 1000",
    "seq = -4",
]


@pytest.fixture
def path(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(8):
        label(ledger, row, key=f"k{row}")
    ledger.close()
    return tmp_path / "l"


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_event_is_named(path, edit):
    base = without_triggers(path)
    base.execute(f"UPDATE events SET {edit} WHERE seq = 6")
    base.close()
    with pytest.raises(LedgerDamaged, match=r"event (6|-4|7) "):
        Ledger(path)
    found = replay(path)
    assert "event" in found.problems[0]
    assert found.state.seq <= 6
    found.state.digest()  # what is left can be looked at


@pytest.mark.parametrize("column", ["at", "kind", "who", "item", "body", "request", "hash"])
def test_a_table_without_a_column_is_damaged(path, column):
    base = without_triggers(path)
    base.execute("CREATE TABLE other AS SELECT * FROM events")
    base.execute("DROP TABLE events")
    base.execute("ALTER TABLE other RENAME TO events")
    base.execute(f"ALTER TABLE events DROP COLUMN {column}")
    base.close()
    with pytest.raises(LedgerDamaged, match="damaged"):
        Ledger(path)
    assert "damaged" in replay(path).problems[0]


def test_random_bytes_in_the_file_are_noticed_or_harmless(path):
    """200 files with some bytes overwritten: each is refused in a sentence, or has every label."""
    content, rng = path.read_bytes(), random.Random(0)
    digest, refused = Ledger(path).state.digest(), 0
    for _ in range(200):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 20)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        for log in ("-wal", "-shm"):
            path.with_name(path.name + log).unlink(missing_ok=True)
        found = replay(path)
        try:
            ledger = Ledger(path)
        except LedgerError:
            refused += 1
            continue
        assert found.problems == []
        assert ledger.state.digest() == found.state.digest() == digest
        ledger.close()
    assert 20 < refused < 200


@pytest.mark.parametrize(
    ("kind", "row", "body"),
    [
        ("label", 3, {"label": 7}),
        ("label", 3, {"label": "1"}),
        ("label", 3, {"label": 1, "seconds": "long"}),
        ("label", 3000, {"label": 1}),
        ("label", None, {"label": 1}),
        ("lease", 3, {"until": "soon"}),
        ("undo", 3, {"of": 2}),
        ("draw", None, {"round": 1, "rows": [1, 2], "probabilities": [0.1]}),
        ("draw", None, {"round": 1, "rows": [5000], "probabilities": [0.1]}),
        ("draw", None, {"round": 1, "rows": [1], "probabilities": [0.1], "accuracy": {"low": "x"}}),
        ("draw", None, {"round": 1, "rows": [1], "probabilities": [0.1], "reserve": [1]}),
        ("revoked", None, {"name": "nobody"}),
        ("created", None, SETTINGS),
        ("sealed", None, {"files": {"items.jsonl": 7}}),
    ],
)
def test_an_event_with_a_right_hash_and_wrong_content_is_named(path, kind, row, body):
    """Only somebody who computes hashes can write one; replay says so all the same."""
    base = without_triggers(path)
    (link,) = base.execute("SELECT hash FROM events WHERE seq = 10").fetchone()
    event = Event(11, 1e12, kind, "ann", row, body)
    values = (11, 1e12, kind, "ann", row, json.dumps(body), None, event.link(link))
    base.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    base.close()
    with pytest.raises(LedgerDamaged, match=r"event 11 is damaged: it cannot be applied \("):
        Ledger(path)
    assert "event 11 is damaged" in replay(path).problems[0]


def test_a_ledger_that_begins_with_something_else_is_damaged(path):
    base = without_triggers(path)
    base.execute("DELETE FROM events")
    event = Event(1, 1.0, "label", "ann", 1, {"label": 1})
    values = (1, 1.0, "label", "ann", 1, '{"label":1}', None, event.link(GENESIS))
    base.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    base.close()
    with pytest.raises(LedgerDamaged, match="event 1 is damaged"):
        Ledger(path)


@pytest.mark.parametrize("column", ["body", "who", "kind"])
def test_an_event_that_is_no_text_is_named(path, column):
    base = without_triggers(path)
    base.execute(f"UPDATE events SET {column} = CAST(x'ff41' AS TEXT) WHERE seq = 6")
    base.close()
    with pytest.raises(LedgerDamaged, match=r"event 6 is damaged"):
        Ledger(path)
    assert "event 6 is damaged" in replay(path).problems[0]


@pytest.mark.parametrize("number", [0, -7])
def test_an_event_before_the_first_is_found(path, number):
    """Nothing reads it, but its key would pass for that of an answer that was taken."""
    base = without_triggers(path)
    base.execute(f"INSERT INTO events SELECT {number}, at, kind, who, item, body, 'k', hash FROM events "
                 "WHERE seq = 6")  # fmt: skip
    base.close()
    with pytest.raises(LedgerDamaged, match=f"event {number} is damaged"):
        Ledger(path)
    assert f"event {number} is damaged" in replay(path).problems[0]
