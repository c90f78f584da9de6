import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from aced import Aced, InvalidInput, Learner, Passive, Pool
from aced._workers import Workers
from aced.design import FixedPoint
from aced.strategies import Plan
from tests.helpers import blobs

ROWS, LABELS = blobs(n=200, p=4)
NAMES = np.where(LABELS, "yes", "no")


def make(**arguments):
    return Learner(Pool(ROWS), **{"batch_size": 10, **arguments})


def test_pieces_of_a_batch_are_the_batch():
    whole, pieces = make(seed=5), make(seed=5)
    batch = whole.ask()
    parts = [pieces.ask(n) for n in (1, 4, 5)]
    np.testing.assert_array_equal(batch.ids, np.concatenate([part.ids for part in parts]))
    np.testing.assert_array_equal(batch.probabilities, np.concatenate([p.probabilities for p in parts]))
    assert len(pieces.history) == 1


def test_tell_takes_any_order_parts_and_repeats():
    learner, other = make(), make()
    ids = learner.ask().ids
    other.ask()
    learner.tell(ids, LABELS[ids])
    for part in (ids[::-1][:3], ids[:9], ids):
        other.tell(part, LABELS[part])
    assert learner.labels_known == other.labels_known == 10
    assert len(other.pending) == 0
    np.testing.assert_array_equal(learner.ask().ids, other.ask().ids)


def test_one_id_and_one_label_need_no_list():
    learner = Learner(Pool(ROWS[:3], ids=["a", "b", "c"]))
    learner.tell("b", "cat")
    learner.tell(["a"], ["dog"])
    assert learner.labelled()[1].tolist() == ["dog", "cat"]


def test_asked_rows_are_pending_until_told_or_released():
    learner = make(budget=20)
    first = learner.ask(15)
    assert set(learner.pending) == set(first.ids)
    assert learner.remaining == 5
    learner.release(first.ids[:10])
    assert learner.remaining == 15
    second = learner.ask(15)
    assert not set(second.ids) & set(first.ids[10:])


def test_a_label_is_changed_only_on_purpose():
    learner = make()
    learner.tell([3], ["yes"])
    learner.tell([3], ["yes"])
    learner.tell([4], ["no"])
    with pytest.raises(InvalidInput, match="3 was told 'yes' before and 'no' now"):
        learner.tell([5, 3], ["no", "no"])
    assert learner.labels_known == 2  # nothing of the refused call was taken
    learner.tell([3], ["no"], overwrite=True)
    assert learner.labelled()[1].tolist() == ["no", "no"]


def test_rows_never_asked_for_may_be_told():
    learner = make()
    planned = learner.ask(1)
    rest = np.setdiff1d(np.arange(200), planned.ids)
    learner.tell(rest, LABELS[rest])
    assert len(learner.ask()) == 0
    ids, _, probabilities = learner.labelled()
    assert len(ids) == 199
    assert np.isnan(probabilities).all()


@pytest.mark.parametrize(
    "values", [("no", "yes"), (False, True), (0, 1), (-1, 1), (1.0, 2.0), np.array(["no", "yes"])]
)
def test_labels_of_any_kind(values):
    truth = np.asarray(values)[LABELS]
    learner = make(budget=60, strategy="aced")
    while queries := learner.ask():
        learner.tell(queries.ids, truth[queries.ids])
    assert learner.classifier.score(ROWS, truth) > 0.75
    assert set(learner.incumbent) <= set(truth)
    assert set(learner.classes) == set(np.asarray(values).tolist())


def test_everything_is_readable_at_any_time():
    learner = make(strategy="aced")
    assert learner.classifier is None
    assert learner.design is None
    assert learner.incumbent is None
    assert learner.history == []
    learner.tell(learner.ask().ids[:1], [1])
    assert learner.classifier.predict(ROWS).tolist() == [1] * 200  # one class so far
    learner.tell(learner.pending, LABELS[learner.pending])
    learner.ask()
    assert learner.design.shape == (200,)
    assert learner.design.sum() == pytest.approx(1)
    assert learner.incumbent.shape == (200,)
    assert [entry["round"] for entry in learner.history] == [1, 2]
    assert [entry["shift"] for entry in learner.history] == [200, 1]


@pytest.mark.parametrize(
    "classifier",
    [
        DecisionTreeClassifier(random_state=0),
        SVC(),
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
    ],
)
@pytest.mark.parametrize("strategy", ["aced", "margin"])
def test_any_scikit_learn_classifier(classifier, strategy):
    learner = make(classifier=classifier, strategy=strategy, budget=40)
    while queries := learner.ask():
        learner.tell(queries.ids, NAMES[queries.ids])
    assert learner.classifier.score(ROWS, NAMES) > 0.6
    assert type(learner.classifier) is type(classifier)


def test_budget_tolerance_and_batch_follow_the_paper():
    learner = Learner(Pool(ROWS), budget=100, tolerance=1 / 32, strategy="aced")
    assert learner.batch_size == 20  # T / log2(1/ε)
    for _ in range(5):
        ids = learner.ask().ids
        learner.tell(ids, LABELS[ids])
    assert len(learner.ask()) == 0
    for shift in ("pool", "labels"):
        floor, rows = make(tolerance=0.25, strategy=Aced(estimator="naive", shift=shift)), []
        for _ in range(5):
            rows.append(200 if shift == "pool" else floor.labels_known or 200)
            ids = floor.ask().ids
            floor.tell(ids, LABELS[ids])
        shares = np.array([entry["shift"] for entry in floor.history]) / rows
        assert shares.tolist() == [1, 0.5, 0.25, 0.25, 0.25]
    assert [entry["shift"] for entry in learner.history] == [200] + 4 * [200 / 32]


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_tiny_pools(rows):
    learner = Learner(Pool(ROWS[:rows]))
    while queries := learner.ask():
        learner.tell(queries.ids, LABELS[queries.ids])
    assert learner.labels_known == rows


def test_fewer_rows_than_features_and_constant_columns():
    rows = np.hstack([ROWS[:30], np.zeros((30, 100)), np.ones((30, 3))])
    learner = Learner(Pool(rows), budget=20, batch_size=5)
    while queries := learner.ask():
        learner.tell(queries.ids, LABELS[queries.ids])
    assert learner.labels_known == 20


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budget": 201}, "budget is 201, but the pool has 200 rows"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"budget": 10.5}, "budget must be a whole number"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"batch_size": 50, "budget": 20}, "batch_size is 50, but the budget is 20"),
        ({"tolerance": 1.0}, "tolerance must be"),
        ({"tolerance": -0.1}, "tolerance must be"),
        ({"l2": -1}, "l2 must be"),
        ({"l2": float("nan")}, "l2 must be"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"classes": ["a"]}, "classes must be at least two different values"),
        ({"classes": ["a", "a"]}, "classes: 'a' is given twice"),
        ({"classes": "ab"}, "classes must be a list"),
        ({"classes": 5}, "classes must be a list"),
        ({"tolerance": "a"}, "tolerance must be"),
        ({"l2": "a"}, "l2 must be"),
        ({"threads": "a"}, "threads must be a whole number"),
        ({"strategy": None}, "strategy must be one of"),
        ({"strategy": Aced}, "strategy must be one of"),
        ({"classifier": SVC}, "classifier must be a scikit-learn classifier object, got SVC"),
        ({"classes": ["a", 1]}, "of one kind"),
        ({"classifier": StandardScaler()}, "classifier must be a scikit-learn classifier"),
        ({"classifier": "tree"}, "classifier must be a scikit-learn classifier"),
        ({"strategy": "guess"}, "strategy must be one of"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        make(**arguments)


@pytest.mark.parametrize(
    ("ids", "labels", "sentence"),
    [
        ([999], ["a"], "999 is not in the pool"),
        ([1, 2], ["a"], "1 labels for 2 ids"),
        ([1, 2, 3], ["a", "b", None], "labels.2. is missing"),
        ([1, 1], ["a", "b"], "two different labels in one call"),
        ([1], [None], "labels.0. is missing"),
        ([1], [float("nan")], "labels.0. is missing"),
        ([1], [["a"]], "must be a string"),
        ([[1], [2, 3]], ["a", "b"], "ids must be a flat list"),
        ([True, False], ["a", "b"], "ids must be ids of rows"),
        ([1], [0.5], "is 0.5; use strings, bools or whole numbers"),
        ([1, 2], ["a", 2], "of one kind"),
    ],
)
def test_bad_labels_get_one_sentence_and_change_nothing(ids, labels, sentence):
    learner = make()
    with pytest.raises(InvalidInput, match=sentence):
        learner.tell(ids, labels)
    assert learner.labels_known == 0
    assert learner.classes == []


def test_labels_outside_the_given_classes_are_refused():
    with pytest.raises(InvalidInput, match="'maybe', which is not one of the classes 'yes' and 'no'"):
        make(classes=["yes", "no"]).tell([0], ["maybe"])


def test_what_a_pool_is_made_of_may_be_passed_for_one():
    runs = [Learner(pool, seed=1, batch_size=6).ask().ids.tolist() for pool in (ROWS, Pool(ROWS))]
    assert runs[0] == runs[1]
    with pytest.raises(InvalidInput, match="rows must be two-dimensional"):
        Learner([1.0, 2.0])


def test_a_mistyped_class_can_be_corrected():
    learner = make()
    learner.tell([1], "catt")
    learner.tell([2], "dog")
    learner.tell([3], "cat")
    assert learner.classes == ["cat", "catt", "dog"]
    learner.tell([1], "cat", overwrite=True)
    assert learner.classes == ["cat", "dog"]
    learner.tell([3, 2], ["cat", "cat"], overwrite=True)
    learner.tell([4], "ant")
    assert learner.classes == ["ant", "cat"]
    assert learner.labelled()[1].tolist() == ["cat", "cat", "cat", "ant"]


def test_labels_from_elsewhere_do_not_use_up_the_budget():
    learner = make(budget=20)
    learner.tell(np.arange(30), LABELS[:30])
    asked = 0
    while queries := learner.ask():
        learner.tell(queries.ids, LABELS[queries.ids])
        asked += len(queries)
    assert asked == 20
    assert learner.labels_known == 50


def test_one_strategy_object_serves_many_learners():
    strategy = Aced(solver=FixedPoint(draws=12))
    first = make(strategy=strategy).ask().ids
    Learner(Pool(ROWS[:50]), strategy=strategy).ask()
    np.testing.assert_array_equal(make(strategy=strategy).ask().ids, first)


def test_random_classifiers_are_reproducible():
    runs = []
    for _ in range(2):
        learner = make(strategy="margin", classifier=RandomForestClassifier(5), budget=30)
        ids = []
        while queries := learner.ask():
            learner.tell(queries.ids, LABELS[queries.ids])
            ids.append(queries.ids)
        runs.append(np.concatenate(ids))
    np.testing.assert_array_equal(*runs)


def test_a_strategy_without_more_to_ask_ends_the_loop():
    class Empty(Passive):
        def plan(self, view, size, rng):
            return Plan(np.zeros(0, np.int64), np.zeros(0), {"size": np.int64(size)})

    learner = make(strategy=Empty())
    assert len(learner.ask()) == 0
    assert learner.history[0]["size"] == 10


@pytest.mark.parametrize(("strategy", "what", "rounds"), [("aced", "fold", 6), ("blend", "each", 3)])
def test_an_interrupted_ask_leaves_the_learner_as_it_was(monkeypatch, strategy, what, rounds):
    """Whenever it is interrupted, the next call asks for what an undisturbed run asks for."""
    disturbed, undisturbed = make(seed=3, strategy=strategy), make(seed=3, strategy=strategy)
    if strategy == "blend":  # its first batch looks at no row
        for learner in (disturbed, undisturbed):
            ids = learner.ask().ids
            learner.tell(ids, LABELS[ids])
    for place in range(rounds):
        calls, whole = iter(range(100)), getattr(Workers, what)

        def interrupt(*args, place=place, calls=calls, run=whole):
            if next(calls) == (3 * place if what == "fold" else 0):
                raise KeyboardInterrupt
            return run(*args)

        with monkeypatch.context() as patch:
            patch.setattr(Workers, what, interrupt)
            with pytest.raises(KeyboardInterrupt):
                disturbed.ask()
        a, b = disturbed.ask(), undisturbed.ask()
        np.testing.assert_array_equal(a.ids, b.ids)
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
        for learner in (disturbed, undisturbed):
            learner.tell(a.ids, LABELS[a.ids])


def test_a_fresh_ask_draws_just_what_is_wanted_and_leaves_nothing_waiting():
    learner = make(seed=1)
    learner.ask(4)  # six more wait
    queries = learner.ask(3, fresh=True)
    assert [entry["drawn"] for entry in learner.history] == [10, 3]
    assert len(queries) == 3
    learner.ask(1)
    assert len(learner.history) == 3


def test_excluded_rows_are_neither_pending_nor_brought_back_and_can_be_told():
    learner = make(budget=200)
    asked = learner.ask(5).ids
    left_out = np.setdiff1d(np.arange(200), asked)[:50]
    learner.exclude(left_out)
    learner.exclude(asked[:1])
    assert set(learner.pending) == set(asked[1:])
    assert set(learner.excluded) == {*left_out, asked[0]}
    learner.release(left_out)
    assert set(learner.excluded) == {*left_out, asked[0]}
    assert learner.remaining == 200 - 50 - 5
    learner.tell(left_out[0], 1)
    assert left_out[0] not in learner.excluded
    assert np.isnan(learner.labelled()[2]).all()
    rest = []
    while queries := learner.ask():
        rest += queries.ids.tolist()
    assert not set(rest) & {*left_out, asked[0]}
    assert len(rest) == 145


def test_the_repr_says_how_things_stand():
    learner = make(budget=30)
    ids = learner.ask().ids
    learner.tell(ids[:7], NAMES[ids[:7]])
    assert repr(learner) == (
        "Learner(blend on 200 rows x 4 features: 7 labels known, 3 pending, 20 may still be asked for, "
        "10 at a time; classes: 'no' and 'yes')"
    )


# -- saving ---------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["aced", "aced-paper", "passive", "margin"])
@pytest.mark.parametrize("asked", [0, 4, 10])
def test_a_saved_learner_continues_to_the_bit(tmp_path, strategy, asked):
    learner = make(strategy=strategy, seed=2, l2=0.5)
    for _ in range(2):
        ids = learner.ask().ids
        learner.tell(ids, NAMES[ids])
    if asked:
        learner.ask(asked)  # stop in the middle of a batch
    learner.save(tmp_path / "state.npz")
    other = Learner.load(tmp_path / "state.npz", Pool(ROWS), threads=1)
    assert other.history == learner.history
    np.testing.assert_array_equal(other.pending, learner.pending)
    if strategy.startswith("aced"):
        np.testing.assert_array_equal(other.incumbent, learner.incumbent)
    for _ in range(3):
        a, b = learner.ask(), other.ask()
        np.testing.assert_array_equal(a.ids, b.ids)
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
        learner.tell(a.ids, NAMES[a.ids])
        other.tell(b.ids, NAMES[b.ids])
    np.testing.assert_array_equal(learner.classifier.coef_, other.classifier.coef_)
    if strategy.startswith("aced"):
        np.testing.assert_array_equal(learner.design, other.design)
        np.testing.assert_array_equal(learner.incumbent, other.incumbent)


def test_objects_of_the_users_own_are_asked_for_on_loading(tmp_path):
    path = tmp_path / "state.npz"
    solver = FixedPoint(draws=12)
    learner = make(strategy=Aced(solver=solver), classifier=DecisionTreeClassifier(random_state=0))
    ids = learner.ask().ids
    learner.tell(ids, LABELS[ids])
    learner.save(path)
    with pytest.raises(InvalidInput, match="strategy: "):
        Learner.load(path, Pool(ROWS))
    with pytest.raises(InvalidInput, match="classifier: "):
        Learner.load(path, Pool(ROWS), strategy=Aced(solver=solver))
    other = Learner.load(
        path, Pool(ROWS), strategy=Aced(solver=solver), classifier=DecisionTreeClassifier(random_state=0)
    )
    np.testing.assert_array_equal(other.ask().ids, learner.ask().ids)


def test_saving_never_leaves_half_a_file(tmp_path, monkeypatch):
    path = tmp_path / "state.npz"
    learner = make()
    learner.tell([0], [1])
    learner.save(path)
    before = path.read_bytes()
    learner.tell([1], [0])
    monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        learner.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_learners_get_one_sentence(tmp_path):
    pool = Pool(ROWS)
    with pytest.raises(InvalidInput, match="there is no file"):
        Learner.load(tmp_path / "none.npz", pool)
    for content in (b"", b"hello", b"PK\x03\x04broken"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(InvalidInput, match="is not a saved learner"):
            Learner.load(tmp_path / "bad.npz", pool)
    np.savez(tmp_path / "other.npz", X=np.eye(2))
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(tmp_path / "other.npz", pool)
    np.save(tmp_path / "array.npy", np.eye(2))
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(tmp_path / "array.npy", pool)
    np.savez(tmp_path / "part.npz", meta=np.frombuffer(b'{"format": 1}', dtype=np.uint8))
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(tmp_path / "part.npz", pool)
    with pytest.raises(InvalidInput, match="there is no folder"):
        make().save(tmp_path / "no" / "folder.npz")
    with pytest.raises(InvalidInput, match="is a folder"):
        make().save(tmp_path)
    with pytest.raises(InvalidInput, match="is not a saved learner"):
        Learner.load(tmp_path / "part.npz", ROWS)


def test_the_pool_must_be_the_same(tmp_path):
    make().save(tmp_path / "state.npz")
    with pytest.raises(InvalidInput, match="not the pool"):
        Learner.load(tmp_path / "state.npz", Pool(ROWS[:-1]))


@pytest.mark.parametrize("kind", [RidgeClassifier, RidgeClassifierCV])
@pytest.mark.parametrize("intercept", [True, False])
def test_margin_takes_classifiers_whose_coefficients_are_one_vector(kind, intercept):
    learner = make(strategy="margin", classifier=kind(fit_intercept=intercept))
    for _ in range(2):
        ids = learner.ask().ids
        learner.tell(ids, LABELS[ids])
    told = learner.labelled()[0]
    model = kind(fit_intercept=intercept).fit(ROWS[told], LABELS[told])
    assert np.ndim(model.coef_) == 1
    nearness = np.abs(model.decision_function(ROWS))
    nearness[told] = np.inf
    assert set(learner.ask().ids) == set(np.argsort(nearness)[:10])
