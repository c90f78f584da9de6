"""Libraries that only some users need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aced._errors import InvalidInput

_SAID = {"torch": "PyTorch", "distributed": "dask"}


def needed(argument: str, module: str, what: str, extra: str) -> Any:
    """Import an optional library; if it is missing, say what needs it and how to install it."""
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        raise InvalidInput(
            argument, f"{what} needs {_SAID.get(package, package)}; pip install 'aced[{extra}]'"
        ) from error
