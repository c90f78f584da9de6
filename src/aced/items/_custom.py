"""Features from a function of the user's own, named as ``module:function``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

from aced._errors import InvalidInput
from aced._types import Float32
from aced.items._features import checked
from aced.items._items import Items


def embed_with(function: str, items: Items) -> Float32:
    """The rows that ``module:function`` makes of a list of texts, absolute paths or dictionaries.

    The module may also be in the working folder.
    """
    call = _found(function)
    contents: list[Any] = list(items.contents)
    if items.root is not None:
        contents = [str(items.root.absolute() / name) for name in contents]
    try:
        rows = call(contents)
    except Exception as error:  # whatever the user's code raises
        raise InvalidInput("embed", f"{function} failed with {_said(error)}") from error
    return checked(rows, len(items), f"embed: the rows from {function}")


def _found(function: str) -> Callable[[list[Any]], Any]:
    module_name, colon, name = function.partition(":")
    if not (colon and module_name and name):
        raise InvalidInput("embed", f"write it as module:function, got {function!r}")
    sys.path.insert(0, "")  # the working folder, as `python -m` has it
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise InvalidInput("embed", f"{module_name} cannot be imported ({_said(error)})") from error
    finally:
        sys.path.remove("")
    call: Callable[[list[Any]], Any] | None = getattr(module, name, None)
    if not callable(call):
        raise InvalidInput("embed", f"{module_name} has no function {name!r}")
    return call


def _said(error: Exception) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
