"""aced theory, as a user types it."""

from __future__ import annotations

import json

import numpy as np
import pytest


def test_measures_are_printed_and_written(call, tmp_path):
    code, out, _ = call("theory", "spread", "--m", 5)
    assert code == 0
    for word in ("rho", "gamma", "psi", "disagreement", "delta_min", "tsybakov", "30 rows"):
        assert word in out
    piped = json.loads(call("theory", "spread", "--m", 5, "--json", "-")[1])
    assert piped["rho"] == pytest.approx(25 * 4 / 36, rel=1e-5)
    assert piped["psi"] == pytest.approx(5)
    assert (piped["n"], piped["hypotheses"], piped["disagreement"]) == (30, 26, 5)
    path = tmp_path / "out.json"
    assert call("theory", "thresholds", "--n", 16, "--epsilon", 0.1, "--json", path)[0] == 0
    assert json.loads(path.read_text())["epsilon"] == 0.1


def test_files_and_ties(call, tmp_path):
    path = tmp_path / "tie.npz"
    np.savez(path, H=np.eye(2), eta=np.array([0.5, 0.5]))
    found = json.loads(call("theory", path, "--json", "-")[1])
    assert found["rho"] is None
    assert found["bounds"] is None
    assert call("theory", "race", path)[0] == 2
    assert json.loads(call("theory", path, "--epsilon", 0.2, "--json", "-")[1])["rho"] > 0


def test_a_race(call, tmp_path):
    picture, path = tmp_path / "race.png", tmp_path / "race.json"
    code, out, err = call(
        *("theory", "race", "spread", "--m", 4, "--delta", 0.2, "--trials", 3),
        *("--algorithm", "aced", "--algorithm", "cal"),
        *("--plot", picture, "--json", path),
    )
    assert code == 0, err
    assert "failures" in out
    assert picture.stat().st_size > 5000
    record = json.loads(path.read_text())
    assert [one["size"] for one in record["sizes"]] == [2, 4]
    assert {entry["algorithm"] for entry in record["sizes"][0]["algorithms"]} == {"aced", "cal"}


def test_instances_with_more_than_two_classes(call, tmp_path):
    code, out, _ = call("theory", "thresholds", "--n", 9, "--classes", 3)
    assert code == 0
    assert "45 hypotheses, 3 classes" in out
    assert "proved for two classes only" in out
    found = json.loads(call("theory", "random", "--n", 8, "--classes", 30, "--json", "-")[1])
    assert (found["classes"], found["vc_dimension"], found["bounds"]["aced"]) == (30, None, None)
    assert found["bounds"]["union"] > 0
    path = tmp_path / "own.npz"
    np.savez(path, H=np.array([[0, 2], [1, 1]]), eta=np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]))
    found = json.loads(call("theory", path, "--json", "-")[1])
    assert (found["classes"], found["nu"]) == (3, pytest.approx(0.25))


def test_a_race_of_more_than_two_classes(call):
    code, out, err = call(
        *("theory", "race", "thresholds", "--n", 5, "--classes", 3, "--delta", 0.2, "--trials", 2),
        *("--algorithm", "rage", "--algorithm", "fixed-budget"),
    )
    assert code == 0, err
    assert "fixed-budget" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing",), "INSTANCE must be one of"),
        (("absent.npz",), "INSTANCE: there is no file absent.npz"),
        (("spread", "--n", "5"), "takes --m"),
        (("thresholds", "--m", "5"), "takes --n"),
        (("thresholds", "--hypotheses", "5"), "random only"),
        (("spread", "--m", "0"), "at least 1"),
        (("spread", "--classes", "3"), "--classes applies to thresholds and random, not to spread"),
        (("own.npz", "--classes", "3"), "its eta says how many there are"),
        (("random", "--classes", "1"), "classes must be at least 2"),
        (("random", "--classes", "1000"), "use at most 100"),
        (("race", "random", "--classes", "3", "--algorithm", "aced"), "proved for two classes"),
        (("spread", "--epsilon", "-1"), "epsilon must lie"),
        (("spread", "--noise", "0.7"), "noise must lie"),
        (("spread", "--json", "/absent/out.json"), "--json"),
        (("spread", "--seed", "-1"), "seed"),
        (("race", "spread", "--delta", "0"), "--delta"),
        (("race", "spread", "--trials", "0", "--m", "2"), "trials"),
        (("race", "spread", "--algorithm", "best"), "algorithm must be"),
        (("race", "spread", "--plot", "x.txt"), "--plot"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(call, words, sentence):
    code, _, err = call("theory", *words)
    assert code == 2
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
