"""The learner: it asks for rows, is told labels, and trains a classifier."""

from aced.learner._audit import Audit as Audit
from aced.learner._evidence import check_stops as check_stops
from aced.learner._labels import plain as plain
from aced.learner._learner import Learner as Learner
from aced.learner._memory import Memory as Memory
from aced.learner._queries import Queries as Queries, default_batch as default_batch
from aced.learner._random import OnCurve as OnCurve, Savings as Savings
