"""Ask and tell."""

from aced.learner._learner import Learner as Learner
from aced.learner._memory import Memory as Memory
from aced.learner._queries import Queries as Queries, default_batch as default_batch
