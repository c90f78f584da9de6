import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from aced.oracles import FiniteOracle, LinearOracle, SklearnOracle
from aced.pool import Pool
from aced.testing import check_oracle, oracle_checks
from tests.helpers import blobs


def _finite(pool, workers):
    table = np.random.default_rng(5).random((300, len(pool))) < 0.5
    return FiniteOracle(pool, table, workers=workers)


MAKERS = {
    "linear": lambda pool, workers: LinearOracle(pool, workers=workers),
    "linear, many steps": lambda pool, workers: LinearOracle(pool, steps=20, workers=workers),
    "linear, three classes": lambda pool, workers: LinearOracle(
        pool, classes=3, steps=5, workers=workers
    ),
    "linear, five classes": lambda pool, workers: LinearOracle(pool, classes=5, workers=workers),
    "linear, seven classes": lambda pool, workers: LinearOracle(
        pool, classes=7, steps=20, workers=workers
    ),
    "finite": _finite,
    "finite, four classes": lambda pool, workers: FiniteOracle(
        pool, np.random.default_rng(5).integers(0, 4, (300, len(pool))), workers=workers
    ),
    "sklearn": lambda pool, workers: SklearnOracle(pool, workers=workers),
    "sklearn, penalised": lambda pool, workers: SklearnOracle(
        pool, LogisticRegression(C=1e8, tol=1e-8, max_iter=1000), workers=workers
    ),
    "sklearn, four classes": lambda pool, workers: SklearnOracle(pool, classes=4, workers=workers),
    "sklearn tree": lambda pool, workers: SklearnOracle(
        pool, DecisionTreeClassifier(max_depth=4), workers=workers
    ),
    "sklearn forest": lambda pool, workers: SklearnOracle(
        pool, RandomForestClassifier(10, max_depth=12), workers=workers
    ),
}


POOL = Pool(blobs(n=2300, p=5)[0])  # three blocks: the order of adding matters


@pytest.mark.parametrize("check", oracle_checks(), ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MAKERS)
def test_conformance(name, check):
    check(MAKERS[name], POOL, 0)


def test_a_broken_oracle_fails_the_suite_and_the_check_is_named():
    class Wrong(FiniteOracle):
        def prepare(self, weights):
            maximiser = super().prepare(weights)
            answer = maximiser.maximise

            def first_only(r, anchor=None):
                found = answer(r, anchor)[0]
                found.hypotheses.which[:] = 0
                return [found]

            maximiser.maximise = first_only
            return maximiser

    rows, _ = blobs(n=60, p=3)
    table = np.random.default_rng(5).random((30, 60)) < 0.5
    with pytest.raises(
        AssertionError, match=r"check_values_are_the_weights_of_the_labels: .*Σ_i v_\{i,h\(i\)\}"
    ):
        check_oracle(lambda pool, workers: Wrong(pool, table, workers=workers), Pool(rows))
