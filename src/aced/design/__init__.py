"""Where to look: the experimental-design problem of a round and its solvers."""

from aced.design._certificate import Certificate as Certificate, certify as certify
from aced.design._dinkelbach import Dinkelbach as Dinkelbach
from aced.design._draw import draw as draw
from aced.design._fixed_point import FixedPoint as FixedPoint, sensitivity_of as sensitivity_of
from aced.design._forced import forced_agreement as forced_agreement, forced_design as forced_design
from aced.design._gradient import GROUPS as GROUPS
from aced.design._grid import Grid as Grid
from aced.design._mirror import Mirror as Mirror
from aced.design._problem import (
    Found as Found,
    Incumbent as Incumbent,
    Problem as Problem,
    Search as Search,
    initial_incumbent as initial_incumbent,
)
from aced.design._round import Round as Round
from aced.design._sampled import (
    CHECKED_SHARE as CHECKED_SHARE,
    FEWEST_SAMPLED as FEWEST_SAMPLED,
    Sampled as Sampled,
    automatic_rows as automatic_rows,
    systematic as systematic,
)
from aced.design._solver import (
    Design as Design,
    Report as Report,
    Solver as Solver,
    draw_noise as draw_noise,
    evaluate as evaluate,
)
from aced.design._waterfill import waterfill as waterfill
