"""Bridges to other labelling tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aced.adapters._label_studio_http import label_studio_routes

__all__ = ["label_studio_routes"]


def __getattr__(name: str) -> Any:
    """Loaded when first used: it needs what ``aced[web]`` brings."""
    if name != "label_studio_routes":
        raise AttributeError(f"module 'aced.adapters' has no attribute {name!r}")
    from aced.adapters._label_studio_http import label_studio_routes

    return label_studio_routes
