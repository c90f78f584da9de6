"""Where to look: the experimental-design problem of a round and its solvers."""

from aced.design.certificate import Certificate, certify
from aced.design.dinkelbach import Dinkelbach
from aced.design.draw import draw
from aced.design.fixed_point import FixedPoint
from aced.design.forced import forced_agreement, forced_design
from aced.design.grid import Grid
from aced.design.mirror import Mirror
from aced.design.problem import (
    Found,
    Incumbent,
    Problem,
    Search,
    initial_incumbent,
)
from aced.design.round import Round
from aced.design.sampled import Sampled, automatic_rows
from aced.design.solver import Design, Report, Solver, draw_noise, evaluate
from aced.design.waterfill import waterfill

__all__ = [
    "Certificate",
    "Design",
    "Dinkelbach",
    "FixedPoint",
    "Found",
    "Grid",
    "Incumbent",
    "Mirror",
    "Problem",
    "Report",
    "Round",
    "Sampled",
    "Search",
    "Solver",
    "automatic_rows",
    "certify",
    "draw",
    "draw_noise",
    "evaluate",
    "forced_agreement",
    "forced_design",
    "initial_incumbent",
    "waterfill",
]
