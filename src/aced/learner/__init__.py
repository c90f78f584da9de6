"""Ask and tell."""

from aced.learner._learner import Learner, Queries, default_batch

__all__ = ["Learner", "Queries", "default_batch"]
