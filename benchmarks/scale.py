"""Pools larger than memory, sparse pools, many processes: time, memory and bytes moved.

    make bench-scale                           # everything; about half an hour, 7 GiB of disk
    python benchmarks/scale.py dense sparse    # some of it
    python benchmarks/scale.py --small         # a few minutes, a tenth of the sizes

Each measurement is a process of its own, one round of `aced` with 2000 labels known: the design and
the draw of the next 250. Memory is RssAnon, sampled every 20 ms: what the process holds beside the
pages of its files, which the kernel takes back when it needs them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

LABELLED, BATCH = 2000, 250
MIB = 1024**2


# -- data -----------------------------------------------------------------------------


def write_dense(path: Path, rows: int, features: int, dtype: str = "float32") -> None:
    """Gaussian rows, a linear rule with noise in the first column's place; written a block at a time."""
    out = np.lib.format.open_memmap(path, "w+", dtype=dtype, shape=(rows, features))
    mix = np.random.default_rng(0).standard_normal((features, features)) / np.sqrt(features)
    for start in range(0, rows, 65536):
        stop = min(start + 65536, rows)
        draw = np.random.default_rng([1, start]).standard_normal((stop - start, features), np.float32)
        out[start:stop] = draw @ mix.astype(np.float32)
    out.flush()


def labels_of(rows: Any, seed: int = 2) -> np.ndarray:
    """A linear rule over the rows, a tenth of it flipped."""
    rng = np.random.default_rng(seed)
    score = np.asarray(rows @ rng.standard_normal(rows.shape[1])).ravel()
    return (score > np.median(score)) ^ (rng.random(rows.shape[0]) < 0.1)


def sparse_text(rows: int, features: int, words: int) -> Any:
    """Rows of ``words`` words each with Zipf's frequencies, weighted and scaled like TF-IDF."""
    import scipy.sparse
    from sklearn.preprocessing import normalize

    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, features + 1) ** 0.8
    edges = np.cumsum(share / share.sum())
    columns = np.minimum(np.searchsorted(edges, rng.random(rows * words)), features - 1)
    counts = scipy.sparse.csr_matrix(
        (np.ones(len(columns), np.float32), columns, np.arange(0, rows * words + 1, words)),
        shape=(rows, features),
    )
    counts.sum_duplicates()
    rare = np.log(rows / np.maximum(np.bincount(counts.indices, minlength=features), 1)) + 1
    counts.data *= rare.astype(np.float32)[counts.indices]
    return normalize(counts)


# -- one measurement, in its own process ------------------------------------------------


def _anonymous() -> int:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


class Watch:
    """The highest RssAnon between its start and its end."""

    def __enter__(self) -> Watch:
        self.peak, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            self.peak = max(self.peak, _anonymous())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def measure(task: dict[str, Any]) -> dict[str, Any]:
    """A round: open the pool, tell some labels, ask for the next batch."""
    from aced import Learner, Pool
    from aced.strategies import Aced

    if task["kind"] == "sparse":
        source: Any = sparse_text(task["rows"], task["features"], task["words"])
    else:
        source = task["path"]
    _warm_up()
    with Watch() as watch:
        began = time.perf_counter()
        pool = Pool(source)
        opened = time.perf_counter() - began
        del source
        strategy = Aced(**task.get("options", {}))
        extra, close = _backend(task)
        learner = Learner(pool, strategy=strategy, batch_size=BATCH, seed=0, **extra)
        known = np.random.default_rng(3).choice(len(pool), LABELLED, replace=False)
        learner.tell(known, labels_of(pool.rows(known)).astype(int))
        if task.get("kill"):
            threading.Timer(task["kill"], _kill_a_worker).start()
        began = time.perf_counter()
        queries = learner.ask()
        seconds = time.perf_counter() - began
    if task.get("lam"):
        np.save(task["lam"], learner.design)
    record = learner.history[-1]
    traffic = getattr(learner.workers, "traffic", None)
    close()
    return {
        "open_seconds": opened,
        "seconds": seconds,
        "peak": watch.peak,
        "value": record["value"],
        "stderr": record["stderr"],
        "drawn": len(queries),
        "design_rows": record.get("design_rows"),
        "design_loss": record.get("design_loss"),
        "traffic": traffic,
    }


def _warm_up() -> None:
    """Compiled kernels are read from their cache before the clock starts."""
    from aced import Learner, Pool

    rows = np.random.default_rng(0).standard_normal((300, 4))
    learner = Learner(Pool(rows), batch_size=20)
    learner.tell(np.arange(50), (rows[:50, 0] > 0).astype(int))
    learner.ask()


def _backend(task: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    name = task.get("backend", "threads")
    if name != "dask":
        return ({} if name == "threads" else {"backend": name}), lambda: None
    from distributed import Client

    client = Client(task["scheduler"])
    client.wait_for_workers(task["workers"], timeout=60)
    return {"client": client}, client.close


def _kill_a_worker() -> None:
    import signal

    from distributed import default_client

    client = default_client()
    address = sorted(client.scheduler_info()["workers"])[0]
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


def child(task: dict[str, Any]) -> dict[str, Any]:
    """Run one measurement in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(task)], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{task}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


# -- what is shown ------------------------------------------------------------------------


def dense(folder: Path, small: bool) -> dict[str, Any]:
    scale = 10 if small else 1
    found = {}
    for rows, features, dtype in ((250_000, 256, "float32"), (1_000_000, 256, "float32")):
        found[f"{rows // scale} x {features}"] = _dense(folder, rows // scale, features, dtype)
    one, four = list(found.values())
    growth = four["seconds"] / one["seconds"]
    say(f"  four times the rows: {growth:.2f} x the time (goal: at most 4.6)")
    rows = 10_000_000 // scale
    path = folder / "ten.npy"
    write_dense(path, rows, 128)
    for name, options in (("default", {}), ("all rows", {"design_rows": rows})):
        label = f"{rows} x 128, {name}"
        found[label] = child({"kind": "dense", "path": str(path), "options": options})
        show(label, found[label])
    path.unlink()
    return found


def _dense(folder: Path, rows: int, features: int, dtype: str) -> dict[str, Any]:
    path = folder / "pool.npy"
    write_dense(path, rows, features, dtype)
    found = child({"kind": "dense", "path": str(path)})
    path.unlink()
    show(f"{rows} x {features}", found)
    return found


def bounded(folder: Path, small: bool) -> dict[str, Any]:
    """Time, and what is lost, of designs on a sample of one pool."""
    rows = 100_000 if small else 1_000_000
    path = folder / "pool.npy"
    write_dense(path, rows, 64)
    found = {}
    for options in (
        {},
        {"design_rows": rows // 5},
        {"design_rows": rows // 20},
        {"round_seconds": 10.0},
    ):
        label = f"{rows} x 64, {options or 'all rows'}"
        found[label] = child({"kind": "dense", "path": str(path), "options": options})
        show(label, found[label])
    path.unlink()
    return found


def sparse(folder: Path, small: bool) -> dict[str, Any]:
    rows, features, words = (20_000, 10_000, 80) if small else (200_000, 100_000, 80)
    found = child({"kind": "sparse", "rows": rows, "features": features, "words": words})
    show(f"sparse {rows} x {features}, {words} words a row", found)
    return {"sparse": found}


def cluster(folder: Path, small: bool) -> dict[str, Any]:
    """Threads against a real scheduler with 2 and 4 workers, one of them killed on the way.

    Both pools have the most parts there are, 32, so that only bytes of rows may differ.
    """
    found: dict[str, Any] = {}
    reference: np.ndarray | None = None
    for rows in (100_000, 200_000) if small else (600_000, 1_200_000):
        path, lam = folder / "pool.npy", folder / "lam.npy"
        write_dense(path, rows, 64)
        plain = {"kind": "dense", "path": str(path), "lam": str(lam)}
        label = f"{rows} x 64, 2 threads"
        found[label] = child(plain)
        show(label, found[label])
        reference, alone = np.load(lam), found[label]["seconds"]
        for backend, workers, kill in (
            ("processes", 0, 0), ("dask", 2, 0), ("dask", 4, 0), ("dask", 4, alone / 2)
        ):  # fmt: skip
            with _cluster(workers) as address:
                task = {**plain, "backend": backend, "workers": workers, "scheduler": address}
                label = f"{rows} x 64, {backend}" + (f", {workers} workers" if workers else "")
                label += ", one killed" if kill else ""
                found[label] = child({**task, "kill": kill})
            differ = float(np.max(np.abs(np.load(lam) - reference) / reference))
            found[label] |= {"differ": differ, "ratio": found[label]["seconds"] / alone}
            show(label, found[label])
            ratio = found[label]["ratio"]
            say(f"    λ differs by {differ:.1e} at most; {ratio:.2f} x the time of threads")
            if found[label]["traffic"]:
                say("    bytes: " + ", ".join(f"{k} {v:,}" for k, v in found[label]["traffic"].items()))
        path.unlink()
    return found


class _cluster:  # noqa: N801
    """A scheduler and workers, as processes."""

    def __init__(self, workers: int) -> None:
        self.workers, self.started = workers, []

    def __enter__(self) -> str:
        if not self.workers:
            return ""
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        common = [sys.executable, "-m", "dask"]
        scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self.started.append(subprocess.Popen([*common, *scheduler], **quiet))
        worker = ["worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        self.started += [subprocess.Popen([*common, *worker], **quiet) for _ in range(self.workers)]
        return address

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.kill()
        for process in self.started:
            process.wait()


def show(label: str, found: dict[str, Any]) -> None:
    sample = ""
    if found["design_rows"]:
        sample = f", on {found['design_rows']} rows losing {found['design_loss']:.1%}"
    say(
        f"  {label}: {found['seconds']:.1f} s a round (opened in {found['open_seconds']:.1f}), "
        f"peak {found['peak'] / MIB:.0f} MiB, value {found['value']:.4g} ± {found['stderr']:.2g}{sample}"
    )


def say(text: str) -> None:
    print(text, flush=True)


PARTS = {"dense": dense, "bounded": bounded, "sparse": sparse, "cluster": cluster}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--small", action="store_true", help="smaller pools")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(measure(json.loads(asked.child))))
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.parts or PARTS:
            say(f"{name}:")
            found[name] = PARTS[name](Path(folder), asked.small)
            if asked.json:
                asked.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
