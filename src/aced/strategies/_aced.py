"""Fixed Budget ACED with water-filling (the paper's practical algorithm).

Round k estimates μ̂ from the m labels so far. A hypothesis that agrees with μ̂ becomes h̃ and stays for
the round. λ is the design that minimises F. Rows are drawn so that all draws so far follow λ. The
first round has no labels, hence μ̂ = 0, and its design separates all hypotheses alike. The published
experiments drew the first rows uniformly: ``start="uniform"``.

By default μ̂ is model-assisted: the learner's model predicts rows without a label
(:mod:`aced.estimators._modelled`). If the learner has none, because its classifier is another, it is a
regression by least squares for two classes (:mod:`aced.estimators._assisted`), and the same model for
more. h̃ is the model or the regression, and shift is one row, the least by which two hypotheses can
differ. The paper's μ̂ is 0 where no label is
known (``estimator="naive"``), and its h̃ is the oracle's best hypothesis on the labels. Then D counts
mistakes on the labels alone, and every separator is perfect while there are fewer labels than
features. Only shift keeps such a design from being flat: it is m 2^(1-k), an error rate of 2^(1-k)
among m labels, or n 2^(1-k) as printed (``shift="pool"``). In the first round it is always n.

With K classes the design compares hypotheses over the classes that have a label, and over two classes
until two have one: without labels all classes are alike, and two show the same design at the least cost.

As printed, water-filling gives mass to rows that have a label already and cannot be drawn again.
By default it looks at λ and at the draws so far on open rows only; ``fill="all"`` is as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aced._check import choice
from aced._errors import InvalidInput
from aced._types import Array, Bools, Float64, Ints, Rng
from aced._workers import Workers
from aced.cost import check_room
from aced.design import (
    Dinkelbach,
    FixedPoint,
    Grid,
    Incumbent,
    Mirror,
    Problem,
    Round,
    Sampled,
    Solver,
    automatic_rows,
    draw,
    initial_incumbent,
    waterfill,
)
from aced.estimators import assisted, modelled, naive, reach
from aced.oracles import LinearOracle, Oracle, SklearnOracle
from aced.pool import Pool
from aced.representations import Model, Representations
from aced.strategies._base import Plan, Strategy, View

SHIFT_FLOOR = 2.0**-60

_SEARCHES: dict[str, type[Dinkelbach] | type[Grid]] = {"dinkelbach": Dinkelbach, "grid": Grid}
_SOLVERS: dict[str, type[FixedPoint] | type[Mirror]] = {"fixed-point": FixedPoint, "mirror": Mirror}


class Aced(Strategy):
    """Active classification using experimental design.

    ``oracle`` is "linear" (default), "sklearn" (the paper's, one fit of ``classifier`` for each weight
    vector) or an oracle over the learner's own pool. ``solver`` is "fixed-point" (default), "mirror"
    (the paper's) or a solver object. ``search`` is "dinkelbach" (default) or "grid" (the paper's); a
    solver object brings its own. A learner takes a fresh copy, so one ``Aced`` can serve many learners.

    ``design_rows`` is the size of a sample of the rows on which the design is found. ``round_seconds``
    makes the sample as large as this time allows; the same seed then need not give the same result. By
    default only pools of more than 2^22 rows use a sample. The history has its size and estimated loss.

    ``estimator`` is "assisted" (default with a linear oracle: by the learner's model), "least-squares"
    (by a regression of its own) or "naive" (the paper's). ``shift`` is one "row"
    (default with a regression), or an error rate that halves every round, as a share of the "labels"
    (default with the naive estimator) or of the "pool" (the paper's). ``fill`` says which rows
    water-filling looks at: "open" rows (default) or "all" (the paper's). ``start`` says how rows are
    drawn while there is no label: by "design" (default), as the paper's algorithm is printed, or
    "uniform", as its experiments were run.
    """

    name = "aced"

    def __init__(
        self,
        *,
        oracle: str | Oracle = "linear",
        solver: str | Solver = "fixed-point",
        search: str | None = None,
        classifier: Any = None,
        design_rows: int | None = None,
        round_seconds: float | None = None,
        estimator: str | None = None,
        shift: str | None = None,
        fill: str = "open",
        start: str = "design",
    ) -> None:
        if isinstance(oracle, str):
            choice("oracle", oracle, ("linear", "sklearn"))
        if isinstance(solver, str):
            choice("solver", solver, _SOLVERS)
        linear = oracle == "linear" or isinstance(oracle, LinearOracle)
        if estimator is None:
            estimator = "assisted" if linear else "naive"
        choice("estimator", estimator, ("assisted", "least-squares", "naive"))
        if estimator != "naive" and not linear:
            raise InvalidInput(
                "estimator", f'"{estimator}" needs the linear oracle; use "naive" with others'
            )
        if shift is None:
            shift = "labels" if estimator == "naive" else "row"
        choice("shift", shift, ("row", "labels", "pool"))
        choice("fill", fill, ("open", "all"))
        choice("start", start, ("design", "uniform"))
        if search is not None:
            choice("search", search, _SEARCHES)
            if not isinstance(solver, str):
                raise InvalidInput("search", "the solver object has one of its own; set it there")
        if classifier is not None and oracle != "sklearn":
            raise InvalidInput("classifier", 'it is used by oracle="sklearn" only; set that too')
        if design_rows is not None or round_seconds is not None:
            if solver != "fixed-point" or oracle != "linear":
                raise InvalidInput(
                    "design_rows and round_seconds",
                    "they need the fixed-point solver and the linear oracle",
                )
            Sampled(rows=design_rows, seconds=round_seconds)  # refuses what makes no sense
        self.oracle, self.solver, self.search = oracle, solver, search
        self.classifier = classifier
        self.design_rows, self.round_seconds = design_rows, round_seconds
        self.estimator, self.shift, self.fill, self.start = estimator, shift, fill, start
        self._oracle: LinearOracle | SklearnOracle | None = None
        self._own: Representations | None = None
        self.represented = type(self).represented and isinstance(oracle, str)
        self._spent: Float64 | None = None  # Σ p_i of the rounds so far, in batches

    def plan(self, view: View, size: int, rng: Rng) -> Plan:
        seen, codes = self._classes_seen(view)
        self._check_room(view, 2 if seen is None else len(seen))
        record: dict[str, float | int | str] = {"round": view.round}
        if self.start == "uniform" and not len(view.positions):
            uniform = np.full(len(view.pool), 1 / len(view.pool))
            return Plan(*self._draw(uniform, view, size, rng), record, uniform)
        with view.workers.session():
            oracle = self._oracle_for(view.pool, view.workers, seen)
            problem = self._problem(oracle, view, codes)
            design = self._solver_for(problem).solve(problem, rng, view.lam, view.report)
            round_ = Round(problem, design, seen)
        return Plan(*self._draw(round_.lam, view, size, rng), record | round_.record, round_.lam, round_)

    def _classes_seen(self, view: View) -> tuple[Ints | None, Ints]:
        """The classes that the design compares (None: all), and the labels in their codes."""
        if not isinstance(self.oracle, str):
            most = int(view.codes.max(initial=0)) + 1
            if most > self.oracle.classes:
                raise InvalidInput(
                    "oracle", f"is for {self.oracle.classes} classes, and the labels have {most}"
                )
            return None, view.codes
        seen = np.unique(view.codes)
        for other in (0, 1):
            if len(seen) < 2 and other not in seen:
                seen = np.union1d(seen, [other])
        return seen, np.searchsorted(seen, view.codes)

    def _problem(self, oracle: Oracle, view: View, codes: Ints) -> Problem:
        """What the round has to minimise; μ̂ is naive until there are labels of two classes."""
        labelled = np.zeros(len(view.pool), bool)
        labelled[view.positions] = True
        seen = len(np.unique(codes))
        if self.estimator != "naive" and seen >= 2:
            assert isinstance(oracle, LinearOracle)
            model = self._model_for(view, codes) if seen == oracle.classes else None
            if model is not None:
                mu, regression = modelled(model, view.workers, view.positions, codes)
                if not view.pool.sparse:
                    oracle = oracle.with_ridge(reach(model, oracle.geometry.inverse_spread))
            else:
                known = view.pool, view.workers, view.positions, codes
                mu, regression = assisted(*known, oracle.classes)
            best = Incumbent.of(oracle, oracle.from_array(regression), mu)
        else:
            mu = naive(len(view.pool), view.positions, codes, oracle.classes)
            best = initial_incumbent(oracle, mu)
        return Problem(oracle, mu, self._shift(view), best, keeps_incumbent=True, labelled=labelled)

    def _model_for(self, view: View, codes: Ints) -> Model | None:
        """The learner's model, or one of our own for more than two classes; None for least squares."""
        if self.estimator == "least-squares":
            return None
        if view.model is not None or len(np.unique(codes)) == 2:
            return view.model
        if self._own is None or self._own.pool is not view.pool:
            self._own = Representations(view.pool, view.workers, "linear")
        choice = self._own.choose(None, view.positions, codes)
        return self._own.fit(choice, view.positions, codes)

    def _shift(self, view: View) -> float:
        """The shift in rows: n in the first round, and never below the tolerance."""
        n, m = len(view.pool), len(view.positions)
        if self.shift == "row" and m:
            return max(1.0, n * view.tolerance)
        rows = m if self.shift == "labels" and m else n
        return rows * max(2.0 ** (1 - min(view.round, 1000)), view.tolerance, SHIFT_FLOOR)

    def _check_room(self, view: View, classes: int) -> None:
        """Refuse a round that would not fit the memory, before it starts."""
        solver = self._solver
        if isinstance(solver, FixedPoint) and self.oracle == "linear":
            check_room(view.pool, solver.draws, view.workers.threads, self.design_rows, classes)

    @property
    def _solver(self) -> Solver:
        if not isinstance(self.solver, str):
            return self.solver
        return _SOLVERS[self.solver](search=_SEARCHES[self.search or "dinkelbach"]())

    def _solver_for(self, problem: Problem) -> Solver:
        """The solver; it works on a sample if the options say so or if the pool is very large."""
        solver, rows, seconds = self._solver, self.design_rows, self.round_seconds
        if not isinstance(solver, FixedPoint) or not isinstance(problem.oracle, LinearOracle):
            return solver
        if rows is None and seconds is None:
            rows = automatic_rows(problem.n, problem.oracle.pool.features)
        if rows is None and seconds is None:
            return solver
        return Sampled(solver, rows=rows, seconds=seconds)

    def _draw(self, lam: Float64, view: View, size: int, rng: Rng) -> tuple[Ints, Float64]:
        """Draw rows by water-filling; when no such row is left, draw by λ, and then any open rows."""
        filled = self._fill(lam, view.open, size / view.batch_size)
        return draw([filled, lam, np.ones(len(lam))], view.open, size, rng)

    def _fill(self, lam: Float64, open_rows: Bools, mass: float) -> Float64:
        """The distribution of the new draws that makes all draws, old and new, follow λ."""
        n = len(lam)
        rows = open_rows if self.fill == "open" and lam[open_rows].any() else np.ones(n, bool)
        share = lam[rows] / lam[rows].sum()
        spent = np.zeros(len(share)) if self._spent is None else self._spent[rows]
        p = np.zeros(n)
        p[rows] = waterfill((spent.sum() + mass) * share - spent, mass)
        self._spent = p.copy()
        self._spent[rows] += spent
        return p

    def _oracle_for(self, pool: Pool, workers: Workers, seen: Ints | None) -> Oracle:
        """The oracle for the classes seen; what it knows of the rows is kept from round to round."""
        if not isinstance(self.oracle, str):
            if self.oracle.pool is not pool:
                raise InvalidInput("oracle", "it was made for another pool; make it with this one")
            return self.oracle
        assert seen is not None
        if self._oracle is None or self._oracle.pool is not pool:
            if self.oracle == "linear":
                self._oracle = LinearOracle(pool, workers=workers)
            else:
                self._oracle = SklearnOracle(pool, self.classifier, workers=workers)
        return self._oracle.with_classes(len(seen))

    def state(self) -> dict[str, Array]:
        return {} if self._spent is None else {"spent": self._spent}

    def restore(self, state: Mapping[str, Array]) -> None:
        self._spent, self._oracle, self._own = state.get("spent"), None, None
