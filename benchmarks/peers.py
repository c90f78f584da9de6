"""Time and memory to choose the next rows, beside other libraries' strategies of the same kind.

    python benchmarks/peers.py [--rows 100000] [--features 256] [--classes 2] [--python PATH]
                               [--json FILE]

The pool is two Gaussian classes, or more, with a tenth of the labels wrong, of which 1000 are known;
the next 250 rows are to be chosen. Each measurement is a process of its own with the same number of
threads and a limit on its time. The classifier is one logistic regression, fitted before the clock
starts and given to every library, so only the choice is timed; no library here fits it inside. Memory
is the growth of the highest resident size during the choice, over what the process held before with
the rows in the library's own form.

Other libraries run in an environment of their own: that of ``--python``, or one that is made in a
temporary folder. What cannot be imported or fails is listed with its error.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PACKAGES = ("scikit-activeml==1.0.1", "modAL-python==0.4.2.1", "small-text==1.4.1")
QUICK = 20.0
"""Seconds below which a measurement is repeated, for the median of three."""


@dataclass(frozen=True)
class State:
    """What every library is given."""

    rows: np.ndarray
    labels: np.ndarray  # of all rows; only those of ``known`` may be looked at
    known: np.ndarray
    model: Any  # a fitted LogisticRegression
    batch: int
    threads: int

    @property
    def unknown(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self.rows)), self.known)


Choice = Callable[[], np.ndarray]
"""Positions of the rows chosen; what is called is what is timed."""

# -- the choices ------------------------------------------------------------------------


def _ours(state: State, strategy: str) -> Choice:
    from aced import Learner, Pool

    pool = Pool(state.rows)
    learner = Learner(pool, strategy=strategy, batch_size=state.batch, threads=state.threads, seed=0)
    learner.tell(state.known, state.labels[state.known])
    learner._model = state.model  # the one that all are given
    return lambda: np.asarray(learner.ask().ids)


def ours_aced(state: State) -> Choice:
    return _ours(state, "aced")


def ours_margin(state: State) -> Choice:
    return _ours(state, "margin")


def ours_core_set(state: State) -> Choice:
    return _ours(state, "core-set")


def _partly_known(state: State) -> np.ndarray:
    partly = np.full(len(state.rows), np.nan)
    partly[state.known] = state.labels[state.known]
    return partly


def skactiveml_margin(state: State) -> Choice:
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling

    rows, labels = state.rows, _partly_known(state)
    wrapped = SklearnClassifier(state.model, classes=state.model.classes_.tolist())
    wrapped.fit(rows[state.known], labels[state.known])
    wrapped.estimator_ = state.model
    strategy = UncertaintySampling(method="margin_sampling", random_state=0)
    return lambda: strategy.query(rows, labels, wrapped, fit_clf=False, batch_size=state.batch)


def skactiveml_core_set(state: State) -> Choice:
    from skactiveml.pool import CoreSet

    rows, labels = state.rows, _partly_known(state)
    strategy = CoreSet(random_state=0)
    return lambda: strategy.query(rows, labels, batch_size=state.batch)


def modal_margin(state: State) -> Choice:
    from modAL.models import ActiveLearner
    from modAL.uncertainty import margin_sampling

    unknown = state.unknown
    pool = state.rows[unknown]  # modAL leaves it to its users to keep the rows without a label
    learner = ActiveLearner(estimator=state.model, query_strategy=margin_sampling)
    return lambda: unknown[learner.query(pool, n_instances=state.batch)[0]]


def _small_text(state: State, strategy: Any, **options: Any) -> Choice:
    from small_text import SklearnClassifier, SklearnDataset

    data = SklearnDataset(state.rows, np.where(np.isnan(_partly_known(state)), 0, state.labels))
    wrapped = SklearnClassifier(state.model, len(state.model.classes_))
    unknown, labels = state.unknown, state.labels[state.known]
    return lambda: strategy.query(wrapped, data, unknown, state.known, labels, n=state.batch, **options)


def small_text_margin(state: State) -> Choice:
    from small_text import BreakingTies

    return _small_text(state, BreakingTies())


def small_text_least_confidence(state: State) -> Choice:
    from small_text import LeastConfidence

    return _small_text(state, LeastConfidence())


def small_text_core_set(state: State) -> Choice:
    from small_text import GreedyCoreset

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that its default distance changed
        strategy = GreedyCoreset(distance_metric="euclidean", normalize=False)
    rows = state.rows[np.concatenate([state.unknown, state.known])]
    return _small_text(state, strategy, embeddings=rows)


@dataclass(frozen=True)
class Entry:
    library: str  # as it is installed
    strategy: str
    kind: str  # strategies of one kind are compared
    make: Callable[[State], Choice]


ENTRIES = (
    Entry("aced", "aced", "design", ours_aced),
    Entry("aced", "margin", "margin", ours_margin),
    Entry("scikit-activeml", "UncertaintySampling, margin", "margin", skactiveml_margin),
    Entry("modAL-python", "margin_sampling", "margin", modal_margin),
    Entry("small-text", "BreakingTies", "margin", small_text_margin),
    Entry("small-text", "LeastConfidence", "margin", small_text_least_confidence),
    Entry("aced", "core-set", "core-set", ours_core_set),
    Entry("scikit-activeml", "CoreSet", "core-set", skactiveml_core_set),
    Entry("small-text", "GreedyCoreset", "core-set", small_text_core_set),
)

# -- one measurement, in its own process ------------------------------------------------


def resident(name: str) -> int | None:
    """A size in /proc/self/status, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(name)), None)


def reset_peak() -> int:
    """Forget the highest resident size, where the kernel can; what is held now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return resident("VmRSS") or 0


def highest() -> int:
    return resident("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def load(folder: Path, batch: int, threads: int) -> State:
    from sklearn.linear_model import LogisticRegression

    with np.load(folder / "state.npz") as found:
        labels, known, coefficients = found["labels"], found["known"], found["coefficients"]
    model = LogisticRegression(max_iter=1000)
    model.coef_, model.intercept_ = coefficients[:, :-1], coefficients[:, -1]
    model.classes_ = np.arange(max(2, len(coefficients)))
    model.n_features_in_, model.n_iter_ = coefficients.shape[1] - 1, [1]
    return State(np.load(folder / "rows.npy"), labels, known, model, batch, threads)


def smaller(state: State) -> State:
    """The first rows, on which libraries load and compile what they need."""
    count = min(2000, len(state.rows))
    known = np.flatnonzero(np.isin(np.arange(count), state.known))
    return State(state.rows[:count], state.labels[:count], known, state.model, 2, state.threads)


def measure(entry: Entry, folder: Path, batch: int, threads: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    state = load(folder, batch, threads)
    entry.make(smaller(state))()
    choice = entry.make(state)
    if entry.library == "aced":  # its pool has a copy of the rows
        object.__setattr__(state, "rows", None)
    before = reset_peak()
    began = time.perf_counter()
    chosen = choice()
    seconds = time.perf_counter() - began
    return {
        "version": version(entry.library),
        "seconds": seconds,
        "held": before,
        "grown": max(0, highest() - before),
        "chosen": np.asarray(chosen).astype(int).tolist(),
    }


# -- all of them --------------------------------------------------------------------------


def two_classes(n: int, p: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes a little apart, a tenth of the labels wrong."""
    truth = rng.random(n) < 0.5
    centre = rng.standard_normal(p, dtype=np.float32)
    centre *= 1.5 / np.linalg.norm(centre)
    rows = rng.standard_normal((n, p), dtype=np.float32)
    rows += np.where(truth[:, None], centre, -centre)
    return rows, (truth ^ (rng.random(n) < 0.1)).astype(int)


def more_classes(n: int, p: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same with k classes; a wrong label is any of them."""
    truth = rng.integers(k, size=n)
    centres = rng.standard_normal((k, p), dtype=np.float32)
    centres *= 2.5 / np.linalg.norm(centres, axis=1, keepdims=True)
    rows = rng.standard_normal((n, p), dtype=np.float32)
    rows += centres[truth]
    return rows, np.where(rng.random(n) < 0.1, rng.integers(k, size=n), truth)


def prepare(folder: Path, n: int, p: int, known: int, classes: int, seed: int = 0) -> None:
    """The pool, and the classifier."""
    from aced import Learner, Pool

    rng = np.random.default_rng(seed)
    rows, labels = two_classes(n, p, rng) if classes == 2 else more_classes(n, p, classes, rng)
    start = np.sort(rng.choice(n, known, replace=False))
    learner = Learner(Pool(rows[start]), l2=1.0, threads=1)
    learner.tell(np.arange(known), labels[start])
    model = learner.classifier
    coefficients = np.column_stack([model.coef_, model.intercept_])
    np.save(folder / "rows.npy", rows)
    np.savez(folder / "state.npz", labels=labels, known=start, coefficients=coefficients)


def environment(folder: Path) -> tuple[str, str | None]:
    """An interpreter with the other libraries, and what went wrong in making it."""
    place = folder / "environment"
    python = place / ("Scripts" if os.name == "nt" else "bin") / "python"
    for command in (
        [sys.executable, "-m", "venv", str(place)],
        [str(python), "-m", "pip", "install", "--quiet", *PACKAGES],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return str(python), last_line(done.stderr)
    return str(python), None


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no message")


def run(number: int, python: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """One measurement; an error is part of the result."""
    command = [python, __file__, "--one", str(number), "--folder", str(folder)]
    command += ["--batch", str(arguments.batch), "--threads", str(arguments.threads)]
    limits = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
    threads = {f"{name}_NUM_THREADS": str(arguments.threads) for name in limits}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=arguments.limit,
            env={**os.environ, **threads},
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not finished in {arguments.limit:.0f} s"}
    if done.returncode:
        return {"error": last_line(done.stderr)}
    found: dict[str, Any] = json.loads(last_line(done.stdout))
    return found


def compare(
    arguments: argparse.Namespace, folder: Path, said: Callable[[str], None]
) -> list[dict[str, Any]]:
    python, trouble = arguments.python, None
    if python is None:
        said("installing the other libraries")
        python, trouble = environment(folder)
    said("making the pool")
    prepare(folder, arguments.rows, arguments.features, arguments.known, arguments.classes)
    results: list[dict[str, Any]] = []
    for number, entry in enumerate(ENTRIES):
        said(f"{entry.library}: {entry.strategy}")
        ours = entry.library == "aced"
        if trouble is not None and not ours:
            runs = [{"error": trouble}]
        else:
            runs = [run(number, sys.executable if ours else python, folder, arguments)]
            while runs[0].get("seconds", QUICK) < QUICK and len(runs) < 3:
                runs.append(run(number, sys.executable if ours else python, folder, arguments))
        result: dict[str, Any] = {
            "library": entry.library,
            "strategy": entry.strategy,
            "kind": entry.kind,
        }
        good = [one for one in runs if "error" not in one]
        if len(good) < len(runs):
            result["error"] = next(one["error"] for one in runs if "error" in one)
        if good:
            result |= good[0] | {
                "seconds": statistics.median(one["seconds"] for one in good),
                "grown": max(one["grown"] for one in good),
                "runs": len(good),
            }
        results.append(result)
    return results


def add_overlaps(results: list[dict[str, Any]]) -> None:
    """How many of the rows are those that ours of the same kind chose."""
    for result in results:
        own = next(one for one in results if one["kind"] == result["kind"])
        if own is not result and "chosen" in own and "chosen" in result:
            result["overlap"] = len(set(own["chosen"]) & set(result["chosen"]))


def show(results: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.table import Table

    shape = f"{arguments.rows} rows x {arguments.features} features, {arguments.classes} classes"
    table = Table(
        title=f"The next {arguments.batch} rows of {shape}, {arguments.known} labels, "
        f"{arguments.threads} threads"
    )
    table.add_column("library")
    table.add_column("strategy")
    for heading in ("seconds", "MiB more", "MiB held", "same rows as ours"):
        table.add_column(heading, justify="right")
    kind = results[0]["kind"]
    for result in results:
        if result["kind"] != kind:
            table.add_section()
            kind = result["kind"]
        name = f"{result['library']} {result.get('version', '')}".strip()
        if "seconds" not in result:
            table.add_row(name, result["strategy"], "", "", "", result["error"])
            continue
        same = result.get("overlap")
        table.add_row(
            name,
            result["strategy"],
            f"{result['seconds']:.3f}",
            f"{result['grown'] / 2**20:.0f}",
            f"{result['held'] / 2**20:.0f}",
            "" if same is None else f"{same} of {arguments.batch}",
        )
    Console(width=120).print(table)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--known", type=int, default=1000, help="labels to start with")
    parser.add_argument("--batch", type=int, default=250, help="rows to choose")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for one measurement")
    parser.add_argument("--python", help="an interpreter that has the other libraries")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if arguments.one is not None:
        entry = ENTRIES[arguments.one]
        print(json.dumps(measure(entry, arguments.folder, arguments.batch, arguments.threads)))
        return
    with tempfile.TemporaryDirectory(prefix="aced-peers-") as folder:
        results = compare(arguments, Path(folder), lambda text: print(text, file=sys.stderr, flush=True))
    add_overlaps(results)
    show(results, arguments)
    if arguments.json is not None:
        record = {
            "rows": arguments.rows,
            "features": arguments.features,
            "classes": arguments.classes,
            "known": arguments.known,
            "batch": arguments.batch,
            "threads": arguments.threads,
            "limit": arguments.limit,
            "results": [{k: v for k, v in one.items() if k != "chosen"} for one in results],
        }
        arguments.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
