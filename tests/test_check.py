import numpy as np
import pytest

from aced import InvalidInput
from aced._check import choice, class_count, fraction, positive, probability, whole
from aced.design._fixed_point import FixedPoint
from aced.strategies._committee import Committee
from aced.theory import thresholds


def test_what_is_in_range_comes_back_as_pythons_own_number():
    assert whole("n", np.int8(3), 3) == 3
    assert type(whole("n", np.int64(3), 3)) is int
    assert fraction("tolerance", 0) == 0.0
    assert probability("delta", np.float32(0.5)) == 0.5
    assert positive("c0", np.inf) == np.inf
    assert choice("fill", "all", ("open", "all")) == "all"
    assert [class_count("classes", number) for number in (2, 100)] == [2, 100]


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (lambda: whole("n", 2.0, 1), "n must be a whole number, got 2.0"),
        (lambda: whole("n", True, 1), "n must be a whole number, got True"),
        (lambda: whole("n", 0, 1, "; leave it out"), "n must be at least 1, got 0; leave it out"),
        (lambda: fraction("tolerance", 1), "tolerance must be at least 0 and below 1, got 1"),
        (lambda: probability("delta", 0), "delta must lie between 0 and 1, got 0"),
        (lambda: probability("delta", "a"), "delta must lie between 0 and 1, got 'a'"),
        (lambda: positive("c0", np.nan), "c0 must be positive, got nan"),
        (lambda: choice("fill", 1, ("open", "all")), "fill must be one of open, all; got 1"),
        (lambda: class_count("classes", 1), "classes must be at least 2, got 1"),
        (
            lambda: class_count("classes", 101),
            "classes are 101; use at most 100",
        ),
        (lambda: Committee(members=2.5), "members must be a whole number, got 2.5"),
        (lambda: FixedPoint(rounds=2.5), "rounds must be a whole number, got 2.5"),
        (lambda: thresholds(n=8.5), "n must be a whole number, got 8.5"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(check, sentence):
    with pytest.raises(InvalidInput) as caught:
        check()
    assert str(caught.value) == sentence
