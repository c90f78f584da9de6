"""Active cover run by Vowpal Wabbit: what it asked for, and that it runs where labels are known."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from aced import InvalidInput, Learner, Pool
from aced.bench import Job, jobs, run_job
from aced.strategies import VowpalCover, make_strategy
from aced.strategies._vw_cover import Program
from aced.testing import strategy_checks
from tests.helpers import blobs

vowpalwabbit = pytest.importorskip("vowpalwabbit")


@pytest.fixture(scope="module")
def breast():
    rows, labels = load_breast_cancer(return_X_y=True)
    return ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32), labels


def stream(rows, labels, seed=0, **options):
    learner = Learner(Pool(rows), strategy=VowpalCover(labels=labels, **options), seed=seed)
    ids, chances = [], []
    while len(query := learner.ask(1)):
        learner.tell(query.ids, labels[query.ids])
        ids += query.ids.tolist()
        chances += query.probabilities.tolist()
    return ids, np.array(chances)


@pytest.mark.parametrize("check", strategy_checks(), ids=lambda check: check.__name__)
def test_conformance(check):
    rows, labels = blobs(n=240, p=4)
    check(lambda: VowpalCover(0.1), Pool(rows), labels)


@pytest.mark.parametrize(("c0", "cover"), [(0.1, 12), (0.1, 0), (1e-6, 12), (10.0, 3)])
def test_as_many_rows_are_asked_for_as_it_says_at_its_end(monkeypatch, breast, c0, cover):
    rows, labels = breast
    opened = []

    def workspace(options):
        opened.append(vowpalwabbit.pyvw.Workspace(options.replace("--quiet", ""), enable_logging=True))
        return opened[0]

    monkeypatch.setattr(vowpalwabbit, "Workspace", workspace)
    program = Program(c0, cover=cover, seed=5)
    asked = sum(program.learn(x, y) > 0 for x, y in zip(rows, labels, strict=True))
    opened[0].finish()
    assert f"total queries = {asked}" in opened[0].get_log()


def test_queries_and_accuracy_are_in_the_known_range(breast):
    """Over eight orders it asked for 90 to 134 rows; pool accuracy was 0.958 to 0.979."""
    rows, labels = breast
    queries = [len(stream(rows, labels, seed, c0=0.1)[0]) for seed in range(4)]
    assert 75 < np.mean(queries) < 160
    program = Program(0.1)
    for row in np.random.default_rng(0).permutation(len(rows)):
        program.learn(rows[row], labels[row])
    assert 0.94 < np.mean([program.predict(x) for x in rows] == labels) < 0.99


def test_a_row_is_asked_for_once_and_with_a_probability(breast):
    ids, chances = stream(*breast, c0=0.3, passes=3)
    assert len(set(ids)) == len(ids)
    assert 0 < chances.min() < chances.max() == 1
    assert (chances[:3] == 1).all()
    assert len(ids) > len(stream(*breast, c0=0.3)[0])  # later passes ask for more


def test_the_same_seed_gives_the_same_rows(breast):
    one, two, other = (stream(*breast, seed, c0=0.1)[0] for seed in (1, 1, 2))
    assert one == two
    assert one != other


def test_saved_and_loaded_it_goes_on_as_before(tmp_path, breast):
    rows, labels = breast
    pool = Pool(rows)

    def play(learner, times):
        for _ in range(times):
            query = learner.ask(1)
            learner.tell(query.ids, labels[query.ids])

    one = Learner(pool, strategy=VowpalCover(0.1, passes=2, labels=labels), seed=2)
    play(one, 25)
    one.save(tmp_path / "half.npz")
    two = Learner.load(tmp_path / "half.npz", pool)
    play(one, 30)
    play(two, 30)
    for left, right in zip(one.labelled(), two.labelled(), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_simulation_reveals_its_labels():
    record = run_job(Job("breast", "oac-vw", 0, 60, 20, 1.0, {"c0": 0.1, "passes": 2}))
    assert record["strategy"] == "oac-vw"
    assert [point["labels"] for point in record["curve"]] == [20, 40, 60]
    assert record["curve"][-1]["pool_accuracy"] > 0.9


def test_full_compares_it_with_ours():
    options = {
        name: [(job.task, job.options) for job in jobs("full") if job.strategy == name]
        for name in ("oac", "oac-vw")
    }
    assert options["oac"] == options["oac-vw"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"c0": 0.0}, "c0"),
        ({"cover": -1}, "cover"),
        ({"passes": 0}, "passes"),
        ({"rate": 0.0}, "rate"),
        ({"labels": [0, 1, 2]}, "labels must be 0 or 1"),
        ({"labels": [[0, 1]]}, "labels must be 0 or 1"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(InvalidInput, match=words):
        VowpalCover(**options)


def test_without_the_labels_it_says_what_it_needs():
    pool = Pool(np.eye(4))
    with pytest.raises(InvalidInput, match="oac-vw needs the label of every row before it asks"):
        Learner(pool, strategy="oac-vw").ask()
    with pytest.raises(InvalidInput, match="got 3 labels for a pool of 4 rows"):
        Learner(pool, strategy=VowpalCover(labels=[0, 1, 1])).ask()


def test_without_the_program_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "vowpalwabbit", None)
    with pytest.raises(InvalidInput, match=r"pip install 'aced\[vw\]'"):
        make_strategy("oac-vw")
