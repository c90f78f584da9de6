"""What a round needs, before it starts: one design by the fixed point, and the draw.

Bytes at the peak, with n rows, p features, q = p + 1, B draws, T threads, m rows designed on (all n,
or a sample of a pool of more than 2^22) and a block of b rows:

=============== ===================================== ===============================================
part            bytes                                 what it is
=============== ===================================== ===============================================
rows            4 n p, sparse 8 nnz + 4 n             the pool; nothing where it is read from disk
sample          4 p (5/4 m + m)                       rows designed on and checked with, one being
                                                      copied; nothing where the design is on all rows
row vectors     25 n + 160 n, sampled 25 n + 100 n    ids, labels, μ̂, λ, s, G with its four groups, …
                + 185 · 5/4 m
noise           min(4 m B, 512 MiB), sampled 5/4      ζ; what is above the limit is drawn again
metric          56 q² + 8 q² (2T + 1)                 H: two sums of it and its factor, those of the
                                                      last design step, sums under way
metric, sparse  see :meth:`Cost.memory`               a diagonal and RANK directions
coefficients    B q (4 visits (steps + 1) + 112)      separators met, iterates, gradients, solutions,
                + 4 B q (2T + 1)                      sums under way
blocks          T b max(16 B, 8 q), from disk + 4 p   what the kernels hold of a block each
=============== ===================================== ===============================================

The program itself is not among them. With W workers, rows, noise and blocks are theirs, each with its
share. Parts are largest at different times, so their sum is an upper bound.

Operations are multiplications, additions and divisions, of every pass over rows and of the solutions
with H; drawing normals and adding up blocks are left out. The solver may stop before its last round,
so the count is an upper bound too.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from aced._errors import InvalidInput
from aced.design.dinkelbach import Dinkelbach
from aced.design.fixed_point import FixedPoint
from aced.design.gradient import GROUPS
from aced.design.sampled import CHECK, FEWEST, automatic_rows
from aced.oracles._cholesky import SKETCH
from aced.oracles._low_rank import ITERATIONS, RANK
from aced.oracles._weights import CACHE_BYTES
from aced.oracles.linear import SPARSE_STEPS, STEPS, TOWARDS
from aced.pool import BLOCK_ROWS, GIB, Pool, available_memory
from aced.pool._open import MOST_DENSE_BYTES, MOST_DENSE_FEATURES
from aced.pool._sparse import SPARSE_BLOCK_ROWS, Sparse

HELD = 25
"""Bytes a row before a round begins: id 8, state 1, label 8, draw probability 8."""
DESIGNED = 160
"""Bytes a row that is designed on, at the peak: known and open 2, μ̂ 4, λ of the last round, of this
one and all draws so far 24, labels of h̃ 2, s and E|v| 13, G of the last step 16, leverage 8, densities
of the groups with their variances 48, 24 for the sums over them, and 19 that the allocator may hold."""
EXTENDED = 100
"""Bytes a row that a sample stands for, at the peak: as above without G, or those of the draw."""
RESIDUAL, SHIFTED = 31, 8
"""Operations of the fused sweeps (:mod:`aced.oracles._kernels`) for one row and one separator."""


@dataclass(frozen=True)
class Pass:
    """One kernel over all rows of the pool or of a sample, so many times."""

    kernel: str
    rows: int
    draws: int
    times: int
    operations: int  # once
    noise: bool = False  # whether it reads ζ
    first: bool = False  # whether it belongs to the first round only


@dataclass(frozen=True)
class Cost:
    """The needs of a round over a pool of this shape; make it with :meth:`of`.

    >>> cost = Cost.of(1_000_000, 256, threads=2)
    >>> round(cost.peak() / GIB, 2), round(cost.operations / 1e12, 1)
    (1.5, 3.1)
    """

    rows: int
    features: int
    stored: int
    sparse: bool
    threads: int
    workers: int
    design_rows: int
    solver: FixedPoint
    search: Dinkelbach = field(default_factory=Dinkelbach)

    @classmethod
    def of(
        cls,
        rows: int,
        features: int,
        draws: int | None = None,
        density: float | None = None,
        threads: int = 1,
        workers: int = 1,
        design_rows: int | None = None,
    ) -> Cost:
        """``density``: the share of numbers that are stored, of rows given as a sparse matrix.

        Few enough features are stored densely all the same, as a pool does. ``design_rows`` is by
        default what the strategy takes: all rows, or a sample of very many.
        """
        solver = FixedPoint() if draws is None else FixedPoint(draws=draws)
        counts = {"rows": rows, "features": features, "threads": threads, "workers": workers}
        counts |= {} if design_rows is None else {"design_rows": design_rows}
        for name, number in counts.items():
            if number < 1:
                raise InvalidInput(f"{name} must be at least 1, got {number}")
        if density is not None and not 0 < density <= 1:
            raise InvalidInput(f"density must be above 0 and at most 1, got {density}")
        dense = features <= MOST_DENSE_FEATURES and 4 * rows * features <= MOST_DENSE_BYTES
        sparse = density is not None and not dense
        stored = max(1, round(rows * features * (density or 1.0))) if sparse else rows * features
        wanted = automatic_rows(rows, features) if design_rows is None else design_rows
        sample = rows if wanted is None else min(wanted, rows)
        return cls(rows, features, stored, sparse, threads, workers, sample, solver)

    # -- memory -----------------------------------------------------------------

    @property
    def draws(self) -> int:
        return self.solver.draws

    @property
    def sampled(self) -> bool:
        """Whether the design is found on a sample."""
        return self.design_rows < self.rows

    @property
    def row_bytes(self) -> int:
        """The rows in memory."""
        return self._bytes_of(self.rows)

    def on_disk(self, item: int = 4) -> int:
        """The rows in a file of numbers of so many bytes."""
        return self._bytes_of(self.rows, item)

    def _bytes_of(self, rows: int, item: int = 4) -> int:
        if not self.sparse:
            return item * rows * self.features
        stored = self.stored * rows // self.rows
        index = 4 if stored < 2**31 else 8
        return stored * (item + index) + index * (rows + 1)

    @property
    def _under_way(self) -> int:
        """Results of blocks that wait to be added up."""
        return 2 * self.threads + 1 if self.threads > 1 else 1

    @cached_property
    def memory(self) -> dict[str, int]:
        """Bytes of each part at the peak, in the process that calls."""
        n, m = self.rows, self.design_rows
        check = max(FEWEST, m // CHECK) if self.sampled else 0
        ahead = 1 if self.workers > 1 else self._under_way
        vectors = HELD * n + DESIGNED * m
        if self.sampled:
            vectors = (HELD + EXTENDED) * n + (HELD + DESIGNED) * (m + check)
        return {
            "rows": self.row_bytes,
            "sample": self._bytes_of(2 * m + check) if self.sampled else 0,
            "row vectors": vectors,
            "noise": 0 if self.workers > 1 else self._noise(m) + self._noise(check),
            "metric": self._metric(ahead),
            "coefficients": self._coefficients(ahead),
            "blocks": 0 if self.workers > 1 else self._blocks,
        }

    def _noise(self, rows: int) -> int:
        return min(4 * rows * self.draws, CACHE_BYTES)

    def _metric(self, ahead: int) -> int:
        q = self.features + 1
        if self.sparse:
            return RANK * q * (48 + 4 * ahead) + 80 * q
        return q * q * (56 + 8 * ahead)

    def _coefficients(self, ahead: int) -> int:
        met = self._visits * (2 if self.sparse else self._steps + 1)
        return self.draws * (self.features + 1) * (4 * met + (80 if self.sparse else 112) + 4 * ahead)

    @property
    def _blocks(self) -> int:
        if self.sparse:
            return self.threads * min(SPARSE_BLOCK_ROWS, self.rows) * 16 * self.draws
        rows = min(BLOCK_ROWS, self.rows)
        return self.threads * rows * max(16 * self.draws, 8 * (self.features + 1))

    def peak(self, in_memory: bool = True) -> int:
        """Bytes at the peak of a round, with the rows in memory or read from disk."""
        total = sum(self.memory.values())
        if in_memory:
            return total
        reading = 0 if self.workers > 1 else self.threads * 4 * BLOCK_ROWS * self.features
        return total - self.row_bytes + reading

    def worker(self, in_memory: bool = True) -> int:
        """Bytes at the peak in each of several workers; rows in memory are sent to them."""
        share = -(-self.rows // self.workers)
        q, draws = self.features + 1, self.draws
        sums = 16 * q * max(draws, 0 if self.sparse else 2 * q) + 8 * q * draws
        held = self._bytes_of(share) if in_memory else 0
        return held + 40 * share + self._noise(share) + self._blocks + sums

    # -- operations -------------------------------------------------------------

    @property
    def _visits(self) -> int:
        """Calls of the oracle in one search."""
        return self.search.steps + len(self.search.scales)

    @property
    def _steps(self) -> int:
        return SPARSE_STEPS if self.sparse else STEPS

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """Every pass over rows, at most so many times."""
        n, m = self.rows, self.design_rows
        found = [*self._standardise(n), *self._incumbent(n)]
        if not self.sampled:
            return (*found, *self._design(n))
        check = max(FEWEST, m // CHECK)
        for rows in (m, check):
            found += [*self._standardise(rows, first=False), self._labels(rows, 1)]
            found += self._design(rows)
        again = [self._lengths(m, 1), self._sizes(m, 2), self._densities(m, 1)]
        return (*found, *again, self._lengths(n, 1), self._densities(n, 1), self._labels(n, 1))

    @cached_property
    def solutions(self) -> int:
        """Operations with H alone: factors, solutions, lengths."""
        q, designs = self.features + 1, 2 if self.sampled else 1
        leverage = 0 if self.sparse else q * q * self._directions
        visit = self._visits * self._solving(self.draws) + leverage
        return self._solving(1) + designs * self.solver.rounds * visit

    def _solving(self, draws: int) -> int:
        """In one call of the oracle: H anew, first steps, steps, sizes with the anchor's."""
        q, steps = self.features + 1, self._steps
        if not self.sparse:
            return q**3 // 3 + 2 * q * q * (2 * (draws + 1) + steps * draws)
        found = 4 * q * RANK * RANK * (ITERATIONS + 1)
        solved = q * (4 * RANK + 3) * (draws + 1 + steps * draws)
        return found + solved + 20 * q * draws * (steps + 1)

    @property
    def operations(self) -> int:
        return self.solutions + sum(one.times * one.operations for one in self.passes)

    @property
    def redrawn(self) -> int:
        """Normals drawn because their blocks are not kept: each time that they are read."""
        kept = self.workers * CACHE_BYTES // (4 * self.draws)
        reads = (one.times * max(0, one.rows - kept) for one in self.passes if one.noise)
        return self.draws * sum(reads)

    def _product(self, rows: int, columns: int) -> int:
        """Multiplying rows by a matrix of so many columns, or its transpose by theirs."""
        return 2 * columns * (self.stored * rows // self.rows)

    @property
    def _directions(self) -> int:
        """Directions that leverages are computed from."""
        return RANK if self.sparse else min(self.features + 1, SKETCH)

    def _standardise(self, rows: int, first: bool = True) -> list[Pass]:
        numbers = self.stored * rows // self.rows
        square = "squares" if self.sparse else "squared_deviation"
        each = 2 if self.sparse else 3
        return [
            Pass("total", rows, 1, 1, numbers, first=first),
            Pass(square, rows, 1, 1, each * numbers, first=first),
        ]

    def _incumbent(self, rows: int) -> list[Pass]:
        """The best hypothesis on the labels: one separator, and those that turn out better."""
        steps = self._steps
        return [
            self._labels(rows, 2 + steps + len(TOWARDS)),
            *self._prepared(rows, 1, 1),
            self._pulls(rows, 1),
            self._descent(rows, 1, steps),
            self._towards(rows, 1, 1),
        ]

    def _design(self, rows: int) -> list[Pass]:
        """All rounds of the fixed point; h̃ is replaced once a visit at most."""
        rounds, visits, draws = self.solver.rounds, self._visits, self.draws
        spread = 2 * rows * draws
        return [
            *self._prepared(rows, rounds, rounds * visits),
            Pass("_spread_of", rows, draws, rounds * (1 + visits), spread, noise=True),
            self._labels(rows, rounds * visits),
            self._pulls(rows, draws, rounds),
            self._descent(rows, draws, rounds * visits * self._steps),
            self._towards(rows, draws, rounds * visits),
            self._lengths(rows, rounds),
            self._sizes(rows, rounds),
            self._densities(rows, rounds),
        ]

    def _prepared(self, rows: int, times: int, forms: int) -> list[Pass]:
        """H: its sums, and where rows are sparse its directions, found anew so often at most."""
        if not self.sparse:
            q = self.features + 1
            return [Pass("gram", rows, 1, times, rows * (q * (q + 1) + 3 * q))]
        image = 2 * self._product(rows, RANK) + 3 * rows * RANK
        return [
            Pass("moments", rows, 1, times, 5 * self._product(rows, 1)),
            Pass("curvature", rows, 1, forms * (ITERATIONS + 1), image),
        ]

    def _labels(self, rows: int, times: int) -> Pass:
        return Pass("labels_kernel", rows, 1, times, self._product(rows, 1) + rows)

    def _pulls(self, rows: int, draws: int, times: int = 1) -> Pass:
        each = self._product(rows, draws + 1) + rows * (2 * draws + 1)
        return Pass("pulls", rows, draws, times, each, noise=draws > 1)

    def _descent(self, rows: int, draws: int, times: int) -> Pass:
        each = 2 * self._product(rows, draws) + RESIDUAL * rows * draws
        return Pass("descent", rows, draws, times, each, noise=draws > 1)

    def _towards(self, rows: int, draws: int, times: int) -> Pass:
        tally = SHIFTED * rows * draws * (1 + len(TOWARDS))
        each = self._product(rows, draws + 1) + rows + tally
        return Pass("towards", rows, draws, times, each, noise=draws > 1)

    def _lengths(self, rows: int, times: int) -> Pass:
        each = self._product(rows, self._directions) + 3 * rows * self._directions
        return Pass("squared_lengths", rows, self.draws, times, each)

    def _sizes(self, rows: int, times: int) -> Pass:
        each = self._product(rows, self.draws) + 3 * rows * self.draws
        return Pass("_squares", rows, self.draws, times, each)

    def _densities(self, rows: int, times: int) -> Pass:
        each = self._product(rows, self.draws) + rows * (7 * self.draws + 12 * GROUPS)
        return Pass("_densities", rows, self.draws, times, each)


def check_room(pool: Pool, draws: int, threads: int, design_rows: int | None = None) -> None:
    """Refuse, in a sentence, a round that needs more memory than is free."""
    source, held_here = pool.data.source, pool.in_memory or pool.sparse
    n, p = len(pool), pool.features
    density = source.matrix.nnz / (n * p) if isinstance(source, Sparse) and source.matrix.nnz else None
    cost = Cost.of(n, p, draws, density, threads, design_rows=design_rows)
    held = HELD * n + (cost.row_bytes if held_here else 0)
    need, free = cost.peak(held_here) - held, available_memory()
    if need > free:
        raise InvalidInput(
            f"pool: a round over {n} rows x {p} features needs about {in_words(need)} of memory, and "
            f"{in_words(free)} are free; {' or '.join(ways_out(cost, free + held, held_here))}"
        )


def ways_out(cost: Cost, room: int, in_memory: bool = True) -> list[str]:
    """What would need no more than so many bytes, best first."""
    found = []
    if in_memory and not cost.sparse and cost.peak(in_memory=False) <= room:
        found.append(f"read the rows from disk ({in_words(cost.peak(in_memory=False))})")
    if cost.workers == 1 and replace(cost, workers=2).peak(in_memory) <= room:
        found.append("leave blocks and noise to workers on other machines")
    for there in (in_memory, False) if in_memory and not cost.sparse else (in_memory,):
        smaller = [one for one in _samples(cost) if one.peak(there) <= room]
        if smaller:
            from_disk = " and read the rows from disk" if there is not in_memory else ""
            needs = in_words(smaller[0].peak(there))
            found.append(
                f"design on a sample with design_rows={smaller[0].design_rows}{from_disk} ({needs})"
            )
            break
    return found or [f"use a machine with {in_words(cost.peak(in_memory))}, or fewer features"]


def _samples(cost: Cost) -> list[Cost]:
    """The same with fewer rows to design on, most first."""
    sizes = [k * 10**e for e in range(9, 2, -1) for k in (5, 2, 1)]
    return [replace(cost, design_rows=m) for m in sizes if FEWEST <= m <= cost.design_rows // 2]


def in_words(size: float) -> str:
    """Bytes as people say them.

    >>> in_words(3.2e8), in_words(2.5 * GIB), in_words(41 * GIB)
    ('305 MiB', '2.5 GiB', '41 GiB')
    """
    if size < GIB:
        return f"{size / 2**20:.0f} MiB"
    return f"{size / GIB:.1f} GiB" if size < 10 * GIB else f"{size / GIB:.0f} GiB"
