import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from aced import InvalidInput, Learner
from aced._workers import Workers
from aced.design import Dinkelbach, FixedPoint, Incumbent, Problem, evaluate, initial_incumbent
from aced.oracles import (
    GaussianNoise,
    LinearOracle,
    SklearnOracle,
    Weights,
    _sparse_kernels as kernels,
    argmax,
    best_per_draw,
    labels_of,
    value,
)
from aced.oracles._geometry import fold
from aced.pool import Pool
from aced.strategies import (
    Aced,
    ActiveCover,
    Badge,
    Cal,
    Committee,
    CoreSet,
    Density,
    Iwal,
    Margin,
    VowpalCover,
)
from aced.testing import oracle_checks, strategy_checks

FEATURES = 4200  # above 4096, so that a pool of them stays sparse


def texts(n, words=FEATURES, length=40, topics=6, seed=0):
    """Tf-idf rows of FEATURES columns, the first ``words`` in use, with their topics.

    Frequencies fall as 1 / rank; half of a text's words are those of its topic.
    """
    rng = np.random.default_rng(seed)
    common = 1 / (np.arange(words) + 2.7)
    own = common * rng.gamma(0.3, 1, (topics, words))
    topic = rng.integers(topics, size=n)
    chosen = np.stack([common / common.sum(), *(own / own.sum(axis=1, keepdims=True))])
    rows = np.repeat(np.arange(n), length)
    which = np.where(rng.random(len(rows)) < 0.5, topic[rows] + 1, 0)
    columns = np.empty(len(rows), np.int64)
    for k, chances in enumerate(chosen):
        columns[which == k] = rng.choice(words, (which == k).sum(), p=chances)
    counts = scipy.sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, FEATURES))
    counts.sum_duplicates()
    known = np.bincount(counts.indices, minlength=FEATURES)
    counts.data = (1 + np.log(counts.data)) * np.log((1 + n) / (1 + known[counts.indices]) + 1)
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return (scipy.sparse.diags(1 / lengths) @ counts).tocsr().astype(np.float32), topic


def sparse_pool(*args, **kwargs):
    rows, _ = texts(*args, **kwargs)
    pool = Pool(rows)
    assert pool.sparse
    return pool


def standardised(oracle):
    """The rows that the oracle means, in full, the last column of ones."""
    geometry = oracle.geometry
    rows = (oracle.pool.rows().toarray().astype(float) - geometry.centre) * geometry.inverse_spread
    return np.column_stack([rows, np.ones(len(rows))])


def gaussian_values(oracle, vectors):
    weights = Weights.given(oracle.pool, vectors)
    r = np.zeros(len(vectors), np.float32)
    return value(r, best_per_draw(r, oracle.prepare(weights).maximise(r), oracle).tally)


# -- products ---------------------------------------------------------------------


def test_products_against_scipy():
    rng = np.random.default_rng(0)
    block = scipy.sparse.random(50, 30, 0.2, format="csr", dtype=np.float32, random_state=1)
    block = scipy.sparse.vstack([block, scipy.sparse.csr_matrix((3, 30))]).tocsr().astype(np.float32)
    wide, tall = rng.standard_normal((30, 5)), rng.standard_normal((53, 5))
    for order in "CF":
        ours = kernels.times(block, np.asarray(wide, np.float32, order=order))
        np.testing.assert_allclose(ours, block @ wide, rtol=1e-4, atol=1e-5)
        ours = kernels.transposed_times(block, np.asarray(tall, np.float32, order=order))
        np.testing.assert_allclose(ours, block.T @ tall, rtol=1e-4, atol=1e-5)


def test_weights_go_to_standardised_coordinates_and_back():
    oracle = LinearOracle(sparse_pool(60))
    x = standardised(oracle)
    rng = np.random.default_rng(0)
    points = rng.standard_normal((3, FEATURES + 1)).astype(np.float32)
    unfolded = oracle.geometry.unfold(points)
    margins = oracle.pool.rows() @ unfolded[:, :-1].T + unfolded[:, -1]
    np.testing.assert_allclose(margins, x @ points.T, rtol=1e-3, atol=1e-2)
    residual = rng.standard_normal((60, 3))
    gradient = oracle.geometry.fold_gradient(oracle.pool.rows().T @ residual, residual.sum(axis=0))
    np.testing.assert_allclose(gradient, residual.T @ x, rtol=1e-4, atol=1e-4)
    again = fold(oracle.geometry, unfolded[1])
    live = np.append(oracle.geometry.inverse_spread > 0, True)
    np.testing.assert_allclose(again[live], points[1][live], rtol=1e-3, atol=1e-3)


# -- H ------------------------------------------------------------------------------


USED = np.append(np.arange(300), FEATURES)  # columns with words, and the bias


@pytest.fixture(scope="module")
def family():
    """An oracle, weights with labelled rows, the rows' USED columns and ¼ E|v| at r = 0."""
    rows, topic = texts(500, words=300)
    oracle = LinearOracle(Pool(rows), workers=Workers(2))
    mu = np.where(np.arange(500) < 60, np.where(topic % 2 == 0, 1, -1), 0).astype(np.float32)
    scale = (0.5 + np.random.default_rng(0).random(500)).astype(np.float32)
    weights = Weights(oracle.pool, mu, scale, GaussianNoise(oracle.pool, 4, seed=1))
    return oracle, weights, standardised(oracle)[:, USED], weights.base / 4


@pytest.mark.parametrize("r", [0.0, 20.0])
def test_h_is_right_along_its_leading_directions_and_on_its_diagonal(family, r):
    oracle, weights, x, quarter = family
    metric = oracle.prepare(weights).metric
    form = metric.at(r)
    c = np.where(weights.coupled, weights.growth(r), 1.0) * quarter
    np.testing.assert_allclose(form.weight, c)
    h = x.T @ (c[:, None] * x)
    diagonal = np.diag(h)
    ratio = form.diagonal[USED] * diagonal  # 1 / σ
    np.testing.assert_allclose(ratio, ratio.mean(), rtol=1e-6)
    assert np.count_nonzero(form.diagonal) == len(USED)
    root = diagonal**-0.5
    values, vectors = np.linalg.eigh(root[:, None] * h * root)
    leading = (root[:, None] * vectors[:, -4:]).T
    gradients = np.zeros((4, FEATURES + 1), np.float32)
    gradients[:, USED] = leading @ h
    miss = metric.solve(form, gradients)[:, USED] - leading
    lost, whole = (np.einsum("bp,pq,bq->b", w, h, w) for w in (miss, leading))
    assert (lost < 0.15**2 * whole).all()
    assert 1 / ratio.mean() == pytest.approx(values[: -len(form.gains)].mean(), rel=0.05)


def test_h_is_kept_while_the_weights_of_labelled_rows_are_alike(family):
    oracle, weights, _, _ = family
    metric = oracle.prepare(weights).metric
    first = metric.at(0.0)
    assert metric.at(0.1) is first
    assert metric.at(100.0) is not first


def test_sizes_are_those_of_h(family):
    oracle, weights, x, quarter = family
    points = np.random.default_rng(3).standard_normal((4, FEATURES + 1))
    exact = quarter @ np.square(x @ points[:, USED].T)
    np.testing.assert_allclose(oracle.prepare(weights).metric.sizes(points), exact, rtol=1e-3)


def test_leverages_follow_the_exact_ones_and_their_bound(family):
    oracle, weights, x, quarter = family
    maximiser = oracle.prepare(weights)
    ours = maximiser.leverage(0.0)
    h = x.T @ (quarter[:, None] * x)
    exact = np.einsum("ij,ij->i", x, np.linalg.solve(h, x.T).T)
    assert (ours * quarter < 1).all()
    assert np.corrcoef(np.log(ours), np.log(exact))[0, 1] > 0.9
    assert 0.5 < np.median(ours / exact) < 2
    elsewhere = maximiser.leverage(0.0, Pool(oracle.pool.rows(np.arange(100, 140))))
    alone = (ours / (1 - quarter * ours))[100:140]
    np.testing.assert_allclose(elsewhere, alone / (1 + quarter.mean() * alone), rtol=1e-4)


# -- values ---------------------------------------------------------------------------


def converged(rows, vectors):
    """Values of scikit-learn's unpenalised logistic fits, on standardised columns."""
    dense = rows.toarray().astype(float)
    dense = dense[:, dense.std(axis=0) > 0]
    dense = (dense - dense.mean(axis=0)) / dense.std(axis=0)
    found = []
    for v in vectors:
        fit = LogisticRegression(C=1e6, tol=1e-6, max_iter=300, solver="newton-cholesky")
        fit.fit(dense, v > 0, sample_weight=np.abs(v))
        found.append(v @ fit.predict(dense))
    return np.array(found)


@pytest.mark.parametrize("kind", ["noise", "labels"])
def test_values_match_the_converged_logistic_fit(kind):
    """Not separable: 150 words, 1500 texts. Mean of Σ v h within 2 % of scikit-learn's."""
    rows, topic = texts(1500, words=150)
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((8, 1500))
    if kind == "labels":
        vectors += 3 * np.where(topic % 2 == 0, 1, -1) * (rng.random((8, 1500)) < 0.3)
    ours, theirs = gaussian_values(LinearOracle(Pool(rows)), vectors), converged(rows, vectors)
    assert ours.mean() > 0.98 * theirs.mean()
    assert (ours > 0.95 * theirs).all()


@pytest.mark.parametrize("n", [40, 1200])
def test_more_words_than_texts_are_separated(n):
    v = np.random.default_rng(0).standard_normal((6, n))
    values = gaussian_values(LinearOracle(sparse_pool(n)), v)
    assert (values > 0.985 * np.maximum(v, 0).sum(axis=1)).all()


def test_a_few_labels_are_separated_though_other_rows_weigh_nothing():
    rows, topic = texts(2000)
    v = np.where(np.arange(2000) < 150, np.where(topic % 2 == 0, 1.0, -1.0), 0.0)
    values = gaussian_values(LinearOracle(Pool(rows)), v[None])
    assert values[0] == v[v > 0].sum()


def test_values_near_those_of_the_dense_oracle():
    rows, _ = texts(1500, words=150)
    vectors = np.random.default_rng(1).standard_normal((8, 1500))
    dense = gaussian_values(LinearOracle(Pool(rows.toarray()[:, :150]), steps=8), vectors)
    assert gaussian_values(LinearOracle(Pool(rows)), vectors).mean() > 0.98 * dense.mean()


def test_a_step_too_far_is_taken_back():
    """One draw has all its weight on ten rows that the mean over draws hardly sees."""
    rows, _ = texts(400, words=100)
    heavy = scipy.sparse.diags(np.where(np.arange(400) < 10, 30.0, 1.0)) @ rows
    vectors = np.random.default_rng(1).standard_normal((20, 400))
    vectors[0] = 1e-3 * vectors[0]
    vectors[0, :10] = 500 * np.where(np.arange(10) % 2 == 0, 1, -1)
    oracle = LinearOracle(Pool(heavy.tocsr()), steps=30)
    zero = np.zeros(20, np.float32)
    found = oracle.prepare(Weights.given(oracle.pool, vectors)).maximise(zero)
    for candidate in found:
        assert np.isfinite(candidate.hypotheses.to_array()).all()
    values = value(zero, best_per_draw(zero, found, oracle).tally)
    assert values[0] > 0.98 * np.maximum(vectors[0], 0).sum()
    assert (values > 0).all()


def test_more_steps_do_not_lose():
    pool = sparse_pool(1500, words=600)
    v = np.random.default_rng(0).standard_normal((5, 1500))
    few, many = (gaussian_values(LinearOracle(pool, steps=steps), v) for steps in (2, 12))
    assert (many > few).all()
    assert LinearOracle(pool).steps == 8
    assert LinearOracle(Pool(np.eye(5))).steps == 1
    assert LinearOracle(pool).over(Pool(np.eye(5))).steps == 1


def test_features_by_the_hundred_thousand():
    """p x p numbers would be 149 GiB."""
    rng = np.random.default_rng(0)
    rows = scipy.sparse.random(90, 200_000, 2e-4, format="csr", dtype=np.float32, random_state=2)
    v = rng.standard_normal((3, 90))
    _, values = argmax(LinearOracle(Pool(rows)), v)
    assert (values > 0.998 * np.maximum(v, 0).sum(axis=1)).all()


def test_rows_and_weights_that_say_nothing():
    empty = Pool(scipy.sparse.csr_matrix((20, FEATURES), dtype=np.float32))
    labels, values = argmax(LinearOracle(empty), np.stack([np.ones(20), -np.ones(20), np.zeros(20)]))
    assert labels[0].all()
    assert not labels[1].any()
    np.testing.assert_allclose(values, [20, 0, 0])
    _, values = argmax(LinearOracle(sparse_pool(30)), np.zeros((2, 30)))
    np.testing.assert_allclose(values, 0)
    one = Pool(scipy.sparse.csr_matrix(np.ones((1, FEATURES))))
    assert argmax(LinearOracle(one), np.array([[2.0]]))[1][0] == 2


# -- conformance ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def short_texts():
    return sparse_pool(900, length=25)


@pytest.mark.parametrize("check", oracle_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "make",
    [
        lambda pool, workers: LinearOracle(pool, workers=workers),
        lambda pool, workers: LinearOracle(pool, steps=20, workers=workers),
        lambda pool, workers: SklearnOracle(pool, workers=workers),
    ],
    ids=["linear", "many steps", "sklearn"],
)
def test_oracles_conform(make, check, short_texts):
    check(make, short_texts, 0)


def test_blocks_and_threads_do_not_change_a_design(monkeypatch):
    """Seven blocks of rows and three spans of features, by one thread and by three."""
    monkeypatch.setattr("aced.pool._sparse.Sparse.block_rows", 100)
    monkeypatch.setattr("aced.oracles._sparse_kernels.SPAN", 1700)
    rows, topic = texts(650, words=800)
    mu = np.where(np.arange(650) < 80, np.where(topic % 2 == 0, 1, -1), 0).astype(np.float32)
    pool, designs = Pool(rows), []
    assert pool.blocks == 7
    for threads in (1, 3):
        oracle = LinearOracle(pool, workers=Workers(threads))
        problem = Problem(oracle, mu, 40.0, initial_incumbent(oracle, mu))
        designs.append(FixedPoint(draws=12, rounds=2).solve(problem, np.random.default_rng(0)).lam)
    assert (designs[0] == designs[1]).all()


def test_designs_are_as_good_as_those_of_the_dense_oracle():
    """F of both by the dense oracle over the same fresh draws: within 5 %, the uniform design's 5 %
    above. Four seeds gave 0 to 3 %, and 10 to 12 % for the uniform one."""
    rows, topic = texts(2000, words=120)
    mu = np.where(np.arange(2000) < 700, np.where(topic % 2 == 0, 1, -1), 0).astype(np.float32)
    shift = 2000 * 2.0**-6
    judge = LinearOracle(Pool(rows.toarray()[:, :120]), steps=4)
    best = initial_incumbent(judge, mu)
    values = []
    for pool in (Pool(rows), judge.pool):
        oracle = LinearOracle(pool)
        problem = Problem(oracle, mu, shift, initial_incumbent(oracle, mu))
        lam = FixedPoint(draws=64).solve(problem, np.random.default_rng(1)).lam
        same = Problem(judge, mu, shift, Incumbent.of(judge, best.hypothesis, mu))
        search = Dinkelbach(steps=4, scales=(3.0, 10.0))
        values.append(evaluate(same, lam, 96, np.random.default_rng(2), search)[0])
    assert values[0] < 1.05 * values[1]
    uniform = evaluate(same, same.uniform(), 96, np.random.default_rng(2), search)[0]
    assert uniform > 1.05 * values[0]


def test_hypotheses_are_cut_and_joined():
    oracle = LinearOracle(sparse_pool(100))
    some = np.random.default_rng(0).standard_normal((3, FEATURES + 1)).astype(np.float32)
    whole = oracle.from_array(some)
    joined = oracle.gather([whole.take(np.array([2])), whole.take(np.array([0]))])
    np.testing.assert_array_equal(joined.to_array(), some[[2, 0]])
    expected = (oracle.pool.rows() @ some[:, :-1].T + some[:, -1] > 0).T
    assert (labels_of(oracle, whole) == expected).mean() > 0.999
    assert (labels_of(oracle, joined) == labels_of(oracle, whole)[[2, 0]]).all()


# -- strategies -----------------------------------------------------------------------

STRATEGIES = {
    "aced": lambda: Aced(solver=FixedPoint(draws=12, rounds=2)),
    "margin": Margin,
    "committee": lambda: Committee(members=6),
    "core-set": CoreSet,
    "badge": Badge,
    "density": Density,
}


@pytest.mark.parametrize("check", strategy_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", STRATEGIES)
def test_strategies_conform(name, check):
    rows, topic = texts(180, length=20, topics=2)
    check(STRATEGIES[name], Pool(rows), topic)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Cal, "iwal and cal needs dense rows, and this pool is sparse; use another"),
        (lambda: Iwal(0.01), "iwal and cal needs dense rows, and this pool is sparse; use another"),
        (ActiveCover, "oac needs dense rows, and this pool is sparse; use another"),
        (lambda: ActiveCover(oracular=True), "ora-oac needs dense rows"),
        (lambda: VowpalCover(labels=np.zeros(50)), "oac-vw needs dense rows"),
    ],
)
def test_strategies_that_need_dense_rows_say_so(make, sentence):
    if make.__name__ == "<lambda>" and "oac-vw" in sentence:
        pytest.importorskip("vowpalwabbit")
    learner = Learner(sparse_pool(50), strategy=make())
    with pytest.raises(InvalidInput, match=sentence):
        learner.ask()


def test_iwal_takes_sparse_rows_with_a_classifier_that_does():
    rows, topic = texts(60, length=20, topics=2)
    learner = Learner(Pool(rows), strategy=Iwal(0.01, classifier=DecisionTreeClassifier()))
    queries = learner.ask(8)
    learner.tell(queries.ids, topic[queries.ids])
    assert len(learner.ask(4)) == 4


def test_a_learner_asks_and_learns():
    rows, topic = texts(600, topics=2)
    learner = Learner(
        Pool(rows), strategy=Aced(solver=FixedPoint(draws=16, rounds=2)), budget=120, batch_size=40
    )
    while queries := learner.ask():
        learner.tell(queries.ids, topic[queries.ids])
    assert learner.labels_known == 120
    assert learner.classifier.score(rows, topic) > 0.8
