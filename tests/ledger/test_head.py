"""The head record: what was acknowledged and is gone is said, whatever became of the database."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import threading

import pytest

from aced.ledger import Ledger, LedgerDamaged, LedgerError, Transaction, _verify, replay
from aced.ledger._head import LINE, SLOT, Head, Mark
from aced.ledger._verify import check_place
from tests.ledger.test_file import begin, killed_writer, label


def without_triggers(path):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("DROP TRIGGER IF EXISTS events_stay")
    base.execute("DROP TRIGGER IF EXISTS events_remain")
    return base


def cut(path, last):
    """Delete the events after number ``last``."""
    base = without_triggers(path)
    base.execute(f"DELETE FROM events WHERE seq > {last}")
    base.close()


def test_a_ledger_whose_end_was_deleted_is_refused_with_the_numbers(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(10):
        label(ledger, row)
    ledger.close()
    cut(tmp_path / "l", 7)
    with pytest.raises(LedgerDamaged, match=r"events 8 to 12 were acknowledged.*--accept-loss"):
        Ledger(tmp_path / "l")
    (problem,) = replay(tmp_path / "l").problems
    assert "events 8 to 12 were acknowledged" in problem


@pytest.mark.parametrize("damage", ["removed", "halved", "flipped"])
def test_a_log_that_is_damaged_after_a_kill_is_noticed(tmp_path, damage):
    """SQLite silently drops a log that it cannot read; the labels in it were acknowledged."""
    begin(tmp_path / "l").close()
    killed_writer(tmp_path / "l")
    log = tmp_path / "l-wal"
    content = log.read_bytes()
    if damage == "removed":
        log.unlink()
        (tmp_path / "l-shm").unlink()
    elif damage == "halved":
        log.write_bytes(content[: len(content) // 2])
    else:
        log.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    with pytest.raises(LedgerDamaged, match="to 22 were acknowledged"):
        Ledger(tmp_path / "l")
    assert "to 22 were acknowledged" in replay(tmp_path / "l").problems[-1]


def test_an_older_copy_put_in_place_of_the_ledger_is_noticed(tmp_path):
    ledger = begin(tmp_path / "l")
    ledger.close()
    shutil.copy(tmp_path / "l", tmp_path / "copy")
    ledger = Ledger(tmp_path / "l")
    label(ledger, 1)
    ledger.close()
    shutil.copy(tmp_path / "copy", tmp_path / "l")
    with pytest.raises(LedgerDamaged, match="event 3 was acknowledged"):
        Ledger(tmp_path / "l")


def test_other_events_in_place_of_those_acknowledged_are_noticed(tmp_path):
    ledger = begin(tmp_path / "l", clock=lambda: 1.0)
    label(ledger, 1)
    ledger.close()
    other = tmp_path / "other"
    other.mkdir()
    ledger = begin(other / "l", clock=lambda: 1.0)
    for row in range(4):
        label(ledger, row + 2)
    ledger.close()
    shutil.copy(other / "l", tmp_path / "l")
    with pytest.raises(LedgerDamaged, match=r"event 3 .* is not the one that was acknowledged"):
        Ledger(tmp_path / "l")


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_head_record_that_is_gone_is_said(tmp_path, damage):
    begin(tmp_path / "l").close()
    head = tmp_path / "l.head"
    head.unlink() if damage == "missing" else head.write_bytes(b"x" * 600)
    with pytest.raises(LedgerDamaged, match=damage):
        Ledger(tmp_path / "l")
    assert damage in replay(tmp_path / "l").problems[0]


def test_a_loss_can_be_accepted_and_stays_on_record(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(5):
        label(ledger, row)
    ledger.close()
    cut(tmp_path / "l", 4)
    ledger = Ledger(tmp_path / "l", accept_loss=True)
    assert "events 5 to 7 were acknowledged" in ledger.state.losses[0]["lost"]
    label(ledger, 9)
    ledger.close()
    assert replay(tmp_path / "l").problems == []
    assert sorted(Ledger(tmp_path / "l").state.votes) == [0, 1, 9]


def test_a_kill_between_the_event_and_its_head_record_is_no_loss(tmp_path):
    ledger = begin(tmp_path / "l")
    kept = (tmp_path / "l.head").read_bytes()
    label(ledger, 1)
    ledger.close()
    (tmp_path / "l.head").write_bytes(kept)  # as if it had not been written
    again = Ledger(tmp_path / "l")
    assert 1 in again.state.votes
    assert replay(again).problems == []


def test_a_ledger_of_before_gets_a_head_record_when_it_is_first_opened(tmp_path):
    begin(tmp_path / "l").close()
    base = sqlite3.connect(tmp_path / "l")
    base.execute("PRAGMA user_version=1")
    base.close()
    (tmp_path / "l.head").unlink()
    assert replay(tmp_path / "l").problems == []
    Ledger(tmp_path / "l").close()
    found = Head(tmp_path / "l.head").read()
    assert found is not None
    assert found.seq == 2


def test_a_write_that_broke_off_leaves_the_record_before_it(tmp_path):
    head = Head(tmp_path / "h")
    head.reset(Mark(5, "a" * 64))
    head.advance(Mark(6, "b" * 64))
    head.advance(Mark(9, "c" * 64))
    assert head.read() == Mark(9, "c" * 64)
    content = bytearray((tmp_path / "h").read_bytes())
    for place in (0, SLOT):  # the last write went to one of the slots: break either
        torn = content.copy()
        torn[place + LINE // 2 : place + LINE] = b"\0" * (LINE - LINE // 2)
        (tmp_path / "torn").write_bytes(torn)
        found = Head(tmp_path / "torn").read()
        assert found in (Mark(6, "b" * 64), Mark(9, "c" * 64))


def test_a_head_record_never_goes_back(tmp_path):
    head = Head(tmp_path / "h")
    head.reset(Mark(0, "0" * 64))
    head.advance(Mark(7, "a" * 64))
    Head(tmp_path / "h").advance(Mark(6, "b" * 64))  # a process that was slower
    assert head.read() == Mark(7, "a" * 64)


def _write(path, name):
    ledger = Ledger(path)
    for row in range(50):
        with ledger.writing() as writing:
            writing.append("label", "ann", row, {"label": 1}, f"{name}-{row}")


def test_threads_and_processes_leave_a_head_record_of_the_last_event(tmp_path):
    begin(tmp_path / "l").close()
    fork = multiprocessing.get_context("spawn")
    both = [fork.Process(target=_write, args=(tmp_path / "l", name)) for name in "ab"]
    for process in both:
        process.start()
    ledger = Ledger(tmp_path / "l")
    threads = [threading.Thread(target=label, args=(ledger, row)) for row in range(20)]
    for one in threads:
        one.start()
    for one in threads + both:
        one.join()
    assert [process.exitcode for process in both] == [0, 0]
    found = Head(tmp_path / "l.head").read()
    assert found is not None
    assert found.seq == ledger.catch_up().seq == 122
    assert found.link == ledger._hash


def test_an_answer_is_not_acknowledged_before_its_head_record_is_on_disk(tmp_path, monkeypatch):
    ledger = begin(tmp_path / "l")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(LedgerError, match="send the answer again"):
            label(ledger, 1, key="k")
    with ledger.writing():  # what a repeated answer does: its key is known, nothing is appended
        assert ledger.find("k") is not None
    found = Head(tmp_path / "l.head").read()
    assert found is not None
    assert found.seq == 3


@pytest.mark.parametrize("size", [0, 100])
def test_an_emptied_ledger_keeps_its_log_and_is_no_new_one(tmp_path, size):
    """SQLite takes such a file for a new one and deletes the log, which holds every event."""
    ledger = begin(tmp_path / "l")
    label(ledger, 1)
    (tmp_path / "copy").write_bytes((tmp_path / "l-wal").read_bytes())
    ledger.close()
    (tmp_path / "l").write_bytes((tmp_path / "l").read_bytes()[:size])
    (tmp_path / "copy").rename(tmp_path / "l-wal")
    kept = (tmp_path / "l-wal").read_bytes()
    with pytest.raises(LedgerDamaged, match="emptied or cut"):
        Ledger(tmp_path / "l")
    assert "emptied or cut" in replay(tmp_path / "l").problems[0]
    assert (tmp_path / "l-wal").read_bytes() == kept


@pytest.mark.parametrize("content", [b"", b"x" * 600, "a folder"])
def test_a_head_record_that_a_ledger_of_before_cannot_have_written_is_made_anew(tmp_path, content):
    """What a crash or a full disk leaves while a ledger of before gets its head record."""
    path = older(tmp_path / "l")
    if content == "a folder":
        (tmp_path / "l.head").mkdir()
    else:
        (tmp_path / "l.head").write_bytes(content)
    assert replay(path).problems == []
    ledger = Ledger(path)
    assert ledger.state.seq == 2
    assert ledger.writable == (content != "a folder")  # it can be read, at least
    ledger.close()
    assert replay(path).problems == []


def older(path):
    """A ledger as the version without head records left it."""
    begin(path).close()
    path.with_suffix(".head").unlink()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 1")
    base.close()
    return path


def test_replay_says_of_an_older_ledger_what_an_opening_says(tmp_path):
    ledger = begin(tmp_path / "l")
    label(ledger, 1)
    ledger.close()
    head = (tmp_path / "l.head").read_bytes()
    (tmp_path / "old").mkdir()
    path = older(tmp_path / "old" / "l")
    path.with_suffix(".head").write_bytes(head)
    assert "event 3 was acknowledged" in replay(path).problems[0]
    for version, said in ((0, "lost its events"), (7, "newer aced"), (-1, "newer aced")):
        base = sqlite3.connect(path)
        base.execute(f"PRAGMA user_version = {version}")
        base.close()
        with pytest.raises(LedgerError, match=said):
            Ledger(path)
        with pytest.raises(LedgerError, match=said):
            raise LedgerError("replay", replay(path).problems[0])


def test_nothing_is_added_to_a_ledger_that_lost_its_end_while_it_was_open(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(10):
        label(ledger, row)
    cut(tmp_path / "l", 7)
    with pytest.raises(LedgerDamaged, match="event 12 was there and is gone"):
        label(ledger, 20)
    ledger.close()
    with pytest.raises(LedgerDamaged, match="events 8 to 12 were acknowledged"):
        Ledger(tmp_path / "l")
    Ledger(tmp_path / "l", accept_loss=True).close()
    assert replay(tmp_path / "l").problems == []


def test_a_pipe_or_a_folder_in_place_of_a_head_record_is_said(tmp_path):
    begin(tmp_path / "l").close()
    for make in (os.mkfifo, os.mkdir):
        head = tmp_path / "l.head"
        head.unlink() if head.is_file() or head.is_fifo() else None
        make(head)
        with pytest.raises(LedgerDamaged, match=r"l.head is missing or damaged.*--accept-loss"):
            Ledger(tmp_path / "l")
        with pytest.raises(LedgerError, match="cannot be written"):
            Ledger(tmp_path / "l", accept_loss=True)


def test_a_log_that_comes_and_goes_is_no_damage(tmp_path):
    """Whoever closes a ledger last deletes the log, while somebody else may be opening it."""
    begin(tmp_path / "l").close()
    log, done = tmp_path / "l-wal", threading.Event()

    def come_and_go():
        while not done.is_set():
            log.touch()
            log.unlink()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(20_000):
            check_place(tmp_path / "l")
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("reader", [Ledger, replay])
def test_an_older_ledger_that_another_process_brings_up_to_date_meanwhile_is_no_loss(
    tmp_path, monkeypatch, reader
):
    path = older(tmp_path / "l")
    plain, turns = _verify.find_version, []

    def find_version(*arguments):
        if not turns:  # the head record was read, and was not there
            turns.append(1)
            Ledger(path).close()
        return plain(*arguments)

    monkeypatch.setattr(_verify, "find_version", find_version)
    found = reader(path)
    assert found.state.seq == 2
    assert reader is Ledger or found.problems == []


def test_a_loss_that_cannot_be_recorded_stays_a_loss(tmp_path, monkeypatch):
    ledger = begin(tmp_path / "l")
    for row in range(5):
        label(ledger, row)
    ledger.close()
    cut(tmp_path / "l", 4)

    def full(*_, **__):
        raise LedgerError("l", "the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "append", full)
        with pytest.raises(LedgerError, match="full"):
            Ledger(tmp_path / "l", accept_loss=True)
    assert "events 5 to 7 were acknowledged" in replay(tmp_path / "l").problems[0]


def test_after_an_accepted_loss_the_head_record_goes_on(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(15):
        label(ledger, row)
    ledger.close()
    cut(tmp_path / "l", 4)
    ledger = Ledger(tmp_path / "l", accept_loss=True)
    for row in range(3):
        label(ledger, 50 + row)
        assert Head(tmp_path / "l.head").read() == Mark(ledger.state.seq, ledger._hash)
    ledger.close()
    cut(tmp_path / "l", 6)
    assert "events 7 to 8 were acknowledged" in replay(tmp_path / "l").problems[0]


@pytest.mark.parametrize("name", ["l", "l-wal"])
@pytest.mark.parametrize("how", ["removed", "exchanged"])
def test_nothing_is_added_to_a_file_that_was_exchanged_while_it_was_open(tmp_path, name, how):
    """SQLite would write on into a file that has no name any more, and nobody would find it again."""
    ledger = begin(tmp_path / "l")
    label(ledger, 1)
    shutil.copy(tmp_path / name, tmp_path / "older")
    label(ledger, 2)
    os.replace(tmp_path / "older", tmp_path / name)
    if how == "removed":
        (tmp_path / name).unlink()
    with pytest.raises(LedgerDamaged, match="was removed, or another file was put in its place"):
        label(ledger, 3)
    assert ledger.state.seq == 4
