"""What the field says: areas, labels needed, deficits against passive, ranks and tests.

    a_s(l)   accuracy of seed s after l labels, on the pool or on the holdout
    ā(l)     its mean over the seeds
    area     mean of ā over the label counts of the task, one for each batch: the area under the curve
    n(v)     labels to reach v: where ā first is v or more, linear between two counts
    share    n_ours(v) / N, where v is the peer's accuracy at its last label, and N the number of its
             labels. Where ours never reaches v, the peer has reached ours before: N / n_peer(w), where
             w is ours at the last label
    ratio    n_ours(v) / n_peer(v), or n_ours(w) / n_peer(w): against the labels that the peer needed
             until it first was where it ends, which are few if it soon stopped learning
    worst    the least over l of d̄(l) / se(l), where d_s = a_s - passive's a_s with the same seed, and
             se is the standard error of their mean
    chance   how often a least as low comes up if the signs of the d_s are drawn anew, one sign for a
             seed: a test that counts every l at once and assumes only that, were the two alike, d and
             -d would be equally likely

Means over tasks give each task the same weight. The mean of ratios is geometric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

from aced._types import Float64, Ints
from aced.bench._peers import AS_THEY_COME
from aced.bench._summary import HOLDOUT, POOL

MEASURES = (POOL, HOLDOUT)
FLIPS = 4096
FEWEST = 5
"""Tasks below which there is no test: with fewer, no difference can be significant at 0.05."""


@dataclass(frozen=True)
class Curves:
    """The runs of one label on one task that came to their end, and what ended the others."""

    task: str
    label: str
    counts: Ints  # (L,): label counts
    accuracy: dict[str, Float64]  # by measure, (S, L)
    seeds: tuple[int, ...]
    seconds: float  # of a round, scoring included; mean
    failed: tuple[str, ...] = ()

    def mean(self, measure: str) -> Float64:
        """ā, (L,)."""
        return np.asarray(self.accuracy[measure].mean(axis=0))

    def area(self, measure: str) -> float:
        return float(self.accuracy[measure].mean())

    def final(self, measure: str) -> float:
        return float(self.mean(measure)[-1])

    def needed(self, value: float, measure: str) -> float | None:
        return labels_to(self.counts, self.mean(measure), value)


@dataclass
class Field:
    """The curves of every label on every task, and accuracies with all labels."""

    curves: dict[str, dict[str, Curves]] = field(default_factory=dict)  # by task, then label
    failed: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    everything: dict[str, dict[str, float]] = field(default_factory=dict)  # by task, then measure

    def labels(self) -> list[str]:
        """The labels that have curves on some task."""
        return sorted({label for curves in self.curves.values() for label in curves})

    def tasks(self, *labels: str) -> list[str]:
        """The tasks on which all these labels have curves."""
        return [task for task, curves in self.curves.items() if set(labels) <= set(curves)]

    def areas(self, label: str, measure: str, tasks: list[str]) -> Float64:
        """One area for each of these tasks, (tasks,)."""
        return np.array([self.curves[task][label].area(measure) for task in tasks])


def comes_with_its_own(label: str) -> bool:
    """Whether a label is of a peer with its own classifier."""
    return label.rpartition("/")[2] in AS_THEY_COME


def labels_to(counts: Ints, mean: Float64, value: float) -> float | None:
    """n(v): where a mean curve first reaches a value; its first count if it starts there.

    >>> labels_to(np.array([10, 20, 30]), np.array([0.5, 0.7, 0.6]), 0.6)
    15.0
    """
    reached = np.flatnonzero(mean >= value)
    if len(reached) == 0:
        return None
    at = int(reached[0])
    if at == 0:
        return float(counts[0])
    share = (value - mean[at - 1]) / (mean[at] - mean[at - 1])
    return float(counts[at - 1] + share * (counts[at] - counts[at - 1]))


def share(ours: Curves, peer: Curves, measure: str) -> float:
    """The labels that ours needs to reach the peer's last accuracy, over all labels of the peer."""
    mine = ours.needed(peer.final(measure), measure)
    if mine is not None:
        return mine / float(peer.counts[-1])
    theirs = peer.needed(ours.final(measure), measure)
    assert theirs is not None  # the peer ends above all of ours
    return float(ours.counts[-1]) / theirs


def ratio(ours: Curves, peer: Curves, measure: str) -> float:
    """The labels that ours needs to reach the peer's last accuracy, over those that the peer needed."""
    value = peer.final(measure)
    if ours.needed(value, measure) is None:
        value = ours.final(measure)
    mine, theirs = ours.needed(value, measure), peer.needed(value, measure)
    assert mine is not None  # a curve reaches its own end, and the peer ends above all of ours
    assert theirs is not None
    return mine / theirs


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


@dataclass(frozen=True)
class Deficit:
    """Where a strategy is furthest behind passive, in standard errors of the paired difference."""

    errors: float
    difference: float
    labels: int
    chance: float


def worst(curves: Curves, passive: Curves, measure: str) -> Deficit | None:
    """The least standardised difference over the label counts; None with fewer than two seeds."""
    seeds = [seed for seed in curves.seeds if seed in passive.seeds]
    if len(seeds) < 2 or not np.array_equal(curves.counts, passive.counts):
        return None
    one, two = (
        runs.accuracy[measure][[runs.seeds.index(seed) for seed in seeds]] for runs in (curves, passive)
    )
    difference = one - two
    scaled = _scaled(np.ones((1, len(seeds))), difference)[0]
    at = int(scaled.argmin())
    lowest = _scaled(_signs(len(seeds)), difference).min(axis=1)
    chance = float(np.mean(lowest <= scaled[at] + 1e-9))
    return Deficit(float(scaled[at]), float(difference[:, at].mean()), int(curves.counts[at]), chance)


def _scaled(signs: Float64, difference: Float64) -> Float64:
    """d̄ / se for each row of signs (F, S) and each label count of differences (S, L): (F, L)."""
    count = len(difference)
    mean = signs @ difference / count
    spread = np.maximum(np.square(difference).mean(axis=0) - np.square(mean), 0.0)
    error = np.sqrt(spread / (count - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.abs(mean) < 1e-12, 0.0, mean / error))


def _signs(count: int) -> Float64:
    """All signs of so many seeds, (2^S, S), or FLIPS drawn ones if there are more; none is changed
    in the first row."""
    if 2**count <= FLIPS:
        bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
        return np.asarray(1.0 - 2.0 * bits, dtype=float)
    drawn = np.random.default_rng(0).choice([-1.0, 1.0], (FLIPS, count))
    drawn[0] = 1
    return drawn


def mean_ranks(found: Field, labels: list[str], measure: str) -> dict[str, float]:
    """The mean over tasks of the rank by area; 1 is best, and equals share a rank.

    Labels that lack a task have no rank, and nobody is ranked against them.
    """
    labels = [label for label in labels if len(found.tasks(label)) == len(found.curves)]
    if not labels:
        return {}
    tasks = list(found.curves)
    table = np.array([found.areas(label, measure, tasks) for label in labels])  # (labels, tasks)
    ranks = rankdata(-table, axis=0).mean(axis=1)
    return dict(zip(labels, ranks.tolist(), strict=True))


def signed_ranks(found: Field, ours: str, others: list[str], measure: str) -> dict[str, float]:
    """p-values that ours and another have the same areas: Wilcoxon's signed-rank test over the tasks,
    two-sided, corrected by Holm for the number of others. Each test has the tasks that both have, and
    there is none with too few."""
    raw = {}
    for other in others:
        tasks = found.tasks(ours, other)
        difference = found.areas(ours, measure, tasks) - found.areas(other, measure, tasks)
        if np.count_nonzero(difference) >= FEWEST:
            raw[other] = float(wilcoxon(difference).pvalue)
    return holm(raw)


def holm(raw: dict[str, float]) -> dict[str, float]:
    """Holm's correction: the k-th smallest of m p-values times m - k + 1, never falling, at most 1.

    >>> holm({"a": 0.04, "b": 0.01})
    {'b': 0.02, 'a': 0.04}
    """
    order = sorted(raw, key=raw.__getitem__)
    found, highest = {}, 0.0
    for place, name in enumerate(order):
        highest = max(highest, min(1.0, raw[name] * (len(order) - place)))
        found[name] = highest
    return found


def summarise(records: list[dict[str, Any]], reference: str) -> Field:
    """The curves in the records. Accuracies with all labels are those of the label ``reference``."""
    found = Field()
    for task in sorted({record["dataset"] for record in records}):
        groups: dict[str, list[dict[str, Any]]] = {}
        for record in sorted(records, key=lambda r: r["seed"]):
            if record["dataset"] == task:
                groups.setdefault(record["label"], []).append(record)
        for label, group in sorted(groups.items()):
            whole = [record for record in group if "failed" not in record]
            ended = tuple(record["failed"] for record in group if "failed" in record)
            if ended:
                found.failed.setdefault(task, {})[label] = ended
            if whole:
                found.curves.setdefault(task, {})[label] = _curves(task, label, whole, ended)
        every = _shown(groups, reference)["all_labels"]
        found.everything[task] = {m: np.nan if every[m] is None else every[m] for m in MEASURES}
    return found


def _shown(groups: dict[str, list[dict[str, Any]]], reference: str) -> dict[str, Any]:
    """A record of the reference, or of another label with our classifier, or of any."""
    ours = [label for label in groups if not comes_with_its_own(label)]
    return groups[reference if reference in groups else next(iter(ours or groups))][0]


def _curves(task: str, label: str, whole: list[dict[str, Any]], ended: tuple[str, ...]) -> Curves:
    counts = np.array([point["labels"] for point in whole[0]["curve"]])
    accuracy = {
        measure: np.array([[point[measure] for point in r["curve"]] for r in whole], dtype=float)
        for measure in MEASURES
    }
    seconds = float(np.mean([r["timing"]["seconds"][-1] / len(r["curve"]) for r in whole]))
    return Curves(task, label, counts, accuracy, tuple(r["seed"] for r in whole), seconds, ended)
