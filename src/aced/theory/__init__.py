"""The paper's theory, executable: finite classes, complexity measures, algorithms.

Everything is stated for combinatorial bandits; active classification is one of them
(:mod:`aced.theory._bandit`). docs/theory.md says which function is which equation.
"""

from aced.theory._bandit import Bandit as Bandit
from aced.theory._instances import (
    INSTANCES as INSTANCES,
    from_file as from_file,
    random as random,
    rectangles as rectangles,
    separators as separators,
    spread as spread,
    thresholds as thresholds,
)
from aced.theory._race import (
    ALGORITHMS as ALGORITHMS,
    Heat as Heat,
    check_algorithms as check_algorithms,
    heat as heat,
)
from aced.theory.complexity import Measures as Measures, measure as measure
