"""The paper's theory, executable: finite classes, complexity measures, algorithms.

Stated for combinatorial bandits, of which active classification is one
(:mod:`aced.theory.bandit`). docs/theory.md says which function is which equation.
"""

from aced.theory.bandit import Bandit
from aced.theory.complexity import Measures, measure
from aced.theory.instances import (
    INSTANCES,
    from_file,
    random,
    rectangles,
    separators,
    spread,
    thresholds,
)

__all__ = [
    "INSTANCES",
    "Bandit",
    "Measures",
    "from_file",
    "measure",
    "random",
    "rectangles",
    "separators",
    "spread",
    "thresholds",
]
