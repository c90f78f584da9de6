"""Annotators against a server that is killed four times: a small version of benchmarks/serve.py."""

from __future__ import annotations

from benchmarks.serve import run


def test_nothing_acknowledged_is_lost_and_nothing_counts_twice(tmp_path):
    out = run(tmp_path / "p", seconds=6, annotators=8, rows=3000, kills=4, think=0.2)
    assert out.kills == 4
    assert len(out.answered) > 20
    assert out.refused == []
    assert out.problems == []
