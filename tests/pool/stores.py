"""One matrix, kept in every way that a pool can read."""

from pathlib import Path

import dask.array
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zarr


def table(rows, names=None):
    names = names or [f"c{j}" for j in range(rows.shape[1])]
    return pa.Table.from_arrays(
        [pa.array(np.ascontiguousarray(rows[:, j])) for j in range(len(names))], names
    )


def npy(folder: Path, rows):
    np.save(folder / "rows.npy", rows)
    return folder / "rows.npy"


def fortran(folder: Path, rows):
    return npy(folder, np.asfortranarray(rows))


def memmap(folder: Path, rows):
    whole = np.memmap(folder / "rows.raw", rows.dtype, "w+", shape=rows.shape)
    whole[:] = rows
    return whole


def npy_folder(folder: Path, rows):
    for k, part in enumerate(np.split(rows, [len(rows) // 3, len(rows) // 3, len(rows) // 2])):
        np.save(folder / f"part-{k}.npy", part)  # the second has no rows
    (folder / "README.txt").write_text("rows in order")
    return str(folder)


def parquet(folder: Path, rows):
    """Small row groups, of which the last is smaller."""
    pq.write_table(table(rows), folder / "rows.parquet", row_group_size=max(1, len(rows) // 7))
    return folder / "rows.parquet"


def large_group(folder: Path, rows):
    """One row group, which is decoded in parts where CHUNK_BYTES is small."""
    pq.write_table(table(rows), folder / "rows.parquet")
    return folder / "rows.parquet"


def parquet_folder(folder: Path, rows):
    for k, part in enumerate(np.split(rows, [len(rows) // 3, len(rows) // 2])):
        pq.write_table(table(part), folder / f"part-{k}.parquet", row_group_size=900)
    pq.write_table(table(rows[:0]), folder / "part-9.parquet")
    (folder / "_SUCCESS").touch()
    return folder


def zarr_array(folder: Path, rows):
    chunks = (max(1, len(rows) // 6), max(1, rows.shape[1] // 2))
    array = zarr.create_array(folder / "rows.zarr", shape=rows.shape, chunks=chunks, dtype=rows.dtype)
    array[:] = rows
    return array


def zarr_path(folder: Path, rows):
    zarr_array(folder, rows)
    return folder / "rows.zarr"


def zarr_group(folder: Path, rows):
    group = zarr.create_group(folder / "rows.zarr", zarr_format=2)
    group.create_array("x", shape=rows.shape, chunks=(700, rows.shape[1]), dtype=rows.dtype)[:] = rows
    group.create_array("y", shape=(len(rows),), dtype="i4")
    return folder / "rows.zarr"


def zarr_memory(folder: Path, rows):
    return zarr.array(rows, store=zarr.storage.MemoryStore(), chunks=(500, rows.shape[1]))


def dask_array(folder: Path, rows):
    return dask.array.from_array(rows, chunks=(max(1, len(rows) // 5), max(1, rows.shape[1] // 2)))


STORES = (
    npy,
    fortran,
    memmap,
    npy_folder,
    parquet,
    large_group,
    parquet_folder,
    zarr_array,
    zarr_path,
    zarr_group,
    zarr_memory,
    dask_array,
)
ON_DISK = tuple(store for store in STORES if store not in (zarr_memory, dask_array))
