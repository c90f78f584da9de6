"""Any number of classes: given or discovered, in any order of arrival, saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from aced import InvalidInput, Learner, Pool
from aced.learner._labels import moves
from aced.learner._scores import as_they_are
from aced.strategies import View
from tests.helpers import many_blobs


def told(count: int, order: np.ndarray, **arguments) -> tuple[Learner, np.ndarray, np.ndarray]:
    rows, codes = many_blobs(n=40 * count, classes=count)
    names = np.array([f"class {chr(97 + code % 26)}{code // 26}" for code in range(count)])
    learner = Learner(Pool(rows), strategy="passive", threads=1, **arguments)
    for row in order:
        learner.tell([row], [names[codes[row]]])
    return learner, rows, names[codes]


@pytest.mark.parametrize("count", [3, 4, 5, 30])
def test_classes_and_codes_do_not_depend_on_the_order_of_arrival(count):
    rng = np.random.default_rng(count)
    found = []
    for _ in range(2):
        order = rng.permutation(40 * count)[: 30 * count]
        learner, _rows, truth = told(count, np.sort(order)[:: rng.choice([1, -1])])
        kept = np.arange(40 * count)
        learner.tell(kept, truth[kept])
        assert learner.classes == sorted(set(truth))
        np.testing.assert_array_equal(learner.labelled()[1], truth)
        found.append(learner._rows.codes)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], np.unique(truth, return_inverse=True)[1])


@pytest.mark.parametrize("strategy", ["passive", "margin", "entropy", "least-confidence"])
@pytest.mark.parametrize("count", [3, 5, 30])
@pytest.mark.parametrize("given", [False, True], ids=["learnt", "given"])
def test_a_saved_learner_goes_on_to_the_bit(strategy, count, given, tmp_path):
    rows, codes = many_blobs(n=40 * count, classes=count)
    pool, classes = Pool(rows), list(range(count)) if given else None
    how = {"strategy": strategy, "classes": classes, "threads": 1, "seed": 5}
    learner = Learner(pool, batch_size=min(2 * count, 40), **how)
    for _ in range(3):
        queries = learner.ask()
        learner.tell(queries.ids, codes[queries.ids])
    learner.save(tmp_path / "saved")
    other = Learner.load(tmp_path / "saved", pool, threads=1)
    assert other.classes == learner.classes
    for _ in range(2):
        queries, same = learner.ask(), other.ask()
        assert queries.ids.tolist() == same.ids.tolist()
        assert queries.probabilities.tolist() == same.probabilities.tolist()
        for one in (learner, other):
            one.tell(queries.ids, codes[queries.ids])
    assert learner.classifier.score(rows, codes) > 0.8


def test_codes_move_when_a_class_sorts_before_others():
    assert moves(["b", "d"], ["a", "b", "c", "d"]).tolist() == [1, 3]
    assert moves(["b"], ["a", "b"]).tolist() == [1, 0]  # code 1 stood for the class not seen yet
    assert moves(["a", "b", "c"], ["a", "c"]).tolist() == [0, 0, 1]  # b was corrected away


def test_the_incumbent_keeps_its_classes_when_codes_move(tmp_path):
    rows, _codes = many_blobs(n=120, classes=3)
    learner = Learner(Pool(rows), strategy="aced", threads=1, batch_size=10)
    names = np.array(["b", "d"])
    queries = learner.ask()
    learner.tell(queries.ids, names[np.arange(10) % 2])
    learner.ask()
    before = learner.incumbent
    assert before is not None
    assert set(before) <= {"b", "d"}
    free = np.setdiff1d(np.arange(120), [*queries.ids, *learner.pending])
    learner.tell(free[:2], ["a", "c"])
    assert learner.classes == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(learner.incumbent, before)
    learner.save(tmp_path / "saved")
    np.testing.assert_array_equal(Learner.load(tmp_path / "saved", Pool(rows)).incumbent, before)


def test_a_class_corrected_away_is_no_longer_known():
    learner, _, truth = told(3, np.arange(90))
    wrong = np.flatnonzero(truth[:90] == "class b0")
    learner.tell(wrong, ["class c0"] * len(wrong), overwrite=True)
    assert learner.classes == ["class a0", "class c0"]
    assert learner.labelled()[1][wrong].tolist() == ["class c0"] * len(wrong)


@pytest.mark.parametrize("model", [None, RandomForestClassifier(20), SVC(), GaussianNB()])
def test_scores_have_a_column_for_each_class_and_minus_infinity_where_there_is_no_label(model):
    rows, codes = many_blobs(n=200, classes=3)
    names = np.array(["z", "b", "m"])  # given unsorted, with one that nobody uses
    learner = Learner(Pool(rows), classes=["z", "b", "unused", "m"], classifier=model, threads=1)
    learner.tell(np.arange(100), names[codes[:100]])
    scores = learner._held.scored(as_they_are)
    assert scores.shape == (200, 4)
    assert (scores[:, 2] == -np.inf).all()
    assert not np.isnan(scores).any()
    best = np.array(learner.classes)[scores.argmax(axis=1)]
    agree = best == learner.classifier.predict(rows)
    assert agree.mean() > (0.97 if isinstance(model, RandomForestClassifier) else 1 - 1e-9)
    if model is None:
        places = [learner.classes.index(c) for c in learner.classifier.classes_]
        p = softmax(scores, axis=1)[:, places]
        # lifted rows are float32 here and float64 in the pipeline, and the slope makes more of that
        np.testing.assert_allclose(p, learner.classifier.predict_proba(rows), atol=1e-4)


def test_two_of_three_given_classes_have_the_probabilities_of_two():
    rows, codes = many_blobs(n=200, classes=2)
    learner = Learner(Pool(rows), classes=["a", "b", "c"], threads=1)
    learner.tell(np.arange(100), np.array(["c", "a"])[codes[:100]])
    scores = learner._held.scored(as_they_are)
    p = softmax(scores, axis=1)
    assert (p[:, 1] == 0).all()
    np.testing.assert_allclose(p[:, [0, 2]], learner.classifier.predict_proba(rows), atol=1e-6)


def test_scores_of_two_classes_are_positive_for_the_second_also_when_given_unsorted():
    rows, codes = many_blobs(n=200, classes=2)
    for classes in (["a", "b"], ["b", "a"]):
        learner = Learner(Pool(rows), classes=classes, threads=1)
        learner.tell(np.arange(100), np.array(["a", "b"])[codes[:100]])
        said = np.array(classes)[(learner._held.scored(as_they_are) > 0).astype(int)]
        np.testing.assert_array_equal(said, learner.classifier.predict(rows))


def test_scores_for_each_pair_of_classes_are_not_used():
    rows, codes = many_blobs(n=200, classes=4)
    learner = Learner(
        Pool(rows), classifier=SVC(decision_function_shape="ovo"), strategy="margin", threads=1
    )
    learner.tell(np.arange(100), codes[:100])
    assert learner._held.scored(as_they_are) is None
    assert len(learner.ask(5)) == 5  # uniform draws


def test_processes_choose_what_threads_choose():
    rows, codes = many_blobs(n=300, classes=4)
    runs = []
    for backend in ("threads", "processes"):
        learner = Learner(Pool(rows), strategy="entropy", backend=backend, threads=2, seed=1)
        learner.tell(np.arange(40), codes[:40])
        runs.append(learner.ask(20).ids.tolist())
    assert runs[0] == runs[1]


def test_functions_of_scores_are_computed_block_by_block():
    view = View(None, None, None, None, None, 1, 0.0, lambda: np.arange(3.0))  # type: ignore[arg-type]
    assert view.scored(np.square).tolist() == [0, 1, 4]
    assert view.classes == 2


STREAMS = ["iwal0", "iwal1", "ora-iwal0", "ora-iwal1", "oac", "ora-oac", "oac-vw", "cal"]


@pytest.mark.parametrize("strategy", STREAMS)
def test_strategies_for_two_classes_refuse_a_third_and_nothing_changes(strategy):
    rows, _codes = many_blobs(n=60, classes=3)
    with pytest.raises(InvalidInput) as refused:
        Learner(Pool(rows), strategy=strategy, classes=[0, 1, 2])
    sentence = f"{strategy} is made for two classes only; use a strategy for more, such as aced"
    assert str(refused.value) == f"classes are 3, but {sentence}"
    learner = Learner(Pool(rows), strategy=strategy)
    learner.tell([0, 1], ["a", "b"])
    with pytest.raises(InvalidInput) as refused:
        learner.tell([2, 3], ["a", "c"])
    assert str(refused.value) == f"labels[1] is 'c', a third class beside 'a' and 'b', but {sentence}"
    assert learner.classes == ["a", "b"]
    assert learner.labels_known == 2


def test_a_saved_learner_with_three_classes_does_not_go_on_with_a_strategy_for_two(tmp_path):
    rows, codes = many_blobs(n=60, classes=3)
    learner = Learner(Pool(rows), strategy="passive")
    learner.tell(np.arange(30), codes[:30])
    learner.save(tmp_path / "saved")
    with pytest.raises(InvalidInput, match="classes are 3, but iwal0 is made for two classes only"):
        Learner.load(tmp_path / "saved", Pool(rows), strategy="iwal0")


@pytest.mark.parametrize(
    ("classes", "sentence"),
    [
        (["a"], "classes must be at least two different values, got only 'a'"),
        ([], "classes must be at least two different values, got none"),
        (["a", "b", "a"], "classes: 'a' is given twice; give each class once"),
        ([1, 2, True], "classes: True is given twice; give each class once"),
        (range(1000), "classes are 1000; use at most 100"),
        (["a", "b", 3], "classes must be of one kind, all texts or all numbers, got 'a' and 3"),
        ([1, 2, 2**53 + 1, 4.0], "pass integers or floats, not both"),
    ],
)
def test_classes_that_cannot_be_are_refused(classes, sentence):
    with pytest.raises(InvalidInput) as refused:
        Learner(Pool(np.eye(4)), classes=classes)
    assert sentence in str(refused.value)


def test_a_label_outside_the_classes_is_refused_and_nothing_changes():
    learner = Learner(Pool(np.eye(40)), classes=list(range(30)))
    with pytest.raises(InvalidInput) as refused:
        learner.tell([0, 1], [3, 30])
    assert str(refused.value) == (
        "labels[1] is 30, which is not one of the classes 0, 1, 2, 3, 4, 5 and 24 more"
    )
    assert learner.labels_known == 0


def test_the_class_after_the_hundredth_is_refused():
    learner = Learner(Pool(np.eye(150)))
    learner.tell(np.arange(100), np.arange(100))
    with pytest.raises(InvalidInput, match="is 100, one class more than the 100 that there may be"):
        learner.tell([100], [100])
    assert len(learner.classes) == 100


def test_labels_of_mixed_kinds_are_refused():
    learner = Learner(Pool(np.eye(4)))
    with pytest.raises(InvalidInput, match=r"labels\[2\]:? classes must be of one kind, all texts or"):
        learner.tell([0, 1, 2], ["a", "b", 3])
    assert learner.classes == []
