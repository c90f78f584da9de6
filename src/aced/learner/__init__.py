"""Ask and tell."""

from aced.learner._learner import Learner
from aced.learner._queries import Queries, default_batch

__all__ = ["Learner", "Queries", "default_batch"]
