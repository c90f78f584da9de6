"""The goal: first reckonings against the fit solved by hand; a shown number that never jumps about."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from aced.project import Project, progress
from aced.project._goal import Goals, fitted, reckoned, rounded, steady
from tests.helpers import blobs

SEEN = [1990.0, 1133.0, 1721.0, 1990.0]
"""What a header showed within 120 labels, while each round's own reckoning was shown."""


def rounds_of(estimates, labels):
    return [
        {"labels": n, "based_on": n, "accuracy": {"estimate": one, "checked": n}}
        for n, one in zip(labels, estimates, strict=True)
    ]


def turns(shown):
    """The moves of the goal, as +1 and -1, each with the place of the round that moved it."""
    known = [(place, one) for place, one in enumerate(shown) if one is not None]
    pairs = itertools.pairwise(known)
    return [(place, 1 if now > then else -1) for (_, then), (place, now) in pairs if now != then]


def check_steady(points, total):
    """Once known it stays known; and it turns back only after the labels have doubled."""
    shown = [steady(points[:k], total) for k in range(len(points) + 1)]
    first = next((place for place, one in enumerate(shown) if one is not None), len(shown))
    assert all(one is not None for one in shown[first:])
    moves = turns(shown[1:])
    for (before, way), (place, other) in itertools.pairwise(moves):
        if way != other:
            assert points[place][0] >= 2 * points[before][0]
    return shown


steps = st.lists(
    st.tuples(st.integers(1, 60), st.none() | st.floats(1, 1e6, allow_nan=False)), max_size=40
)


@given(steps, st.integers(1, 10**6))
def test_whatever_rounds_reckon_it_turns_back_only_after_the_labels_have_doubled(history, total):
    labels = itertools.accumulate(step for step, _ in history)
    points = [(n, one) for n, (_, one) in zip(labels, history, strict=True)]
    for one in check_steady(points, total):
        assert one is None or 1 <= one <= total
        assert one is None or one == total or one == rounded(one)


def test_the_header_that_jumped_stays():
    points = [(300 + 40 * k, one) for k, one in enumerate(SEEN * 3)]
    shown = check_steady(points, 10_000)
    assert shown[:3] == [None] * 3
    assert len(turns(shown)) <= 1
    assert all(one in (1500, 2000) for one in shown[3:])


def test_rounded_numbers_are_near_and_few():
    numbers = np.geomspace(1, 1e7, 5000)
    found = [rounded(float(one)) for one in numbers]
    assert all(0.85 < one / number < 1.16 for one, number in zip(found, numbers, strict=True) if one > 9)
    assert found == sorted(found)
    assert len(set(found)) <= 71


@pytest.mark.parametrize("gain", [5.0, 40.0])
def test_the_fit_finds_what_the_rounds_follow(gain):
    """Estimates on A - B/n exactly: labels after 100 B gain less than one point."""
    labels = [100, 150, 200, 250, 300]
    rounds = rounds_of([0.9 - gain / n for n in labels], labels)
    settings = project_settings()
    b, error = fitted(rounds)
    assert b == pytest.approx(gain)
    assert error == pytest.approx(0, abs=1e-9)
    assert reckoned(rounds, settings) == pytest.approx(100 * gain)
    assert fitted(rounds[:4]) is None
    assert reckoned(rounds_of([0.9 + 5 / n for n in labels], labels), settings) is None


def project_settings():
    class Settings:
        audit = stop = None
        rows = 10**6

    return Settings()


def test_its_error_is_that_of_least_squares():
    """Against numpy's weighted fit, whose covariance is scaled in the same way."""
    rng = np.random.default_rng(0)
    labels = np.arange(50, 500, 30)
    estimates = 0.9 - 8 / labels + rng.normal(0, 0.01, len(labels))
    b, error = fitted(rounds_of(estimates.tolist(), labels.tolist()))
    line, covariance = np.polyfit(1 / labels, estimates, 1, w=np.sqrt(labels), cov=True)
    assert b == pytest.approx(-line[0])
    assert error == pytest.approx(np.sqrt(covariance[0, 0]))


def test_noise_alone_is_no_goal_and_a_clear_rise_is_near_the_truth():
    """40 projects each. Of noise alone 2 standard errors are exceeded about once in 40 at each look."""
    labels = list(range(40, 1000, 20))
    known, found = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise = rng.normal(0, 0.01, len(labels))
        for gain, places in ((0.0, known), (10.0, found)):
            rounds = rounds_of([0.9 - gain / n + e for n, e in zip(labels, noise, strict=True)], labels)
            goals, settings = Goals(), project_settings()
            shown = [goals.after(rounds[:k], settings) for k in range(1, len(rounds) + 1)]
            places.append(shown[-1])
            points = [(r["labels"], reckoned(rounds[: k + 1], settings)) for k, r in enumerate(rounds)]
            assert shown == check_steady(points, 10**6)[1:]
    assert sum(one is not None for one in known) < 20
    assert all(500 <= one <= 2000 for one in found)


def test_progress_has_it_and_a_round_that_failed_is_forgotten(tmp_path):
    features, _ = blobs(300, 4)
    project = Project.create(
        tmp_path / "p",
        ids=[f"i{i}" for i in range(300)],
        contents=[f"text {i}" for i in range(300)],
        kind="text",
        features=features,
        classes=["no", "yes"],
        batch=20,
        strategy="passive",
    )

    def record(labels, estimate):
        body = {
            "round": len(project.state.rounds) + 1,
            "rows": [],
            "probabilities": [],
            "labels": labels,
        }
        accuracy = {"estimate": estimate, "low": 0.1, "high": 1.0, "checked": labels}
        return body | {"based_on": 1, "accuracy": accuracy}

    assert progress(project)["goal"] is None
    for labels in range(20, 200, 20):
        with project.ledger.writing() as writing:
            writing.append("draw", "", body=record(labels, 0.9 - 2 / labels))
    assert progress(project)["goal"] == progress(project)["labels_left"] == 200
    before = progress(project)
    with pytest.raises(RuntimeError), project.ledger.writing() as writing:  # noqa: PT012
        writing.append("draw", "", body=record(900, 0.1))
        progress(project)
        raise RuntimeError
    assert progress(project) == before
    project.close()
    assert progress(Project(tmp_path / "p"))["goal"] == 200
