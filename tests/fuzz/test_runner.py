"""The runner that counts what became of cases."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz._runner import fuzz
from tests.fuzz._toy import Boundary

SAID = {
    "problem": "something was lost",
    "error": "ValueError in _toy.py, run; half a character: \\ud800",
    "hang": "it hangs",
    "crash": "the process ended with exit code -11",
    "memory": "MemoryError in _toy.py, run; Unable to allocate 1.00 GiB",
    "exit": "SystemExit in _toy.py, run; 3",
}


def toy_case(seed, number):
    return Boundary(Path()).case(random.Random(f"toy {seed} {number}"))


def seed_of_all_endings(cases):
    """A seed under which the first cases end in every way, and hang once."""
    for seed in range(10_000):
        ends = [toy_case(seed, number) for number in range(cases)]
        if len(set(ends)) == 8 and ends.count("hang") == 1 and ends.count("crash") < 3:
            return seed
    raise AssertionError


def test_cases_that_end_in_any_way_are_counted_and_the_others_run_all_the_same():
    seed = seed_of_all_endings(cases := 14)
    ends = [toy_case(seed, number) for number in range(cases)]
    tally = fuzz("toy", seed, cases=cases, patience=1.0)
    assert tally.cases == cases
    for end in ("refused", "taken"):
        assert tally.counts[end] == ends.count(end)
    wrong = {number: end for number, end in enumerate(ends) if end in SAID}
    assert {one.number: one.sentence[: len(SAID[wrong[one.number]])] for one in tally.problems} == {
        number: SAID[end] for number, end in wrong.items()
    }
    assert tally.report().count(" times)") == len(SAID)


def test_a_case_follows_from_its_seed_and_number_and_can_be_run_alone():
    seed = seed_of_all_endings(14)
    number = next(number for number in range(14) if toy_case(seed, number) == "problem")
    (found,) = fuzz("toy", seed, cases=1, first=number).problems
    assert (found.number, found.sentence) == (number, "something was lost")
    assert found.command() == f"python benchmarks/fuzz.py --boundary toy --seed {seed} --case {number}"
    assert "case: 'problem'" in found.details


def test_cases_begin_within_the_given_seconds():
    assert fuzz("toy", 0, seconds=0.0).cases == 0
