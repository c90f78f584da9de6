"""Label Studio: drawn items go there as tasks, what people answered comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aced.adapters.label_studio._annotations import (
    delete as delete,
    load_export as load_export,
    read_export as read_export,
)
from aced.adapters.label_studio._tasks import config as config, tasks as tasks

if TYPE_CHECKING:
    from aced.adapters.label_studio._http import routes as routes


def __getattr__(name: str) -> Any:
    """``routes`` is loaded when first used: it needs what ``aced[web]`` brings."""
    if name != "routes":
        raise AttributeError(f"module 'aced.adapters.label_studio' has no attribute {name!r}")
    from aced.adapters.label_studio._http import routes

    return routes
