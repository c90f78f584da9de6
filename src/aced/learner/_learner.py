"""The loop of asking and telling, on which everything that people touch is built."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from aced import _archive, certificates
from aced._check import fraction, share, whole
from aced._errors import InvalidInput
from aced._types import Array, Float64, Ints
from aced._workers import Workers
from aced.backends import make_workers
from aced.certificates import Certificate, Stop
from aced.design import Report, Round
from aced.learner import _saved, _scores
from aced.learner._evidence import Evidence, asked
from aced.learner._held import Held
from aced.learner._interrupted import undisturbed
from aced.learner._labels import Classes, listed, plain_labels
from aced.learner._memory import PREFIX, Memory, modern
from aced.learner._proposals import Proposals
from aced.learner._queries import Queries, batch_of
from aced.learner._random import Learnt, Savings, savings
from aced.learner._regret import codes_of, regret_of
from aced.learner._rows import EXCLUDED, PENDING, UNASKED, Rows
from aced.learner._trainer import CHOSEN, make_trainer
from aced.pool import Pool
from aced.representations import Model
from aced.strategies import DEFAULT, Explored, Strategy, View, make_strategy, with_floor


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

    ``pool`` is a Pool, or anything that a Pool can be made of. ``strategy`` is a strategy object or a
    name such as "blend" (default), "aced" or "margin". ``explore`` is the share of uniform draws among
    its own (default: the strategy's), from which :meth:`accuracy` follows. ``classes`` are two to 100
    (default: those that the labels show). ``representation`` says in which columns hypotheses are
    linear: "linear" (the pool's own), "rbf" (those of a Gaussian kernel) or "auto" (default: the labels
    choose). ``classifier`` is any scikit-learn classifier (default: the penalised and calibrated model
    of that representation). ``l2`` makes it a logistic regression of rows as they are with this
    penalty; 0 is the paper's. ``proposals`` are guesses at the class of every row, by a language model,
    say, and ``proposals_confidence`` how sure each is, from 0 to 1: the labels say how far they are
    trusted beside the model. ``budget`` is the most rows to ask for (default: all). ``batch_size`` is
    how many rows are drawn from one design (default: 250, less for a small pool; with a budget T and a
    tolerance ε it is the paper's T / log2(1/ε)). ``tolerance`` is the excess error rate below which
    differences do not matter (default: 0, as in the paper's experiments). ``report`` is called with a
    line of text whenever a round makes progress.

    ``backend`` says who computes: "threads" (default), "processes" or "torch" (on ``device``);
    ``threads`` is their number. Instead of a backend, pass the ``client`` of a Dask cluster, or
    ``workers`` made before. The same ``seed`` and the same calls give the same result with any number
    of threads or processes and on a cluster; only "torch" rounds differently.
    """

    def __init__(
        self,
        pool: Any,
        *,
        strategy: str | Strategy = DEFAULT,
        explore: float | None = None,
        classes: Iterable[Any] | None = None,
        representation: str | None = None,
        classifier: Any = None,
        l2: float | None = None,
        proposals: Any = None,
        proposals_confidence: Any = None,
        budget: int | None = None,
        batch_size: int | None = None,
        tolerance: float = 0.0,
        seed: int = 0,
        threads: int | None = None,
        backend: str | None = None,
        device: str | None = None,
        client: Any = None,
        workers: Workers | None = None,
        report: Report | None = None,
    ) -> None:
        self.pool = pool = pool if isinstance(pool, Pool) else Pool(pool)
        n = len(pool)
        given = explore is not None
        self.strategy = with_floor(strategy, explore) if given else make_strategy(strategy)
        self.budget = n if budget is None else whole("budget", budget, 1)
        if self.budget > n:
            raise InvalidInput("budget", f"is {self.budget}, but the pool has {n} rows; use at most {n}")
        self.tolerance = fraction("tolerance", tolerance)
        self.batch_size = batch_of(batch_size, budget, self.tolerance, n)
        self.report = report
        self.history: list[dict[str, Any]] = []
        self.workers = workers or make_workers(backend, threads, client, device)
        seed = whole("seed", seed, 0)
        self._trainer = make_trainer(pool, self.workers, classifier, l2, representation, seed, report)
        self._representation = representation
        self._l2 = None if classifier is not None else CHOSEN if l2 is None else float(l2)
        self._classes = Classes(classes, self.strategy.name if self.strategy.two_classes else None)
        self._rng = np.random.default_rng(seed)
        self._rows = Rows(pool, self._classes)
        self._evidence = Evidence(n)
        self._held = Held(self._trainer, self._rows, self._evidence.drawn, self.workers)
        if proposals is not None:
            if self._l2 != CHOSEN:
                raise InvalidInput(
                    "proposals", "are joined with the learner's own model; leave classifier and l2 out"
                )
            self._held.proposals = Proposals.of(proposals, proposals_confidence, self._classes, n)
        elif proposals_confidence is not None:
            raise InvalidInput("proposals_confidence", "goes with proposals; pass these too")
        self._round: Round | None = None
        self._lam: Float64 | None = None
        self._incumbent: Ints | None = None  # codes (n,)
        self._held.begin()

    # -- the loop ---------------------------------------------------------------

    def ask(self, n: int | None = None, *, fresh: bool = False) -> Queries:
        """Ask for the next ``n`` rows (default: a batch); there are fewer, or none, at the end.

        Pending rows are not asked for again. At least a batch is drawn at a time; drawn rows beyond
        ``n`` wait for the next call. With ``fresh`` waiting rows are given up, and exactly ``n`` rows
        are drawn. An interrupted call leaves the learner as it was.
        """
        wanted = self.batch_size if n is None else whole("n", n, 1)
        wanted = min(wanted, self.remaining)
        drawn = [] if fresh else self._rows.queue
        while len(drawn) < wanted and (more := self._plan(drawn, wanted - len(drawn), fresh)):
            drawn = self._rows.queue = drawn + more
        positions, probabilities = self._rows.ask(wanted)
        return Queries(self.pool.ids[positions], probabilities)

    def _plan(self, drawn: list[int], wanted: int, exactly: bool) -> list[int]:
        """Draw rows other than those ``drawn`` from a new design; none if no row is left to ask for."""
        began = time.perf_counter()
        size = wanted if exactly else max(wanted, self.batch_size)
        positions = self._rows.labelled
        open_rows = self._rows.having(UNASKED)
        open_rows[drawn] = False
        waiting = self._rows.having(PENDING)
        waiting[drawn] = True
        with self.workers.session(), undisturbed(self._rng, self.strategy, self._trainer):
            # one BLAS thread: the same result on any number of cores
            pool, model = self._represented()
            view = View(
                pool=pool,
                workers=self.workers,
                positions=positions,
                codes=self._rows.codes[positions],
                open=open_rows,
                batch_size=self.batch_size,
                tolerance=self.tolerance,
                scores=lambda: self._held.scored(_scores.as_they_are),
                lam=self._lam,
                report=self.report,
                classes=self._classes.count,
                blockwise=self._held.scored,
                model=model,
                waiting=np.flatnonzero(waiting),
            )
            plan = self.strategy.plan(view, min(size, self.remaining - len(drawn)), self._rng)
            trusted = self._held.trusted()
            frozen = None
            if self.strategy.floor:
                frozen = self._evidence.frozen(len(positions), self._held.judged)
        if self.strategy.floor:
            self._evidence.keep(open_rows, plan, frozen)
        self._rows.probabilities[plan.positions] = plan.probabilities
        if plan.lam is not None:
            self._round, self._lam = plan.round, plan.lam
            self._incumbent = None if plan.round is None else plan.round.incumbent.astype(np.int64)
        self.history.append(
            {
                "strategy": self.strategy.name,
                "labels": len(positions),
                "drawn": len(plan.positions),
                **({} if self.strategy.stream else self._trainer.record()),
                **trusted,
                **{k: v.item() if isinstance(v, np.generic) else v for k, v in plan.record.items()},
                "seconds": time.perf_counter() - began,
            }
        )
        return [int(position) for position in plan.positions]

    def _represented(self) -> tuple[Pool, Model | None]:
        """The rows and the model that the strategy sees. The choice is kept for the next round."""
        if self.strategy.stream:  # it may ask for one row after another
            return self.pool, None
        fitted = self._held.fitted()
        pool, model = self._trainer.settle(fitted)
        if not self.strategy.represented:
            return self.pool, None
        if fitted is None or model is None:
            return pool, None
        return pool, model.with_codes(self._held.codes_of(fitted.classifier))

    def tell(self, ids: Any, labels: Any, *, overwrite: bool = False) -> None:
        """Take ``labels``, one for each of ``ids``, in any order and in any number of calls.

        Rows that were never asked for may have labels too; they do not count against the budget.
        A label that contradicts an earlier one is refused unless ``overwrite`` is set. When one label
        is refused, none is taken.
        """
        now = self._rows.tell(self.pool.positions(ids), labels, overwrite)
        self._evidence.drawn.recode(now)
        if self._held.proposals is not None:
            self._held.proposals.recode(now)
        if self._incumbent is not None:
            self._incumbent = now[self._incumbent]  # a new class may sort before another
        self._held.forget()

    def release(self, ids: Any) -> None:
        """Make these pending rows unasked again, so that they may be asked for later."""
        self._rows.release(self.pool.positions(ids))

    def exclude(self, ids: Any, *, awaited: bool = False) -> None:
        """Never ask for these rows. Labels for them are still taken.

        ``awaited`` says that others will label them: they are then pending, and strategies reckon with
        their labels.
        """
        self._rows.exclude(self.pool.positions(ids), awaited)

    # -- what is known ----------------------------------------------------------

    @property
    def labels_known(self) -> int:
        """How many rows have a label."""
        return len(self._rows.labelled)

    @property
    def remaining(self) -> int:
        """How many rows may still be asked for: those unasked, as far as the budget goes."""
        return max(0, min(self.budget - self._rows.asked, int(self._rows.having(UNASKED).sum())))

    @property
    def pending(self) -> Array:
        """Ids of the rows that were asked for and have no label yet."""
        return np.asarray(self.pool.ids[self._rows.having(PENDING)])

    @property
    def excluded(self) -> Array:
        """Ids of the rows that are never asked for."""
        return np.asarray(self.pool.ids[self._rows.having(EXCLUDED)])

    @property
    def classes(self) -> list[Any]:
        """The classes known so far."""
        return list(self._classes.values)

    def labelled(self) -> tuple[Array, Array, Float64]:
        """Ids, labels and draw probabilities of labelled rows (NaN where a row was not asked for)."""
        rows = self._rows.labelled
        if not len(rows):
            return self.pool.ids[rows], np.zeros(0), np.zeros(0)
        return self.pool.ids[rows], self._rows.labels(rows), self._rows.probabilities[rows]

    @property
    def classifier(self) -> Any:
        """The classifier trained on all labels so far; None before the first label."""
        fitted = self._held.fitted()
        return None if fitted is None else fitted.classifier

    def train(self, ids: Any, labels: Any) -> Any:
        """A classifier like this learner's, trained on these ``labels`` of the rows ``ids`` alone."""
        positions, values = self.pool.positions(ids), np.asarray(plain_labels(labels))
        if len(np.unique(positions)) < len(positions):
            raise InvalidInput("ids", "a row is there twice; give every row once, with one label")
        with self.workers.session():
            return self._trainer.refit(positions, values).classifier

    def predict(self) -> Array:
        """The class that the classifier gives each row of the pool, block by block.

        Where there are proposals, it is the class that model and proposals together give it.
        """
        return self._held.predicted()

    def predict_proba(self) -> Float64:
        """The probabilities of the :attr:`classes` for each row of the pool, (n, K).

        They are those of :meth:`predict`; a class without a label has none, unless it is proposed.
        """
        return self._held.probabilities()

    def accuracy(
        self, confidence: float = 0.95, *, of: str = "accuracy", label: Any = None
    ) -> Certificate:
        """How accurate the classifier is on the whole pool, from the draws so far, without other labels.

        ``of`` is "accuracy" (default), or "recall" or "precision" of the class ``label``. With the
        probability ``confidence`` all intervals of this learner hold for this number, however often you
        look, and whatever the data are. Right means as the labels are told. A row that was drawn and
        has no label counts as wrong in the lower end, and as right in the upper one.
        """
        code = asked(self.strategy, self._classes, confidence, of, label)
        return certificates.measure(self._evidence.drawn, self._held.known(), confidence, of, code)

    def reached(
        self, wanted: float, *, of: str = "accuracy", label: Any = None, confidence: float = 0.95
    ) -> Stop:
        """Whether accuracy (or ``of`` a class ``label`` recall or precision) is at least ``wanted``.

        With ``of="regret"`` it is whether the regret is at most ``wanted``.
        It is true if it is: ``if learner.reached(0.95): break``. Whoever stops then is wrong with a
        probability of at most 1 - ``confidence``, however often it is looked at. Printed, it says what
        can be claimed, or how many more labels it may take.
        """
        if of == "regret":
            return certificates.stop_by_regret(self.regret(confidence), share("wanted", wanted))
        code = asked(self.strategy, self._classes, confidence, of, label)
        how = share("wanted", wanted), confidence, of, code, str(label)
        return certificates.stop(self._evidence.drawn, self._held.known(), *how)

    def regret(self, confidence: float = 0.95, *, hypotheses: Any = None) -> Certificate:
        """How much more accurate on the pool another classifier of the class could be than this one.

        The class are the linear classifiers in the representation that the labels chose. The bound is
        asymptotic, other than that of :meth:`accuracy`: it needs many draws, and is about one look.
        ``hypotheses`` are finitely many instead, each given by the classes of all rows. For these the
        bound is exact, and holds at every look.
        """
        asked(self.strategy, self._classes, confidence, "accuracy", None)
        now, fitted = self._held.known(), self._held.fitted()
        assert fitted is not None
        if hypotheses is not None:
            given = codes_of(hypotheses, self._classes.values, len(self.pool))
            return certificates.exact_regret(self._evidence.drawn, now, given, confidence)
        if self._held.proposals is not None:
            raise InvalidInput("proposals", "are no part of the class that a regret is about")
        codes = self._held.codes_of(fitted.classifier)
        return regret_of(self._evidence.drawn, now, fitted, codes, self.workers, confidence)

    def savings(self) -> Savings | None:
        """How many labels random labelling would have taken to get this far: an estimate, with a band.

        It follows from the uniform part of the draws, and trusts the model on rows without a label. None
        if there are too few draws, if the classifier is one of your own, or with proposals.
        """
        asked(self.strategy, self._classes, 0.95, "accuracy", None)
        now, fitted = self._held.known(), self._held.fitted()
        assert fitted is not None
        if fitted.model is None or fitted.positions is None or self._held.proposals is not None:
            return None
        drawn, codes = self._evidence.drawn, self._held.codes_of(fitted.classifier)
        with self.workers.session():
            learnt = Learnt(self._trainer, now, fitted, codes, self.workers, seed=len(drawn))
            return savings(drawn, now, learnt, seed=len(drawn))

    def confusion(self) -> Float64:
        """How many rows of the pool have which class and are taken for which: an estimate.

        Its shape is (K, K), in the order of :attr:`classes`; columns are what rows are taken for, and
        their sums are exact.
        """
        asked(self.strategy, self._classes, 0.95, "accuracy", None)
        return certificates.confusion(self._evidence.drawn, self._held.known(), self._classes.count)

    @property
    def round(self) -> Round | None:
        """The last round; None before the first, after a uniform start, and after loading."""
        return self._round

    @property
    def design(self) -> Float64 | None:
        """λ of the last round, one probability a row; None if there was no design yet."""
        return self._lam

    @property
    def incumbent(self) -> Array | None:
        """The labels that h̃, the incumbent of the last round, gives the pool; None without one."""
        if self._incumbent is None or len(self._classes.values) < 2:
            return None
        return self._classes.decode(self._incumbent)

    def __repr__(self) -> str:
        names = listed(self.classes) if self.classes else "none yet"
        pending, left = len(self.pending), self.remaining
        return (
            f"Learner({self.strategy.name} on {len(self.pool)} rows x {self.pool.features} features: "
            f"{self.labels_known} labels known, {pending} pending, {left} may still be asked for, "
            f"{self.batch_size} at a time; classes: {names})"
        )

    # -- saving -----------------------------------------------------------------

    @property
    def memory(self) -> Memory:
        """What the next round depends on beside the labels."""
        held = {"lam": self._lam, "incumbent": self._incumbent}
        held |= {PREFIX + name: array for name, array in self.strategy.state().items()}
        held |= self._trainer.arrays() | self._evidence.drawn.arrays()
        arrays = {name: array for name, array in held.items() if array is not None}
        return Memory(self._rng.bit_generator.state, arrays)

    def recall(self, memory: Memory) -> None:
        """Go on from the ``memory`` of another learner over the same pool."""
        self._rng.bit_generator.state = memory.rng
        self._lam, incumbent = memory.arrays.get("lam"), memory.arrays.get("incumbent")
        self._incumbent = None if incumbent is None else incumbent.astype(np.int64)
        self.strategy.restore(memory.strategy)
        self._trainer.restore(memory.arrays)
        self._evidence.drawn.restore(memory.arrays)
        self._held.forget()
        self._held.begin()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to one file, without the pool and without a classifier of your own."""
        memory = self.memory
        meta = {
            "pool": self.pool.fingerprint,
            "strategy": self.strategy.name,
            "options": self.strategy.options(),
            "explore": self.strategy.explore if isinstance(self.strategy, Explored) else None,
            "classes": self._classes.values,
            "classes_fixed": self._classes.fixed,
            "l2": self._l2,
            "representation": self._representation,
            "budget": self.budget,
            "batch_size": self.batch_size,
            "tolerance": self.tolerance,
            "rng": memory.rng,
            "history": self.history,
        }
        held = {} if self._held.proposals is None else self._held.proposals.arrays()
        _archive.write(path, meta, self._rows.arrays() | held | dict(memory.arrays))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        pool: Any,
        *,
        strategy: str | Strategy | None = None,
        classifier: Any = None,
        threads: int | None = None,
        backend: str | None = None,
        device: str | None = None,
        client: Any = None,
        workers: Workers | None = None,
        report: Report | None = None,
    ) -> Learner:
        """A saved learner, which continues to the bit on the same ``pool``.

        ``strategy`` and ``classifier`` are needed if they were your own; all else is as in ``Learner``.
        """
        pool = pool if isinstance(pool, Pool) else Pool(pool)
        meta, arrays = _archive.read(path, _saved.NEEDED, "learner")
        if meta["pool"] != pool.fingerprint:
            raise InvalidInput("pool", "this is not the pool that the learner was saved with")
        with _saved.damaged(path):
            modern(meta, arrays, pool)
            _saved.check(meta, arrays, len(pool), own=strategy is None)
        if strategy is None:
            if meta["options"] is None:
                raise InvalidInput("strategy", "the learner was saved with one of your own; pass it")
            with _saved.damaged(path):
                strategy = make_strategy(meta["strategy"], meta["options"])
        if classifier is None and meta["l2"] is None:
            raise InvalidInput("classifier", "the learner was saved with one of your own; pass it")
        learner = cls(
            pool,
            strategy=strategy,
            explore=meta.get("explore"),
            classes=meta["classes"] if meta["classes_fixed"] else None,
            classifier=classifier,
            l2=None if meta["l2"] == CHOSEN else meta["l2"],
            representation=meta.get("representation"),
            budget=meta["budget"],
            batch_size=meta["batch_size"],
            tolerance=meta["tolerance"],
            workers=workers or make_workers(backend, threads, client, device),
            report=report,
        )
        learner._classes.restore(meta["classes"])
        learner.history = meta["history"]
        learner._rows.restore(arrays)
        proposals = learner._held.proposals = Proposals.of_arrays(arrays)
        if proposals is not None and not meta["classes_fixed"]:
            learner._classes.kept = proposals.named(meta["classes"])
        with _saved.damaged(path):
            learner.recall(Memory(meta["rng"], arrays))
        return learner
