"""Fixed Budget ACED with water-filling (the paper's practical algorithm).

Round k: μ̂ from the m labels so far, h̃ a hypothesis that agrees with it, which stays for the round,
λ the design that minimises F, then draws that bring all draws so far in line with λ. The first
round has no labels, hence μ̂ = 0: its design separates all hypotheses alike. The published
experiments drew those rows uniformly: ``start="uniform"``.

By default μ̂ is model-assisted (:mod:`aced.estimators.assisted`), h̃ is its regression, and shift is
one row, the least by which two hypotheses can differ. The paper's μ̂ is 0 where no label is known
(``estimator="naive"``). Then D counts mistakes on the labels alone, every separator is perfect while
there are fewer labels than features, and what keeps a design from being flat is the schedule of
shift: m 2^(1-k), an error rate of 2^(1-k) among m labels, or the printed n 2^(1-k) (``shift="pool"``,
which every first round has); h̃ is the oracle's best hypothesis on the labels.

Water-filling, as printed, gives mass to rows that have a label already and cannot be drawn
again. By default both λ and the mass spent so far are taken over the open rows alone;
``fill="all"`` is the printed formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from aced._errors import InvalidInput
from aced._types import Array, Bools, Float64, Ints
from aced._workers import Workers
from aced.design import (
    Design,
    Dinkelbach,
    FixedPoint,
    Grid,
    Incumbent,
    Mirror,
    Problem,
    Sampled,
    Search,
    Solver,
    automatic_rows,
    initial_incumbent,
    waterfill,
)
from aced.design.cost import check_room
from aced.estimators import assisted, naive
from aced.oracles import LinearOracle, Oracle, SklearnOracle, labels_of
from aced.pool import Pool
from aced.strategies._base import Plan, View
from aced.strategies._draw import draw

SHIFT_FLOOR = 2.0**-60

_SEARCHES: dict[str, type[Dinkelbach] | type[Grid]] = {"dinkelbach": Dinkelbach, "grid": Grid}
_SOLVERS: dict[str, type[FixedPoint] | type[Mirror]] = {"fixed-point": FixedPoint, "mirror": Mirror}
_ORACLES = ("linear", "sklearn")
_FILLS = ("open", "all")
_ESTIMATORS = ("assisted", "naive")
_SHIFTS = ("row", "labels", "pool")
_STARTS = ("design", "uniform")


def _choose(argument: str, value: object, names: Any) -> None:
    if value not in names:
        raise InvalidInput(argument, f"must be one of {', '.join(names)}; got {value!r}")


class Aced:
    """Active classification using experimental design.

    ``solver`` is "fixed-point" (default) or "mirror", the paper's; ``search`` is
    "dinkelbach" (default) or "grid", the paper's; ``oracle`` is "linear" (default),
    "sklearn" (the paper's: one fit per weight vector, of ``classifier``) or an oracle
    over the learner's own pool. A solver object may be passed instead of both names. A
    learner takes a fresh copy, so one object can serve many.

    ``design_rows`` finds the design on a sample of so many rows, ``round_seconds`` on as many as
    the time allows (which gives up "same seed, same result"). By default pools of more than
    2^22 rows use a sample; the history then says so, with its size and a bound on what it lost.

    ``estimator`` is "assisted" (default with a linear oracle) or "naive", the paper's; ``shift`` one
    "row" (default with the assisted estimator), or an error rate that halves every round, as a share
    of the "labels" (default with the naive one) or of the "pool", the paper's; ``fill`` what
    water-filling looks at: "open" rows (default), or "all", as the paper has it; ``start`` how rows
    are drawn while there is no label: by "design" (default), as the paper's algorithm is printed, or
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
            _choose("oracle", oracle, _ORACLES)
        if isinstance(solver, str):
            _choose("solver", solver, _SOLVERS)
        linear = oracle == "linear" or isinstance(oracle, LinearOracle)
        if estimator is None:
            estimator = "assisted" if linear else "naive"
        _choose("estimator", estimator, _ESTIMATORS)
        if estimator == "assisted" and not linear:
            raise InvalidInput(
                "estimator", '"assisted" needs the linear oracle; use "naive" with others'
            )
        if shift is None:
            shift = "row" if estimator == "assisted" else "labels"
        _choose("shift", shift, _SHIFTS)
        _choose("fill", fill, _FILLS)
        _choose("start", start, _STARTS)
        if search is not None:
            _choose("search", search, _SEARCHES)
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
        self._rows_option, self._seconds_option = design_rows, round_seconds
        self._oracle_option, self._solver_option = oracle, solver
        self._estimator_option, self._shift_option = estimator, shift
        self._fill_option, self._start_option = fill, start
        self._search_option, self._classifier = search, classifier
        self.solver = (
            solver if not isinstance(solver, str) else _build_solver(solver, search or "dinkelbach")
        )
        self.oracle: Oracle | None = None
        self.design: Design | None = None
        self.lam: Float64 | None = None  # the last design
        self._spent: Float64 | None = None  # Σ p_i of the rounds so far, in batches
        self._best: Array | None = None  # parameters of the last incumbent

    def plan(self, view: View, size: int, rng: np.random.Generator) -> Plan:
        self._check_room(view)
        oracle = self._oracle_for(view.pool, view.workers)
        n = len(view.pool)
        if self._start_option == "uniform" and not len(view.positions):
            self.lam = np.full(n, 1 / n)
            return Plan(*self._draw(view, size, rng), {"round": view.round})
        with view.workers.session():
            problem = self._problem(oracle, view)
            self.design = self._solver_for(problem).solve(problem, rng, self.lam, view.report)
        self.lam = self.design.lam
        self._best = self.design.incumbent.hypothesis.to_array()
        certificate = self.design.certificate
        return Plan(
            *self._draw(view, size, rng),
            {
                "round": view.round,
                "shift": problem.shift,
                "value": certificate.value,
                "stderr": certificate.stderr,
                "gap": certificate.gap,
                "noise": certificate.noise,
                "shortfall": certificate.shortfall,
                "oracle_calls": self.design.calls,
                "stopped": self.design.stopped,
                **_sampled(self.design),
            },
        )

    def _problem(self, oracle: Oracle, view: View) -> Problem:
        """What the round is to minimise. The regression needs labels of both classes."""
        labelled = np.zeros(len(view.pool), bool)
        labelled[view.positions] = True
        if self._estimator_option == "assisted" and len(np.unique(view.codes)) == 2:
            assert isinstance(oracle, LinearOracle)
            mu, regression = assisted(view.pool, view.workers, view.positions, view.codes)
            best = Incumbent.of(oracle, oracle.from_array(regression), mu)
        else:
            mu = naive(len(view.pool), view.positions, view.codes)
            best = initial_incumbent(oracle, mu)
        return Problem(oracle, mu, self._shift(view), best, settled=True, labelled=labelled)

    def _shift(self, view: View) -> float:
        """In rows; n in the first round, and never below the tolerance."""
        n, m = len(view.pool), len(view.positions)
        if self._shift_option == "row" and m:
            return max(1.0, n * view.tolerance)
        rows = m if self._shift_option == "labels" and m else n
        return rows * max(2.0 ** (1 - min(view.round, 1000)), view.tolerance, SHIFT_FLOOR)

    def _check_room(self, view: View) -> None:
        """Refuse a round that would not fit the memory, before it starts."""
        if isinstance(self.solver, FixedPoint) and self._oracle_option == "linear":
            check_room(view.pool, self.solver.draws, view.workers.threads, self._rows_option)

    def _solver_for(self, problem: Problem) -> Solver:
        """The solver, on a sample of the rows where that was asked for or the pool is very large."""
        rows, seconds = self._rows_option, self._seconds_option
        if not isinstance(self.solver, FixedPoint) or not isinstance(problem.oracle, LinearOracle):
            return self.solver
        if rows is None and seconds is None:
            rows = automatic_rows(problem.n, problem.oracle.pool.features)
        if rows is None and seconds is None:
            return self.solver
        return Sampled(self.solver, rows=rows, seconds=seconds)

    def _draw(self, view: View, size: int, rng: np.random.Generator) -> tuple[Ints, Float64]:
        """Rows that bring all draws in line with λ; when those run out, rows by λ, then any."""
        assert self.lam is not None
        filled = self._fill(view.open, size / view.batch_size)
        return draw([filled, self.lam, np.ones(len(self.lam))], view.open, size, rng)

    def _fill(self, open_rows: Bools, mass: float) -> Float64:
        """The draw distribution that brings all draws, old and new, in line with λ."""
        assert self.lam is not None
        n = len(self.lam)
        rows = (
            open_rows if self._fill_option == "open" and self.lam[open_rows].any() else np.ones(n, bool)
        )
        share = self.lam[rows] / self.lam[rows].sum()
        spent = np.zeros(len(share)) if self._spent is None else self._spent[rows]
        p = np.zeros(n)
        p[rows] = waterfill((spent.sum() + mass) * share - spent, mass)
        self._spent = p.copy()
        self._spent[rows] += spent
        return p

    def _oracle_for(self, pool: Pool, workers: Workers) -> Oracle:
        if self.oracle is None or self.oracle.pool is not pool:
            if not isinstance(self._oracle_option, str):
                self.oracle = self._oracle_option
                if self.oracle.pool is not pool:
                    raise InvalidInput("oracle", "it was made for another pool; make it with this one")
            elif self._oracle_option == "linear":
                self.oracle = LinearOracle(pool, workers=workers)
            else:
                self.oracle = SklearnOracle(pool, self._classifier, workers=workers)
        return self.oracle

    def incumbent(self, pool: Pool, workers: Workers) -> Bools | None:
        """The labels that h̃ of the last round gives the pool."""
        if self._best is None:
            return None
        oracle = self._oracle_for(pool, workers)
        return np.asarray(labels_of(oracle, oracle.from_array(self._best))[0])

    def options(self) -> dict[str, Any] | None:
        if not (isinstance(self._oracle_option, str) and isinstance(self._solver_option, str)):
            return None
        if self._classifier is not None:
            return None
        return {
            "oracle": self._oracle_option,
            "solver": self._solver_option,
            "search": self._search_option or "dinkelbach",
            "design_rows": self._rows_option,
            "round_seconds": self._seconds_option,
            "estimator": self._estimator_option,
            "shift": self._shift_option,
            "fill": self._fill_option,
            "start": self._start_option,
        }

    def state(self) -> dict[str, Array]:
        held = {"lam": self.lam, "spent": self._spent, "best": self._best}
        return {name: array for name, array in held.items() if array is not None}

    def restore(self, state: Mapping[str, Array]) -> None:
        self.lam, self._spent = state.get("lam"), state.get("spent")
        self._best = state.get("best")
        self.design, self.oracle = None, None


def _sampled(design: Design) -> dict[str, float | int]:
    """What a design on a sample is reported with."""
    if design.rows is None or design.loss is None:
        return {}
    return {"design_rows": design.rows, "design_loss": design.loss}


def _build_solver(solver: str, search: str) -> Solver:
    chosen: Search = _SEARCHES[search]()
    return _SOLVERS[solver](search=chosen)
