"""Hypothesis classes: argmax over h of Σ_i v_{i,h(x_i)}, for many v at once."""

from aced.oracles._base import (
    Candidates as Candidates,
    Hypotheses as Hypotheses,
    Maximiser as Maximiser,
    Oracle as Oracle,
    argmax as argmax,
    best_per_draw as best_per_draw,
    labels_of as labels_of,
    select as select,
    tally_all as tally_all,
)
from aced.oracles._cholesky import SKETCH as SKETCH
from aced.oracles._class_kernels import lead_moments as lead_moments
from aced.oracles._dense import DenseGeometry as DenseGeometry, column_moments as column_moments
from aced.oracles._erm import Erm as Erm, LinearErm as LinearErm
from aced.oracles._finite import FiniteOracle as FiniteOracle
from aced.oracles._linear import (
    TOWARDS as TOWARDS,
    LinearHypotheses as LinearHypotheses,
    LinearMaximiser as LinearMaximiser,
    LinearOracle as LinearOracle,
)
from aced.oracles._low_rank import ITERATIONS as ITERATIONS, RANK as RANK
from aced.oracles._noise import (
    CACHE_BYTES as CACHE_BYTES,
    GaussianNoise as GaussianNoise,
    GivenNoise as GivenNoise,
    Noise as Noise,
)
from aced.oracles._penalty_erm import PenaltyErm as PenaltyErm
from aced.oracles._polish import exchanged as exchanged, polish as polish
from aced.oracles._sklearn import SklearnOracle as SklearnOracle
from aced.oracles._sparse import SparseGeometry as SparseGeometry
from aced.oracles._weights import (
    GROWTH_ROWS as GROWTH_ROWS,
    Weights as Weights,
    columns_of as columns_of,
    value as value,
)
