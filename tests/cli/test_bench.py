"""aced bench and aced report: what they refuse."""

from __future__ import annotations

import errno
import os

import pytest

from aced.bench import Records


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


def test_a_full_disk_ends_a_suite_in_a_sentence_and_it_goes_on_later(call, tmp_path, monkeypatch):
    words = ["bench", "smoke", "--tasks", "breast", "--strategies", "passive", "--jobs", "1", "--seeds"]
    out = ["--out", tmp_path / "b"]
    assert call(*words, 1, *out)[0] == 0
    before, sync = Records(tmp_path / "b").found, os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = call(*words, 2, *out, "--resume")
    assert code == 2
    assert "Traceback" not in err
    assert "No space left on device" in err
    assert Records(tmp_path / "b").found == before
    monkeypatch.setattr(os, "fsync", sync)
    assert call(*words, 2, *out, "--resume")[0] == 0
    assert len(Records(tmp_path / "b").found) == 2
