import gc
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from aced import InvalidInput
from aced._workers import Workers
from aced.backends import make_workers
from aced.backends._processes import read, write
from aced.backends._remote import Packed
from aced.learner import Learner
from aced.oracles import GaussianNoise
from aced.pool import Pool
from tests.backends.kernels import (
    KINDS,
    arguments,
    assert_same,
    dying,
    failing,
    growth,
    make_pool,
    moments,
    rows,
    scores,
)
from tests.backends.learning import asked, assert_same_rounds


@pytest.fixture(scope="module", autouse=True)
def _end_processes():
    yield
    get_reusable_executor(max_workers=2, timeout=300, reuse=True).shutdown(wait=True)


@pytest.mark.parametrize("kind", KINDS)
def test_fold_and_each_equal_threads_to_the_bit(kind, tmp_path):
    pool, threads, processes = make_pool(kind, tmp_path), Workers(2), make_workers("processes", 2)
    args = arguments(pool)
    for _ in range(2):  # the second time from what was kept
        assert_same(processes.fold(moments, pool, *args), threads.fold(moments, pool, *args))
        assert_same(processes.each(scores, pool, *args), threads.each(scores, pool, *args))


def test_two_rounds_equal_those_of_threads():
    expected = asked(threads=2)
    assert_same_rounds(asked(backend="processes", threads=2), expected)


def test_files_go_with_what_they_were_written_for(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pool, workers = Pool(rows()), make_workers("processes", 2)
    args = arguments(pool)
    workers.fold(moments, pool, *args)
    sizes = sorted(path.stat().st_size for path in tmp_path.glob("*/*"))
    assert len(sizes) == 2  # the vector and the rows; what a call alone needed is gone
    assert sizes[0] < 4 * len(pool) + 1000
    assert sizes[1] < 4 * len(pool) * pool.features + 1000
    del args
    gc.collect()
    assert len(list(tmp_path.glob("*/*"))) == 1
    del workers
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_kernel_comes_back():
    with pytest.raises(ZeroDivisionError, match="told so"):
        make_workers("processes", 2).fold(failing, Pool(rows()), "told so")


def test_no_room_for_the_rows(monkeypatch):
    workers = make_workers("processes", 2)
    workers._folder.cleanup()
    with pytest.raises(InvalidInput, match="set TMPDIR to a folder with more room"):
        workers.fold(moments, Pool(rows()), *arguments(Pool(rows())))


def test_written_arrays_are_mapped_aligned_and_private(tmp_path):
    given = {
        "odd": np.arange(7, dtype=np.int8),
        "wide": rows(100),
        "text": "x",
        "none": np.zeros((0, 3)),
    }
    write(tmp_path / "it", Packed(given))
    for _ in range(2):
        found = read(str(tmp_path / "it"))
        assert_same(
            [found["odd"], found["wide"], found["none"]], [given["odd"], given["wide"], given["none"]]
        )
        assert found["wide"].ctypes.data % 64 == 0
        assert found["text"] == "x"
        found["wide"][:] = 0  # not in the file


def test_a_parcel_that_comes_at_an_odd_address_is_moved():
    packed = Packed({"rows": rows(100)})
    parcel = pickle.loads(pickle.dumps(packed))
    room = bytearray(packed.arrays[0].nbytes + 1)
    room[1:] = packed.arrays[0].tobytes()
    parcel.arrays = [np.frombuffer(room, np.uint8, offset=1)]
    found = parcel.open()["rows"]
    assert found.flags.aligned
    assert_same([found], [rows(100)])


def test_noise_that_was_sent_fits_the_pool_it_is_for():
    for n in (1500, 2500):  # one after the other in one process, as learners with one seed do
        pool = Pool(rows(n))
        noise = GaussianNoise(pool, 3, 7)
        sent = pickle.loads(pickle.dumps(noise))
        for index, block in enumerate(pool.slices):
            assert_same([sent.at(index, block)], [noise.at(index, block)])


@pytest.mark.parametrize(
    ("who", "sentence"),
    [
        ({"backend": "spark"}, "backend must be one of threads, processes, torch; got 'spark'"),
        ({"backend": "threads", "client": object()}, "pass one of them"),
        ({"client": object()}, "client must be a dask.distributed.Client"),
        ({"device": "cuda"}, "device: it is used by backend='torch' only"),
        ({"backend": "processes", "device": "cpu"}, "device: it is used by backend='torch' only"),
        ({"backend": "processes", "threads": 0}, "threads must be at least 1"),
    ],
)
def test_who_cannot_compute_is_refused(who, sentence, tmp_path):
    with pytest.raises(InvalidInput, match=sentence.replace("(", r"\(")):
        Learner(Pool(rows(50)), **who)
    learner = Learner(Pool(rows(50)))
    learner.save(Path(tmp_path, "it"))
    with pytest.raises(InvalidInput, match=sentence):
        Learner.load(Path(tmp_path, "it"), Pool(rows(50)), **who)


def test_a_process_that_dies_is_replaced_once(tmp_path):
    pool, workers = Pool(rows()), make_workers("processes", 2)
    _, weight, _ = arguments(pool)
    found = workers.fold(dying, pool, tmp_path / "mark", weight)
    assert_same(found, Workers(1).fold(dying, pool, tmp_path / "mark", weight))
    with pytest.raises(InvalidInput, match="processes end before their work does"):
        workers.fold(dying, pool, None, weight)


def test_processes_may_grow():
    """joblib would end one that has grown by 300 MB and start another, in every pass."""
    pool, workers = Pool(rows()), make_workers("processes", 2)
    (allowed,) = workers.each(growth, pool)
    assert (allowed == sys.maxsize).all()
