"""The paper's algorithms on explicit classes, and the older ones that they improve on."""

from aced.theory.algorithms._a2 import a2 as a2, a2_planner as a2_planner
from aced.theory.algorithms._cal import cal as cal, designed as designed
from aced.theory.algorithms._efficient import (
    efficient as efficient,
    efficient_fixed_budget as efficient_fixed_budget,
    finite_oracle as finite_oracle,
)
from aced.theory.algorithms._fixed_budget import (
    explicit_design as explicit_design,
    fixed_budget as fixed_budget,
    uniform_design as uniform_design,
)
from aced.theory.algorithms._fixed_confidence import (
    chaining_planner as chaining_planner,
    fixed_confidence as fixed_confidence,
)
from aced.theory.algorithms._rage import rage as rage, rage_planner as rage_planner
from aced.theory.algorithms._result import Result as Result
from aced.theory.algorithms._waterfilling import waterfilling as waterfilling
