"""A disk that is full or read-only: reading reads, writing is refused in a sentence, nothing is lost."""

from __future__ import annotations

import shutil

import pytest

from aced.ledger import Ledger, LedgerError, _sqlite, replay
from aced.ledger._head import Head
from tests.helpers import filled, read_only, small_disk
from tests.ledger.test_file import begin, killed_writer, label
from tests.ledger.test_head import older


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk") as folder:
        yield folder


@pytest.mark.parametrize("trouble", [filled, read_only])
@pytest.mark.parametrize("killed", [False, True])
def test_a_ledger_on_such_a_disk_can_be_read(disk, trouble, killed):
    begin(disk / "l").close()
    if killed:
        killed_writer(disk / "l")
    with trouble(disk):
        ledger = Ledger(disk / "l")
        assert len(ledger.state.votes) == 20 * killed
        assert replay(disk / "l").problems == []
        if not ledger.writable:
            with pytest.raises(LedgerError, match="nothing was saved"):
                label(ledger, 1)
    if not ledger.writable:
        label(ledger, 33)  # there is room again: the same ledger writes
        assert 33 in Ledger(disk / "l").state.votes
    ledger.close()


def test_a_reader_that_began_on_a_full_disk_follows_the_ledger_when_there_is_room(disk):
    ledger = begin(disk / "l")
    ledger.close()
    with filled(disk):
        reader = Ledger(disk / "l")
    assert not reader.writable
    writer = Ledger(disk / "l")
    label(writer, 5)
    reader._try_again = 0.0
    assert 5 in reader.catch_up().votes
    assert reader.writable


def attempt(ledger, row):
    try:
        label(ledger, row)
    except LedgerError as error:
        assert "the disk is full; nothing was saved" in str(error)  # noqa: PT017
        return False
    return True


def test_writes_that_a_full_disk_refuses_lose_nothing_and_go_on_when_there_is_room(disk):
    ledger = begin(disk / "l")
    saved = refused = 0
    for _ in range(3):
        with filled(disk):
            for row in range(400):
                if attempt(ledger, row):
                    saved += 1
                else:
                    refused += 1
                    if refused % 10 == 0:
                        break
        assert len(list(ledger.events())) == ledger.state.seq == saved + 2
        label(ledger, 500)
        saved += 1
    assert refused == 30
    digest = ledger.state.digest()
    ledger.close()
    assert Ledger(disk / "l").state.digest() == digest
    assert replay(disk / "l").problems == []


def test_a_copy_is_made_anew_if_events_moved_from_the_log_to_the_file_meanwhile(disk, monkeypatch):
    """Else the copy would lack them, and a reader would report a loss that is none."""
    begin(disk / "l").close()
    killed_writer(disk / "l")
    plain, turns = shutil.copyfile, []

    def copyfile(source, target):
        plain(source, target)
        if not turns:  # after the file, and before its log
            writer = Ledger(disk / "l")
            writer._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            writer.close()
        turns.append(source)

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    (disk / "copy").mkdir()
    found = _sqlite._copied(disk / "l", disk / "l-wal", str(disk / "copy"))
    assert found.execute("SELECT count(*) FROM events").fetchone()[0] == 22


def test_the_first_opening_of_an_older_ledger_needs_no_room_and_leaves_no_trap(disk):
    path = older(disk / "l")
    for spare in (0, 1, 2, 4, 8, 12):
        with filled(disk, spare=4096 * spare):
            ledger = Ledger(path)
            assert ledger.state.seq == 2
            assert replay(path).problems == []
            ledger.close()
    ledger = Ledger(path)
    label(ledger, 1)
    ledger.close()
    assert Head(disk / "l.head").read().seq == 3
