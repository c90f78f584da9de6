import numpy as np
import pytest

from aced import InvalidInput
from aced.oracles import FiniteOracle, GaussianNoise, SklearnOracle, Weights, _weights, value
from aced.pool import Pool


def test_noise_is_standard_normal_and_a_function_of_the_seed(monkeypatch):
    """Mean and variance of 64 x 3000 draws within 5 standard errors (false alarm 1e-6)."""
    pool = Pool(np.zeros((3000, 1)) + np.arange(3000)[:, None])
    noise = GaussianNoise(pool, 64, seed=4)
    blocks = [noise.block(j) for j in range(pool.blocks)]
    zeta = np.concatenate(blocks).astype(float)
    assert abs(zeta.mean()) < 5 / np.sqrt(zeta.size)
    assert abs(zeta.var() - 1) < 5 * np.sqrt(2 / zeta.size)
    monkeypatch.setattr(_weights, "CACHE_BYTES", 0)  # drawn anew on each pass
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
    with pytest.raises(InvalidInput, match="only 0 and 1"):
        FiniteOracle(pool, np.full((2, 4), 2))
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(InvalidInput, match="sample_weight"):
        SklearnOracle(pool, KNeighborsClassifier())
