"""Ask and tell: the loop that everything people touch is built on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from aced import _archive
from aced._check import fraction, whole
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced.backends import make_workers
from aced.design import Report
from aced.learner import _classifier
from aced.learner._labels import Classes
from aced.learner._queries import Queries, default_batch
from aced.pool import Pool
from aced.strategies import Aced, Strategy, View, make_strategy

UNASKED, PENDING, LABELLED = 0, 1, 2

NEEDED = {
    "pool", "strategy", "options", "classes", "classes_fixed", "l2", "budget", "batch_size",
    "tolerance", "rng", "history", "status", "codes", "drawn_with", "queue",
}  # fmt: skip
"""What a saved learner must hold."""


class Learner:
    """Asks for labels of rows of a pool, is told them, and trains a classifier.

    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(400, 5))
    >>> truth = np.where(rows[:, 0] > 0, "cat", "dog")
    >>> learner = Learner(Pool(rows), budget=80, seed=0)
    >>> while queries := learner.ask():
    ...     learner.tell(queries.ids, truth[queries.ids])
    >>> learner.labels_known, bool(learner.classifier.score(rows, truth) > 0.95)
    (80, True)

    ``strategy`` is "aced", "passive", "margin" or a strategy object; ``budget`` the most
    labels to ask for (default: all rows); ``batch_size`` how many rows are drawn from one
    design (default: 250, less for a small pool; with a budget T and a tolerance ε the
    paper's T / log2(1/ε)); ``tolerance`` the excess error rate below which differences do
    not matter (default 0: the paper's experiments); ``classifier`` any scikit-learn
    classifier (default: logistic regression with penalty ``l2``).

    ``backend`` is who computes: "threads" (default), "processes" or "torch" (on ``device``); or pass
    the ``client`` of a Dask cluster. The same seed and the same calls give the same result, whatever
    ``threads``, with processes and on a cluster too; "torch" rounds differently.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        strategy: str | Strategy = "aced",
        classes: Iterable[Any] | None = None,
        classifier: Any = None,
        l2: float = 1.0,
        budget: int | None = None,
        batch_size: int | None = None,
        tolerance: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
        backend: str | None = None,
        device: str | None = None,
        client: Any = None,
        report: Report | None = None,
    ) -> None:
        if not isinstance(pool, Pool):
            raise InvalidInput(
                "pool", f"must be an aced.Pool, got {type(pool).__name__}; use Pool(rows)"
            )
        n = len(pool)
        self.pool = pool
        self.strategy = make_strategy(strategy)
        self.budget = n if budget is None else whole("budget", budget, 1)
        if self.budget > n:
            raise InvalidInput("budget", f"is {self.budget}, but the pool has {n} rows; use at most {n}")
        self.tolerance = fraction("tolerance", tolerance)
        self.batch_size = self._batch_size(batch_size, budget)
        self.report = report
        self.history: list[dict[str, Any]] = []
        self.workers = make_workers(backend, threads, client, device)
        self._template = (
            _classifier.default_classifier(l2)
            if classifier is None
            else _classifier.check_classifier(classifier)
        )
        self._l2 = float(l2) if classifier is None else None
        self._classes = Classes(classes)
        self._rng = np.random.default_rng(whole("seed", seed, 0))
        self._status = np.zeros(n, np.int8)
        self._codes = np.zeros(n, np.int64)
        self._drawn_with = np.full(n, np.nan)
        self._queue: list[int] = []
        self._model: Any = None

    def _batch_size(self, batch_size: int | None, budget: int | None) -> int:
        if batch_size is not None:
            size = whole("batch_size", batch_size, 1)
            if size > self.budget:
                raise InvalidInput(
                    "batch_size", f"is {size}, but the budget is {self.budget}; use at most that"
                )
            return size
        if budget is not None and self.tolerance > 0:
            return max(1, int(self.budget / max(1.0, np.log2(1 / self.tolerance))))
        return min(default_batch(len(self.pool)), self.budget)

    # -- the loop ---------------------------------------------------------------

    def ask(self, n: int | None = None) -> Queries:
        """The next ``n`` rows to label (default: a batch); fewer, or none, at the end.

        Rows asked for and not yet told are not asked for again.
        """
        wanted = self.batch_size if n is None else whole("n", n, 1)
        wanted = min(wanted, self.remaining)
        taken: list[int] = []
        while len(taken) < wanted:
            if not self._queue:
                self._plan(wanted - len(taken))
            if not self._queue:
                break  # the strategy has nothing more to ask
            count = min(wanted - len(taken), len(self._queue))
            taken += self._queue[:count]
            self._status[self._queue[:count]] = PENDING
            del self._queue[:count]
        positions = np.array(taken, dtype=np.int64)
        return Queries(self.pool.ids[positions], self._drawn_with[positions])

    def _plan(self, wanted: int) -> None:
        """Draw the next rows from a new design."""
        began = time.perf_counter()
        size = min(max(wanted, self.batch_size), self.remaining)
        known = self._status == LABELLED
        positions = np.flatnonzero(known)
        view = View(
            pool=self.pool,
            workers=self.workers,
            positions=positions,
            codes=self._codes[positions],
            open=self._status == UNASKED,
            batch_size=self.batch_size,
            tolerance=self.tolerance,
            scores=self._scores,
            report=self.report,
        )
        with self.workers.session():  # one BLAS thread: the same result on any number of cores
            plan = self.strategy.plan(view, size, self._rng)
        self._queue = plan.positions.tolist()
        self._drawn_with[plan.positions] = plan.probabilities
        self.history.append(
            {
                "strategy": self.strategy.name,
                "labels": len(positions),
                "drawn": len(plan.positions),
                **{k: v.item() if isinstance(v, np.generic) else v for k, v in plan.record.items()},
                "seconds": time.perf_counter() - began,
            }
        )

    def tell(self, ids: Any, labels: Any, *, overwrite: bool = False) -> None:
        """Take labels, in any order, in parts, again if need be.

        Rows may be told that were never asked for; they do not count against the budget. A
        label that contradicts an earlier one is refused unless ``overwrite`` is set. On an
        error nothing is taken.
        """
        positions = self.pool.positions(ids)
        one = isinstance(labels, str | bool | int | float | np.generic) or labels is None
        before = self._classes.values
        held = before
        if overwrite:  # a class that only the rows of this call had may go
            others = self._status == LABELLED
            others[positions] = False
            held = [before[code] for code in np.unique(self._codes[others])]
        codes, known = self._classes.encode([labels] if one else labels, held)
        if len(positions) != len(codes):
            raise InvalidInput("labels", f"got {len(codes)} labels for {len(positions)} ids")
        moves = np.array([known.index(c) if c in known else 0 for c in before] + [0, 0])
        current = moves[self._codes]  # a second class may sort before the first
        self._refuse_two_labels(positions, codes)
        if not overwrite:
            self._refuse_contradictions(positions, codes, current, known)
        self._classes.values, self._codes = known, current
        self._codes[positions] = codes
        unasked = self._status[positions] == UNASKED
        self._drawn_with[positions[unasked]] = np.nan
        self._status[positions] = LABELLED
        told = set(positions.tolist())
        self._queue = [position for position in self._queue if position not in told]
        self._model = None

    def _refuse_two_labels(self, positions: Ints, codes: Ints) -> None:
        order = np.argsort(positions, kind="stable")
        same_row = np.diff(positions[order]) == 0
        clash = np.flatnonzero(same_row & (np.diff(codes[order]) != 0))
        if len(clash):
            row = self.pool.ids[positions[order][clash[0]]].item()
            raise InvalidInput("labels", f"{row!r} is given two different labels in one call")

    def _refuse_contradictions(
        self, positions: Ints, codes: Ints, current: Ints, known: list[Any]
    ) -> None:
        differs = (self._status[positions] == LABELLED) & (current[positions] != codes)
        if differs.any():
            first = int(np.flatnonzero(differs)[0])
            row = self.pool.ids[positions[first]].item()
            raise InvalidInput(
                "labels",
                f"{row!r} was told {known[current[positions[first]]]!r} before and "
                f"{known[codes[first]]!r} now; pass overwrite=True to correct it",
            )

    def release(self, ids: Any) -> None:
        """Give asked-for rows back unlabelled; they may be asked for again."""
        positions = self.pool.positions(ids)
        if (self._status[positions] == LABELLED).any():
            raise InvalidInput("ids", "a row that has a label cannot be released")
        given_out = positions[self._status[positions] == PENDING]
        self._status[given_out] = UNASKED
        self._drawn_with[given_out] = np.nan

    def exclude(self, ids: Any) -> None:
        """Never ask for these rows: someone else does, or nobody needs to."""
        positions = self.pool.positions(ids)
        self._status[positions[self._status[positions] == UNASKED]] = PENDING
        left_out = set(positions.tolist())
        self._queue = [position for position in self._queue if position not in left_out]

    # -- what is known ----------------------------------------------------------

    @property
    def labels_known(self) -> int:
        """How many rows have a label."""
        return int((self._status == LABELLED).sum())

    @property
    def remaining(self) -> int:
        """How many rows may still be asked for: within the budget, and without a label."""
        open_rows = self._status == UNASKED
        asked = int((~open_rows & ~np.isnan(self._drawn_with)).sum())
        return max(0, min(self.budget - asked, int(open_rows.sum())))

    @property
    def pending(self) -> Array:
        """Ids asked for and not told."""
        return np.asarray(self.pool.ids[self._status == PENDING])

    @property
    def classes(self) -> list[Any]:
        """The classes known so far."""
        return list(self._classes.values)

    def labelled(self) -> tuple[Array, Array, Float64]:
        """Ids, labels and draw probabilities (NaN where a row was not asked for)."""
        rows = np.flatnonzero(self._status == LABELLED)
        if not len(rows):
            return self.pool.ids[rows], np.zeros(0), np.zeros(0)
        return self.pool.ids[rows], self._classes.decode(self._codes[rows]), self._drawn_with[rows]

    @property
    def classifier(self) -> Any:
        """The classifier trained on all labels so far; None before the first label."""
        if self._model is None:
            rows = np.flatnonzero(self._status == LABELLED)
            if len(rows):
                with self.workers.session():
                    labels = self._classes.decode(self._codes[rows])
                    self._model = _classifier.fit(self._template, self.pool.rows(rows), labels)
        return self._model

    def train(self, ids: Any, labels: Any) -> Any:
        """A classifier like this learner's, trained on these labels alone."""
        with self.workers.session():
            return _classifier.fit(
                self._template, self.pool.rows(self.pool.positions(ids)), np.asarray(labels)
            )

    def _scores(self) -> Float64 | None:
        model = self.classifier
        with self.workers.session():
            if model is None or not _classifier.has_scores(model):
                return None
            return self.workers.each(_classifier.scores, self.pool, model)[0]

    @property
    def design(self) -> Float64 | None:
        """λ of the last round, one probability per row; None for strategies without one."""
        return self.strategy.lam if isinstance(self.strategy, Aced) else None

    @property
    def incumbent(self) -> Array | None:
        """The labels that the incumbent h̃ of the last design gives the pool."""
        if not isinstance(self.strategy, Aced) or len(self._classes.values) < 2:
            return None
        chosen = self.strategy.incumbent(self.pool, self.workers)
        return None if chosen is None else self._classes.decode(chosen.astype(np.int64))

    # -- saving -----------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the pool and a classifier of your own to one file."""
        meta = {
            "pool": self.pool.fingerprint,
            "strategy": self.strategy.name,
            "options": self.strategy.options(),
            "classes": self._classes.values,
            "classes_fixed": self._classes.fixed,
            "l2": self._l2,
            "budget": self.budget,
            "batch_size": self.batch_size,
            "tolerance": self.tolerance,
            "rng": self._rng.bit_generator.state,
            "history": self.history,
        }
        arrays: dict[str, Array] = {
            "status": self._status,
            "codes": self._codes,
            "drawn_with": self._drawn_with,
            "queue": np.array(self._queue, dtype=np.int64),
        }
        arrays |= {f"strategy_{name}": array for name, array in self.strategy.state().items()}
        _archive.write(path, meta, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        pool: Pool,
        *,
        strategy: str | Strategy | None = None,
        classifier: Any = None,
        threads: int | None = None,
        backend: str | None = None,
        device: str | None = None,
        client: Any = None,
        report: Report | None = None,
    ) -> Learner:
        """Continue, to the bit, where ``save`` left off, on the same pool."""
        if not isinstance(pool, Pool):
            raise InvalidInput(
                "pool", f"must be an aced.Pool, got {type(pool).__name__}; use Pool(rows)"
            )
        meta, arrays = _archive.read(path, NEEDED, "learner")
        if meta["pool"] != pool.fingerprint:
            raise InvalidInput("pool", "this is not the pool that the learner was saved with")
        if strategy is None:
            if meta["options"] is None:
                raise InvalidInput("strategy", "the learner was saved with one of your own; pass it")
            older = {"estimator": "naive"} if meta["strategy"] == "aced" else {}  # it had no other
            strategy = make_strategy(meta["strategy"], {**older, **meta["options"]})
        if classifier is None and meta["l2"] is None:
            raise InvalidInput("classifier", "the learner was saved with one of your own; pass it")
        learner = cls(
            pool,
            strategy=strategy,
            classes=meta["classes"] if meta["classes_fixed"] else None,
            classifier=classifier,
            l2=meta["l2"] if meta["l2"] is not None else 1.0,
            budget=meta["budget"],
            batch_size=meta["batch_size"],
            tolerance=meta["tolerance"],
            threads=threads,
            backend=backend,
            device=device,
            client=client,
            report=report,
        )
        learner._classes.values = meta["classes"]
        learner._rng.bit_generator.state = meta["rng"]
        learner.history = meta["history"]
        learner._status, learner._codes = arrays["status"], arrays["codes"]
        learner._drawn_with, learner._queue = arrays["drawn_with"], arrays["queue"].tolist()
        saved = {name[9:]: array for name, array in arrays.items() if name.startswith("strategy_")}
        learner.strategy.restore(saved)
        return learner
