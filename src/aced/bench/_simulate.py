"""Simulate one strategy on one labelled pool, from the first batch to the budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._explained import numbers
from aced._workers import Workers
from aced.datasets import Dataset
from aced.design import Report
from aced.learner import Learner, Queries
from aced.pool import Pool
from aced.strategies import Strategy


@dataclass(frozen=True)
class Point:
    """Accuracy after ``labels`` labels, and the seconds since the run began."""

    labels: int
    pool_accuracy: float
    holdout_accuracy: float | None
    seconds: float
    estimate: float | None = None  # of the accuracy on the pool, by a certificate
    low: float | None = None
    high: float | None = None
    regret: float | None = None


CERTIFIED = ("estimate", "low", "high", "regret")
"""The parts of a point that a certificate gives."""


@dataclass
class Curve:
    """The result of one run."""

    dataset: str
    strategy: str
    seed: int
    rows: int
    features: int
    all_labels: dict[str, float | None]
    curve: list[Point] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    stop: dict[str, Any] | None = None

    @property
    def representation(self) -> dict[str, Any] | None:
        """The representation of the last round, and why; None where rows have no other."""
        return numbers(self.history[-1]) if self.history else None

    def to_json(self) -> dict[str, Any]:
        """The object that ``aced run --json`` writes."""
        record = asdict(self)
        record.pop("history")
        if self.stop is None:
            record.pop("stop")
        return {**record, "representation": self.representation}

    def best(self, labels: int) -> float:
        """The running maximum of the pool accuracy up to ``labels``, the paper's measure."""
        return max((p.pool_accuracy for p in self.curve if p.labels <= labels), default=0.0)

    def labels_to_reach(self, accuracy: float) -> int | None:
        """The labels at which the running maximum first reaches ``accuracy``; None if it never does."""
        return next((p.labels for p in self.curve if p.pool_accuracy >= accuracy), None)


def check_strategy(strategy: Strategy, data: Dataset) -> None:
    """Refuse a strategy that is made for two classes where the data have more."""
    count = len(np.unique(data.y))
    if strategy.two_classes and count > 2:
        only = f"{strategy.name} is made for two classes only, and {data.name} has {count}"
        raise InvalidInput("strategy", f"{only}; use a strategy for more, such as aced")


def _check_holdout(data: Dataset) -> None:
    if data.X_test is not None and not data.X_test.shape[0]:
        raise InvalidInput("X_test", "has no rows; leave out X_test and y_test, or give them some")


def _score(learner: Learner, data: Dataset) -> tuple[float, float | None]:
    model = learner.classifier
    with learner.workers.session():
        pool = float(np.mean(learner.predict() == data.y))
        if data.X_test is None:
            return pool, None
        rows = data.X_test.astype(np.float32)
        return pool, float(np.mean(model.predict(rows) == data.y_test))


@dataclass(frozen=True)
class Wanted:
    """When a run ends before its budget: a certificate reaches ``least`` with this confidence, or the
    regret is at most that."""

    least: float
    of: str = "accuracy"
    label: Any = None
    confidence: float = 0.95


def _certified(learner: Learner, point: Point, regret: bool) -> Point:
    """The point with its certificate, if the strategy's draws allow one, and with the regret."""
    try:
        found = learner.accuracy()
        point = replace(point, estimate=found.estimate, low=found.low, high=found.high)
        return replace(point, regret=learner.regret().high) if regret else point
    except InvalidInput:
        return point


def _ask(learner: Learner, data: Dataset, first: int | None) -> Queries:
    """The next batch. For a stream, each row is answered before the next is asked for."""
    if not learner.strategy.stream:
        starts = first is not None and learner.labels_known == 0
        return learner.ask(first, fresh=True) if starts else learner.ask()
    ids: list[Any] = []
    probabilities: list[float] = []
    while len(ids) < learner.batch_size and (query := learner.ask(1)):
        learner.tell(query.ids, data.y[learner.pool.positions(query.ids)])
        ids += query.ids.tolist()
        probabilities += query.probabilities.tolist()
    return Queries(np.array(ids), np.array(probabilities))


BUDGET = "budget"
"""The reason of a run that went to its end."""


def _stopped(learner: Learner, wanted: Wanted) -> dict[str, Any]:
    """Where the run would end now, why, and what can be claimed then."""
    how: dict[str, Any] = {"label": wanted.label, "confidence": wanted.confidence}
    found = learner.reached(wanted.least, of=wanted.of, **how)
    reason = wanted.of if found else BUDGET
    return {"labels": learner.labels_known, "reason": reason, "claim": found.claim}


def fit_all(
    data: Dataset,
    pool: Pool,
    *,
    l2: float | None,
    representation: str | None = None,
    workers: Workers | None = None,
) -> dict[str, float | None]:
    """Accuracies of the classifier trained on every label, with arguments as in ``Learner``."""
    _check_holdout(data)
    how: dict[str, Any] = {"l2": l2, "representation": representation, "workers": workers}
    learner = Learner(pool, strategy="passive", **how)
    learner.tell(pool.ids, data.y)
    on_pool, on_holdout = _score(learner, data)
    return {"pool_accuracy": on_pool, "holdout_accuracy": on_holdout}


def simulate(
    data: Dataset,
    pool: Pool,
    strategy: Strategy,
    *,
    all_labels: dict[str, float | None],
    budget: int,
    batch: int | None,
    seed: int,
    l2: float | None,
    first: int | None = None,
    representation: str | None = None,
    workers: Workers | None = None,
    tick: Callable[[Point], None] | None = None,
    report: Report | None = None,
    certify: bool = False,
    regret: bool = False,
    wanted: Wanted | None = None,
) -> Curve:
    """Ask, answer from the known labels, train and score, until the budget is spent.

    A stream is asked for one row at a time, but scored after every batch of labels like the other
    strategies. ``first`` is the size of the first batch, if it is not like the others;
    ``representation`` is as in ``Learner``. ``tick`` gets each point, ``report`` a round's progress.
    With ``certify`` points have certificates, with ``regret`` one of the regret too. With ``wanted``
    the run ends when it is reached.
    """
    _check_holdout(data)
    check_strategy(strategy, data)
    began = time.perf_counter()
    classes, codes = np.unique(data.y, return_inverse=True)
    learner = Learner(
        pool,
        strategy=strategy,
        classes=classes.tolist(),
        l2=l2,
        representation=representation,
        budget=budget,
        batch_size=batch,
        seed=seed,
        workers=workers,
        report=report,
    )
    learner.strategy.reveal(codes)
    result = Curve(data.name, strategy.name, seed, len(pool), pool.features, all_labels)
    with learner.workers.session():
        while queries := _ask(learner, data, first):
            if not learner.strategy.stream:
                learner.tell(queries.ids, data.y[pool.positions(queries.ids)])
            on_pool, on_holdout = _score(learner, data)
            point = Point(learner.labels_known, on_pool, on_holdout, time.perf_counter() - began)
            if certify:
                point = _certified(learner, point, regret)
            result.curve.append(point)
            if tick is not None:
                tick(point)
            if wanted is not None:
                result.stop = _stopped(learner, wanted)
                if result.stop["reason"] != BUDGET:
                    break
    result.history = learner.history
    return result
