"""Designs for a class that is written down as a list, solved with a duality gap.

The solvers of the layer above need only an oracle. When every hypothesis is a row of a
matrix the same problems, and those of the theory, can be solved to a stated accuracy.
"""

from aced.design.explicit.allocation import Allocation
from aced.design.explicit.chaining import ChainingDesign, chaining_design, diameter_design
from aced.design.explicit.minimax import minimax, squared_distances
from aced.design.explicit.peak import peak
from aced.design.explicit.width import Width, narrowest, width

__all__ = [
    "Allocation",
    "ChainingDesign",
    "Width",
    "chaining_design",
    "diameter_design",
    "minimax",
    "narrowest",
    "peak",
    "squared_distances",
    "width",
]
