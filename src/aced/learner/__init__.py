"""Ask and tell."""

from aced.learner._learner import Learner
from aced.learner._memory import Memory
from aced.learner._queries import Queries, default_batch

__all__ = ["Learner", "Memory", "Queries", "default_batch"]
