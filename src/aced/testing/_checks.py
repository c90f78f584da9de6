"""How a suite of checks is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def run(checks: Iterable[Callable[..., None]], *arguments: object) -> None:
    """Run all checks; when one fails, the error starts with the name of the check."""
    for check in checks:
        _run_one(check, *arguments)


def _run_one(check: Callable[..., None], *arguments: object) -> None:
    try:
        check(*arguments)
    except AssertionError as failed:
        raise AssertionError(f"{check.__name__}: {failed}") from failed
