"""More than two classes: the sections of theory.py that need them, and the search for a budget."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aced.theory import measure, thresholds
from aced.theory.algorithms import a2, a2_planner, fixed_budget, rage, rage_planner, uniform_design

ROWS, NOISE, CLASSES = 16, 0.1, (2, 3, 4)


def smallest_budget(run, problem, delta, trials, start=1024):
    """Budgets fall by sqrt(2) until more than δ of the trials fail; the last one before.

    From above: a tiny budget may succeed by the luck of a default guess.
    """

    def enough(budget):
        failed = 0
        for trial in range(trials):
            failed += problem.gaps[run(budget, np.random.default_rng([budget, trial])).chosen] > 0
            if failed > delta * trials:
                return False
        return True

    budget, last = start, None
    while budget >= 8 and enough(budget):
        budget, last = int(budget / np.sqrt(2)), budget
    return last


def show_classes(out: Path) -> None:
    print(f"  {ROWS} rows in K intervals, noise {NOISE}:")
    print("    K  hypotheses     rho     psi  theta  gamma +-      gamma/rho")
    for classes in CLASSES:
        problem = thresholds(ROWS, NOISE, classes=classes)
        found = measure(problem)
        print(
            f"    {classes}  {len(problem):10d} {found.rho.value:7.3f} {found.psi.value:7.3f} "
            f"{found.disagreement:6.2f} {found.gamma.value:6.2f} {found.gamma.stderr:.2f} "
            f"{found.gamma.value / found.rho.value:13.2f}"
        )
    print(
        "  labels to confidence 0.9, mean of 5 runs; smallest budget, at most 10 % of 40 runs failing:"
    )
    for classes in CLASSES:
        problem = thresholds(ROWS, NOISE, classes=classes)
        text = []
        for name, run, planner in (("rage", rage, rage_planner()), ("a2", a2, a2_planner())):
            results = [run(problem, 0.1, np.random.default_rng(t), planner=planner) for t in range(5)]
            failed = sum(problem.gaps[result.chosen] > 0 for result in results)
            text.append(f"{name} {np.mean([r.labels for r in results]):.0f} ({failed} failed)")

        def designed(t, rng, p=problem):
            return fixed_budget(p, t, p.delta_min, rng, estimator="ridge")

        def uniform(t, rng, p=problem):
            return fixed_budget(p, t, p.delta_min, rng, estimator="ridge", designer=uniform_design)

        text.append(f"fixed budget {smallest_budget(designed, problem, 0.1, 40, 4096)}")
        text.append(f"with uniform draws {smallest_budget(uniform, problem, 0.1, 40, 4096)}")
        print(f"    K {classes}: {', '.join(text)}")
