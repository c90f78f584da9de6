"""What every strategy must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aced.learner import Learner
from aced.pool import Pool
from aced.strategies import Strategy

Make = Callable[[], Strategy]


def check_strategy(make: Make, pool: Pool, labels: np.ndarray) -> None:
    """Run the whole suite with the strategies that ``make`` builds; ``labels`` are the truth."""
    _check_loop(make, pool, labels)
    _check_reproducible(make, pool, labels)
    _check_one_class(make, pool)
    _check_to_the_end(make, pool, labels)


def _learner(make: Make, pool: Pool, labels: np.ndarray, **options: Any) -> Learner:
    learner = Learner(pool, strategy=make(), **options)
    learner.strategy.reveal(np.unique(labels, return_inverse=True)[1])
    return learner


def _asked(learner: Learner, labels: np.ndarray, rounds: int) -> np.ndarray:
    ids = []
    for _ in range(rounds):
        queries = learner.ask()
        learner.tell(queries.ids, labels[learner.pool.positions(queries.ids)])
        ids.append(queries.ids)
    return np.concatenate(ids)


def _check_loop(make: Make, pool: Pool, labels: np.ndarray) -> None:
    learner = _learner(make, pool, labels, budget=len(pool) // 2)
    seen: set[object] = set()
    while queries := learner.ask():
        ids = set(queries.ids.tolist())
        assert len(ids) == len(queries), "a row twice in one batch"
        assert not ids & seen, "a row asked for again"
        seen |= ids
        assert ((queries.probabilities > 0) & (queries.probabilities <= 1 + 1e-9)).all(), (
            "draw probabilities must lie in (0, 1]"
        )
        learner.tell(queries.ids, labels[pool.positions(queries.ids)])
    assert len(seen) == learner.budget or _may_stop(learner), "the budget must be used"
    assert learner.history, "a history must be kept"


def _check_reproducible(make: Make, pool: Pool, labels: np.ndarray) -> None:
    runs = [
        _asked(_learner(make, pool, labels, seed=3, threads=threads), labels, 3) for threads in (1, 1, 3)
    ]
    assert (runs[0] == runs[1]).all(), "the same seed gave another run"
    assert (runs[0] == runs[2]).all(), "the number of threads changed the run"


def _check_one_class(make: Make, pool: Pool) -> None:
    constant = np.zeros(len(pool), dtype=int)
    learner = _learner(make, pool, constant)
    _asked(learner, constant, 2)
    asked = len(learner.ask())
    assert asked == learner.batch_size or _may_stop(learner), "one class only must not stop it"


def _check_to_the_end(make: Make, pool: Pool, labels: np.ndarray) -> None:
    learner = _learner(make, pool, labels, batch_size=max(1, len(pool) // 3))
    while queries := learner.ask():
        learner.tell(queries.ids, labels[pool.positions(queries.ids)])
    assert learner.labels_known == len(pool) or _may_stop(learner), "the whole pool can be asked for"


def _may_stop(learner: Learner) -> bool:
    """Strategies that judge a stream row by row end with it."""
    return learner.strategy.stream
