"""aced bench and aced report: what they refuse."""

from __future__ import annotations

import pytest


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
