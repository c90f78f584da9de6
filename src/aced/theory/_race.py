"""Algorithms side by side on instances of growing size.

Those with a stopping rule (aced, rage, a2, cal, cal-design) are run as they are. Those with a budget
(fixed-budget, uniform, efficient, waterfilling) get budgets that fall by sqrt(2) until failures
exceed δ; the last one before counts as the labels they need, and ε (or, at ε = 0, the smallest gap,
which a user would not know) is their tolerance. A run fails when its
hypothesis is worse than the best by more than ε (ε = 0: when it is not a best one).

Growth from one size to the next is set beside the growth of the bound that the paper states
for the algorithm, or for the family it belongs to (CAL and A²: the disagreement bounds);
bounds are known up to a constant only, and where there is none the column is empty.
"uniform" is fixed-budget with uniform draws from the disagreement region in place of its
design.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced._check import whole
from aced._errors import InvalidInput
from aced.theory._bandit import Bandit
from aced.theory.algorithms import (
    Result,
    a2,
    a2_planner,
    cal,
    chaining_planner,
    designed,
    efficient,
    fixed_budget,
    fixed_confidence,
    rage,
    rage_planner,
    uniform_design,
    waterfilling,
)
from aced.theory.algorithms._fixed_budget import rounds_for
from aced.theory.complexity import Bounds, Measures, measure

STOPPING = ("aced", "rage", "a2", "cal", "cal-design")
BUDGETED = ("fixed-budget", "uniform", "efficient", "waterfilling")
ALGORITHMS = STOPPING + BUDGETED
CAP = 200_000
"""No run asks for more labels than this."""

Run = Callable[[int, np.random.Generator], Result]
Tick = Callable[[str, int, int], None]
"""Told (what is running, trials done, trials in all)."""


@dataclass(frozen=True)
class Entry:
    """One algorithm on one instance."""

    algorithm: str
    labels: float  # mean over the trials, or the smallest budget that sufficed
    stderr: float  # of that mean; 0 for a budget
    distinct: float  # mean number of different rows asked
    failures: int
    trials: int
    finished: bool  # False: stopped by the cap, or no budget sufficed
    predicted: float | None  # the bound of the paper, up to a constant
    seconds: float


@dataclass(frozen=True)
class Heat:
    """All algorithms on one instance."""

    size: int
    measures: Measures
    entries: tuple[Entry, ...]


def check_algorithms(names: tuple[str, ...]) -> None:
    unknown = [name for name in names if name not in ALGORITHMS]
    if unknown:
        raise InvalidInput("algorithm", f"must be one of {', '.join(ALGORITHMS)}; got {unknown[0]!r}")


def heat(
    problem: Bandit,
    size: int,
    *,
    delta: float,
    trials: int,
    epsilon: float = 0.0,
    seed: int = 0,
    algorithms: tuple[str, ...] = ALGORITHMS,
    tick: Tick | None = None,
) -> Heat:
    """Run every algorithm ``trials`` times; ε is an error, a fraction of n."""
    check_algorithms(algorithms)
    whole("seed", seed, 0)
    whole("trials", trials, 1)
    if problem.delta_min == 0 and epsilon == 0:
        raise InvalidInput("epsilon", "must be positive: this instance has several best hypotheses")
    measures = measure(problem, epsilon, delta=delta, seed=seed)
    told = tick or (lambda text, done, total: None)
    entries = []
    for name in algorithms:
        number = ALGORITHMS.index(name)

        def generators(number: int = number) -> list[np.random.Generator]:
            return [np.random.default_rng([seed, number, size, trial]) for trial in range(trials)]

        started = time.perf_counter()
        run = _make(name, problem, delta, epsilon * problem.n)
        if name in STOPPING:

            def say(done: int, name: str = name) -> None:
                told(name, done, trials)

            outcome = _trials(run, CAP, generators(), say)
            sufficed = all(result.finished for result in outcome)
        else:
            start = 256.0 if measures.bounds is None else 4 * measures.bounds.aced
            outcome, sufficed = _smallest_budget(
                name, run, problem, delta, epsilon, generators, told, start
            )
        labels = np.array([result.labels for result in outcome], dtype=float)
        entries.append(
            Entry(
                algorithm=name,
                labels=float(labels.mean()),
                stderr=float(labels.std() / np.sqrt(max(len(labels) - 1, 1))),
                distinct=float(np.mean([result.distinct for result in outcome])),
                failures=_failures(problem, outcome, epsilon),
                trials=len(outcome),
                finished=sufficed,
                predicted=_predicted(name, measures.bounds),
                seconds=time.perf_counter() - started,
            )
        )
    return Heat(size, measures, tuple(entries))


def _tolerance(problem: Bandit, epsilon: float) -> float:
    """ε in rows for the algorithms that need one."""
    return min(float(problem.n), max(epsilon * problem.n, problem.delta_min))


def _make(name: str, problem: Bandit, delta: float, rows: float) -> Run:
    tolerance = _tolerance(problem, rows / problem.n)
    if name == "aced":
        plan = chaining_planner()
        return lambda cap, rng: fixed_confidence(
            problem, delta, rng, epsilon=rows, cap=cap, planner=plan
        )
    if name == "rage":
        union = rage_planner()
        return lambda cap, rng: rage(problem, delta, rng, epsilon=rows, cap=cap, planner=union)
    if name == "a2":
        uniform = a2_planner()
        return lambda cap, rng: a2(problem, delta, rng, epsilon=rows, cap=cap, planner=uniform)
    if name == "cal":
        return lambda cap, rng: cal(problem, rng, epsilon=rows, cap=cap)
    if name == "cal-design":
        return lambda cap, rng: cal(problem, rng, design=designed, epsilon=rows, cap=cap)
    if name == "fixed-budget":
        return lambda budget, rng: fixed_budget(problem, budget, tolerance, rng)
    if name == "uniform":
        return lambda budget, rng: fixed_budget(problem, budget, tolerance, rng, designer=uniform_design)
    if name == "efficient":
        return lambda budget, rng: efficient(problem, budget, tolerance, rng)
    return lambda budget, rng: waterfilling(problem, budget, rng, epsilon=rows)


def _trials(
    run: Run,
    labels: int,
    generators: list[np.random.Generator],
    told: Callable[[int], None],
    give_up: Callable[[list[Result]], bool] | None = None,
) -> list[Result]:
    results: list[Result] = []
    for done, rng in enumerate(generators, start=1):
        results.append(run(labels, rng))
        told(done)
        if give_up is not None and give_up(results):
            break
    return results


def _smallest_budget(
    name: str,
    run: Run,
    problem: Bandit,
    delta: float,
    epsilon: float,
    generators: Callable[[], list[np.random.Generator]],
    told: Tick,
    start: float,
) -> tuple[list[Result], bool]:
    """The trials of the smallest budget whose failures are within δ, coming from above.

    A tiny budget may succeed by the luck of a default guess where larger ones fail, so the
    search starts well above and goes down until failures exceed δ (or up, if they do there).
    A budget that cannot make it any more is left early.
    """
    least = rounds_for(problem.n, _tolerance(problem, epsilon)) if name != "waterfilling" else 1
    most = problem.n if name == "waterfilling" else CAP

    def attempt(budget: int) -> tuple[list[Result], bool]:
        trials = generators()

        def hopeless(results: list[Result]) -> bool:
            return _failures(problem, results, epsilon) > delta * len(trials)

        def say(done: int) -> None:
            told(f"{name} with {budget} labels", done, len(trials))

        outcome = _trials(run, budget, trials, say, hopeless)
        return outcome, not hopeless(outcome)

    budget = min(most, max(least, int(np.ceil(start))))
    outcome, enough = attempt(budget)
    if enough:
        while budget > least:
            budget = max(least, int(budget / np.sqrt(2)))
            fewer, enough = attempt(budget)
            if not enough:
                break
            outcome = fewer
        return outcome, True
    while budget < most:
        budget = min(most, int(np.ceil(budget * np.sqrt(2))))
        outcome, enough = attempt(budget)
        if enough:
            return outcome, True
    return outcome, False


def _failures(problem: Bandit, results: list[Result], epsilon: float) -> int:
    return int(sum(problem.gaps[result.chosen] > epsilon * problem.n for result in results))


def _predicted(name: str, bounds: Bounds | None) -> float | None:
    if bounds is None:
        return None
    uniform = bounds.tsybakov if bounds.tsybakov is not None else bounds.disagreement
    return {
        "aced": bounds.aced,
        "rage": bounds.union,
        "a2": uniform,
        "cal": uniform,
        "cal-design": None,
        "fixed-budget": bounds.fixed_budget,
        "uniform": uniform,
        "efficient": bounds.efficient,
        "waterfilling": None,
    }[name]
