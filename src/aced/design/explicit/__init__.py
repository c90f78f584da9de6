"""Designs for a class that is written down as a list, solved with a duality gap.

The solvers of :mod:`aced.design` need only an oracle. When every hypothesis is a row of a
matrix, the same problems, and those of the theory, can be solved to a stated accuracy.
"""

from aced.design.explicit._allocation import Allocation as Allocation
from aced.design.explicit._chaining import (
    ChainingDesign as ChainingDesign,
    chaining_design as chaining_design,
    diameter_design as diameter_design,
)
from aced.design.explicit._minimax import minimax as minimax, squared_distances as squared_distances
from aced.design.explicit._peak import peak as peak
from aced.design.explicit._width import Width as Width, narrowest as narrowest, width as width
