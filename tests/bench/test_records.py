"""Records survive a kill."""

from __future__ import annotations

import errno
import os

import pytest

from aced import InvalidInput
from aced.bench import Records


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
    with pytest.raises(InvalidInput, match="the record 'k0' has no field 'all_labels'"):
        again.all()
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(InvalidInput, match="line 1"):
        Records(tmp_path)


def test_a_full_disk_costs_one_record_and_no_other(tmp_path, monkeypatch):
    records = Records(tmp_path)
    records.append({"key": "k0"})
    path = tmp_path / "records.jsonl"
    whole, sync = path.read_bytes(), os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match=r"No space left .*the 1 records there are whole; make room"):
        records.append({"key": "k1"})
    assert path.read_bytes() == whole
    monkeypatch.setattr(os, "fsync", sync)
    records.append({"key": "k1"})
    assert sorted(Records(tmp_path).found) == ["k0", "k1"]
