"""The kinds of workers: threads, other processes, other machines, a graphics card."""

from __future__ import annotations

from typing import Any

from aced._errors import InvalidInput
from aced._workers import Workers

BACKENDS = ("threads", "processes", "torch")


def make_workers(
    backend: str | None = None,
    threads: int | None = None,
    client: Any = None,
    device: str | None = None,
) -> Workers:
    """Workers of the kind ``backend`` (default: threads), or those of the Dask cluster of ``client``."""
    if backend is not None and backend not in BACKENDS:
        raise InvalidInput("backend", f"must be one of {', '.join(BACKENDS)}; got {backend!r}")
    if client is not None and backend is not None:
        raise InvalidInput("client and backend", "a cluster is a backend of its own; pass one of them")
    if device is not None and backend != "torch":
        raise InvalidInput("device", "it is used by backend='torch' only; set that too")
    if client is not None:
        from aced.backends._dask import DaskWorkers

        return DaskWorkers(client, threads)
    if backend == "processes":
        from aced.backends._processes import ProcessWorkers

        return ProcessWorkers(threads)
    if backend == "torch":
        from aced.backends._torch import TorchWorkers

        return TorchWorkers(threads) if device is None else TorchWorkers(threads, device)
    return Workers(threads)
