"""Strategies of other libraries, run from their packages in the same loop as ours.

A peer runs in one of several ways, which a job names as its classifier:

- ``own``: as it comes, with the classifier and the start that its documentation shows;
- ``logistic``: scikit-activeml with scikit-learn's logistic regression as it comes;
- ``ours``: the peer chooses the rows, and the learner's classifier is scored. Where the peer looks at
  a classifier, it looks at that one.

``docs/field.md`` says where each documentation shows this. A peer that fails, chooses rows twice or
takes too long ends its run there. The record says so and keeps the curve up to there.
"""

from __future__ import annotations

import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_limits

from aced._check import choice
from aced._errors import reason
from aced._optional import needed
from aced._types import Array, Ints, Rng
from aced._workers import Workers
from aced.bench._simulate import Curve, Point
from aced.bench._suites import OURS
from aced.datasets import Dataset
from aced.learner import Learner
from aced.pool import Pool
from aced.strategies import Plan, Strategy, View

OWN, LOGISTIC = "own", "logistic"
LIMIT = 900.0
"""Seconds after which a run of a peer is ended, at the end of a round."""
PEERS = {
    "skactiveml-badge": (OWN, LOGISTIC, OURS),
    "skactiveml-core-set": (OWN, LOGISTIC, OURS),
    "skactiveml-typiclust": (OWN, LOGISTIC, OURS),
    "skactiveml-probcover": (OWN, LOGISTIC, OURS),
    "skactiveml-committee": (OWN, LOGISTIC, OURS),
    "skactiveml-margin": (OWN, LOGISTIC, OURS),
    "small-text-breaking-ties": (OWN, OURS),
    "small-text-least-confidence": (OWN, OURS),
    "small-text-core-set": (OWN, OURS),
    "small-text-lightweight-core-set": (OWN, OURS),
    "small-text-k-means": (OWN, OURS),
}
"""The peers, by the library and the strategy, and the ways in which each can run."""


AS_THEY_COME = (OWN, LOGISTIC)


@dataclass(frozen=True)
class Setting:
    """What a peer is told before the first label."""

    rows: Any  # (n, p), dense or sparse
    classes: int
    seed: int
    classifier: str
    learner: Learner | None  # ours, where the classifier is ours


class Peer(ABC):
    """One strategy of another library in one run."""

    start: int = 0
    """Labels of rows drawn at random that it begins with, by its documentation."""
    needs_two: bool = False
    """Whether it cannot choose before two classes have labels; rows are then drawn at random."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def query(self, known: Ints, codes: Ints, size: int) -> Array:
        """``size`` rows other than those ``known``, whose labels are ``codes``."""

    @abstractmethod
    def learn(self, known: Ints, codes: Ints) -> None:
        """Train the peer's own classifier on these labels."""

    @abstractmethod
    def predict(self, rows: Any) -> Array:
        """The codes that the peer's own classifier gives these rows."""


def make_peer(name: str, setting: Setting) -> Peer:
    """The peer with this name, from its package."""
    choice("strategy", name, PEERS)
    if name.startswith("skactiveml-"):
        from aced.bench._peers_skactiveml import Skactiveml  # loads only where it is wanted

        return Skactiveml(setting, name.removeprefix("skactiveml-"))
    from aced.bench._peers_small_text import SmallText

    return SmallText(setting, name.removeprefix("small-text-"))


def check_peer(name: str) -> None:
    """Refuse a peer whose package is missing, before the first run."""
    module = "skactiveml" if name.startswith("skactiveml-") else "small_text"
    needed("strategies", module, name, "peers")


def fit_peer(data: Dataset, name: str, classifier: str, workers: Workers) -> dict[str, float | None]:
    """Accuracies of a peer's own classifier trained on every label."""
    classes, codes = np.unique(data.y, return_inverse=True)
    try:
        with workers.session(), as_theirs(0, workers.threads):
            peer = make_peer(name, Setting(data.X, len(classes), 0, classifier, None))
            peer.learn(np.arange(len(codes)), codes)
            pool, holdout = _accuracies(peer, data, classes)
    except Exception:  # its runs say what is wrong
        return {"pool_accuracy": None, "holdout_accuracy": None}
    return {"pool_accuracy": pool, "holdout_accuracy": holdout}


def simulate_peer(
    data: Dataset,
    pool: Pool,
    name: str,
    classifier: str,
    *,
    all_labels: dict[str, float | None],
    budget: int,
    batch: int,
    first: int | None,
    seed: int,
    representation: str | None,
    workers: Workers,
    limit: float = LIMIT,
) -> tuple[Curve, str | None]:
    """The curve of a peer, and what went wrong if it ends before the budget."""
    began = time.perf_counter()
    classes, codes = np.unique(data.y, return_inverse=True)
    learner = None
    if classifier == OURS:
        how: dict[str, Any] = {"representation": representation}
        learner = Learner(
            pool, strategy=_Theirs(), classes=classes.tolist(), seed=seed, workers=workers, **how
        )
    curve = Curve(data.name, name, seed, len(pool), pool.features, all_labels)
    check_peer(name)  # its libraries are loaded, so that their threads are limited
    with workers.session(), as_theirs(seed, workers.threads):
        try:
            setting = Setting(data.X, len(classes), seed, classifier, learner)
            run = _Run(make_peer(name, setting), codes, np.random.default_rng(seed))
            for labels in _counts(budget, batch, first):
                if time.perf_counter() - began > limit:
                    return curve, f"not finished in {limit:.0f} seconds"
                run.extend(labels)
                scored: Any = run.peer if learner is None else learner.classifier
                on_pool, on_holdout = _accuracies(scored, data, classes)
                seconds = time.perf_counter() - began
                curve.curve.append(Point(labels, on_pool, on_holdout, seconds))
        except Exception as error:  # whatever another library raises is its result
            return curve, f"{type(error).__name__}: {reason(error)}"[:300]
    return curve, None


class _Theirs(Strategy):
    """A peer's choice as a strategy of our learner, whose rounds are then like any other's."""

    name = "theirs"
    choose: Callable[[int], Ints]

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        chosen = self.choose(size)
        return Plan(chosen, np.ones(len(chosen)))


class _Run:
    """Labels as they come in."""

    def __init__(self, peer: Peer, codes: Ints, rng: Rng) -> None:
        self.peer, self.codes, self.rng = peer, codes, rng
        self.known: Ints = np.zeros(0, np.int64)
        if (learner := peer.setting.learner) is not None and isinstance(learner.strategy, _Theirs):
            learner.strategy.choose = self._choose

    def extend(self, labels: int) -> None:
        """Choose and learn rows until ``labels`` are known."""
        start = self.peer.start
        if 0 < start < labels and len(self.known) == 0:
            self._add(start)
        self._add(labels - len(self.known))

    def _add(self, size: int) -> None:
        learner = self.peer.setting.learner
        if learner is None:
            self.known = np.concatenate([self.known, self._choose(size)])
            self.peer.learn(self.known, self.codes[self.known])
            return
        queries = learner.ask(size, fresh=True)
        chosen = learner.pool.positions(queries.ids)
        learner.tell(queries.ids, np.asarray(learner.classes)[self.codes[chosen]])
        self.known = np.concatenate([self.known, chosen])

    def _choose(self, size: int) -> Ints:
        """Rows without a label, by the peer, or at random where it needs labels to begin with."""
        peer, known = self.peer, self.known
        seen = len(np.unique(self.codes[known]))
        if (peer.start and not len(known)) or (peer.needs_two and seen < 2):
            others = np.setdiff1d(np.arange(len(self.codes)), known)
            return np.asarray(self.rng.choice(others, size, replace=False), dtype=np.int64)
        chosen = np.asarray(peer.query(known, self.codes[known], size)).astype(np.int64)
        if len(np.unique(chosen)) != size or np.isin(chosen, known).any():
            found = len(np.setdiff1d(chosen, known))
            raise ValueError(f"asked for {size} rows, it chose {found} different ones without a label")
        return chosen


def _counts(budget: int, batch: int, first: int | None) -> Iterator[int]:
    """The numbers of labels at which a run is scored."""
    count = min(first or batch, budget)
    while count < budget:
        yield count
        count = min(count + batch, budget)
    yield count


def _accuracies(model: Any, data: Dataset, classes: Array) -> tuple[float, float | None]:
    def score(rows: Any, labels: Array) -> float:
        found = model.predict(rows.astype(np.float32))
        return float(np.mean((classes[found] if isinstance(model, Peer) else found) == labels))

    on_pool = score(data.X, data.y)
    if data.X_test is None or data.y_test is None:
        return on_pool, None
    return on_pool, score(data.X_test, data.y_test)


def constant(codes: Ints) -> DummyClassifier:
    """The classifier of a peer that cannot be trained on labels of one class."""
    return DummyClassifier(strategy="most_frequent").fit(np.zeros((len(codes), 1)), codes)


def probabilities(model: Any, rows: Any, values: list[Any]) -> Array:
    """Of our classifier, (n, K) in the order of the classes' ``values``; 0 for one without a label."""
    found = np.zeros((rows.shape[0], len(values)))
    at = [values.index(value) for value in np.asarray(model.classes_).tolist()]
    found[:, at] = model.predict_proba(rows)
    return found


@contextmanager
def as_theirs(seed: int, threads: int) -> Iterator[None]:
    """What other libraries expect of a process: their warnings are not ours, and they may draw from
    numpy's global generator. It is seeded for them, and what was there before is put back. They get
    this many threads: two runs with a thread for each core would wait for one another."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        with warnings.catch_warnings(), threadpool_limits(threads, "openmp"):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
