"""What every strategy must do.

Every check takes ``make``, which makes a new strategy, ``pool``, and ``labels``, true for every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced.learner import Learner, Queries
from aced.pool import Pool
from aced.strategies import Strategy
from aced.testing._checks import run

Make = Callable[[], Strategy]
Check = Callable[[Make, Pool, np.ndarray], None]


def strategy_checks() -> tuple[Check, ...]:
    """The suite: one function for each thing that is required of a strategy."""
    return (
        check_no_row_is_asked_twice,
        check_draw_probabilities_are_above_0_and_at_most_1,
        check_the_budget_is_used,
        check_the_whole_pool_can_be_asked_for,
        check_the_same_seed_gives_the_same_run,
        check_the_number_of_threads_does_not_change_the_run,
        check_labels_of_one_class_do_not_stop_it,
        check_more_than_two_classes_are_taken_or_refused,
    )


def check_strategy(make: Make, pool: Pool, labels: np.ndarray) -> None:
    """Run the suite on strategies that ``make`` makes, over ``pool``; ``labels`` are its true labels."""
    run(strategy_checks(), make, pool, labels)


def check_no_row_is_asked_twice(make: Make, pool: Pool, labels: np.ndarray) -> None:
    seen: set[object] = set()
    for queries in _rounds(_learner(make, pool, labels, batch_size=max(1, len(pool) // 12)), labels):
        ids = set(queries.ids.tolist())
        assert len(ids) == len(queries), "a row is twice in one batch"
        assert not ids & seen, "a row was asked for again"
        seen |= ids


def check_draw_probabilities_are_above_0_and_at_most_1(
    make: Make, pool: Pool, labels: np.ndarray
) -> None:
    for queries in _rounds(_learner(make, pool, labels, batch_size=max(1, len(pool) // 6)), labels):
        p = queries.probabilities
        assert ((p > 0) & (p <= 1 + 1e-9)).all(), f"draw probabilities are from {p.min()} to {p.max()}"


def check_the_budget_is_used(make: Make, pool: Pool, labels: np.ndarray) -> None:
    learner = _learner(make, pool, labels, budget=len(pool) // 2, batch_size=max(1, len(pool) // 3))
    asked = sum(len(queries) for queries in _rounds(learner, labels))
    assert asked == learner.budget or _may_stop(learner), f"{asked} of {learner.budget} rows asked for"
    assert learner.history, "a history must be kept"


def check_the_whole_pool_can_be_asked_for(make: Make, pool: Pool, labels: np.ndarray) -> None:
    learner = _learner(make, pool, labels, batch_size=max(1, len(pool) // 3))
    for _ in _rounds(learner, labels):
        pass
    known = learner.labels_known
    assert known == len(pool) or _may_stop(learner), f"{known} of {len(pool)} rows asked for"


def check_the_same_seed_gives_the_same_run(make: Make, pool: Pool, labels: np.ndarray) -> None:
    one, two = (_three_rounds(make, pool, labels, threads=1) for _ in range(2))
    assert (one == two).all(), "the same seed gave another run"


def check_the_number_of_threads_does_not_change_the_run(
    make: Make, pool: Pool, labels: np.ndarray
) -> None:
    one, three = (_three_rounds(make, pool, labels, threads=threads) for threads in (1, 3))
    assert (one == three).all(), "the number of threads changed the run"


def check_labels_of_one_class_do_not_stop_it(make: Make, pool: Pool, labels: np.ndarray) -> None:
    constant = np.zeros(len(pool), dtype=int)
    learner = _learner(make, pool, constant)
    sizes = [len(queries) for queries in islice(_rounds(learner, constant), 3)]
    assert sizes == 3 * [learner.batch_size] or _may_stop(learner), f"batches of {sizes}"


def check_more_than_two_classes_are_taken_or_refused(make: Make, pool: Pool, labels: np.ndarray) -> None:
    """Classes come one after the other; a strategy made for two refuses the others at the start."""
    many = 2 * np.unique(labels, return_inverse=True)[1] + np.arange(len(pool)) % 2
    if make().two_classes:
        said = _refusal(make, pool)
        assert "two classes only" in said, f"four classes are taken, or refused with {said!r}"
        return
    learner = _learner(make, pool, many, seed=1, batch_size=max(4, len(pool) // 12))
    seen: list[object] = []
    for queries in islice(_rounds(learner, many), 4):
        seen += queries.ids.tolist()
        p = queries.probabilities
        assert ((p > 0) & (p <= 1 + 1e-9)).all(), f"draw probabilities are from {p.min()} to {p.max()}"
    assert len(set(seen)) == len(seen), "a row was asked for again"
    assert len(seen) == 4 * learner.batch_size or _may_stop(learner), f"{len(seen)} rows asked for"


def _refusal(make: Make, pool: Pool) -> str:
    """What is said of four classes."""
    try:
        Learner(pool, strategy=make(), classes=range(4))
    except InvalidInput as error:
        return str(error)
    return ""


def _learner(make: Make, pool: Pool, labels: np.ndarray, **options: Any) -> Learner:
    learner = Learner(pool, strategy=make(), **options)
    learner.strategy.reveal(np.unique(labels, return_inverse=True)[1])
    return learner


def _rounds(learner: Learner, labels: np.ndarray) -> Iterator[Queries]:
    """The batches that the learner asks for; it is told the labels of each before the next."""
    while queries := learner.ask():
        yield queries
        learner.tell(queries.ids, labels[learner.pool.positions(queries.ids)])


def _three_rounds(make: Make, pool: Pool, labels: np.ndarray, threads: int) -> np.ndarray:
    """The ids asked for, in order."""
    learner = _learner(make, pool, labels, seed=3, threads=threads)
    return np.concatenate([queries.ids for queries in islice(_rounds(learner, labels), 3)])


def _may_stop(learner: Learner) -> bool:
    """Whether the strategy is a stream, which may end before the budget does."""
    return learner.strategy.stream
