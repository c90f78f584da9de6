"""The passes over rows and the operations of a round, counted from the solver's settings.

Operations are the multiplications, additions and divisions of every pass over rows and of solving with
H. Drawing normals, adding up blocks, the choice of a representation and the fit to the labels are left
out. The design may end before its last step, and H may be kept for longer, so these numbers are upper
bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from aced.design import CHECKED_SHARE, FEWEST_SAMPLED, GROUPS, Dinkelbach, FixedPoint
from aced.oracles import CACHE_BYTES, ITERATIONS, RANK, SKETCH, TOWARDS, DenseGeometry, SparseGeometry
from aced.pool import MOST_DENSE_BYTES, MOST_DENSE_FEATURES

RESIDUAL, SHIFTED = 31, 8
"""Operations of the fused sweeps (:mod:`aced.oracles._kernels`) for one row and one separator."""

W = TypeVar("W", bound="Work")


@dataclass(frozen=True)
class Pass:
    """One kernel over all rows of the pool or of a sample, made at most ``times`` times."""

    kernel: str
    rows: int
    draws: int  # how many separators at once
    times: int
    operations: int  # each time
    noise: bool = False  # whether it reads ζ


@dataclass(frozen=True)
class Work:
    """A round over a pool of this shape."""

    rows: int
    features: int
    stored: int  # numbers
    sparse: bool
    threads: int
    workers: int
    design_rows: int
    design_features: int  # columns of the rows that the design sees, in their representation
    solver: FixedPoint
    search: Dinkelbach = field(default_factory=Dinkelbach)
    classes: int = 2  # K
    landmarks: int = 0  # c, by which rows are lifted; 0 if they stay as they are
    held: bool = True  # whether lifted rows are kept; if not, every pass lifts them again

    @property
    def draws(self) -> int:
        return self.solver.draws

    @property
    def others(self) -> int:
        """K - 1: the scores that a hypothesis has for a row."""
        return self.classes - 1

    @property
    def columns(self) -> int:
        """(K - 1) B: the scores that all draws have for a row."""
        return self.others * self.draws

    @property
    def numbers(self) -> int:
        """How many numbers the rows have in their representation."""
        same = self.design_features == self.features
        return self.stored if same else self.rows * self.design_features

    @property
    def sampled(self) -> bool:
        """Whether the design is found on a sample."""
        return self.design_rows < self.rows

    @property
    def sample_sizes(self) -> tuple[int, ...]:
        """The sizes of the sample that the design is found on and of the one that checks it."""
        checked = max(FEWEST_SAMPLED, self.design_rows // CHECKED_SHARE)
        return (self.design_rows, checked) if self.sampled else ()

    def over(self: W, rows: int) -> W:
        """A round over a pool of ``rows`` rows of this kind; so small a pool may be stored densely."""
        sparse = self.sparse and not made_dense(rows, self.design_features)
        stored = max(1, self.numbers * rows // self.rows) if sparse else rows * self.design_features
        here = replace(self, rows=rows, features=self.design_features, stored=stored, landmarks=0)
        return replace(here, sparse=sparse, design_rows=rows)

    @property
    def visits(self) -> int:
        """Calls of the oracle in one search; rounds after the first ask at the levels in ``far`` too."""
        return self.search.steps + len(self.search.scales) + len(self.search.far)

    @property
    def steps(self) -> int:
        """How many steps the oracle takes after the first."""
        return SparseGeometry.steps if self.sparse else DenseGeometry.steps

    @property
    def _forms(self) -> int:
        """How often H is found anew in one step of the design, at most."""
        return self.visits + 1

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """Every pass over rows: the representation, then the model that gives h̃, then the design."""
        seen = self._in_representation()
        if not self.landmarks:
            return (*self._scaled(), *seen)
        own = (one.times for one in seen if one.rows == self.rows)  # the others see a sample
        lifted = Pass("lift_block", self.rows, 1, 1 if self.held else sum(own), self.lifting)
        return (*self._scaled(), lifted, *seen)

    @property
    def lifting(self) -> int:
        """Operations of lifting all rows: distances from landmarks, and their product with the mapping.

        There are at most as many lifted columns as landmarks.
        """
        p, c = self.features, self.landmarks
        return self.rows * (2 * c * p + 2 * c * c + 4 * p + 3 * c)

    def _in_representation(self) -> tuple[Pass, ...]:
        classes = self.classes
        each = self._product(classes) + 3 * self.rows * classes
        predicted = Pass("_probabilities", self.rows, 1, 1, each)
        found = [*self._standardise(), predicted, self._labels(1)]
        if not self.sampled:
            return (*found, *self._design())
        samples = [self.over(rows) for rows in self.sample_sizes]
        for one in samples:
            found += [*one._standardise(), one._labels(1), *one._design()]
        first = samples[0]
        found += [first._lengths(1, first.sparse), first._sizes(2), first._densities(1)]
        return (*found, self._lengths(1, first.sparse), self._densities(1), self._labels(1))

    @cached_property
    def solutions(self) -> int:
        """Operations with H and without rows: finding H, solving with it, lengths in its norm."""
        rounds = [self.over(rows) for rows in self.sample_sizes] or [self]
        return sum(one.solver.rounds * one.solving_in_step for one in rounds)

    @property
    def solving_in_step(self) -> int:
        """Operations with H in one step of the design.

        They find H, serve calls of the oracle and, where rows are dense, give leverages. A call takes
        first steps, steps, and the sizes of the points and of the anchor.
        """
        q, steps, columns = self.design_features + 1, self.steps, self.columns
        if self.sparse:
            solving = (4 * RANK + 3) * (columns + self.others + steps * columns)
            solving += 20 * columns * (steps + 1)
            return q * (self._forms * 4 * RANK * RANK * (ITERATIONS + 1) + self.visits * solving)
        summed = 0 if self.classes == 2 else self.draws + 1  # sizes of the sums over the classes
        solving = 2 * q * q * (2 * (columns + self.others) + summed + steps * columns)
        return self._forms * (q**3 // 3) + self.visits * solving + q * q * min(q, SKETCH)

    @property
    def operations(self) -> int:
        return self.solutions + sum(one.times * one.operations for one in self.passes)

    @property
    def redrawn(self) -> int:
        """How many normals are drawn again because their blocks are not kept, over all passes."""
        kept = self.workers * CACHE_BYTES // (4 * self.columns)
        reads = (one.times * max(0, one.rows - kept) for one in self.passes if one.noise)
        return self.columns * sum(reads)

    def _product(self, columns: int) -> int:
        """Operations of the rows, or of their transpose, times a matrix with this many columns."""
        return 2 * columns * self.numbers

    def _standardise(self) -> list[Pass]:
        square, each = ("squares", 2) if self.sparse else ("squared_deviation", 3)
        return [
            Pass("total", self.rows, 1, 1, self.numbers),
            Pass(square, self.rows, 1, 1, each * self.numbers),
        ]

    def _scaled(self) -> list[Pass]:
        """The passes for the scales of the pool's own columns, with which representations begin."""
        if self.sparse:
            return [Pass("_sum_of_squares", self.rows, 1, 1, 2 * self.stored)]
        return [
            Pass("total", self.rows, 1, 1, self.stored),
            Pass("squared_deviation", self.rows, 1, 1, 3 * self.stored),
        ]

    def _design(self) -> list[Pass]:
        """The passes of all steps of the fixed point; h̃ stays."""
        n, rounds, draws = self.rows, self.solver.rounds, self.draws
        columns, others = self.columns, self.others
        calls = rounds * self.visits
        tallies = SHIFTED * n * columns * (1 + len(TOWARDS))
        with_noise = (
            ("_spread_of", rounds, 2 * n * columns),
            ("pulls", rounds, self._product(columns + others) + n * (2 * columns + others)),
            ("descent", calls * self.steps, 2 * self._product(columns) + RESIDUAL * n * columns),
            ("towards", calls, self._product(columns + others) + n * others + tallies),
        )
        return [
            *self._prepared(rounds, rounds * self._forms),
            *(Pass(kernel, n, draws, times, each, noise=True) for kernel, times, each in with_noise),
            self._lengths(rounds, self.sparse),
            self._sizes(rounds),
            self._densities(rounds),
        ]

    def _prepared(self, times: int, forms: int) -> list[Pass]:
        """The passes for H: its sums and, where rows are sparse, its directions each time H is found."""
        if not self.sparse:
            q = self.design_features + 1
            return [Pass("gram", self.rows, 1, times, self.rows * (q * (q + 1) + 3 * q))]
        image = 2 * self._product(RANK) + 3 * self.rows * RANK
        return [
            Pass("moments", self.rows, 1, times, 5 * self._product(1)),
            Pass("curvature", self.rows, 1, forms * (ITERATIONS + 1), image),
        ]

    def _labels(self, times: int) -> Pass:
        each = self._product(self.others) + self.rows * self.others
        return Pass("labels_kernel", self.rows, 1, times, each)

    def _lengths(self, times: int, low_rank: bool) -> Pass:
        k = RANK if low_rank else min(self.design_features + 1, SKETCH)
        each = self._product(k) + 3 * self.rows * k + (2 * self._product(1) if low_rank else 0)
        return Pass("lengths" if low_rank else "squared_lengths", self.rows, self.draws, times, each)

    def _sizes(self, times: int) -> Pass:
        each = self._product(self.columns) + 3 * self.rows * self.columns
        return Pass("_squares", self.rows, self.draws, times, each)

    def _densities(self, times: int) -> Pass:
        leads = 1 if self.classes == 2 else self.classes
        each = self._product(self.columns) + self.rows * (7 * self.columns + 12 * leads * GROUPS)
        return Pass("_densities", self.rows, self.draws, times, each)


def made_dense(rows: int, features: int) -> bool:
    """Whether a pool stores a sparse matrix of this shape densely."""
    return features <= MOST_DENSE_FEATURES and 4 * rows * features <= MOST_DENSE_BYTES
