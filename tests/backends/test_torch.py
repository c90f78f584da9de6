"""Torch workers on the CPU against threads: each kernel, a design, a learner."""

from __future__ import annotations

import gc
import inspect
import sys

import numpy as np
import pytest
import scipy.sparse

from aced import InvalidInput, Learner
from aced._workers import PerRow, Workers
from aced.backends import _torch as backend
from aced.design import FixedPoint, Problem, _gradient as gradient, _trail, initial_incumbent
from aced.oracles import GaussianNoise, LinearOracle, _base, _passes, argmax
from aced.pool import Pool
from aced.strategies import _distances
from tests.helpers import blobs

torch = pytest.importorskip("torch")
TorchWorkers = backend.TorchWorkers
SHAPES = [(900, 3, 5, 2), (2500, 17, 24, 2), (5000, 40, 7, 2), (2500, 9, 12, 5)]  # n, p, B, K


def workers(kind: str, width: int) -> backend.TorchWorkers:
    """The ways in which rows and noise reach the device."""
    made = TorchWorkers(2, memory=0 if "moved" in kind else None)
    made._numbers = {"short": 1, "middle": 2048 * width, "tall": 2**24}[kind.split()[0]]
    if "away" in kind:  # as for a device with a memory of its own
        made._shares = False
    return made


KINDS = ["short kept", "short moved", "middle kept", "middle moved", "tall kept", "tall moved"]
KINDS += ["middle away kept", "middle away moved"]


def calls(n: int, p: int, draws: int, classes: int, seed: int) -> tuple[Pool, dict]:
    """Each kernel with arguments. Scores are exact in float32 and no two of a row and draw are equal,
    so that no rounding moves a label."""
    rng, f, others = np.random.default_rng(seed), np.float32, classes - 1
    pool = Pool(rng.integers(-4, 5, (n, p)).astype(f))
    noise = GaussianNoise(pool, draws, seed, classes)
    scale = PerRow((0.1 + rng.random(n)).astype(f))
    mu = PerRow(rng.choice([-1, 0, 0, 1], (n, others)).astype(f))
    slopes = rng.integers(-8, 9, (p, others * draws)).astype(f) / 4
    apart = np.repeat(np.arange(others), draws).astype(f) / 64
    bias = rng.integers(-8, 9, others * draws).astype(f) + f(0.125) + apart
    start = np.concatenate([rng.integers(-8, 9, (others, p)), np.full((others, 1), 0.25)], 1).astype(f)
    start[:, -1] += np.arange(others, dtype=f) / 128
    steps = np.array([[0.5], [1.0], [4.0]], f) * np.ones((1, draws), f)
    hypotheses = np.concatenate([slopes.T, bias[:, None]], axis=1)
    labels = PerRow(rng.integers(0, classes, n).astype(np.int8))
    coupled = PerRow(rng.random(n) < 0.2)
    parts = np.array_split(rng.permutation(draws), max(1, draws // 6))
    r, share = (5 * rng.random(draws)).astype(f), rng.random(draws).astype(f)
    multiplier, offset = (1 + rng.random(p)).astype(f), rng.standard_normal(p).astype(f)
    weight, norms = PerRow(rng.random(n)), PerRow(50 + 50 * rng.random(n))
    centres, some = rng.integers(-4, 5, (p, 9)).astype(f), rng.random(9)
    factors, of_centres = PerRow(rng.random((n, others)).astype(f)), rng.random((9, others)).astype(f)
    scored, labelled = (_passes.margins, hypotheses), (_passes.labels, hypotheses, draws)
    folded = {
        _passes.total: (),
        _passes.squared_deviation: (rng.standard_normal(p),),
        _passes.gram: (multiplier, offset, scale, coupled),
        _passes.pulls: (noise, scale, mu),
        _passes.descent: (noise, scale, mu, slopes, bias, r),
        _passes.towards: (noise, scale, mu, slopes, bias, start, steps),
        _trail._spread_of: (noise, scale, labels, draws),
        gradient._squares: (draws, *scored),
    }
    mapped = {
        _passes.squared_lengths: (hypotheses,),
        _base.labels_kernel: labelled,
        gradient._terms: (labels, noise, share, *labelled),
        gradient._densities: (weight, hypotheses[:draws, 0] ** 2 + 1, parts, *scored),
        _distances._squared_lengths: (),
        _distances._nearest: (factors, norms, centres, of_centres, 50 + some, 1.0),
    }
    found = {("fold", kernel): args for kernel, args in folded.items()}
    return pool, found | {("each", kernel): args for kernel, args in mapped.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "p", "draws", "classes"), SHAPES)
def test_each_kernel_is_its_namesake_up_to_rounding(kind, n, p, draws, classes):
    pool, found = calls(n, p, draws, classes, seed=n)
    ours, theirs = workers(kind, max(p, draws * (classes - 1), 9)), Workers(2)
    assert {kernel for _, kernel in found} == set(ours._kernels.KERNELS)
    for (how, kernel), args in found.items():
        a, b = getattr(ours, how)(kernel, pool, *args), getattr(theirs, how)(kernel, pool, *args)
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert x.dtype == y.dtype, kernel
            y = np.broadcast_to(y, x.shape)
            off = np.abs(x.astype(float) - y.astype(float)).max()
            assert off <= 5e-5 * np.abs(y).max(), (kernel, off)


def test_no_row_coupled_to_r():
    pool = Pool(np.random.default_rng(0).normal(size=(3000, 4)))
    ones, none = np.ones(4, np.float32), PerRow(np.zeros(3000, bool))
    args = (ones, 0 * ones, PerRow(np.ones(3000, np.float32)), none)
    free, tied = TorchWorkers(1).fold(_passes.gram, pool, *args)
    np.testing.assert_allclose(free, Workers(1).fold(_passes.gram, pool, *args)[0], rtol=1e-5)
    assert free.dtype == np.float64
    assert not tied.any()


def test_each_kernel_takes_what_its_namesake_takes():
    kernels = TorchWorkers(1)._kernels
    for table in (kernels.KERNELS, kernels.SCORES):
        for theirs, ours in table.items():
            names = list(inspect.signature(theirs).parameters)
            assert list(inspect.signature(ours).parameters) == names


def test_many_rows_keep_their_digits():
    """H from 65536 rows at a time: in one float32 product its error would be ten times this bound."""
    rows = np.random.default_rng(0).normal(3, 1, (2**16, 4)).astype(np.float32)
    ones = np.ones(4, np.float32)
    root, coupled = PerRow(np.ones(2**16, np.float32)), PerRow(np.zeros(2**16, bool))
    made = workers("tall kept", 4)
    assert len(backend._cut(Pool(rows).data, (), made._numbers)) == 1
    free, _ = made.fold(_passes.gram, Pool(rows), ones, 0 * ones, root, coupled)
    exact = rows.astype(float).T @ rows.astype(float)
    assert np.abs(free[:4, :4] - exact).max() < 1.5e-6 * exact.max()


def test_sums_over_steps_are_in_double_precision():
    """Beside 2^30 in the first step, float32 would lose all others."""
    n = 20 * 1024
    pool, mu = Pool(np.ones((n, 1))), np.full((n, 1), 0.01, np.float32)
    mu[0] = 2**30
    noise, ones = GaussianNoise(pool, 1, 0), PerRow(np.ones(n, np.float32))
    sums = workers("short kept", 1).fold(_passes.pulls, pool, noise, ones, PerRow(mu))
    assert sums[1][0] - 2**30 == pytest.approx(0.01 * n, abs=0.01 * 1024 + 64)


# -- what the device leaves to threads -------------------------------------------


def test_sparse_rows_are_for_threads():
    rng = np.random.default_rng(0)
    pool = Pool(scipy.sparse.random(300, 5000, 0.01, "csr", random_state=rng, dtype=np.float32))
    assert pool.sparse
    hypotheses = rng.standard_normal((3, 5001)).astype(np.float32)
    ours, theirs = TorchWorkers(1), Workers(1)
    for kernel, args in ((_passes.squared_lengths, (hypotheses,)), (_distances._squared_lengths, ())):
        same = ours.each(kernel, pool, *args)[0] == theirs.each(kernel, pool, *args)[0]
        assert same.all()
    assert (ours.fold(_passes.total, pool)[0] == theirs.fold(_passes.total, pool)[0]).all()


def _cubes(block):
    return ((block**3).sum(axis=0),)


def test_unknown_kernels_and_scores_are_for_threads():
    rng = np.random.default_rng(0)
    pool, scores = Pool(rng.normal(size=(2000, 3))), rng.normal(size=(2000, 8)).astype(np.float32)
    ours, theirs = TorchWorkers(2), Workers(2)
    assert (ours.fold(_cubes, pool)[0] == theirs.fold(_cubes, pool)[0]).all()
    given = (_base.given_scores, PerRow(scores))
    for how, kernel, args in (
        ("each", _base.labels_kernel, given),
        ("fold", gradient._squares, (8, *given)),
    ):
        a, b = getattr(ours, how)(kernel, pool, *args), getattr(theirs, how)(kernel, pool, *args)
        assert (a[0] == b[0]).all()


# -- whole designs ----------------------------------------------------------------


def _problem(pool: Pool, labels: np.ndarray, chosen: Workers, seed: int) -> Problem:
    n = len(pool)
    mu = np.zeros(n, np.float32)
    known = np.random.default_rng(seed).choice(n, 150, replace=False)
    mu[known] = 2 * labels[known] - 1
    oracle = LinearOracle(pool, workers=chosen)
    return Problem(oracle, mu, n / 8, initial_incumbent(oracle, mu))


def test_designs_are_those_of_threads():
    """Where rounding moves a margin across zero, a draw may end at another hypothesis: F then changes
    by up to 1 % and λ by up to 15 %, as they also do for threads when the columns change places. Of
    70 pools like these 2 were apart by more than 1e-3, so that four of seven are is less likely than
    1e-4.
    """
    apart = []
    shapes = [(2500, 6), (1300, 20), (3000, 12), (2048, 35), (1500, 9), (1100, 50), (1200, 30)]
    for seed, (n, p) in enumerate(shapes):
        rows, labels = blobs(n, p, seed)
        pool = Pool(rows)
        ours, theirs = (
            FixedPoint(draws=48).solve(_problem(pool, labels, chosen, seed), np.random.default_rng(seed))
            for chosen in (TorchWorkers(2), Workers(2))
        )
        rows_in = theirs.lam > 1e-3 / n
        relative = np.abs(ours.lam / theirs.lam - 1)[rows_in]
        apart.append((abs(ours.certificate.value / theirs.certificate.value - 1), relative.max()))
    assert (np.median(apart, axis=0) < 1e-3).all()
    assert (np.max(apart, axis=0) < (0.03, 0.3)).all()


def test_the_same_bits_again_on_any_threads_in_any_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(backend.STEP_NUMBERS, "cpu", 2048 * 24)  # two steps
    rows, labels = blobs(2600, 9, 3)
    file = tmp_path / "rows.npy"
    np.save(file, rows)

    def solve(pool: Pool, chosen: Workers) -> np.ndarray:
        problem = _problem(pool, labels, chosen, 0)
        return FixedPoint(draws=24, rounds=2).solve(problem, np.random.default_rng(0)).lam

    first = solve(Pool(rows), TorchWorkers(2))
    for pool, chosen in (
        (Pool(rows), TorchWorkers(2)),
        (Pool(rows), TorchWorkers(1)),
        (Pool(rows), TorchWorkers(3, memory=0)),
        (Pool(file), TorchWorkers(2)),
        (Pool(file), TorchWorkers(2, memory=0)),
    ):
        assert (solve(pool, chosen) == first).all()
    away = TorchWorkers(2, memory=2600 * 4 * 24)  # rows or noise fit, not both
    away._shares = False
    assert (solve(Pool(rows), away) == first).all()


def test_oracle_values_are_those_of_threads():
    rows, labels = blobs(1500, 8, 1)
    vectors = np.random.default_rng(0).normal(size=(12, 1500)) + (2 * labels - 1)
    values = [
        argmax(LinearOracle(Pool(rows), workers=w), vectors)[1] for w in (TorchWorkers(), Workers())
    ]
    np.testing.assert_allclose(*values, rtol=1e-3)


@pytest.mark.parametrize("strategy", ["aced", "core-set", "badge"])
def test_a_learner_of_two_rounds(strategy):
    rows, labels = blobs(1200, 6, 5)
    batches, designs = [], []
    for chosen in ("torch", "threads"):
        learner = Learner(
            Pool(rows), strategy=strategy, backend=chosen, budget=80, batch_size=40, seed=1, threads=2
        )
        asked = []
        for _ in range(2):
            queries = learner.ask()
            learner.tell(queries.ids, labels[queries.ids])
            asked.append(set(queries.ids.tolist()))
        assert learner.labels_known == 80
        batches.append(asked)
        designs.append(learner.design)
    assert len(batches[0][0] & batches[1][0]) >= 38
    if strategy != "aced":
        assert len(batches[0][1] & batches[1][1]) >= 38
    else:  # rounding may turn one of 96 rivals, which moves λ by up to a hundredth, and the draws
        assert np.abs(designs[0] - designs[1]).sum() / 2 < 0.02


# -- threads, memory, sentences ----------------------------------------------------


def test_torch_gets_its_threads_back():
    before = torch.get_num_threads()
    chosen = TorchWorkers(2)
    try:
        torch.set_num_threads(before + 1)
        with chosen.session(), chosen.session():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == before + 1
        with pytest.raises(ZeroDivisionError), chosen.session():
            raise ZeroDivisionError
        assert torch.get_num_threads() == before + 1
        chosen.fold(_passes.total, Pool(np.ones((5, 2))))
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def _size(chosen: backend.TorchWorkers) -> int:
    return sum(t.element_size() * t.numel() for t in chosen._kept.values())


def test_what_is_kept_stays_within_memory_and_goes_with_its_owner():
    pool = Pool(np.random.default_rng(0).normal(size=(3000, 5)))
    scale, labels = PerRow(np.ones(3000, np.float32)), PerRow(np.ones(3000, bool))
    one = 3000 * 4 * 10
    chosen = TorchWorkers(2, memory=2 * one)
    noises = [GaussianNoise(pool, 10, seed) for seed in range(3)]
    for noise in noises:
        chosen.fold(_trail._spread_of, pool, noise, scale, labels, noise.draws)
        assert noise in chosen._kept
        assert _size(chosen) <= chosen.memory
    assert noises[0] not in chosen._kept  # the one not used for longest
    wide = GaussianNoise(pool, 40, 0)
    chosen.fold(_trail._spread_of, pool, wide, scale, labels, wide.draws)
    assert wide not in chosen._kept
    assert len(chosen._kept) == 2  # nothing was forgotten for what cannot fit
    del noises, noise
    gc.collect()
    assert len(chosen._kept) == 0


@pytest.mark.parametrize("device", ["gpu", "meta", "cuda:99", 3])
def test_devices_that_are_not_here(device):
    seen = "cpu" if not torch.cuda.is_available() else "cpu, cuda"
    with pytest.raises(
        InvalidInput, match=f"device: {device} is not available here; torch sees: {seen}"
    ):
        TorchWorkers(device=device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_where_there_is_none():
    with pytest.raises(InvalidInput, match=r"^device: cuda is not available here; torch sees: cpu"):
        TorchWorkers(device="cuda")


@pytest.mark.parametrize("memory", [-1, 0.5, True, "2GB"])
def test_memory_is_a_number_of_bytes(memory):
    with pytest.raises(InvalidInput, match=r"memory must be (a whole number|at least 0)"):
        TorchWorkers(memory=memory)


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # as Python does where a module is missing
    with pytest.raises(InvalidInput, match=r"pip install 'aced\[torch\]'"):
        TorchWorkers()
