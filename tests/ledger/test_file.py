"""The ledger's file: what is acknowledged is there, whatever happens; and nothing else is."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from aced import InvalidInput
from aced.ledger import Ledger, LedgerError, _schema, replay
from tests.helpers import SETTINGS


def begin(path, **options):
    ledger = Ledger(path, create=True, **options)
    with ledger.writing() as writing:
        writing.append("created", "", body={**SETTINGS, "rows": 1000})
        writing.append("annotator", "ann", body={"name": "ann", "role": "annotator", "token": None})
    return ledger


def label(ledger, row, code=1, who="ann", key=None):
    with ledger.writing() as writing:
        return writing.append("label", who, row, {"label": code, "seconds": 1.5}, key)


def killed_writer(path):
    """A process that writes twenty labels and is killed: they are in the log beside the ledger."""
    program = (
        "import os, signal, sys; from pathlib import Path; from aced.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "for row in range(20):\n"
        "    with ledger.writing() as w:\n"
        "        w.append('label', 'ann', row, {'label': 1})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, path]).returncode == -signal.SIGKILL
    assert os.path.getsize(f"{path}-wal") > 0


def test_what_is_written_is_read_back_in_order(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(5):
        label(ledger, row, row % 2)
    again = Ledger(tmp_path / "l")
    assert again.state.digest() == ledger.state.digest()
    assert [again.state.votes[row]["ann"].code for row in range(5)] == [0, 1, 0, 1, 0]
    assert [event.seq for event, _ in again.events()] == list(range(1, 8))


def test_a_transaction_lands_as_a_whole_or_not_at_all(tmp_path):
    ledger = begin(tmp_path / "l")
    before = ledger.state.digest()
    with pytest.raises(RuntimeError), ledger.writing() as writing:  # noqa: PT012
        writing.append("label", "ann", 3, {"label": 1})
        assert 3 in writing.state.votes
        raise RuntimeError
    assert ledger.state.digest() == before == Ledger(tmp_path / "l").state.digest()
    label(ledger, 4)
    assert ledger.state.seq == 3


def test_events_can_neither_be_changed_nor_deleted(tmp_path):
    begin(tmp_path / "l").close()
    base = sqlite3.connect(tmp_path / "l")
    for sentence in ("UPDATE events SET who = 'eve'", "DELETE FROM events"):
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            base.execute(sentence)


def test_tampering_shows_in_the_replay(tmp_path):
    ledger = begin(tmp_path / "l")
    for row in range(4):
        label(ledger, row)
    ledger.close()
    base = sqlite3.connect(tmp_path / "l")
    base.execute("DROP TRIGGER events_stay")
    base.execute("DROP TRIGGER events_remain")
    base.execute("""UPDATE events SET body = '{"label":0,"seconds":1.5}' WHERE seq = 4""")
    base.execute("DELETE FROM events WHERE seq = 6")
    base.execute("INSERT INTO events VALUES (7, 0, 'label', 'ann', 9, '{\"label\":1}', NULL, 'x')")
    base.commit()
    base.close()
    assert replay(tmp_path / "l").problems == [
        "event 4 is damaged: it was changed after it was written",
        "event 6 is missing",
    ]


def test_a_gap_in_the_file_is_said_in_one_sentence(tmp_path):
    ledger = begin(tmp_path / "l")
    label(ledger, 1)
    ledger.close()
    base = sqlite3.connect(tmp_path / "l")
    base.execute("DROP TRIGGER events_remain")
    base.execute("DELETE FROM events WHERE seq = 2")
    base.commit()
    base.close()
    with pytest.raises(LedgerError, match="aced replay"):
        Ledger(tmp_path / "l")


def test_any_past_state_is_rebuilt_to_the_bit(tmp_path):
    ledger = begin(tmp_path / "l")
    digests = {ledger.state.seq: ledger.state.digest()}
    for row in range(20):
        event = label(ledger, row % 7, row % 2)
        digests[event.seq] = ledger.state.digest()
    with ledger.writing() as writing:
        event = writing.append("undo", "ann", 5, {"of": writing.state.people["ann"].done[-1]})
    digests[event.seq] = ledger.state.digest()
    for seq, digest in digests.items():
        found = replay(Ledger(tmp_path / "l"), seq)
        assert found.problems == []
        assert found.state.digest() == digest
    with pytest.raises(InvalidInput, match="until"):
        replay(ledger, -1)


def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path):
    """SQLite's own page limit raises the error that a full disk does."""
    ledger = begin(tmp_path / "l")
    pages = ledger._base.execute("PRAGMA page_count").fetchone()[0]
    ledger._base.execute(f"PRAGMA max_page_count={pages + 1}")
    saved = 0
    with pytest.raises(LedgerError, match="disk is full; nothing was saved"):  # noqa: PT012
        for row in range(1000):
            label(ledger, row)
            saved += 1
    assert 0 < saved < 1000
    digest = ledger.state.digest()
    again = Ledger(tmp_path / "l")
    assert again.state.digest() == digest
    assert len(again.state.votes) == saved
    label(again, 999)  # there is room again
    assert replay(again).problems == []


def test_a_clock_that_goes_back_does_not_take_the_ledger_along(tmp_path):
    times = iter([100.0, 200.0, 50.0, 60.0, 300.0, 400.0, 500.0])
    now = [0.0]

    def clock():
        now[0] = next(times, now[0])
        return now[0]

    ledger = begin(tmp_path / "l", clock=clock)
    for row in range(4):
        label(ledger, row)
    stamps = [event.at for event, _ in ledger.events()]
    assert stamps == sorted(stamps)
    assert stamps[2] == 200.0
    assert replay(ledger).problems == []


def test_a_clock_that_was_a_year_ahead_is_left_behind(tmp_path):
    """One event is written a year ahead. The ledger's time follows the clock again, and so do leases."""
    now = [1e9]
    ledger = begin(tmp_path / "l", clock=lambda: now[0])
    with ledger.writing() as writing:
        body = {"round": 1, "rows": [5, 6], "probabilities": [0.1, 0.1]}
        writing.append("draw", "", body=body)
    now[0] += 365 * 86400
    with ledger.writing() as writing:
        writing.append("lease", "ann", 5, {"until": writing.now + 600})
    now[0] = 1e9 + 60
    assert ledger.now == now[0]
    assert list(ledger.state.ready("bob", ledger.now)) == [5, 6]
    assert ledger.state.held_by("ann", ledger.now) == []
    event = label(ledger, 5)  # the late answer of a person who was given the row counts
    assert event.at == now[0]
    ledger.close()
    assert replay(tmp_path / "l").problems == []
    assert Ledger(tmp_path / "l").state.votes[5]["ann"].at == now[0]


def test_the_ledger_runs_ahead_of_the_clock_for_five_minutes_at_most(tmp_path):
    now = [1e9]
    ledger = begin(tmp_path / "l", clock=lambda: now[0])
    for back, expected in ((0, 0), (299, 0), (301, -301)):
        now[0] = 1e9 - back
        assert ledger.now == 1e9 + expected


def test_two_processes_on_one_file(tmp_path):
    """Two writers at once, 200 events each: all there, in one order, nothing twice."""
    begin(tmp_path / "l").close()
    program = (
        "import sys; from pathlib import Path; from aced.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "for row in range(200):\n"
        "    with ledger.writing() as w:\n"
        "        taken = [r for r in range(1000) if r not in w.state.votes][0]\n"
        "        w.append('label', 'ann', taken, {'label': 1}, f'{sys.argv[2]}-{row}')\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "l"), name]) for name in "ab"
    ]
    assert [process.wait() for process in both] == [0, 0]
    ledger = Ledger(tmp_path / "l")
    assert sorted(ledger.state.votes) == list(range(400))
    assert replay(ledger).problems == []


def test_threads_share_one_ledger(tmp_path):
    ledger = begin(tmp_path / "l")
    threads = [
        threading.Thread(target=lambda k=k: [label(ledger, 10 * k + i) for i in range(10)])
        for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ledger.state.votes) == list(range(80))
    assert Ledger(tmp_path / "l").state.digest() == ledger.state.digest()


def test_killed_at_any_instant_it_holds_what_was_acknowledged(tmp_path):
    """A writer prints each number after its event was written; killed at ten random instants,
    the file holds every number printed and at most one more."""
    begin(tmp_path / "l").close()
    program = (
        "import sys; from pathlib import Path; from aced.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "while True:\n"
        "    with ledger.writing() as w:\n"
        "        event = w.append('label', 'ann', w.state.seq % 900, {'label': 1})\n"
        "    print(event.seq, flush=True)\n"
    )
    for attempt in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "l")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        first = int(process.stdout.readline())
        time.sleep(0.003 * (attempt + 1) ** 2 / 10)
        os.kill(process.pid, signal.SIGKILL)
        said = [first, *(int(line) for line in process.stdout.read().split("\n")[:-1])]
        process.wait()
        process.stdout.close()
        ledger = Ledger(tmp_path / "l")
        assert said[-1] <= ledger.state.seq <= said[-1] + 1
        assert replay(ledger).problems == []
        ledger.close()


def test_a_newer_schema_is_refused_and_an_older_one_brought_up(tmp_path, monkeypatch):
    begin(tmp_path / "l").close()
    monkeypatch.setattr(_schema, "MIGRATIONS", [*_schema.MIGRATIONS, "CREATE TABLE notes (t TEXT)"])
    ledger = Ledger(tmp_path / "l")
    assert ledger._base.execute("PRAGMA user_version").fetchone()[0] == len(_schema.MIGRATIONS)
    assert "ann" in ledger.state.people
    ledger.close()
    monkeypatch.undo()
    with pytest.raises(LedgerError, match="newer aced"):
        Ledger(tmp_path / "l")


def test_a_file_that_is_no_ledger_is_refused(tmp_path):
    (tmp_path / "text").write_text("hello " * 500)
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger(tmp_path / "text")
    with pytest.raises(LedgerError, match="aced init"):
        Ledger(tmp_path / "absent")
    begin(tmp_path / "l")
    with pytest.raises(LedgerError, match="exists already"):
        Ledger(tmp_path / "l", create=True)
