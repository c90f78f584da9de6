import numpy as np
import pytest

from aced.oracles._accelerated import Accelerated


@pytest.mark.parametrize("curvature", [0.5, 1.0, 30.0])
def test_steps_reach_the_maximum_though_the_curvature_is_not_that_of_h(curvature):
    """Maxima of three concave parabolas, H the identity: at 30 whole steps would run away."""
    rng = np.random.default_rng(0)
    peaks = rng.standard_normal((3, 4))
    walk = Accelerated(lambda gradient: gradient, np.zeros((3, 4)), momentum=0.5, draws=3)
    for _ in range(400):
        walk.on(curvature * (peaks - walk.point))
    np.testing.assert_allclose(walk.point, peaks, atol=1e-6)


def test_only_the_draw_whose_gradient_grew_goes_back_and_halves_its_step():
    curvature = np.array([[0.5], [3.0]])
    walk = Accelerated(lambda gradient: gradient, np.ones((2, 1)), momentum=0.0, draws=2)
    walk.on(-curvature * walk.point)
    np.testing.assert_allclose(walk.point, [[0.5], [-2.0]])
    walk.on(-curvature * walk.point)
    np.testing.assert_allclose(walk.point, [[0.25], [1 - 3 / 2]])


def test_the_classes_of_a_draw_go_back_together():
    """Two draws with two classes each: the first draw's second class alone would run away."""
    curvature = np.array([[0.5], [0.5], [3.0], [0.5]])  # class by class, draw by draw
    walk = Accelerated(lambda gradient: gradient, np.ones((4, 1)), momentum=0.0, draws=2)
    walk.on(-curvature * walk.point)
    walk.on(-curvature * walk.point)
    np.testing.assert_allclose(walk.point, [[1 - 0.5 / 2], [0.25], [1 - 3 / 2], [0.25]])
