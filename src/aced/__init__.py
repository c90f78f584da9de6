"""aced: label less. Active classification using experimental design."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aced._errors import DataUnavailable, InvalidInput

if TYPE_CHECKING:
    from aced.learner import Audit, Learner, Queries
    from aced.pool import Pool
    from aced.strategies import Aced, Blend, Margin, Passive

__version__ = "0.1.0"

__all__ = [
    "Aced",
    "Audit",
    "Blend",
    "DataUnavailable",
    "InvalidInput",
    "Learner",
    "Margin",
    "Passive",
    "Pool",
    "Queries",
    "__version__",
]

_HOMES = {
    "Aced": "aced.strategies",
    "Audit": "aced.learner",
    "Blend": "aced.strategies",
    "Learner": "aced.learner",
    "Margin": "aced.strategies",
    "Passive": "aced.strategies",
    "Pool": "aced.pool",
    "Queries": "aced.learner",
}


def __getattr__(name: str) -> Any:
    """Load a class when it is first used: a server that restarts need not wait for scikit-learn."""
    if name not in _HOMES:
        raise AttributeError(f"module 'aced' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
