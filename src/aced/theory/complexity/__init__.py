"""How many labels an instance needs: ρ*, γ*, ψ*, θ, Tsybakov's condition, and the bounds."""

from aced.theory.complexity._bounds import (
    Bounds as Bounds,
    gamma_bound as gamma_bound,
    levels as levels,
    rho_bound_noiseless as rho_bound_noiseless,
    rho_bound_tsybakov as rho_bound_tsybakov,
    sample_complexities as sample_complexities,
    threshold_gamma_bound as threshold_gamma_bound,
    threshold_rho as threshold_rho,
)
from aced.theory.complexity._disagreement import (
    disagreement_coefficient as disagreement_coefficient,
    disagreement_region as disagreement_region,
)
from aced.theory.complexity._gamma import gamma as gamma
from aced.theory.complexity._measures import Measures as Measures, measure as measure
from aced.theory.complexity._psi import psi as psi
from aced.theory.complexity._rho import rho as rho
from aced.theory.complexity._tsybakov import (
    Tsybakov as Tsybakov,
    tsybakov as tsybakov,
    tsybakov_bound as tsybakov_bound,
    tsybakov_constant as tsybakov_constant,
)
from aced.theory.complexity._vc import vc_dimension as vc_dimension
