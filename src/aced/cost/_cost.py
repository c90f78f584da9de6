"""What a round will need: one design by the fixed point, and the draw.

The table has the bytes at the peak, for n rows, p features, c landmarks by which rows are lifted, d
columns of rows in their representation (p, c, or the more of the two where labels choose), q = d + 1, B
draws, K classes and hence C = (K - 1) B columns, T threads, blocks of b rows, k = 64 directions of a
sparse pool's H, and a = 2T + 1 results of blocks that wait to be added up. For a pool of more than 2^22
rows the design is found on a sample of m rows and checked on another of m/4 rows: l = 5/4 m rows.

============== ================================== ===================================================
part           bytes                              what it is
============== ================================== ===================================================
rows           4 n p, sparse 8 nnz + 4 n          the pool; nothing where it is read from disk
lifted         4 n c, and c (16 p + 48 c)         rows in their representation; nothing where they
                                                  are lifted when read. Landmarks, their kernel
sample         4 d (l + m), or nothing            both samples, and one being copied
row vectors    25 n + (162 + 9 (K - 2)) n, or     ids, labels, μ̂, λ, s, G with its four groups, …;
               125 n + 187 l;                     E|v| of at most 2^16 rows, by which H grows;
               and 56 min(n, 2^16)                9 (K - 2) more in l and n for more classes
noise          min(4 n C, 512 MiB), or            ζ; what is above the limit is drawn again
               5/4 of that for m
metric         q² (56 + 8 a)                      H twice and its factor, those of the last step of
                                                  the design, sums under way
               sparse k q (36 + 4 a) + 80 q       a diagonal and directions, twice; sums under way
coefficients   C q (144 + 4 a)                    separators met (32), iterates, gradients, solutions
               sparse C q (112 + 4 a)             (112, sparse 80), sums under way
blocks         T b max(16 C, 8 q, 8 (p + c + 1)), what the kernels hold of a block each
               sparse 16 C
============== ================================== ===================================================

The memory of the program itself comes on top. With several workers, these hold noise and blocks. The
parts of the table are largest at different times, so their sum is an upper bound. In a round whose
labels choose another representation, the lifted rows of the round before stay until it ends, where both
fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from aced._check import choice, class_count, whole
from aced._errors import InvalidInput
from aced.cost._work import Pass, Work, made_dense
from aced.design import FEWEST_SAMPLED, FixedPoint, automatic_rows
from aced.oracles import CACHE_BYTES, GROWTH_ROWS, RANK
from aced.pool import BLOCK_ROWS, SPARSE_BLOCK_ROWS, Pool, Sparse, available_memory, in_words
from aced.representations import WANTED, components, is_held, is_lifted

__all__ = ["Cost", "Pass", "check_room", "in_words", "ways_out"]

HELD = 25
"""Bytes for each row before a round begins: id 8, state 1, label 8, draw probability 8."""
DESIGNED = 162
"""Bytes at the peak for each row that the design is found on: known, open, labelled and coupled 4, μ̂ 4,
λ of the last round, of this one and all draws so far 24, labels of h̃ 2, s and E|v| 13, G of the last
step 16, leverage 8, densities of groups and their variances 48, sums over them 24, allocator 19."""
GROWTH = 56
"""Bytes for each row while the growth of H is found: |μ̂|, s and five values between, 8 each."""
FURTHER = 9
"""Bytes for each row and each class beyond two: μ̂ 4, as it is made 4, and whether it is 0."""
EXTENDED = 100
"""Bytes at the peak for each row of a pool that is sampled: as above without G, or for the draw."""


@dataclass(frozen=True)
class Cost(Work):
    """What a round over a pool of this shape needs; make it with :meth:`of`.

    >>> cost = Cost.of(1_000_000, 256, threads=2, representation="linear")
    >>> in_words(cost.peak()), round(cost.operations / 1e12, 1)
    ('1.5 GiB', 3.7)
    """

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
        classes: int = 2,
        representation: str = "auto",
    ) -> Cost:
        """The cost for a pool of ``rows`` by ``features``, with ``draws`` noise vectors a design.

        ``density`` is the share of numbers that a sparse matrix stores; one that a pool would store
        densely counts as dense. ``threads`` compute on each of ``workers`` machines. ``design_rows`` is
        the size of the sample (default: what the strategy takes, all rows unless they are very many).
        ``classes`` is the number of classes that have a label. ``representation`` is the learner's: with
        "auto" rows may be lifted and the design may be found in either kind of columns, so it counts
        lifted rows, and a design in whichever columns are more.
        """
        choice("representation", representation, WANTED)
        class_count("classes", classes)
        solver = FixedPoint() if draws is None else FixedPoint(draws=draws)
        counts = {"rows": rows, "features": features, "threads": threads, "workers": workers}
        counts |= {} if design_rows is None else {"design_rows": design_rows}
        for name, number in counts.items():
            whole(name, number, 1)
        if density is not None and not 0 < density <= 1:
            raise InvalidInput("density", f"must be above 0 and at most 1, got {density}")
        sparse = density is not None and not made_dense(rows, features)
        stored = max(1, round(rows * features * (density or 1.0))) if sparse else rows * features
        if sparse and representation == "rbf":
            raise InvalidInput("representation", 'sparse rows cannot be lifted; use "linear" or "auto"')
        landmarks = 0 if sparse or representation == "linear" else components(rows)
        seen = landmarks if representation == "rbf" else max(features, landmarks)
        wanted = automatic_rows(rows, seen) if design_rows is None else design_rows
        sample = rows if wanted is None else min(wanted, rows)
        shape = rows, features, stored, sparse, threads, workers, sample, seen
        held = is_held(rows, landmarks)
        return cls(*shape, solver, classes=classes, landmarks=landmarks, held=held)

    @property
    def unlifted(self) -> Cost:
        """The same round over rows as they are."""
        return replace(self, landmarks=0, design_features=self.features)

    def on_disk(self, item: int = 4) -> int:
        """The bytes of the rows in a file whose numbers have ``item`` bytes each."""
        if not self.sparse:
            return item * self.stored
        index = 4 if self.stored < 2**31 else 8
        return self.stored * (item + index) + index * (self.rows + 1)

    @property
    def row_bytes(self) -> int:
        """The bytes of the rows in memory."""
        return self.on_disk(4)

    @cached_property
    def memory(self) -> dict[str, int]:
        """Bytes of each part at the peak, in the process that calls."""
        rounds = [self.over(rows) for rows in self.sample_sizes] or [self]
        alone = self.workers == 1
        further = FURTHER * (self.classes - 2)
        designed, extended = HELD + DESIGNED + further, HELD + EXTENDED + further
        sample, vectors = 0, designed * self.rows + GROWTH * min(self.rows, GROWTH_ROWS)
        if self.sampled:
            sample = sum(one.row_bytes for one in rounds) + rounds[0].row_bytes
            vectors = extended * self.rows + sum(designed * one.rows for one in rounds)
            vectors += GROWTH * min(rounds[0].rows, GROWTH_ROWS)
        return {
            "rows": self.row_bytes,
            "lifted": self._lifted,
            "sample": sample,
            "row vectors": vectors,
            "noise": sum(one._noise for one in rounds) if alone else 0,
            "metric": max(one._metric for one in (self, *rounds)),
            "coefficients": max(one._coefficients for one in rounds),
            "blocks": max(one._blocks for one in (self, *rounds)) if alone else 0,
        }

    @property
    def _lifted(self) -> int:
        p, c = self.features, self.landmarks
        return 4 * self.rows * c * self.held + c * (16 * p + 48 * c)

    @property
    def _noise(self) -> int:
        return min(4 * self.rows * self.columns, CACHE_BYTES)

    @property
    def _ahead(self) -> int:
        """How many results of blocks wait to be added up."""
        return 2 * self.threads + 1 if self.threads > 1 and self.workers == 1 else 1

    @property
    def _metric(self) -> int:
        q = self.design_features + 1
        if self.sparse:
            return RANK * q * (36 + 4 * self._ahead) + 80 * q
        return q * q * (56 + 8 * self._ahead)

    @property
    def _coefficients(self) -> int:
        met = self.visits * (2 if self.sparse else self.steps + 1)
        each = 4 * met + (80 if self.sparse else 112) + 4 * self._ahead
        return self.columns * (self.design_features + 1) * each

    @property
    def _blocks(self) -> int:
        if self.sparse:
            return self.threads * min(SPARSE_BLOCK_ROWS, self.rows) * 16 * self.columns
        rows, lifting = min(BLOCK_ROWS, self.rows), (8 * self.features + 8) * bool(self.landmarks)
        seen = max(16 * self.columns, 8 * (self.design_features + 1), lifting + 8 * self.landmarks)
        return self.threads * rows * seen

    def peak(self, in_memory: bool = True) -> int:
        """Bytes at the peak of a round, with the rows in memory or read from disk."""
        total = sum(self.memory.values())
        if in_memory:
            return total
        reading = 4 * self.threads * BLOCK_ROWS * self.features if self.workers == 1 else 0
        return total - self.row_bytes + reading

    def worker(self, in_memory: bool = True) -> int:
        """Bytes at the peak in each of several workers; rows in memory are sent to them."""
        q, columns, share = self.design_features + 1, self.columns, -(-self.rows // self.workers)
        sums = 24 * q * max(columns, RANK if self.sparse else 2 * q)
        held = self.row_bytes // self.workers if in_memory else 0
        held += 4 * share * self.landmarks * self.held
        vectors = (40 + FURTHER * (self.classes - 2)) * share
        return held + vectors + min(4 * share * columns, CACHE_BYTES) + self._blocks + sums


def check_room(
    pool: Pool, draws: int, threads: int, design_rows: int | None = None, classes: int = 2
) -> None:
    """Refuse, in a sentence, a round over rows in their representation that needs more than is free."""
    source, here, lifted = pool.data.source, pool.in_memory or pool.sparse, is_lifted(pool)
    n, p = len(pool), pool.features
    density = max(1, source.matrix.nnz) / (n * p) if isinstance(source, Sparse) else None
    cost = Cost.of(n, p, draws, density, threads, 1, design_rows, classes, "linear")
    held = HELD * n + (cost.row_bytes if here else 0)
    need, free = cost.peak(here) - held, available_memory()
    if need > free:
        shape = f"{n} rows, lifted to {p} columns," if lifted else f"{n} rows x {p} features"
        ways = ways_out(cost, free + held, here, lifted)
        raise InvalidInput(
            "pool",
            f"a round over {shape} needs about {in_words(need)} of memory, and "
            f"{in_words(free)} are free; {' or '.join(ways)}",
        )


def ways_out(cost: Cost, room: int, in_memory: bool = True, lifted: bool = False) -> list[str]:
    """Ways to make a round that needs no more than ``room`` bytes, as advice.

    ``lifted`` says that the rows of the cost are themselves lifted ones, which no file has.
    """
    found = []
    from_file = in_memory and not cost.sparse and not lifted
    if from_file and cost.peak(in_memory=False) <= room:
        found.append(f"read the rows from disk ({in_words(cost.peak(in_memory=False))})")
    if cost.landmarks and (plain := cost.unlifted).peak(in_memory) <= room:
        found.append(
            f'leave the rows as they are, representation="linear" ({in_words(plain.peak(in_memory))})'
        )
    if cost.workers == 1 and replace(cost, workers=2).peak(in_memory) <= room:
        found.append("leave blocks and noise to workers on other machines")
    for here in (True, False) if from_file else (in_memory,):
        fitting = [one for one in _on_samples(cost) if one.peak(here) <= room]
        if fitting:
            rows, needs = fitting[0].design_rows, in_words(fitting[0].peak(here))
            from_disk = " and read the rows from disk" if here is not in_memory else ""
            found.append(f"design on a sample with design_rows={rows}{from_disk} ({needs})")
            break
    if lifted:
        found.append('leave the rows as they are with representation="linear"')
    return found or [f"use a machine with {in_words(cost.peak(in_memory))}, or fewer features"]


def _on_samples(cost: Cost) -> list[Cost]:
    """The same round with ever smaller samples."""
    sizes = [k * 10**e for e in range(9, 2, -1) for k in (5, 2, 1)]
    return [replace(cost, design_rows=m) for m in sizes if FEWEST_SAMPLED <= m <= cost.design_rows // 2]
