"""What a round is said to need, against rounds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from tests.helpers import blobs, many_blobs

from aced import InvalidInput, Learner, Pool
from aced._workers import Workers
from aced.cost._cost import HELD, Cost, check_room, in_words, ways_out
from aced.design import FixedPoint
from aced.oracles import CACHE_BYTES
from aced.pool import GIB, Blocks, InMemory
from aced.representations import Representations
from aced.strategies import Aced

ROUND = """
import ctypes, gc, json, sys, threading, time
import numpy as np
import scipy.sparse
from aced import Learner, Pool
from aced.strategies import Aced

n, p, design_rows, words, classes, representation = json.loads(sys.argv[1])
rng = np.random.default_rng(0)

def held():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

def learner(n):
    if words:
        values, columns = rng.random(n * words, dtype=np.float32), rng.integers(0, p, n * words)
        places = np.arange(0, n * words + 1, words)
        rows = scipy.sparse.csr_matrix((values, columns, places), shape=(n, p))
        labels = (columns[::words] < p / 2).astype(int)
    else:
        rows = rng.standard_normal((n, p), dtype=np.float32)
        labels = (rows[:, 0] + rng.standard_normal(n) > 0).astype(int)
        if classes > 2:
            labels = (rows[:, :classes] + rng.standard_normal((n, classes))).argmax(axis=1)
    strategy = Aced(design_rows=design_rows)
    made = Learner(
        Pool(rows), threads=2, batch_size=50, strategy=strategy, representation=representation
    )
    made.tell(np.arange(0, n, n // 200), labels[:: n // 200])
    return made

learner(2048).ask()  # compiles, and loads libraries
gc.collect()
if hasattr(ctypes.CDLL(None), "malloc_trim"):
    ctypes.CDLL(None).malloc_trim(0)  # what that left with the allocator is not held
before = held()
made = learner(n)
loaded = held()
peak, going = 0, True

def watch():
    global peak
    while going:
        peak = max(peak, held())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
made.ask()
going = False
watcher.join()
print(json.dumps({"before": before, "loaded": loaded, "peak": peak}))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("n", "p", "design_rows", "words", "classes", "representation"),
    [
        (60_000, 64, None, 0, 2, "linear"),
        (40_000, 128, None, 0, 2, "linear"),
        (100_000, 24, 30_000, 0, 2, "linear"),
        (2_000, 6_000, None, 15, 2, "auto"),
        (30_000, 32, None, 0, 7, "linear"),
        (30_000, 64, None, 0, 2, "rbf"),
        (60_000, 16, 20_000, 0, 3, "rbf"),
    ],
)
def test_memory_is_bounded_from_above_within_a_factor_of_two(
    n, p, design_rows, words, classes, representation
):
    shape = [n, p, design_rows, words, classes, representation]
    command = [sys.executable, "-c", ROUND, json.dumps(shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    density = words / p if words else None
    cost = Cost.of(n, p, None, density, 2, 1, design_rows, classes, representation)
    used = seen["peak"] - seen["before"]
    assert used <= cost.peak() <= 2 * used
    # the round alone, and of that what belongs to rows and is not noise
    grown = seen["peak"] - seen["loaded"]
    assert grown <= cost.peak() - cost.row_bytes - HELD * n <= 2 * grown
    if not words:
        apart = ["noise", "sample"]
        if cost.landmarks:  # lifted rows are wide, and what grows with their columns is not small
            apart += ["lifted", "metric", "coefficients"]
        a_row = (grown - sum(cost.memory[part] for part in apart)) / n
        assert a_row <= (cost.memory["row vectors"] + cost.memory["blocks"]) / n - HELD


class Recorder(Workers):
    """Notes each kernel with the rows it was run on."""

    def __init__(self) -> None:
        super().__init__(1)
        self.seen: Counter[tuple[str, int]] = Counter()

    def fold(self, kernel, data, *args):
        self.seen[kernel.__name__, len(data)] += 1
        return super().fold(kernel, data, *args)

    def each(self, kernel, data, *args):
        self.seen[kernel.__name__, len(data)] += 1
        return super().each(kernel, data, *args)


def passes_of_a_round(
    n: int,
    p: int,
    design_rows: int | None = None,
    density: float | None = None,
    classes: int = 2,
    representation: str | None = None,
) -> Counter[tuple[str, int]]:
    rows, labels = blobs(n, p) if classes == 2 else many_blobs(n, p, classes)
    if density is not None:
        rows = scipy.sparse.random(n, p, density, "csr", rng=np.random.default_rng(0))
    strategy = Aced(design_rows=design_rows)
    workers = Recorder()
    learner = Learner(
        Pool(rows), strategy=strategy, batch_size=20, workers=workers, representation=representation
    )
    learner.strategy.solver = FixedPoint(draws=12, tolerance=-1.0)  # all its rounds
    learner.tell(np.arange(100), labels[:100])
    learner.ask()
    return workers.seen


MAY_BE_FEWER = ("curvature",)  # for H anew


def check_passes(seen: Counter[tuple[str, int]], cost: Cost, exact: int) -> None:
    """Passes over the pool to the number; over samples, whose size is random, in all."""
    told: Counter[tuple[str, int]] = Counter()
    for one in cost.passes:
        told[one.kernel, one.rows] += one.times
    for kernel in {name for name, _ in seen} | {name for name, _ in told}:
        real = {rows: count for (name, rows), count in seen.items() if name == kernel}
        said = {rows: count for (name, rows), count in told.items() if name == kernel}
        if kernel in MAY_BE_FEWER:
            assert 0 < sum(real.values()) <= sum(said.values()), kernel
        else:
            assert real.get(exact, 0) == said.get(exact, 0), kernel
            assert sum(real.values()) == sum(said.values()), kernel


@pytest.mark.parametrize("representation", ["linear", "rbf"])
@pytest.mark.parametrize("classes", [2, 4])
def test_passes_are_those_of_a_round(representation, classes):
    seen = passes_of_a_round(1500, 5, classes=classes, representation=representation)
    cost = Cost.of(1500, 5, draws=12, classes=classes, representation=representation)
    check_passes(seen, cost, 1500)


def test_passes_over_sparse_rows_are_those_of_a_round():
    cost = Cost.of(300, 4200, draws=12, density=0.01)
    assert cost.sparse
    check_passes(passes_of_a_round(300, 4200, density=0.01), cost, 300)
    many = passes_of_a_round(300, 4200, density=0.01, classes=4)
    check_passes(many, Cost.of(300, 4200, draws=12, density=0.01, classes=4), 300)


@pytest.mark.parametrize("representation", ["linear", "rbf"])
def test_passes_on_a_sample_are_those_of_a_round(representation):
    cost = Cost.of(12_000, 5, draws=12, design_rows=5000, representation=representation)
    seen = passes_of_a_round(12_000, 5, 5000, representation=representation)
    check_passes(seen, cost, 12_000)


class Counted:
    """Rows that note how many of them are read, block by block."""

    def __init__(self, source):
        self.source, self.read_rows = source, 0
        self.block_rows, self.shape, self.kept = source.block_rows, source.shape, "counted"

    def read(self, start, stop):
        self.read_rows += stop - start
        return self.source.read(start, stop)

    def take(self, positions):
        return self.source.take(positions)


def test_rows_that_are_not_held_are_lifted_on_every_pass(monkeypatch):
    rows, labels = blobs(1500, 5)
    monkeypatch.setattr("aced.representations._lifted.available_memory", lambda: 0)
    cost = Cost.of(1500, 5, draws=12, representation="rbf")
    assert not cost.held
    source = Counted(InMemory(rows))
    pool = Pool(rows)
    pool.data = Blocks(source)
    learner = Learner(pool, strategy="aced", batch_size=20, threads=1, representation="rbf")
    learner.strategy.solver = FixedPoint(draws=12, tolerance=-1.0)
    learner.tell(np.arange(100), labels[:100])
    learner.ask()
    lifts = next(one for one in cost.passes if one.kernel == "lift_block")
    scales = 2  # means and spreads of the rows themselves
    assert source.read_rows == (lifts.times + scales) * 1500
    small = 512 * (16 * 5 + 48 * 512)
    assert cost.memory["lifted"] == small
    monkeypatch.undo()
    held = Cost.of(1500, 5, draws=12, representation="rbf")
    assert held.memory["lifted"] == small + 4 * 1500 * 512
    assert held.operations < cost.operations


def test_operations_by_hand():
    """10 rows, 2 features and hence 3 coefficients, 3 draws, all as the defaults have it."""
    n, p, q, draws, rounds, visits, steps, towards, groups = 10, 2, 3, 3, 4, 4, 1, 8, 4
    assert (FixedPoint().rounds, Cost.of(n, p).draws) == (rounds, 96)
    product = 2 * n * p  # rows times one column: p multiplications and p additions each
    standardise = 2 * (n * p + 3 * n * p)  # for the model and for the design
    labels = product + n
    metric = n * q * (q + 1) + 3 * n * q  # half a square of products; times, minus, times the root
    incumbent = 2 * product + 3 * 2 * n + labels  # the model's probabilities, and its labels
    step = (
        metric
        + 2 * n * draws
        + ((draws + 1) * product + (2 * draws + 1) * n)
        + visits * steps * (2 * draws * product + 31 * n * draws)
        + visits * ((draws + 1) * product + n + 8 * n * draws * (1 + towards))
        + (3 * product + 3 * n * 3)  # leverages in all three directions
        + (draws * product + 3 * n * draws)
        + (draws * product + 7 * n * draws + 12 * n * groups)
    )
    solve = 2 * q * q  # two triangular ones, q² each
    factor = q**3 // 3
    for_step = visits * solve * (2 * (draws + 1) + steps * draws)
    for_step += (visits + 1) * factor + q * q * 3  # H anew at each visit and for the leverages
    expected = standardise + incumbent + rounds * (step + for_step)
    assert Cost.of(n, p, draws=draws, representation="linear").operations == expected
    c = n  # every row is a landmark
    lifted = Cost.of(n, p, draws=draws, representation="rbf")
    distances = 2 * c * p + 3 * c + 4 * p  # products, lengths and the exponent; scaled, and squared
    same = Cost.of(n, c, draws=draws, representation="linear")  # rows that are given like that
    own, seen = n * p + 3 * n * p, n * c + 3 * n * c
    assert lifted.operations - own == same.operations - seen + n * (distances + 2 * c * c)


def test_what_labels_may_choose_needs_as_much_as_either():
    for n, p in ((5000, 20), (5000, 2000), (300_000, 200)):
        either = [Cost.of(n, p, representation=name) for name in ("linear", "rbf")]
        auto = Cost.of(n, p)
        assert auto.design_features == max(one.design_features for one in either)
        assert auto.peak() >= max(one.peak() for one in either)
        assert auto.operations >= max(one.operations for one in either)
        assert auto.unlifted.operations == either[0].operations
    assert Cost.of(1000, 6000, density=0.01).landmarks == 0  # sparse rows stay as they are


def test_work_grows_with_the_number_of_classes_less_one():
    two, many = (Cost.of(200_000, 64, classes=k, representation="linear") for k in (2, 11))
    assert 9 < many.operations / two.operations < 10  # H and the leverages are found once
    assert many.memory["noise"] == CACHE_BYTES < 10 * two.memory["noise"]
    assert many.memory["coefficients"] == 10 * two.memory["coefficients"]
    assert many.memory["rows"] == two.memory["rows"]


def test_what_grows_with_what():
    cost = Cost.of(1_000_000, 64, threads=2, representation="linear")
    twice = Cost.of(2_000_000, 64, threads=2, representation="linear")
    assert twice.row_bytes == 2 * cost.row_bytes == 2 * 4 * 64_000_000
    assert cost.on_disk(8) == 2 * cost.row_bytes
    assert 1.9 < twice.operations / cost.operations < 2.1
    assert cost.memory["noise"] == 4 * 96 * 1_000_000
    assert twice.memory["noise"] == 512 * 2**20
    assert (cost.redrawn, twice.redrawn > 0) == (0, True)
    shared = Cost.of(2_000_000, 64, threads=2, workers=4, representation="linear")
    assert shared.peak() < twice.peak()
    assert shared.worker() < shared.peak()
    assert shared.redrawn == 0  # four workers keep all of it
    assert Cost.of(10_000_000, 64).sampled
    assert not Cost.of(10_000_000, 64, design_rows=10_000_000).sampled


def test_sparse_rows():
    cost = Cost.of(200_000, 100_000, density=0.0008, threads=2)
    assert (cost.sparse, cost.stored) == (True, 16_000_000)
    assert cost.row_bytes == 8 * 16_000_000 + 4 * 200_001
    assert Cost.of(200_000, 200_000, density=0.0004, threads=2).operations < 2 * cost.operations
    assert cost.memory["metric"] < 2**30  # not (p + 1)²
    assert not Cost.of(200_000, 1000, density=0.01).sparse  # stored densely all the same


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"rows": 0}, "rows must be at least 1, got 0"),
        ({"features": -3}, "features must be at least 1, got -3"),
        ({"draws": 1}, "draws must be at least 2"),
        ({"density": 0.0}, "density must be above 0 and at most 1, got 0.0"),
        ({"density": 1.5}, "density must be above 0 and at most 1, got 1.5"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"design_rows": 0}, "design_rows must be at least 1"),
        ({"representation": "tree"}, "representation must be one of auto, linear, rbf; got 'tree'"),
        ({"features": 10**6, "density": 0.1, "representation": "rbf"}, "sparse rows cannot be lifted"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        Cost.of(**{"rows": 10, "features": 2, **arguments})


def test_room_is_checked_before_the_round(monkeypatch, tmp_path):
    pool = Pool(np.zeros((50_000, 8), np.float32))
    check_room(pool, 96, 2)
    cost = Cost.of(50_000, 8, threads=2, representation="linear")
    need = cost.peak() - 4 * 8 * 50_000 - HELD * 50_000
    monkeypatch.setattr("aced.cost._cost.available_memory", lambda: need)
    check_room(pool, 96, 2)
    monkeypatch.setattr("aced.cost._cost.available_memory", lambda: need - 1)
    with pytest.raises(InvalidInput) as refused:
        check_room(pool, 96, 2)
    said = str(refused.value)
    assert said.startswith(
        f"pool: a round over 50000 rows x 8 features needs about {in_words(need)} of memory, "
        f"and {in_words(need - 1)} are free; "
    )
    assert "design_rows=20000" in said
    check_room(pool, 96, 2, design_rows=20_000)
    np.save(tmp_path / "rows.npy", np.zeros((50_000, 8), np.float32))
    with pytest.raises(InvalidInput, match="design_rows=") as refused:
        check_room(Pool(tmp_path / "rows.npy"), 96, 2)
    assert "from disk" not in str(refused.value)


def test_room_for_lifted_rows(monkeypatch):
    """The rows are lifted when it is asked whether there is room, and no file has them."""
    pool = Pool(np.random.default_rng(0).standard_normal((20_000, 3)))
    representations = Representations(pool, Workers(1), "rbf")
    lifted = representations.pool_of(representations.start)
    check_room(lifted, 96, 2)
    need = Cost.of(20_000, lifted.features, threads=2, representation="linear").peak()
    monkeypatch.setattr("aced.cost._cost.available_memory", lambda: need // 4)
    with pytest.raises(InvalidInput) as refused:
        check_room(lifted, 96, 2)
    said = str(refused.value)
    assert said.startswith(f"pool: a round over 20000 rows, lifted to {lifted.features} columns, needs")
    assert said.endswith('leave the rows as they are with representation="linear"')
    assert "disk" not in said


def test_room_for_sparse_rows(monkeypatch):
    pool = Pool(scipy.sparse.random(500, 5000, 0.01, "csr", rng=np.random.default_rng(0)))
    need = Cost.of(500, 5000, density=0.01, threads=1).peak()
    monkeypatch.setattr("aced.cost._cost.available_memory", lambda: need)
    check_room(pool, 96, 1)
    monkeypatch.setattr("aced.cost._cost.available_memory", lambda: need // 2)
    with pytest.raises(
        InvalidInput, match=r"500 rows x 5000 features needs about .* use a machine with"
    ):
        check_room(pool, 96, 1)


@pytest.mark.parametrize(
    "shape", [(50_000_000, 512), (3_000_000, 1024), (200_000, 4096), (1000, 300_000)]
)
@pytest.mark.parametrize("gib", [1, 4, 16])
def test_ways_out_need_what_there_is(shape, gib):
    cost, room = Cost.of(*shape, threads=4), gib * GIB
    found = ways_out(cost, room)
    assert found
    for way in found:
        there = "from disk" not in way
        if "design_rows" in way:
            rows = int(way.split("design_rows=")[1].split()[0])
            assert replace(cost, design_rows=rows).peak(there) <= room
        elif "workers" in way:
            assert replace(cost, workers=2).peak() <= room
        elif "as they are" in way:
            assert cost.unlifted.peak() <= room
        elif "from disk" in way:
            assert cost.peak(in_memory=False) <= room
        else:
            assert cost.peak(in_memory=False) > room
