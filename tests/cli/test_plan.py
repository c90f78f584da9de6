"""aced plan, as a user types it."""

from __future__ import annotations

import json

import pytest

from aced.cost._cost import Cost
from aced.pool import GIB


def test_a_plan_is_printed_and_measured(call):
    code, out, err = call("plan", "--rows", 300_000, "--features", 24, "--threads", 2)
    assert (code, err.count("Error")) == (0, 0)
    for words in ("300000 rows x 24 features", "on disk", "row vectors", "noise", "peak", "gradients"):
        assert words in out
    assert "seconds" in out
    assert "on this machine" in out
    assert "It fits: a round needs " in out


def test_without_measuring_there_are_operations_only(call):
    code, out, _ = call("plan", "--rows", 1000, "--features", 5, "--no-measure")
    assert code == 0
    assert "operations" in out
    assert "seconds" not in out
    assert "machine" not in out


def test_json_has_the_numbers(call, tmp_path):
    words = ("plan", "--rows", 50_000, "--features", 16, "--threads", 2, "--dtype", "float64")
    code, out, _ = call(*words, "--json", "-")
    record, cost = json.loads(out), Cost.of(50_000, 16, threads=2)
    assert code == 0
    assert record["rows_on_disk"] == 2 * record["rows_in_memory"] == 8 * 50_000 * 16
    assert (record["peak"], record["operations"]) == (cost.peak(), cost.operations)
    assert sum(record["memory"].values()) == record["peak"] > record["peak_from_disk"]
    assert record["fits"]
    assert record["seconds"] > 0
    assert all(one["seconds"] > 0 for one in record["passes"])  # every kernel was timed
    path = tmp_path / "plan.json"
    code, out, _ = call(*words, "--no-measure", "--json", path)
    assert (code, "peak" in out) == (0, True)
    written = json.loads(path.read_text())
    assert written["seconds"] is None
    assert written["operations"] == record["operations"]


def test_a_large_pool_is_designed_on_a_sample(call):
    words = ("plan", "--rows", 10_000_000, "--features", 128, "--no-measure", "--json", "-")
    lifted = json.loads(call(*words)[1])  # the sample has as many bytes, in twice the columns
    assert (lifted["design_rows"], lifted["design_features"]) == (2**19, 256)
    words += ("--representation", "linear")
    record = json.loads(call(*words)[1])
    assert (record["design_rows"], record["memory"]["sample"] > 0) == (2**20, True)
    whole = json.loads(call(*words, "--design-rows", 10_000_000)[1])
    assert whole["memory"]["sample"] == 0
    assert whole["normals_drawn_again"] > 0
    assert whole["operations"] > 4 * record["operations"]


def test_lifted_rows_are_planned_unless_they_are_not_wanted(call):
    words = ("plan", "--rows", 100_000, "--features", 16, "--no-measure", "--json", "-")
    auto, rbf, linear = (
        json.loads(call(*words, "--representation", name)[1]) for name in ("auto", "rbf", "linear")
    )
    assert auto == rbf | {"free": auto["free"]}  # there are more landmarks than features
    assert auto["landmarks"] == auto["design_features"] == 335
    assert auto["memory"]["lifted"] > 4 * 100_000 * 335 > linear["memory"]["lifted"] == 0
    assert auto["peak"] - linear["peak"] > 4 * 100_000 * 335
    table = call("plan", "--rows", 100_000, "--features", 16, "--no-measure")[1]
    assert "335 landmarks" in table
    assert "lifting" in table


def test_workers_share_the_rows(call):
    words = ("plan", "--rows", 2_000_000, "--features", 64, "--no-measure", "--json", "-")
    alone, shared = json.loads(call(*words)[1]), json.loads(call(*words, "--workers", 4)[1])
    assert alone["peak_of_worker"] is None
    assert shared["peak_of_worker"] < shared["peak"] < alone["peak"]


def test_what_does_not_fit_is_said_with_a_way_out(call, monkeypatch):
    monkeypatch.setattr("aced.cli._plan.available_memory", lambda: 4 * GIB)
    monkeypatch.setattr("aced.representations._lifted.available_memory", lambda: 4 * GIB)
    code, out, _ = call("plan", "--rows", 3_000_000, "--features", 1024, "--no-measure")
    said = " ".join(out.split())
    assert code == 0
    assert "It does not fit: a round needs 13 GiB; 4.0 GiB are free. What would do: read" in said
    assert "read the rows from disk" in said
    monkeypatch.setattr("aced.cli._plan.available_memory", lambda: GIB // 64)
    code, out, _ = call("plan", "--rows", 3_000_000, "--features", 1024)
    assert (code, "Not timed" in out, "seconds" in out) == (0, True, False)
    assert "use a machine with" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--rows", "0", "--features", "4"), "aced: --rows must be at least 1, got 0"),
        (("--rows", "-5", "--features", "4"), "aced: --rows must be at least 1, got -5"),
        (("--rows", "9", "--features", "0"), "aced: --features must be at least 1, got 0"),
        (("--rows", "9", "--features", "4", "--draws", "1"), "aced: --draws must be at least 2, got 1"),
        (("--rows", "9", "--features", "4", "--threads", "0"), "aced: --threads must be at least 1"),
        (("--rows", "9", "--features", "4", "--workers", "0"), "aced: --workers must be at least 1"),
        (("--rows", "9", "--features", "4", "--design-rows", "0"), "aced: --design-rows must be at"),
        (("--rows", "9", "--features", "4", "--sparse-density", "0"), "aced: --sparse-density must be"),
        (("--rows", "9", "--features", "4", "--sparse-density", "1.1"), "aced: --sparse-density must"),
        (("--rows", "9", "--features", "4", "--sparse-density", "nan"), "aced: --sparse-density must"),
        (("--rows", "9", "--features", "4", "--representation", "x"), "aced: --representation must be"),
        (("--rows", "9", "--features", "4", "--dtype", "float33"), "aced: --dtype must be a type of"),
        (("--rows", "9", "--features", "4", "--dtype", "complex64"), "aced: --dtype must be a type of"),
        (("--rows", "9", "--features", "4", "--dtype", "U8"), "aced: --dtype must be a type of real"),
        (("--rows", "9", "--features", "4", "--json", "no/such/x.json"), "aced: --json: there is no"),
    ],
)
def test_refusals_are_one_sentence(call, words, sentence):
    code, out, err = call("plan", *words)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)
    assert err.count("\n") == 1
