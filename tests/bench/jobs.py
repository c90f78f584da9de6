"""Short jobs."""

from __future__ import annotations

from aced.bench import Job


def small(strategy: str, seed: int = 0, **options) -> Job:
    return Job("breast", strategy, seed, 60, 20, 1.0, options)


def without_timing(records: list[dict]) -> list[dict]:
    return [{k: v for k, v in record.items() if k != "timing"} for record in records]
