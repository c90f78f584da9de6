"""How many labels an instance needs: ρ*, γ*, ψ*, θ, Tsybakov's condition, and the bounds."""

from aced.theory.complexity.bounds import (
    Bounds,
    gamma_bound,
    levels,
    rho_bound_noiseless,
    rho_bound_tsybakov,
    sample_complexities,
    threshold_gamma_bound,
    threshold_rho,
)
from aced.theory.complexity.disagreement import disagreement_coefficient, disagreement_region
from aced.theory.complexity.gamma import gamma
from aced.theory.complexity.measures import Measures, measure
from aced.theory.complexity.psi import psi
from aced.theory.complexity.rho import rho
from aced.theory.complexity.tsybakov import Tsybakov, tsybakov, tsybakov_bound, tsybakov_constant
from aced.theory.complexity.vc import vc_dimension

__all__ = [
    "Bounds",
    "Measures",
    "Tsybakov",
    "disagreement_coefficient",
    "disagreement_region",
    "gamma",
    "gamma_bound",
    "levels",
    "measure",
    "psi",
    "rho",
    "rho_bound_noiseless",
    "rho_bound_tsybakov",
    "sample_complexities",
    "threshold_gamma_bound",
    "threshold_rho",
    "tsybakov",
    "tsybakov_bound",
    "tsybakov_constant",
    "vc_dimension",
]
