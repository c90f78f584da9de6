import errno
import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from aced.design import FixedPoint, Grid, Mirror
from aced.strategies._aced import _SOLVERS
from tests.helpers import many_blobs

QUICK = ["digits", "--budget", "60", "--batch", "20"]


def test_run_prints_a_table(call):
    code, out, _ = call("run", *QUICK, "--strategy", "passive", "--strategy", "margin")
    assert code == 0
    for word in ("passive", "margin", "all labels", "digits: 1347 rows"):
        assert word in out


def test_json_of_one_strategy_is_an_object(call, tmp_path):
    code, _, _ = call("run", *QUICK, "--json", tmp_path / "one.json")
    record = json.loads((tmp_path / "one.json").read_text())
    assert code == 0
    assert set(record) == {
        "dataset", "strategy", "seed", "rows", "features", "all_labels", "curve", "representation"
    }  # fmt: skip
    assert (record["dataset"], record["strategy"], record["seed"]) == ("digits", "blend", 0)
    assert (record["rows"], record["features"]) == (1347, 64)
    assert set(record["all_labels"]) == {"pool_accuracy", "holdout_accuracy"}
    assert [point["labels"] for point in record["curve"]] == [20, 40, 60]
    for point in record["curve"]:
        assert set(point) == {
            "labels", "pool_accuracy", "holdout_accuracy", "seconds", "estimate", "low", "high", "regret"
        }  # fmt: skip
        assert 0 < point["pool_accuracy"] <= 1
        assert point["low"] <= min(point["estimate"], point["pool_accuracy"])
        assert max(point["estimate"], point["pool_accuracy"]) <= point["high"]
    seconds = [point["seconds"] for point in record["curve"]]
    assert seconds == sorted(seconds)


def test_a_strategy_without_a_floor_has_no_certificate(call, tmp_path):
    call("run", *QUICK, "--strategy", "margin", "--json", tmp_path / "one.json")
    last = json.loads((tmp_path / "one.json").read_text())["curve"][-1]
    assert [last[name] for name in ("estimate", "low", "high", "regret")] == [None] * 4


@pytest.mark.parametrize(
    ("options", "reason", "claim"),
    [
        (["--stop-accuracy", "0.6"], "accuracy", "of the pool is classified rightly"),
        (["--stop-recall", "0.5:1"], "recall", "of the rows of 1 are found"),
        (["--stop-accuracy", "0.999"], "budget", "of the pool is classified rightly"),
    ],
)
def test_a_run_ends_when_enough_is_certain(call, tmp_path, options, reason, claim):
    how = ["--strategy", "passive", "--budget", "160", "--batch", "40", "--confidence", "0.9"]
    code, out, _ = call("run", "breast", *how, *options, "--json", tmp_path / "one.json")
    record = json.loads((tmp_path / "one.json").read_text())
    assert code == 0
    assert record["stop"]["reason"] == reason
    assert claim in record["stop"]["claim"]
    assert record["stop"]["claim"] in out
    assert record["stop"]["labels"] == record["curve"][-1]["labels"]
    assert (record["stop"]["labels"] == 160) == (reason == "budget")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--stop-accuracy", "1.5"], "--stop-accuracy must be from 0 to 1"),
        (["--stop-recall", "0.9"], "--stop-recall must be like 0.95:CLASS, with a class of 0, 1"),
        (["--stop-recall", "0.9:x"], "--stop-recall must be like 0.95:CLASS"),
        (["--stop-accuracy", "0.9", "--stop-recall", "0.9:1"], "are both given; leave one out"),
        (["--stop-accuracy", "0.9", "--strategy", "margin"], "margin has no share of uniform draws"),
        (["--stop-accuracy", "0.9", "--confidence", "1"], "--confidence must lie between 0 and 1"),
    ],
)
def test_a_stop_that_cannot_be_is_refused(call, options, words):
    code, _, err = call("run", *QUICK, *options)
    assert code == 2
    assert words in err


def test_json_of_several_is_a_list_and_dash_is_stdout(call):
    code, out, err = call("run", *QUICK, "--strategy", "aced", "--strategy", "passive", "--json", "-")
    assert code == 0
    assert [record["strategy"] for record in json.loads(out)] == ["aced", "passive"]
    assert "all labels" in err  # the table makes room


@pytest.mark.parametrize("strategy", ["aced", "passive", "margin"])
def test_same_seed_same_curve_on_one_and_two_threads(call, strategy):
    curves = []
    for threads, seed in ((1, 3), (2, 3), (2, 4)):
        _, out, _ = call(
            "run", *QUICK, "--strategy", strategy, "--seed", seed, "--threads", threads, "--json", "-"
        )
        curves.append([(p["pool_accuracy"], p["holdout_accuracy"]) for p in json.loads(out)["curve"]])
    assert curves[0] == curves[1]
    assert curves[0] != curves[2]


@pytest.mark.parametrize("options", [["--search", "grid"], ["--l2", "0"]])
def test_options_of_the_engine(call, options):
    code, out, _ = call("run", *QUICK, *options, "--json", "-")
    assert code == 0
    assert json.loads(out)["curve"][-1]["pool_accuracy"] > 0.5


@pytest.fixture
def tiny(tmp_path):
    """A pool small enough to wait for the paper's procedures."""
    X = np.random.default_rng(0).normal(size=(24, 1))
    np.savez(tmp_path / "tiny.npz", X=X, y=(X[:, 0] > 0).astype(int))
    return tmp_path / "tiny.npz"


def test_the_oracle_that_fits_a_classifier_runs_from_the_command_line(call, tiny, monkeypatch):
    monkeypatch.setitem(_SOLVERS, "fixed-point", partial(FixedPoint, draws=12, rounds=2))
    code, out, _ = call(
        "run", tiny, "--oracle", "sklearn", "--budget", "10", "--batch", "5", "--json", "-"
    )
    assert code == 0
    assert json.loads(out)["curve"][-1]["pool_accuracy"] > 0.8


def test_the_papers_own_procedure_runs_from_the_command_line(call, tiny, monkeypatch):
    """Mirror descent over the grid search, in few steps."""
    searches = []

    def few_steps(search):
        searches.append(search)
        return Mirror(draws=16, max_draws=32, max_steps=3, search=search)

    monkeypatch.setitem(_SOLVERS, "mirror", few_steps)
    words = ("--solver", "mirror", "--search", "grid", "--budget", "10", "--batch", "10")
    code, out, _ = call("run", tiny, *words, "--json", "-")
    assert code == 0
    record = json.loads(out)
    assert record["all_labels"]["holdout_accuracy"] is None
    assert record["curve"][0]["holdout_accuracy"] is None
    assert isinstance(searches[-1], Grid)


def test_plot_is_a_picture(call, tmp_path):
    code, _, _ = call("run", *QUICK, "--strategy", "passive", "--plot", tmp_path / "curves.png")
    assert code == 0
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_csv_with_word_labels(call, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["width,height,kind"]
    for _ in range(80):
        width, height = rng.normal(size=2)
        lines.append(f"{1000 * width},{height},{'tall' if height > width else 'wide'}")
    (tmp_path / "shapes.csv").write_text("\n".join(lines))
    code, out, _ = call(
        "run", tmp_path / "shapes.csv", "--label", "kind", "--budget", "40", "--json", "-"
    )
    assert code == 0
    assert json.loads(out)["curve"][-1]["pool_accuracy"] > 0.9


def test_a_csv_with_five_classes(call, tmp_path):
    rows, codes = many_blobs(n=150, p=4, classes=5)
    lines = [
        "a,b,c,d,kind",
        *(",".join([*map(str, x), f"kind {c}"]) for x, c in zip(rows, codes, strict=True)),
    ]
    (tmp_path / "five.csv").write_text("\n".join(lines))
    words = ("--label", "kind", "--strategy", "margin", "--budget", "60", "--json", "-")
    code, out, _ = call("run", tmp_path / "five.csv", *words, "--plot", tmp_path / "five.png")
    assert code == 0
    assert json.loads(out)["curve"][-1]["pool_accuracy"] > 0.8
    assert (tmp_path / "five.png").read_bytes().startswith(b"\x89PNG")


def test_the_penalty_is_chosen_or_fixed(call):
    runs = []
    for options in ([], ["--l2", "1"], ["--l2", "0"]):
        code, out, _ = call("run", *QUICK, "--strategy", "passive", *options, "--json", "-")
        assert code == 0
        runs.append([point["pool_accuracy"] for point in json.loads(out)["curve"]])
    assert runs[0] != runs[1] != runs[2]


@pytest.mark.parametrize(
    ("options", "used", "compared"),
    [
        ([], {"linear", "rbf", "weighted"}, {"linear", "rbf", "weighted"}),
        (["--representation", "linear"], {"linear"}, {"linear"}),
        (["--representation", "rbf"], {"rbf"}, {"rbf"}),
    ],
)
def test_the_representation_of_the_last_round_is_said_with_its_errors(call, options, used, compared):
    code, out, err = call("run", *QUICK, "--strategy", "passive", *options, "--json", "-")
    found = json.loads(out)["representation"]
    assert code == 0
    assert found["used"] in used
    assert set(found["errors"]) == compared
    assert min(found["errors"].values()) >= 0.98 * found["errors"][found["used"]] > 0
    assert found["labels"] == 40  # known when the last round was planned
    assert f"passive, last round: {found['sentence']}" in err


def test_with_a_fixed_penalty_rows_have_one_representation(call):
    given = ([], ["--representation", "linear"])
    runs = [call("run", *QUICK, "--strategy", "passive", "--l2", "1", *g, "--json", "-") for g in given]
    curves = [json.loads(out) for _, out, _ in runs]
    assert [curve["representation"] for curve in curves] == [None, None]
    accuracies = [[point["pool_accuracy"] for point in curve["curve"]] for curve in curves]
    assert accuracies[0] == accuracies[1]


@pytest.mark.usefixtures("whole_forests")
def test_a_run_says_where_a_random_forest_is_clearly_better(call, tmp_path):
    """Labels follow boxes along the axes among many other columns; the seed is fixed."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1500, 12))
    labels = ((rows[:, 0] > 0.3) & (rows[:, 1] < 0.5)) | (rows[:, 2] > 1)
    np.savez(tmp_path / "boxes.npz", X=rows, y=labels.astype(int))
    words = ("--strategy", "passive", "--budget", "450", "--batch", "150", "--json", "-")
    code, out, err = call("run", tmp_path / "boxes.npz", *words)
    found = json.loads(out)["representation"]
    assert code == 0
    assert found["forest"] > found["model"] + 0.01
    assert f"passive: {found['advice']}" in err
    assert "pass classifier=RandomForestClassifier()" in found["advice"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["imagenet"], "DATASET must be one of"),
        (["none.npz"], "there is no file none.npz"),
        (["digits", "--strategy", "guess"], "strategy must be one of"),
        (["digits10", "--strategy", "cal"], "cal is made for two classes only, and digits10 has 10"),
        (
            ["digits", "--budget", "5000"],
            "--budget is 5000, but the pool has 1347 rows; use at most 1347",
        ),
        (["digits", "--budget", "0"], "--budget must be at least 1"),
        (["digits", "--batch", "0"], "--batch must be at least 1"),
        (["digits", "--budget", "10", "--batch", "20"], "--batch is 20, but the budget is 10"),
        (["digits", "--l2", "-1"], "l2 must be a number from 0 up"),
        (["digits", "--l2", "nan"], "l2 must be a number from 0 up"),
        (["digits", "--representation", "cubic"], "--representation must be one of auto, linear, rbf"),
        (["digits", "--representation", "rbf", "--l2", "1"], "but l2 is for rows as they are; drop one"),
        (["digits", "--representation", "auto", "--l2", "0"], '--representation is "auto", but l2'),
        (["digits", "--seed", "-3"], "seed must be at least 0"),
        (["digits", "--threads", "0"], "threads must be at least 1"),
        (["digits", "--json", "no/folder/x.json"], "--json: there is no folder"),
        (["digits", "--json", "."], "--json: . is a folder"),
        (["digits", "--plot", "curves.txt"], "must end in .png"),
        (["mnist", "--data-home", "nowhere"], "--data-home: there is no folder nowhere"),
        (["digits", "--solver", "magic"], "magic"),
        (["digits", "--budget", "many"], "valid integer"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(call, arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("run", *arguments)
    assert code == 2
    assert sentence in err
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.full((30, 2), np.nan), np.arange(30) % 2, "row 0, column 0 is NaN"),
        (np.full((30, 2), np.inf), np.arange(30) % 2, "is infinite"),
        (
            np.zeros((0, 2)),
            np.zeros(0, int),
            "there are no labels; take a label column with two or more classes",
        ),
        (np.eye(30), np.zeros(30, int), "all rows have the label 0"),
        (np.full((30, 2), "x"), np.arange(30) % 2, "real numbers"),
    ],
)
def test_bad_files_get_one_sentence_and_exit_code_2(call, X, y, sentence, tmp_path):
    np.savez(tmp_path / "bad.npz", X=X, y=y)
    code, _, err = call("run", tmp_path / "bad.npz")
    assert code == 2
    assert sentence in err


def test_an_older_result_survives_a_run_that_fails(call, tmp_path):
    (tmp_path / "old.json").write_text("kept")
    code, _, _ = call("run", "digits", "--budget", "99999", "--json", tmp_path / "old.json")
    assert code == 2
    assert (tmp_path / "old.json").read_text() == "kept"


def test_fewer_rows_than_features_and_constant_columns(call, tmp_path):
    X = np.hstack([np.random.default_rng(0).normal(size=(30, 50)), np.ones((30, 10))])
    np.savez(tmp_path / "wide.npz", X=X, y=(X[:, 0] > 0))
    assert call("run", tmp_path / "wide.npz", "--json", "-")[0] == 0


def test_version_and_help(call):
    code, out, _ = call("--version")
    assert code == 0
    assert out.startswith("aced 0.")
    assert call("run", "--help")[0] == 0


INTERRUPTED = """
import sys, aced.cli, aced.cli._run as run
def stop(*_, **__): raise KeyboardInterrupt
run.load_dataset = stop
sys.argv = ["aced", "run", "digits"]
aced.cli.main()
"""


def test_an_interrupt_leaves_no_traceback():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr


def test_on_a_full_disk_the_table_is_shown_and_the_old_files_stay(call, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for option, name in (("--json", "x.json"), ("--plot", "x.png")):
        (tmp_path / name).write_text("old")
        monkeypatch.setattr(os, "fsync", full)
        code, out, err = call("run", *QUICK, "--strategy", "passive", option, tmp_path / name)
        assert (code, len(err.strip().splitlines())) == (2, 1)
        assert "all labels" in out
        assert "No space left on device" in err
        assert (tmp_path / name).read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.json", "x.png"]


def test_a_full_standard_output_is_one_sentence(tmp_path):
    program = "import sys; sys.argv[0] = 'aced'; from aced.cli import main; main()"
    words = [sys.executable, "-c", program, "run", *QUICK, "--strategy", "passive"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip() == "aced: there is no room on the disk; make room and try again"
