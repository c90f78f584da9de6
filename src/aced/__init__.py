"""aced: label less. Active classification using experimental design."""

from aced._errors import DataUnavailable, InvalidInput
from aced.learner import Learner, Queries
from aced.pool import Pool
from aced.strategies import Aced, Margin, Passive

__version__ = "0.1.0"

__all__ = [
    "Aced",
    "DataUnavailable",
    "InvalidInput",
    "Learner",
    "Margin",
    "Passive",
    "Pool",
    "Queries",
    "__version__",
]
