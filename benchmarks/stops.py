"""Whether stops keep their promise and what they cost; the regret's bound; what savings say; time.

    pip install 'aced[peers]' buscarpy
    python -m benchmarks.stops stops   [--runs 100] [--jobs 2] [--json FILE]
    python -m benchmarks.stops recall  [--runs 500] [--jobs 2] [--json FILE]
    python -m benchmarks.stops regret  [--runs 500] [--jobs 2] [--json FILE]
    python -m benchmarks.stops savings [--runs 50]  [--jobs 2] [--json FILE]
    python -m benchmarks.stops time

``stops``: on each of five pools, for each rule, how often it stops before the budget, how often the
classifier then has the accuracy that was wanted, and the labels it took. A certificate, with two shares
of uniform draws; rules of small-text, which promise no accuracy; and a random test set of m rows that
are labelled beside the others and looked at after every batch (Clopper and Pearson's lower end). All
rules see the same runs, but the certificate with more uniform draws has one of its own.

``recall``: the same for the recall of a rare class, beside buscarpy (Callaghan and Müller-Hansen 2020),
whose recall is that of the rows that were labelled.

``regret``: the share of runs in which the bound is below the truth, found among all half planes, at each
of three looks, and how far above it is.

``savings``: how often the band holds what random labelling really took, the mean of 20 runs.

``time``: a certificate, a regret and savings against a round, at 50,000 x 784 with 1000 labels.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.certificates import POOLS, run, without_forests
from scipy.stats import beta

from aced import Learner

CONFIDENCE = 0.95
BATCH = 20
WANTED = {"breast": 0.94, "digits": 0.94, "classes": 0.85, "flipped": 0.72, "checkers": 0.75}
TESTS = (50, 100, 200)
SHARES = (0.1, 0.3)


# -- stops --------------------------------------------------------------------------------------


def small_text_rules(classes: int) -> dict[str, Any]:
    """The stopping criteria of small-text, as they come."""
    from small_text.stopping_criteria import ClassificationChange, KappaAverage, OverallUncertainty

    return {
        "small-text KappaAverage": KappaAverage(classes),
        "small-text ClassificationChange": ClassificationChange(classes),
        "small-text OverallUncertainty": OverallUncertainty(classes),
    }


def says_stop(rule: Any, said: np.ndarray, proba: np.ndarray) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(rule.stop(predictions=said, proba=proba, indices_stopping=np.arange(len(said))))


def stopped(job: tuple[str, int]) -> list[dict[str, Any]]:
    """One pool: for each rule the labels at its stop, and the accuracy then, None without a stop."""
    name, seed = job
    without_forests()
    wanted, found = WANTED[name], []
    rows, labels = POOLS[name](np.random.default_rng([seed, 1]))
    budget = int(0.7 * len(rows))
    for explore in SHARES:
        learner = Learner(rows, explore=explore, batch_size=BATCH, budget=budget, seed=seed, threads=1)
        rules: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], bool]] = {
            f"certificate, {explore:.0%} uniform": lambda said, p, right, learner=learner: bool(
                learner.reached(wanted, confidence=CONFIDENCE)
            )
        }
        extra = {}
        if explore == SHARES[0]:
            order = np.random.default_rng([seed, 3]).permutation(len(rows))
            for rule_name, rule in small_text_rules(len(np.unique(labels))).items():
                rules[rule_name] = lambda said, p, right, rule=rule: says_stop(rule, said, p)
            for size in TESTS:
                test, extra[f"test set of {size}"] = order[:size], size
                rules[f"test set of {size}"] = lambda said, p, right, test=test: lower(right[test])
        found += to_the_stops(learner, labels, rules, extra, wanted, {"pool": name, "seed": seed})
    return found


def lower(right: np.ndarray) -> float:
    """Clopper and Pearson's one-sided lower end for the share of a test set."""
    hits = int(right.sum())
    return float(beta.ppf(1 - CONFIDENCE, hits, len(right) - hits + 1)) if hits else 0.0


def to_the_stops(
    learner: Learner,
    labels: np.ndarray,
    rules: dict[str, Callable[..., Any]],
    extra: dict[str, int],
    wanted: float,
    about: dict[str, Any],
) -> list[dict[str, Any]]:
    """Label until every rule has stopped, or the budget is spent."""
    open_rules, found = dict(rules), []
    while queries := learner.ask():
        learner.tell(queries.ids, labels[queries.ids])
        if len(learner.classes) < 2:
            continue
        said, proba = learner.predict(), learner.predict_proba()
        codes = np.searchsorted(learner.classes, said)
        right = said == labels
        for name, rule in list(open_rules.items()):
            answer = rule(codes, proba, right)
            if answer >= wanted if isinstance(answer, float) else answer:
                del open_rules[name]
                used = learner.labels_known + extra.get(name, 0)
                found.append({**about, "rule": name, "labels": used, "truth": float(right.mean())})
        if not open_rules:
            break
    rest = {**about, "labels": learner.labels_known, "truth": None}
    return found + [{**rest, "rule": name} for name in open_rules]


def tell_stops(found: list[list[dict[str, Any]]]) -> None:
    flat = [one for part in found for one in part]
    print("| pool | wanted | rule | stopped | of these kept | ± | labels, mean |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for key in dict.fromkeys((one["pool"], one["rule"]) for one in flat):
        mine = [one for one in flat if (one["pool"], one["rule"]) == key]
        ended = [one for one in mine if one["truth"] is not None]
        wanted = {**WANTED, "rare": RECALL}[key[0]]
        kept = np.mean([one["truth"] >= wanted for one in ended]) if ended else np.nan
        error = np.sqrt(max(kept * (1 - kept), 1 / max(1, len(ended))) / len(ended)) if ended else np.nan
        labels = np.mean([one["labels"] for one in mine])
        share = f"{len(ended)} of {len(mine)}"
        print(f"| {key[0]} | {wanted} | {key[1]} | {share} | {kept:.3f} | {error:.3f} | {labels:.0f} |")


# -- recall -------------------------------------------------------------------------------------

RECALL = 0.75


def recalled(job: tuple[str, int]) -> list[dict[str, Any]]:
    """A rare class: certificates of its recall with two shares of uniform draws; buscarpy's rule."""
    from buscarpy import calculate_h0

    name, seed = job
    without_forests()
    rows, labels = POOLS[name](np.random.default_rng([seed, 1]))
    found = []
    for explore in SHARES:
        learner = Learner(rows, explore=explore, batch_size=BATCH, seed=seed, threads=1, classes=(0, 1))
        rules = [f"certificate, {explore:.0%} uniform"] + ["buscarpy"] * (explore == SHARES[0])
        seen: list[int] = []
        while rules and (queries := learner.ask()):
            learner.tell(queries.ids, labels[queries.ids])
            seen += labels[queries.ids].tolist()
            if len(set(seen)) < 2:
                continue
            for rule in list(rules):
                if rule == "buscarpy":
                    chance = calculate_h0(seen, len(rows), recall_target=RECALL)
                    stop, truth = chance is not None and chance < 0.05, sum(seen) / labels.sum()
                else:
                    stop = bool(learner.reached(RECALL, of="recall", label=1))
                    truth = float(np.mean(learner.predict()[labels == 1] == 1))
                if stop:
                    rules.remove(rule)
                    about = {"pool": name, "seed": seed, "rule": rule}
                    found.append({**about, "labels": learner.labels_known, "truth": float(truth)})
        for rule in rules:
            about = {"pool": name, "seed": seed, "rule": rule}
            found.append({**about, "labels": learner.labels_known, "truth": None})
    return found


# -- regret -------------------------------------------------------------------------------------

KINDS = ("noise", "flipped", "xor")
LOOKS = (50, 100, 200)


def plane(kind: str, seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Rows in two dimensions, where the best half plane can be found by trying all."""
    rng = np.random.default_rng([seed, 4])
    rows = rng.normal(size=(n, 2))
    margin = rows[:, 0] + 0.5 * rows[:, 1]
    if kind == "noise":
        return rows, (margin + 0.5 * rng.logistic(size=n) > 0).astype(int)
    if kind == "flipped":
        return rows, ((margin > 0) ^ (rng.random(n) < 0.15)).astype(int)
    return rows, (rows[:, 0] * rows[:, 1] + 0.7 * rows[:, 0] > 0).astype(int)


def best_accuracy(rows: np.ndarray, truth: np.ndarray) -> float:
    """That of the best half plane, over 720 directions and all offsets."""
    best, gains = 0.0, np.where(truth == 1, 1, -1)
    for angle in np.linspace(0, 2 * np.pi, 720, endpoint=False):
        order = np.argsort(-(rows @ [np.cos(angle), np.sin(angle)]))
        best = max(best, float(np.cumsum(gains[order]).max()))
    return float((truth == 0).mean() + best / len(rows))


def regretted(job: tuple[str, int]) -> dict[str, Any]:
    kind, seed = job
    without_forests()
    rows, truth = plane(kind, seed)
    top, points = best_accuracy(rows, truth), []
    learner = Learner(
        rows, representation="linear", batch_size=10, budget=LOOKS[-1], seed=seed, threads=1
    )
    while queries := learner.ask():
        learner.tell(queries.ids, truth[queries.ids])
        if learner.labels_known in LOOKS:
            real = top - float(np.mean(learner.predict() == truth))
            points.append({"bound": learner.regret(CONFIDENCE).high, "truth": real})
    return {"kind": kind, "seed": seed, "points": points}


def tell_regret(found: list[dict[str, Any]]) -> None:
    print("| task | labels | runs | bound below the truth | ± | truth, mean | bound, mean |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in KINDS:
        mine = [one["points"] for one in found if one["kind"] == kind]
        for place, labels in enumerate(LOOKS):
            bound, truth = (np.array([p[place][k] for p in mine]) for k in ("bound", "truth"))
            missed = float(np.mean(bound < truth - 1e-9))
            error = np.sqrt(max(missed * (1 - missed), 1 / len(mine) ** 2) / len(mine))
            numbers = f"{missed:.3f} | {error:.3f} | {truth.mean():.3f} | {bound.mean():.3f}"
            print(f"| {kind} | {labels} | {len(mine)} | {numbers} |")


# -- savings ------------------------------------------------------------------------------------

COMPARED = (80, 160, 240)


def accuracies(name: str, seed: int, strategy: str, explore: float | None, budget: int) -> list[Any]:
    """By label count the accuracy with labelled rows as right, and what savings say."""
    rows, labels = POOLS[name](np.random.default_rng([0, 1]))
    learner = Learner(
        rows, strategy=strategy, explore=explore, batch_size=BATCH, budget=budget, seed=seed, threads=1
    )
    found = []
    while queries := learner.ask():
        learner.tell(queries.ids, labels[queries.ids])
        right = learner.predict() == labels
        right[learner.labelled()[0]] = True
        said = None
        if strategy != "passive" and learner.labels_known in COMPARED and len(learner.classes) > 1:
            said = learner.savings()
        found.append((learner.labels_known, float(right.mean()), said))
    return found


def saved(job: tuple[str, str, float | None, int]) -> dict[str, Any]:
    name, strategy, explore, seed = job
    rows, _ = POOLS[name](np.random.default_rng([0, 1]))
    budget = int(0.9 * len(rows)) if strategy == "passive" else COMPARED[-1]
    found = accuracies(name, seed, strategy, explore, budget)
    points = [
        {"labels": labels, "right": right, "band": said and [said.low, said.random, said.high]}
        for labels, right, said in found
    ]
    return {"pool": name, "strategy": strategy, "explore": explore, "points": points}


def tell_savings(found: list[dict[str, Any]]) -> None:
    print("| pool | uniform | labels | random labelling took | said, mean | band held it | runs |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in POOLS:
        random = [one for one in found if one["pool"] == name and one["strategy"] == "passive"]
        sizes = [point["labels"] for point in random[0]["points"]]
        wrong = 1 - np.mean([[p["right"] for p in one["points"]] for one in random], axis=0)
        wrong = np.minimum.accumulate(wrong)
        for explore in SHARES:
            mine = [one for one in found if one["pool"] == name and one["explore"] == explore]
            for labels in COMPARED:
                told = [p for one in mine for p in one["points"] if p["labels"] == labels]
                known = [p for p in told if p["band"]]
                if not known:
                    continue
                took = [float(np.interp(p["right"] - 1, -wrong, sizes)) for p in known]
                held = [p["band"][0] <= t <= p["band"][2] for p, t in zip(known, took, strict=True)]
                means = f"{np.mean(took):.0f} | {np.mean([p['band'][1] for p in known]):.0f}"
                shown = f"{means} | {np.mean(held):.2f} | {len(known)} of {len(told)}"
                print(f"| {name} | {explore} | {labels} | {shown} |")


# -- time ---------------------------------------------------------------------------------------


def timed() -> None:
    """Seconds on all cores; the round is that of the default strategy."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50_000, 784)).astype(np.float32)
    labels = (rows[:, :5].sum(axis=1) + rng.logistic(size=len(rows)) > 0).astype(int)
    learner = Learner(rows, batch_size=250, budget=2000, seed=0, classes=(0, 1))
    for _ in range(4):
        queries = learner.ask()
        learner.tell(queries.ids, labels[queries.ids])
    began = time.perf_counter()
    queries = learner.ask()
    round_seconds = time.perf_counter() - began
    learner.tell(queries.ids, labels[queries.ids])
    learner.predict()  # the fit that a round needs anyway
    print(f"a round: {round_seconds:.2f} s")
    for name in ("accuracy", "regret", "savings"):
        began = time.perf_counter()
        getattr(learner, name)()
        seconds = time.perf_counter() - began
        print(f"{name}: {seconds:.2f} s, {seconds / round_seconds:.3f} of a round")


# -- together -----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("stops", "recall", "regret", "savings", "time"))
    parser.add_argument("--runs", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    if asked.what == "time":
        timed()
        return
    runs = asked.runs or {"savings": 50, "stops": 100}.get(asked.what, 500)
    jobs: dict[str, list[Any]] = {
        "stops": [(name, seed) for name in WANTED for seed in range(runs)],
        "recall": [("rare", seed) for seed in range(runs)],
        "regret": [(kind, seed) for kind in KINDS for seed in range(runs)],
        "savings": [(name, "passive", None, 10_000 + k) for name in POOLS for k in range(min(runs, 20))]
        + [(name, "blend", share, k) for name in POOLS for share in SHARES for k in range(runs)],
    }
    function: dict[str, Callable[[Any], Any]] = {
        "stops": stopped, "recall": recalled, "regret": regretted, "savings": saved,
    }  # fmt: skip
    tell: dict[str, Callable[[Any], None]] = {
        "stops": tell_stops, "recall": tell_stops, "regret": tell_regret, "savings": tell_savings,
    }  # fmt: skip
    found = run(function[asked.what], jobs[asked.what], asked.jobs)
    tell[asked.what](found)
    if asked.json is not None:
        asked.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
