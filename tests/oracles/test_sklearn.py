import numpy as np

from aced.oracles import SklearnOracle, argmax
from aced.pool import Pool
from tests.helpers import blobs


def test_sklearn_oracle_is_scikit_learn():
    from sklearn.tree import DecisionTreeClassifier

    rows, _ = blobs(n=200, p=3)
    v = np.random.default_rng(0).standard_normal((2, 200))
    labels, _ = argmax(SklearnOracle(Pool(rows), DecisionTreeClassifier(max_depth=3, random_state=0)), v)
    for one, h in zip(v, labels, strict=True):
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        tree.fit(rows, one > 0, sample_weight=np.abs(one.astype(np.float32)))
        proba = tree.predict_proba(rows)[:, 1]
        np.testing.assert_array_equal(h[proba != 0.5], (proba > 0.5)[proba != 0.5])
