"""A pool on disk in a process of its own: how much memory a pass takes, and that it exits."""

import gc
import shutil
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from aced import Pool
from tests.pool.stores import parquet, table

N, P, GROUP = 50 * 32768, 64, 32768
BYTES = 4 * N * P

PASS = """
import sys, threading
from aced import Pool
import pyarrow.parquet, zarr

def memory():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024

def watch():
    while not done.wait(0.005):
        seen.append(memory())

done, before, seen = threading.Event(), memory(), []
watcher = threading.Thread(target=watch)
watcher.start()
try:
    pool = Pool(sys.argv[1])  # reads all rows once, to check them
finally:
    done.set()
    watcher.join()
print(len(pool), max(seen) - before, pyarrow.default_memory_pool().max_memory())
"""

EXIT = """
import sys, time
import dask.array, numpy
from aced.pool._to_source import Dask, Parquet
from pathlib import Path

def slow(block):
    time.sleep(0.2)
    return block

dask_array = dask.array.zeros((4096, 2), chunks=(1024, 2)).map_blocks(slow, meta=numpy.empty((0, 0)))
for source in (Dask(dask_array), Parquet.open([Path(sys.argv[1])])):
    source.read(0, 10)
    assert source._reader is not None
print("read")
"""


def run(script, path):
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


def npy_of_zeros(folder):
    np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float32, (N, P)).flush()
    return folder / "rows.npy"


def repeated(folder, times, row_group_size):
    part = np.random.default_rng(0).integers(0, 16, (GROUP, P)).astype(np.float32)
    whole = pa.concat_tables([table(part)] * times)
    pq.write_table(
        whole,
        folder / "rows.parquet",
        row_group_size=row_group_size,
        compression="none",
        use_dictionary=False,
    )
    return folder / "rows.parquet"


def small_groups(folder):
    return repeated(folder, N // GROUP, GROUP)


def groups_as_pyarrow_makes_them(folder):
    return repeated(folder, 33, None)


def zarr_of_zeros(folder):
    zarr.create_array(folder / "rows.zarr", shape=(N, P), chunks=(GROUP, P), dtype="f4")
    return folder / "rows.zarr"


@pytest.fixture
def folder(tmp_path):
    """One that is not kept after the test: 400 MiB are in it."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("store", [npy_of_zeros, small_groups, zarr_of_zeros])
def test_a_pass_takes_far_less_memory_than_the_pool(store, folder):
    count, most, _ = map(int, run(PASS, store(folder)))
    assert count == N
    assert most < BYTES / 2, f"{most / 2**20:.0f} of {BYTES / 2**20:.0f} MiB"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_large_row_group_is_never_decoded_as_a_whole(folder):
    """What pyarrow holds at most: whole groups of 2**20 rows would be 256 MiB."""
    path = groups_as_pyarrow_makes_them(folder)
    assert pq.ParquetFile(path).metadata.row_group(0).num_rows == 2**20
    count, _, arrow = map(int, run(PASS, path))
    assert count == 33 * GROUP
    assert arrow < 128 * 2**20, f"{arrow / 2**20:.0f} MiB"


def test_the_interpreter_exits_while_rows_are_read_ahead(tmp_path):
    assert run(EXIT, parquet(tmp_path, np.zeros((9000, 4)))) == ["read"]


def test_the_thread_ends_with_the_pool(tmp_path):
    before = set(threading.enumerate())
    pool = Pool(parquet(tmp_path, np.zeros((9000, 4))))
    (thread,) = set(threading.enumerate()) - before
    del pool
    gc.collect()
    thread.join(20)
    assert not thread.is_alive()
