"""A snapshot makes opening fast and changes nothing: it is used only if it belongs to the events."""

from __future__ import annotations

import json
import sqlite3

import pytest

from aced.ledger import Ledger, LedgerDamaged, _file, _snapshot, replay
from tests.ledger.test_file import begin, label
from tests.ledger.test_head import without_triggers


@pytest.fixture
def path(tmp_path):
    """A ledger of 40 events with a snapshot after event 32."""
    ledger = begin(tmp_path / "l")
    for row in range(30):
        label(ledger, row)
    ledger.keep_snapshot()
    for row in range(30, 38):
        label(ledger, row)
    ledger.close()
    return tmp_path / "l"


def events_applied(path, monkeypatch):
    """The numbers of the events that opening the ledger reads and applies."""
    seen = []
    plain = _file.applied
    monkeypatch.setattr(
        _file, "applied", lambda event, state: seen.append(event.seq) or plain(event, state)
    )
    ledger = Ledger(path)
    monkeypatch.undo()
    return ledger, seen


def test_opening_reads_only_the_events_after_the_snapshot(path, monkeypatch):
    ledger, seen = events_applied(path, monkeypatch)
    assert seen == list(range(33, 41))
    assert ledger.state.digest() == replay(path).state.digest()
    label(ledger, 99)  # the chain goes on
    assert replay(ledger).problems == []


def test_many_events_leave_a_snapshot_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(_file, "SNAPSHOT_AFTER", 10)
    ledger = begin(tmp_path / "l")
    for row in range(20):
        label(ledger, row)
    ledger.close()
    assert not (tmp_path / "l.snapshot").exists()
    Ledger(tmp_path / "l").close()
    monkeypatch.undo()
    _, seen = events_applied(tmp_path / "l", monkeypatch)
    assert seen == []


def test_an_event_before_the_snapshot_that_was_edited_is_found(path):
    base = without_triggers(path)
    base.execute("UPDATE events SET who = 'eve' WHERE seq = 5")
    base.close()
    with pytest.raises(LedgerDamaged, match="event 5 is damaged"):
        Ledger(path)
    assert "event 5 is damaged" in replay(path).problems[0]


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b"[1]\n{}", b'{"format":1}\n{}', b"\xff" * 100])
def test_a_damaged_snapshot_is_not_used(path, damage, monkeypatch):
    path.with_suffix(".snapshot").write_bytes(damage)
    ledger, seen = events_applied(path, monkeypatch)
    assert seen == list(range(1, 41))
    assert ledger.state.seq == 40


def test_a_snapshot_of_another_ledger_is_not_used(path, tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    ledger = begin(other / "l")
    for row in range(31):
        label(ledger, row, 0)
    ledger.keep_snapshot()
    ledger.close()
    (other / "l.snapshot").rename(path.with_suffix(".snapshot"))
    ledger, seen = events_applied(path, monkeypatch)
    assert seen == list(range(1, 41))
    assert {vote.code for votes in ledger.state.votes.values() for vote in votes.values()} == {1}


def test_replay_notices_a_snapshot_that_says_something_else(path):
    """Somebody who edits the snapshot and its hash, too."""
    file = path.with_suffix(".snapshot")
    head, _, content = file.read_bytes().partition(b"\n")
    content = content.replace(b'"ann"', b'"eve"')
    head = json.loads(head) | {"content": _snapshot.hashlib.sha256(content).hexdigest()}
    file.write_bytes(json.dumps(head).encode() + b"\n" + content)
    assert any("snapshot" in problem for problem in replay(path).problems)


def test_replay_reads_from_the_beginning(path):
    state = replay(path, until=10).state
    assert state.seq == 10
    assert sqlite3.connect(path).execute("SELECT count(*) FROM events").fetchone()[0] == 40
