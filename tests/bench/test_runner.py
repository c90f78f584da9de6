"""Jobs run to the same records whatever happens on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aced.bench import Records, run_job
from tests.bench.jobs import small, without_timing


def test_a_record_is_a_function_of_its_job():
    for job in (small("margin"), small("aced", 1), small("iwal0", c0=0.01, passes=1)):
        one, two = run_job(job), run_job(job, threads=2)
        assert without_timing([one]) == without_timing([two])
        assert one["curve"][-1]["labels"] == 60
        assert len(one["timing"]["seconds"]) == len(one["curve"])


def test_killed_in_the_middle_it_goes_on_to_the_same_records(call, tmp_path):
    words = ["bench", "smoke", "--tasks", "breast", "--seeds", "2", "--jobs", "1", "--out"]
    strategies = [w for s in ("passive", "margin", "aced", "badge") for w in ("--strategies", s)]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert call(*words, whole, *strategies)[0] == 0
    command = [sys.executable, "-c", "from aced.cli import main; main()", *words, str(cut), *strategies]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    path = cut / "records.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") >= 2):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    found = len(Records(cut).found)
    assert 2 <= found <= 8
    code, _, err = call(*words, cut, *strategies)
    assert code == 2
    assert "--resume" in err
    assert call(*words, cut, *strategies, "--resume")[0] == 0
    assert without_timing(Records(cut).all()) == without_timing(Records(whole).all())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed from /proc")
def test_workers_leave_when_their_parent_is_killed(tmp_path):
    words = ["bench", "smoke", "--tasks", "digits", "--strategies", "aced", "--jobs", "2", "--out"]
    command = [sys.executable, "-c", "from aced.cli import main; main()", *words, str(tmp_path / "o")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(group(process.pid)) < 4:  # parent, tracker, two workers
        time.sleep(0.01)
    assert len(group(process.pid)) >= 4
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    while time.monotonic() < deadline and group(process.pid):
        time.sleep(0.05)
    assert group(process.pid) == []


def group(leader):
    """Processes of the group that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, pgid = path.read_text().rsplit(")", 1)[1].split()[:3]
            if int(pgid) == leader and state != "Z":
                found.append(path.parent.name)
    return found
