"""Run jobs in processes, which share the threads equally, and keep their records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from aced._orphans import leave_with_parent
from aced._workers import Workers, available_threads
from aced.bench._peers import PEERS, check_peer, fit_peer, simulate_peer
from aced.bench._records import Records
from aced.bench._simulate import CERTIFIED, Curve, fit_all, simulate
from aced.bench._suites import OURS, Job
from aced.datasets import Dataset, load_dataset
from aced.pool import Pool
from aced.strategies import make_strategy


@lru_cache(maxsize=2)
def _load(task: str, data_home: Path | None) -> tuple[Dataset, Pool]:
    data = load_dataset(task, data_home=data_home)
    return data, Pool(data.X)


@lru_cache(maxsize=8)
def _everything(
    task: str, data_home: Path | None, l2: float | None, representation: str, threads: int
) -> dict[str, float | None]:
    data, pool = _load(task, data_home)
    return fit_all(data, pool, l2=l2, representation=representation, workers=Workers(threads))


@lru_cache(maxsize=16)
def _everything_of_peer(
    task: str, data_home: Path | None, strategy: str, classifier: str, threads: int
) -> dict[str, float | None]:
    return fit_peer(_load(task, data_home)[0], strategy, classifier, Workers(threads))


def run_job(job: Job, data_home: Path | None = None, threads: int = 1) -> dict[str, Any]:
    """The record of one job. All of it but ``timing`` is a function of the job.

    The record of a peer that did not get to the end says why, as ``failed``.
    """
    began = time.perf_counter()
    curve, failed = _curve(job, data_home, threads)
    record = curve.to_json()
    seconds = [point.pop("seconds") for point in record["curve"]]
    for point in record["curve"]:
        for name in CERTIFIED:
            point.pop(name)
    return {
        **record,
        **({} if failed is None else {"failed": failed}),
        "key": job.key,
        "job": job.to_json(),
        "label": job.label,
        "timing": {"seconds": seconds, "total": time.perf_counter() - began, "threads": threads},
    }


def _curve(job: Job, data_home: Path | None, threads: int) -> tuple[Curve, str | None]:
    data, pool = _load(job.task, data_home)
    representation = job.representation or "linear"
    if job.classifier == OURS:
        everything = _everything(job.task, data_home, job.l2, representation, threads)
    else:
        everything = _everything_of_peer(job.task, data_home, job.strategy, job.classifier, threads)
    budget, workers = min(job.budget, len(pool)), Workers(threads)
    shared: dict[str, Any] = {
        "all_labels": everything,
        "budget": budget,
        "batch": job.batch,
        "first": job.first,
        "seed": job.seed,
        "representation": representation,
        "workers": workers,
    }
    if job.strategy in PEERS:
        return simulate_peer(data, pool, job.strategy, job.classifier, **shared)
    strategy = make_strategy(job.strategy, dict(job.options))
    return simulate(data, pool, strategy, l2=job.l2, **shared), None


def run_jobs(
    wanted: list[Job],
    records: Records,
    *,
    processes: int,
    data_home: Path | None = None,
    told: Callable[[Job, dict[str, Any]], None] | None = None,
) -> None:
    """Run every job that has no record yet. Each record is written at once; then ``told`` is called."""
    todo = [job for job in wanted if job.key not in records]
    if not todo:
        return
    for job in todo:  # a wrong option or a missing library is refused before the first run
        if job.strategy in PEERS:
            check_peer(job.strategy)
        else:
            make_strategy(job.strategy, dict(job.options))
    threads = max(1, available_threads() // processes)
    for job, record in _results(todo, processes, data_home, threads):
        records.append(record)
        if told is not None:
            told(job, record)


def _results(
    todo: list[Job], processes: int, data_home: Path | None, threads: int
) -> Iterator[tuple[Job, dict[str, Any]]]:
    if processes == 1:
        for job in todo:
            yield job, run_job(job, data_home, threads)
        return
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=leave_with_parent
    ) as executor:
        running = {executor.submit(run_job, job, data_home, threads): job for job in todo}
        try:
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
