import numpy as np
import scipy.optimize
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from aced.design import waterfill


@given(arrays(float, st.integers(1, 8), elements=st.floats(-1, 2)), st.floats(0.01, 3))
def test_it_solves_the_linear_program(deficits, mass):
    q = waterfill(deficits, mass)
    assert (q >= 0).all()
    np.testing.assert_allclose(q.sum(), mass, rtol=1e-9)
    n = len(deficits)
    # min t subject to deficits - q <= t, sum q = mass, q >= 0 (t may be negative)
    program = scipy.optimize.linprog(
        np.r_[np.zeros(n), 1],
        A_ub=np.c_[-np.eye(n), -np.ones(n)],
        b_ub=-deficits,
        A_eq=np.r_[np.ones(n), 0][None],
        b_eq=[mass],
        bounds=[(0, None)] * n + [(None, None)],
    )
    np.testing.assert_allclose((deficits - q).max(), program.fun, atol=1e-7)


def test_rounds_add_up_to_the_latest_design():
    """Once no row was drawn too often, the draws so far are exactly k λ."""
    rng = np.random.default_rng(0)
    spent = np.zeros(20)
    for k in range(1, 30):
        lam = rng.dirichlet(50 * np.ones(20))
        spent += waterfill(k * lam - spent)
        assert np.isclose(spent.sum(), k)
    stable = lam
    for k in range(30, 60):
        spent += waterfill(k * stable - spent)
    np.testing.assert_allclose(spent, 59 * stable, rtol=1e-9)
