"""Suites, records that survive a kill, and the report."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aced import InvalidInput
from aced.bench import Job, Records, jobs, run_job
from aced.bench._report import build, to_html, to_markdown
from aced.bench._suites import grid
from aced.bench._summary import POOL, ranking, tasks_of


def small(strategy: str, seed: int = 0, **options) -> Job:
    return Job("breast", strategy, seed, 60, 20, 1.0, options)


def without_timing(records: list[dict]) -> list[dict]:
    return [{k: v for k, v in record.items() if k != "timing"} for record in records]


def test_grids_are_those_of_the_appendix():
    assert grid("iwal0", "cifar") == [10.0**p for p in range(-7, 1)]
    assert grid("iwal1", "fashion") == [10.0**p for p in range(-8, 1)]
    assert grid("ora-iwal0", "svhn") == [10.0**p for p in range(-4, 0)]
    assert grid("ora-iwal1", "mnist") == []
    assert grid("oac", "svhn") == [0.01, 0.03, 0.1, 0.3]
    paper = jobs("paper")
    assert len({job.key for job in paper}) == len(paper)
    assert {job.l2 for job in paper} == {0.0}
    assert sum(job.task == "cifar" and job.strategy == "aced" for job in paper) == 3
    assert {job.strategy for job in jobs("full")} > {job.strategy for job in paper}


def test_a_record_is_a_function_of_its_job():
    for job in (small("margin"), small("aced", 1), small("iwal0", c0=0.01, passes=1)):
        one, two = run_job(job), run_job(job, threads=2)
        assert without_timing([one]) == without_timing([two])
        assert one["curve"][-1]["labels"] == 60
        assert len(one["timing"]["seconds"]) == len(one["curve"])


def test_half_a_line_is_dropped_and_a_broken_one_is_named(tmp_path):
    records = Records(tmp_path)
    for seed in range(3):
        records.append({"key": f"k{seed}", "seed": seed})
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    again = Records(tmp_path)
    assert sorted(again.found) == ["k0", "k1"]
    again.append({"key": "k2", "seed": 2})
    assert path.read_bytes() == whole
    with pytest.raises(InvalidInput, match="the record 'k0' has no 'all_labels'"):
        again.all()
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(InvalidInput, match="line 1"):
        Records(tmp_path)


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


@pytest.fixture(scope="module")
def records():
    wanted = [small(name, seed) for name in ("aced", "passive", "margin") for seed in range(2)]
    wanted += [small("iwal0", c0=c0, passes=1) for c0 in (1e-4, 1e-1)]
    return [run_job(job) for job in wanted]


def test_summaries_are_what_the_records_say(records):
    (task,) = tasks_of(records)
    assert {runs.strategy for runs in task.shown} == {"aced", "passive", "margin", "iwal0"}
    np.testing.assert_array_equal(task.horizon(), [20, 40, 60])
    aced_runs = next(runs for runs in task.shown if runs.strategy == "aced")
    plain = aced_runs.at(np.array([20, 40, 60]), POOL, best=False)
    best = aced_runs.at(np.array([20, 40, 60]), POOL, best=True)
    by_hand = [[p[POOL] for p in r["curve"]] for r in aced_runs.records]
    np.testing.assert_allclose(plain, by_hand)
    np.testing.assert_allclose(best, np.maximum.accumulate(by_hand, axis=1))
    needed = aced_runs.labels_needed(POOL)
    for labels, curve in zip(needed, by_hand, strict=True):
        reached = [20 * (i + 1) for i, v in enumerate(curve) if v >= task.everything[POOL]]
        assert labels == (reached[0] if reached else None)
    chosen = next(runs for runs in task.shown if runs.strategy == "iwal0")
    assert chosen.label in ("iwal0 C0=0.0001", "iwal0 C0=0.1")
    found = ranking([task])
    assert found is not None
    assert sorted(found.strategies) == ["aced", "margin", "passive"]
    assert sum(found.ranks) == pytest.approx(6)


def test_the_report_is_one_page_that_stands_alone(records):
    blocks = build(records, "aced report x")
    page = to_html(blocks)
    assert page.count("<img") == 2  # the curves, and the C0 grid
    assert "http" not in page.replace("https://", "").replace("http-equiv", "")
    assert "C0 grids" in page
    text, pictures = to_markdown(blocks, "figures")
    assert "figures/breast.png" in text
    assert pictures["breast.png"].startswith(b"\x89PNG")


def test_the_commands(call, tmp_path, records):
    folder = tmp_path / "some"
    folder.mkdir()
    book = Records(folder)
    for record in records:
        book.append(json.loads(json.dumps(record)))
    assert call("report", folder)[0] == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "figures" / "breast.png").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("bench", "everything"), "SUITE must be one of"),
        (("bench", "smoke", "--tasks", "cifar"), "smoke has no 'cifar'"),
        (("bench", "smoke", "--strategies", "best"), "smoke has no 'best'"),
        (("bench", "smoke", "--seeds", "0"), "--seeds"),
        (("bench", "smoke", "--jobs", "0"), "--jobs"),
        (("bench", "smoke", "--out", "/absent/folder"), "there is no folder"),
        (("report", "/absent"), "there is no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(call, words, sentence):
    code, _, err = call(*words)
    assert code == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
