import numpy as np
import pytest

from aced import InvalidInput
from aced.oracles import FiniteOracle, GaussianNoise, SklearnOracle, Weights, _noise, value
from aced.pool import Pool


def test_noise_is_standard_normal_and_a_function_of_the_seed(monkeypatch):
    """Mean and variance of 64 x 3000 draws within 5 standard errors (false alarm 1e-6)."""
    pool = Pool(np.zeros((3000, 1)) + np.arange(3000)[:, None])
    noise = GaussianNoise(pool, 64, seed=4)
    blocks = [noise.block(j) for j in range(pool.blocks)]
    zeta = np.concatenate(blocks).astype(float)
    assert abs(zeta.mean()) < 5 / np.sqrt(zeta.size)
    assert abs(zeta.var() - 1) < 5 * np.sqrt(2 / zeta.size)
    monkeypatch.setattr(_noise, "CACHE_BYTES", 0)  # drawn anew on each pass
    again = GaussianNoise(pool, 64, seed=4)
    np.testing.assert_array_equal(again.block(1), blocks[1])
    np.testing.assert_array_equal(again.block(1), blocks[1])
    assert (GaussianNoise(pool, 64, seed=5).block(1) != blocks[1]).all()


def test_growth_is_the_folded_normal_mean():
    """Against 200 000 simulated draws, to 1 %."""
    pool = Pool(np.arange(3.0)[:, None])
    mu, scale = np.array([1, -1, 0], np.float32), np.array([2, 5, 9], np.float32)
    weights = Weights(pool, mu, scale, GaussianNoise(pool, 2, seed=0))
    zeta = np.random.default_rng(0).standard_normal((200_000, 2))
    for r in (0.0, 1.0, 4.0, 50.0):
        simulated = np.abs(r * mu[:2] - zeta * scale[:2]).mean()
        assert weights.growth(r) == pytest.approx(simulated / weights.base[:2].mean(), rel=0.01)


@pytest.mark.parametrize("classes", [3, 6])
def test_noise_is_that_of_classes_with_variance_one_half_relative_to_the_first(classes):
    """Covariances of 3000 x 400 draws within 5 standard errors, at most 5 sqrt(2 / 1.2e6)."""
    pool = Pool(np.arange(3000.0)[:, None])
    noise = GaussianNoise(pool, 400, 1, classes)
    zeta = np.concatenate([noise.block(j) for j in range(pool.blocks)])
    by_class = zeta.reshape(3000, classes - 1, 400).transpose(1, 0, 2).reshape(classes - 1, -1)
    expected = (np.eye(classes - 1) + 1) / 2
    np.testing.assert_allclose(np.cov(by_class.astype(float)), expected, atol=5 * np.sqrt(2 / 1.2e6))


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_mean_total_weight_is_that_of_simulated_noise(classes):
    """E of Σ v - K min v over 200 000 draws of K normals with variance ½, to 1 %."""
    pool = Pool(np.arange(4.0)[:, None])
    z = np.random.default_rng(0).standard_normal((200_000, classes)) / np.sqrt(2)
    simulated = (z.sum(axis=1) - classes * z.min(axis=1)).mean()
    assert GaussianNoise(pool, 2, 0, classes).mean_weight()[0] == pytest.approx(simulated, rel=0.01)
    relative = z[:1000, None, 1:] - z[:1000, None, :1]
    given = Weights.given(Pool([[0.0], [1.0]]), np.repeat(relative, 2, axis=1))
    expected = (z[:1000].sum(axis=1) - classes * z[:1000].min(axis=1)).mean()
    assert given.base[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("classes", [3, 8])
def test_growth_for_many_classes_is_near_the_simulated_one(classes):
    """The total weight of r μ̂ - s ζ relative to that of s ζ: exact at both ends, to 15 % between."""
    pool = Pool(np.arange(5.0)[:, None])
    mu = np.random.default_rng(1).uniform(-1, 1, (5, classes - 1)).astype(np.float32)
    scale = np.array([1, 2, 3, 4, 5], np.float32)
    weights = Weights(pool, mu, scale, GaussianNoise(pool, 2, 0, classes))
    z = np.random.default_rng(0).standard_normal((20_000, 5, classes)) / np.sqrt(2)
    full = np.column_stack([np.zeros(5), mu])
    for r, tolerance in ((0.0, 0.02), (2.0, 0.15), (8.0, 0.15), (1000.0, 0.02)):
        v = r * full - z * scale[:, None]
        simulated = (v.sum(axis=2) - classes * v.min(axis=2)).mean()
        assert weights.growth(r) * weights.base.mean() == pytest.approx(simulated, rel=tolerance)


def test_value_is_linear_in_the_tally():
    tally = np.array([[2.0, 3.0], [5.0, -1.0]])
    np.testing.assert_allclose(value(np.array([10.0, 0.0]), tally), [15.0, 1.0])


def test_bad_weights_and_classes_get_one_sentence():
    pool = Pool(np.eye(4))
    with pytest.raises(InvalidInput, match="one column per row"):
        Weights.given(pool, np.ones((2, 3)))
    with pytest.raises(InvalidInput, match="finite"):
        Weights.given(pool, np.full(4, np.nan))
    with pytest.raises(InvalidInput, match="shape"):
        FiniteOracle(pool, np.ones((2, 3)))
    for table in (np.full((2, 4), -1), np.full((2, 4), 0.5), np.full((2, 4), 300), np.full((2, 4), "a")):
        with pytest.raises(InvalidInput, match="codes of classes"):
            FiniteOracle(pool, table)
    with pytest.raises(InvalidInput, match="classes must be at least 3, got 2"):
        FiniteOracle(pool, np.full((2, 4), 2), classes=2)
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(InvalidInput, match="sample_weight"):
        SklearnOracle(pool, KNeighborsClassifier())
