import numpy as np

from aced.oracles import LinearOracle
from aced.oracles._geometry import fold
from aced.pool import Pool


def test_weights_go_to_standardised_coordinates_and_back():
    rng = np.random.default_rng(0)
    rows = (3 + rng.standard_normal((60, 5)) * [1e-3, 1, 10, 0, 1e3]).astype(np.float32)
    geometry = LinearOracle(Pool(rows)).geometry
    wide = rows.astype(float)
    spread = np.where(np.arange(5) == 3, np.inf, wide.std(axis=0))  # the fourth column is constant
    x = np.column_stack([(wide - wide.mean(axis=0)) / spread, np.ones(60)])
    points = rng.standard_normal((3, 6))
    unfolded = geometry.unfold(points)
    np.testing.assert_allclose(rows @ unfolded[:, :-1].T + unfolded[:, -1], x @ points.T, atol=2e-3)
    residual = rng.standard_normal((60, 3))
    gradient = geometry.fold_gradient(wide.T @ residual, residual.sum(axis=0))
    np.testing.assert_allclose(gradient, residual.T @ x, rtol=1e-6, atol=1e-6)
    points[:, 3] = 0
    np.testing.assert_allclose(fold(geometry, unfolded[1]), points[1], rtol=1e-4, atol=1e-4)
