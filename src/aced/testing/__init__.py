"""Conformance suites: what every oracle and every strategy must do, ours and yours.

Each check raises AssertionError with a sentence. They need nothing but the library.
"""

from aced.testing._oracles import check_oracle as check_oracle
from aced.testing._strategies import check_strategy as check_strategy
