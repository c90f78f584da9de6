"""The paper's algorithms on explicit classes, and those they improve on. One file each."""

from aced.theory.algorithms._result import Result
from aced.theory.algorithms.a2 import a2, a2_planner
from aced.theory.algorithms.cal import cal, designed
from aced.theory.algorithms.efficient import efficient, efficient_fixed_budget, finite_oracle
from aced.theory.algorithms.fixed_budget import explicit_design, fixed_budget, uniform_design
from aced.theory.algorithms.fixed_confidence import chaining_planner, fixed_confidence
from aced.theory.algorithms.rage import rage, rage_planner
from aced.theory.algorithms.waterfilling import waterfilling

__all__ = [
    "Result",
    "a2",
    "a2_planner",
    "cal",
    "chaining_planner",
    "designed",
    "efficient",
    "efficient_fixed_budget",
    "explicit_design",
    "finite_oracle",
    "fixed_budget",
    "fixed_confidence",
    "rage",
    "rage_planner",
    "uniform_design",
    "waterfilling",
]
