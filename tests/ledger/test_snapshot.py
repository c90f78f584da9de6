"""A snapshot makes opening fast and changes nothing: it is used only if it belongs to the events."""

from __future__ import annotations

import json
import os
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
    content = path.with_suffix(".snapshot").read_bytes().partition(b"\n")[2]
    forge(path, content=content.replace(b'"ann"', b'"eve"'))
    assert any("snapshot" in problem for problem in replay(path).problems)


def test_replay_reads_from_the_beginning(path):
    state = replay(path, until=10).state
    assert state.seq == 10
    assert sqlite3.connect(path).execute("SELECT count(*) FROM events").fetchone()[0] == 40


def forge(path, **changes):
    """Change the snapshot, and the hash of it in its first line, too."""
    file = path.with_suffix(".snapshot")
    head, _, content = file.read_bytes().partition(b"\n")
    heading = json.loads(head)
    if "content" in changes:
        content = changes.pop("content")
    elif set(changes) - set(heading):
        state = json.loads(content)
        content = json.dumps(state | {k: v for k, v in changes.items() if k not in heading}).encode()
    heading |= {k: v for k, v in changes.items() if k in heading}
    heading["content"] = _snapshot.hashlib.sha256(content).hexdigest()
    file.write_bytes(json.dumps(heading).encode() + b"\n" + content)


@pytest.mark.parametrize(
    "changes",
    [
        {"link": "0" * 64},
        {"seq": 1032},
        {"seq": 10**30},
        {"seq": 31},
        {"seq": "x"},
        {"at": None},
        {"at": "abc"},
        {"rounds": None},
        {"content": b"[" * 200_000},
        {"content": b"null"},
    ],
    ids=repr,
)
def test_a_forged_snapshot_does_not_break_the_chain_or_end_in_a_traceback(path, changes, monkeypatch):
    forge(path, **changes)
    ledger, seen = events_applied(path, monkeypatch)
    assert seen == list(range(1, 41))
    label(ledger, 99)
    ledger.close()
    path.with_suffix(".snapshot").unlink()
    assert replay(path).problems == []


def test_replay_compares_all_of_a_snapshot(path):
    """What a person may undo is no part of the digest, but of the state."""
    forge(path, given=[])
    assert any("snapshot" in problem for problem in replay(path).problems)


def test_a_pipe_in_place_of_a_snapshot_is_not_waited_for(path, monkeypatch):
    monkeypatch.setattr(_file, "SNAPSHOT_AFTER", 10)
    path.with_suffix(".snapshot").unlink()
    os.mkfifo(path.with_suffix(".snapshot"))
    assert Ledger(path).state.seq == 40
