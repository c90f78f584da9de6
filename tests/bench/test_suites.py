"""The suites are those of the paper."""

from __future__ import annotations

from aced.bench import jobs
from aced.bench._suites import grid


def test_grids_are_those_of_the_appendix():
    assert grid("iwal0", "cifar") == [10.0**p for p in range(-7, 1)]
    assert grid("iwal1", "fashion") == [10.0**p for p in range(-8, 1)]
    assert grid("ora-iwal0", "svhn") == [10.0**p for p in range(-4, 0)]
    assert grid("ora-iwal1", "mnist") == []
    assert grid("oac", "svhn") == [0.01, 0.03, 0.1, 0.3]
    paper = jobs("paper")
    assert len({job.key for job in paper}) == len(paper)
    assert {job.l2 for job in paper} == {0.0}
    assert sum(job.task == "cifar" and job.strategy == "aced" for job in paper) == 3
    assert {job.strategy for job in jobs("full")} > {job.strategy for job in paper}


def test_ten_classes_are_compared_with_the_default_classifier():
    found = jobs("classes")
    assert len({job.key for job in found}) == len(found) == 2 * 7 * 5
    assert {job.task for job in found} == {"digits10", "mnist10"}
    assert {job.l2 for job in found} == {None}
