"""Algorithms side by side on instances of growing size.

Algorithms with a stopping rule (aced, rage, a2, cal, cal-design) are run as they are. Those with a
budget (fixed-budget, uniform, efficient, waterfilling) get budgets that fall by sqrt(2) until more
than δ of the runs fail; the last budget before that counts as the labels they need. Their tolerance
is ε or, at ε = 0, the smallest gap, which a user would not know. A run fails when its hypothesis is
worse than the best by more than ε; at ε = 0, when it is not a best one.

The growth of the labels from one size to the next is set beside the growth of the bound that the
paper states for the algorithm, or for its family (CAL and A²: the disagreement bounds). Bounds are
known up to a constant only; where there is none, the column is empty. "uniform" is fixed-budget with
uniform draws from the disagreement region in place of its design.

Without a choice all algorithms run; on an instance with more than two classes, all but aced, which is
proved for two. fixed-budget and uniform then use the ridge estimator in place of the chaining one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aced._check import choice, whole
from aced._errors import InvalidInput
from aced._types import Rng
from aced.theory._bandit import Bandit
from aced.theory.algorithms import (
    Result,
    a2_planner,
    cal,
    chaining_planner,
    designed,
    efficient,
    fixed_budget,
    rage_planner,
    uniform_design,
    waterfilling,
)
from aced.theory.algorithms._elimination import Planner, eliminate
from aced.theory.algorithms._fixed_budget import rounds_for
from aced.theory.complexity import Bounds, Measures, measure

PLANNERS: dict[str, Callable[[], Planner]] = {
    "aced": chaining_planner,
    "rage": rage_planner,
    "a2": a2_planner,
}
TWO_CLASSES = ("aced",)
"""Algorithms that are proved, and run, for two classes only."""
STOPPING = (*PLANNERS, "cal", "cal-design")
BUDGETED = ("fixed-budget", "uniform", "efficient", "waterfilling")
ALGORITHMS = STOPPING + BUDGETED
CAP = 200_000
"""No run asks for more labels than this."""

Tick = Callable[[str, int, int], None]
"""A function that is told what is running, how many trials are done, and how many there are."""


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


def check_algorithms(names: tuple[str, ...], classes: int = 2) -> None:
    for name in names:
        choice("algorithm", name, ALGORITHMS)
        if classes > 2 and name in TWO_CLASSES:
            raise InvalidInput("algorithm", f"is {name}, which is proved for two classes, not {classes}")


def algorithms_for(classes: int) -> tuple[str, ...]:
    """Those that take this many classes."""
    return tuple(name for name in ALGORITHMS if classes == 2 or name not in TWO_CLASSES)


def heat(
    problem: Bandit,
    size: int,
    *,
    delta: float,
    trials: int,
    epsilon: float = 0.0,
    seed: int = 0,
    algorithms: tuple[str, ...] | None = None,
    tick: Tick | None = None,
) -> Heat:
    """Run each of ``algorithms`` ``trials`` times on ``problem``, an instance of this ``size``.

    By default these are all that take its number of classes. A share ``delta`` of the trials may fail;
    ``epsilon`` is a fraction of n; ``tick`` follows progress.
    """
    chosen = algorithms_for(problem.classes) if algorithms is None else algorithms
    check_algorithms(chosen, problem.classes)
    whole("seed", seed, 0)
    whole("trials", trials, 1)
    if problem.delta_min == 0 and epsilon == 0:
        raise InvalidInput("epsilon", "must be positive: this instance has several best hypotheses")
    measures = measure(problem, epsilon, delta=delta, seed=seed)
    bounds = measures.bounds
    start = 256.0 if bounds is None else 4 * (bounds.union if bounds.aced is None else bounds.aced)
    told = tick or (lambda text, done, total: None)
    entries = []
    for name in chosen:
        started = time.perf_counter()
        seeds = [[seed, ALGORITHMS.index(name), size, trial] for trial in range(trials)]
        contest = _Contest(name, problem, delta, epsilon * problem.n, seeds, told)
        if name in STOPPING:
            outcome = contest.trials(CAP, name)
            sufficed = all(result.finished for result in outcome)
        else:
            outcome, sufficed = contest.smallest_budget(start)
        labels = np.array([result.labels for result in outcome], dtype=float)
        entries.append(
            Entry(
                algorithm=name,
                labels=float(labels.mean()),
                stderr=float(labels.std() / np.sqrt(max(len(labels) - 1, 1))),
                distinct=float(np.mean([result.distinct for result in outcome])),
                failures=contest.failures(outcome),
                trials=len(outcome),
                finished=sufficed,
                predicted=_predicted(name, measures.bounds),
                seconds=time.perf_counter() - started,
            )
        )
    return Heat(size, measures, tuple(entries))


class _Contest:
    """One algorithm on one instance, with a generator for each trial; ε is in rows."""

    def __init__(
        self, name: str, problem: Bandit, delta: float, rows: float, seeds: list[list[int]], told: Tick
    ) -> None:
        self.name, self.problem, self.delta, self.rows = name, problem, delta, rows
        self.seeds, self.told = seeds, told
        self.tolerance = min(float(problem.n), max(rows, problem.delta_min))
        self.run = self._make()

    def _make(self) -> Callable[[int, Rng], Result]:
        problem, delta, rows, tolerance = self.problem, self.delta, self.rows, self.tolerance
        if self.name in PLANNERS:
            planner = PLANNERS[self.name]()
            return lambda cap, rng: eliminate(problem, planner, delta, rng, rows, cap)
        runs: dict[str, Callable[[int, Rng], Result]] = {
            "cal": lambda cap, rng: cal(problem, rng, epsilon=rows, cap=cap),
            "cal-design": lambda cap, rng: cal(problem, rng, design=designed, epsilon=rows, cap=cap),
            "fixed-budget": lambda t, rng: fixed_budget(problem, t, tolerance, rng),
            "uniform": lambda t, rng: fixed_budget(problem, t, tolerance, rng, designer=uniform_design),
            "efficient": lambda t, rng: efficient(problem, t, tolerance, rng),
            "waterfilling": lambda t, rng: waterfilling(problem, t, rng, epsilon=rows),
        }
        return runs[self.name]

    def trials(self, labels: int, text: str, *, to_the_end: bool = True) -> list[Result]:
        """The trials with this many labels; or only those until more than δ of all have failed."""
        results: list[Result] = []
        for seed in self.seeds:
            results.append(self.run(labels, np.random.default_rng(seed)))
            self.told(text, len(results), len(self.seeds))
            if not to_the_end and self.hopeless(results):
                break
        return results

    def failures(self, results: list[Result]) -> int:
        return int(sum(self.problem.gaps[result.chosen] > self.rows for result in results))

    def hopeless(self, results: list[Result]) -> bool:
        return self.failures(results) > self.delta * len(self.seeds)

    def smallest_budget(self, start: float) -> tuple[list[Result], bool]:
        """The trials of the smallest budget at which at most δ of them fail, found from above.

        A tiny budget may succeed by the luck of a default guess where larger ones fail. So the search
        starts well above and goes down until more than δ fail, or up if they do at the start. A budget
        at which too many trials have failed is left early.
        """
        least, most = rounds_for(self.problem.n, self.tolerance), CAP
        if self.name == "waterfilling":
            least, most = 1, self.problem.n

        def attempt(budget: int) -> tuple[list[Result], bool]:
            outcome = self.trials(budget, f"{self.name} with {budget} labels", to_the_end=False)
            return outcome, not self.hopeless(outcome)

        budget = min(most, max(least, int(np.ceil(start))))
        outcome, enough = attempt(budget)
        if not enough:
            while not enough and budget < most:
                budget = min(most, int(np.ceil(budget * np.sqrt(2))))
                outcome, enough = attempt(budget)
            return outcome, enough
        while enough and budget > least:
            budget = max(least, int(budget / np.sqrt(2)))
            fewer, enough = attempt(budget)
            outcome = fewer if enough else outcome
        return outcome, True


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
