"""Labelings by K classes: their sums, and the simplex that stands for the classes."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced._labelings import (
    agreement,
    behind,
    corners,
    likeliest,
    one_hot,
    only_two,
    simplex,
    to_labelings,
)

CLASSES = (2, 3, 4, 5, 30, 100)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_corners_are_1_apart_and_give_the_noise_its_covariance(classes):
    found = simplex(classes)
    apart = np.linalg.norm(found[:, None] - found[None, :], axis=2)
    np.testing.assert_allclose(apart, 1 - np.eye(classes), atol=1e-12)
    expected = (np.eye(classes - 1) + 1) / 2  # of ζ_c - ζ_0 with ζ ~ N(0, ½)
    np.testing.assert_allclose(found[1:] @ found[1:].T, expected, atol=1e-12)
    assert not found[0].any()


def test_two_classes_have_the_corners_0_and_1():
    np.testing.assert_array_equal(simplex(2), [[0.0], [1.0]])


@pytest.mark.parametrize("classes", CLASSES)
def test_sums_over_labelings_are_their_definition(classes):
    rng = np.random.default_rng(classes)
    table, mu = rng.integers(0, classes, (6, 9)), rng.normal(size=(9, classes - 1))
    full = np.hstack([np.zeros((9, 1)), mu])
    expected = [sum(full[i, h[i]] for i in range(9)) for h in table]
    np.testing.assert_allclose(agreement(table, mu), expected)
    np.testing.assert_allclose(behind(table, 2, mu), expected[2] - np.array(expected), atol=1e-12)
    np.testing.assert_array_equal(likeliest(mu), full.argmax(axis=1))
    points = corners(table, classes)
    assert points.shape == (6, 9, classes - 1)
    distance = np.square(points[0] - points[1]).sum()
    assert distance == pytest.approx((table[0] != table[1]).sum())


def test_the_mean_of_one_hot_labels_is_eta_relative_to_class_0():
    codes = np.array([0, 2, 1, 2, 2])
    shares = np.bincount(codes) / 5
    np.testing.assert_allclose(one_hot(codes, 3).mean(axis=0), shares[1:] - shares[0])
    assert one_hot(codes % 2, 2).shape == (5,)


def test_ties_go_to_the_smallest_class():
    assert likeliest(np.array([[0.0, 0.0], [0.5, 0.5]])).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [bool, int, np.uint8, float])
def test_tables_of_any_type_become_codes(dtype):
    found = to_labelings("H", np.array([[0, 1], [1, 1]], dtype))
    assert found.dtype == np.int8
    assert found.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: to_labelings("H", [0, 1]), "H must have shape"),
        (lambda: to_labelings("H", np.empty((0, 2))), "H must have shape"),
        (lambda: to_labelings("H", [[0, -1]]), "H must hold only the numbers of classes"),
        (lambda: to_labelings("H", [[0, 0.5]]), "H must hold only the numbers of classes"),
        (lambda: to_labelings("H", [[0, np.nan]]), "H must hold only the numbers of classes"),
        (lambda: to_labelings("H", [["a", "b"]]), "H must be an array of numbers"),
        (lambda: to_labelings("H", [[0, 2]], 2), "only 0 and 1"),
        (lambda: to_labelings("H", [[0, 3]], 3), "only the classes 0 to 2, got 3"),
        (lambda: to_labelings("H", [[0, 999]]), "classes are 1000; use at most 100"),
        (
            lambda: only_two("H", 3, "chaining is proved"),
            "H: there are 3 classes, but chaining is proved",
        ),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
