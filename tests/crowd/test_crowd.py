"""Votes of several people, against enumeration of all truths, pairs of votes one by one and simulation.

Seeds are fixed. False-alarm rates of the statistical tests stand beside them.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from aced import InvalidInput
from aced._types import Array, Float64, Ints
from aced.crowd import (
    HONEST,
    Prior,
    Votes,
    agreement,
    cohen_kappa,
    dawid_skene,
    disputes,
    majority,
    second_opinion_gain,
    share,
)

HERE = Path(__file__).parents[1] / "data" / "crowd"
NOBODY = Votes(np.array([]), np.array([]), np.array([]), items=3, people=2)


def votes_of(triples: list[tuple[int, int, int]], items: int, people: int, classes: int = 2) -> Votes:
    item, who, code = np.array(triples, dtype=np.int64).reshape(-1, 3).T
    return Votes(item, who, code, items, people, classes)


def simulate(
    seed: int,
    items: int,
    accuracy: list[float],
    each: int | None = None,
    balance: float = 0.5,
    classes: int = 2,
) -> tuple[Ints, Votes]:
    """Truths and the votes of ``each`` people an item, all of them by default.

    A truth is not class 0 with probability ``balance``; a wrong vote is the next class.
    """
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < balance).astype(np.int64)
    if classes > 2:
        truth *= rng.integers(1, classes, size=items)
    rank = rng.random((items, len(accuracy))).argsort(axis=1).argsort(axis=1)
    item, who = np.nonzero(rank < (each or len(accuracy)))
    right = rng.random(len(item)) < np.array(accuracy)[who]
    code = np.where(right, truth[item], (truth[item] + 1) % classes)
    return truth, Votes(item, who, code, items, len(accuracy), classes)


@st.composite
def crowds(draw: st.DrawFn) -> Votes:
    items, people = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    classes = draw(st.integers(2, 4))
    vote = st.tuples(st.integers(0, items - 1), st.integers(0, people - 1), st.integers(0, classes - 1))
    return votes_of(draw(st.lists(vote, max_size=20)), items, people, classes)


def pair(one: Array) -> Array:
    """Probabilities of both classes from those of class 1."""
    return np.stack([1 - np.asarray(one), np.asarray(one)], axis=-1)


# Votes


@pytest.mark.parametrize(
    ("item", "who", "code", "message"),
    [
        ([0, 3], [0, 0], [0, 1], "item must be below 3"),
        ([0, -1], [0, 0], [0, 1], "item must be below 3"),
        ([0, 1], [0, 2], [0, 1], "who must be below 2"),
        ([0, 1], [0, 1], [0, 2], "code must be below 2"),
        ([0, 1], [0, 1], [0, 0.5], "code must be a vector of integers"),
        ([[0, 1]], [0, 1], [0, 1], "item must be a vector"),
        ([0, 1], [0], [0, 1], "one entry a vote"),
    ],
)
def test_votes_are_checked(item: Array, who: Array, code: Array, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Votes(np.array(item), np.array(who), np.array(code), 3, 2)


def test_sizes_are_checked() -> None:
    with pytest.raises(InvalidInput, match="items and people"):
        Votes(np.array([]), np.array([]), np.array([]), -1, 2)


def test_options_are_checked() -> None:
    for prior in (Prior(0.0, 0.8), Prior(4.0, 0.5), Prior(4.0, 1.0), Prior(np.nan, 0.8)):
        with pytest.raises(InvalidInput, match="prior"):
            dawid_skene(NOBODY, prior=prior)
    with pytest.raises(InvalidInput, match="steps"):
        dawid_skene(NOBODY, steps=0)
    with pytest.raises(InvalidInput, match="tolerance"):
        dawid_skene(NOBODY, tolerance=np.nan)
    with pytest.raises(InvalidInput, match="prior"):
        share(NOBODY, prior=-1)
    with pytest.raises(InvalidInput, match="eta_i"):
        second_opinion_gain(pair(1.1), 0.5)
    with pytest.raises(InvalidInput, match="eta_i must have one entry a class"):
        second_opinion_gain(np.array(0.5), 0.5)
    with pytest.raises(InvalidInput, match="eta_i must sum to 1"):
        second_opinion_gain(np.array([0.5, 0.6]), 0.5)
    with pytest.raises(InvalidInput, match="accuracy"):
        second_opinion_gain(pair(0.5), np.nan)
    with pytest.raises(InvalidInput, match="classes must be at least 2"):
        Votes(np.array([]), np.array([]), np.array([]), items=3, people=2, classes=1)
    three = Votes(np.array([]), np.array([]), np.array([]), items=3, people=2, classes=3)
    assert dawid_skene(three, prior=Prior(4.0, 0.4)).eta[0] == pytest.approx([1 / 3] * 3)
    with pytest.raises(InvalidInput, match="right between 1/3 and 1"):
        dawid_skene(three, prior=Prior(4.0, 0.3))
    for a, b in ((0, 2), (-1, 0), (1, 1)):
        with pytest.raises(InvalidInput, match="a and b"):
            cohen_kappa(NOBODY, a, b)


def test_codes_may_be_booleans() -> None:
    votes = Votes(np.array([0, 1], dtype=np.int32), np.array([0, 0]), np.array([True, False]), 2, 1)
    assert votes.code.tolist() == [1, 0]
    assert votes.code.dtype == votes.item.dtype == np.int64


# An independent implementation


@pytest.fixture(scope="module")
def crowd_kit() -> dict[str, Any]:
    """What crowd-kit 1.4.2 says of votes on items of four classes; benchmarks/crowd_kit.py made it."""
    found: dict[str, Any] = json.loads((HERE / "crowd_kit.json").read_text())
    return found


@pytest.fixture(scope="module")
def four(crowd_kit: dict[str, Any]) -> Votes:
    return votes_of(*(crowd_kit[name] for name in ("votes", "items", "people", "classes")))


def test_dawid_skene_is_that_of_crowd_kit(crowd_kit: dict[str, Any], four: Votes) -> None:
    fit = dawid_skene(four, prior=Prior(**crowd_kit["prior"]), steps=10_000, tolerance=1e-14)
    assert fit.eta == pytest.approx(np.array(crowd_kit["eta"]), abs=1e-8)
    assert fit.balance == pytest.approx(np.array(crowd_kit["balance"]), abs=1e-8)
    errors = np.array(crowd_kit["errors"])  # (people, says, truth)
    assert fit.confusion == pytest.approx(errors.transpose(0, 2, 1), abs=1e-8)


def test_shares_and_alpha_are_those_of_crowd_kit(crowd_kit: dict[str, Any], four: Votes) -> None:
    theirs = np.array(crowd_kit["share"])
    assert share(four, prior=0.0) == pytest.approx(theirs)
    ordered = np.sort(theirs, axis=1)
    clear = ordered[:, -1] > ordered[:, -2] + 1e-9
    assert clear.sum() > 40
    assert (majority(four) == theirs.argmax(axis=1))[clear].all()
    assert agreement(four).alpha == pytest.approx(crowd_kit["alpha"])


# Share, majority, disputes


@given(crowds())
def test_counts_one_by_one(votes: Votes) -> None:
    said: list[list[int]] = [[] for _ in range(votes.items)]
    for i, c in zip(votes.item.tolist(), votes.code.tolist(), strict=True):
        said[i].append(c)
    k = votes.classes
    for i, codes in enumerate(said):
        for c in range(k):
            count = codes.count(c)
            assert share(votes, 2.0)[i, c] == pytest.approx((count + 2 / k) / (len(codes) + 2))
            assert share(votes, 0.0)[i, c] == pytest.approx(count / len(codes) if codes else 1 / k)
        most = max(map(codes.count, range(k)))
        earliest = next((c for c in codes if codes.count(c) == most), -1)
        assert majority(votes)[i] == earliest
    split = {
        i: max(map(codes.count, codes)) / len(codes)
        for i, codes in enumerate(said)
        if len(set(codes)) > 1
    }
    assert sorted(disputes(votes).tolist()) == sorted(split)
    leads = [split[i] for i in disputes(votes).tolist()]
    assert all(x <= y + 1e-12 for x, y in itertools.pairwise(leads))


def test_disputes_most_even_first() -> None:
    codes = {0: [1, 1, 1, 0], 1: [1, 1], 2: [0, 1], 3: [0], 4: [1, 0, 0], 6: [1, 0, 0, 1]}
    votes = votes_of([(i, k, c) for i, said in codes.items() for k, c in enumerate(said)], 7, 4)
    assert disputes(votes).tolist() == [2, 6, 4, 0]


# Dawid and Skene


def log_joint(votes: Votes, confusion: Float64, balance: Float64) -> dict[tuple[int, ...], float]:
    """log P(truths, votes | π, ρ) for all truths of the items, one vote at a time."""
    table = {}
    for truths in itertools.product(range(votes.classes), repeat=votes.items):
        value = sum(np.log(balance[z]) for z in truths)
        for i, k, c in zip(votes.item, votes.who, votes.code, strict=True):
            value += np.log(confusion[k, truths[i], c])
        table[truths] = float(value)
    return table


def objective(votes: Votes, confusion: Float64, balance: Float64, prior: Prior = HONEST) -> float:
    """What EM climbs; items without votes sum to one and drop out."""
    value = float(np.logaddexp.reduce(list(log_joint(votes, confusion, balance).values())))
    wrong = (1 - prior.right) / (votes.classes - 1)
    for person in confusion:
        for a, b in itertools.product(range(votes.classes), repeat=2):
            value += prior.votes * (prior.right if a == b else wrong) * np.log(person[a, b])
    return float(value + np.log(balance).sum())


@settings(max_examples=40, deadline=None)
@given(crowds())
def test_posterior_and_likelihood_by_enumeration(votes: Votes) -> None:
    fit = dawid_skene(votes, steps=7)
    table = log_joint(votes, fit.confusion, fit.balance)
    evidence = np.logaddexp.reduce(list(table.values()))
    for i, c in itertools.product(range(votes.items), range(votes.classes)):
        eta = sum(np.exp(value - evidence) for truths, value in table.items() if truths[i] == c)
        assert fit.eta[i, c] == pytest.approx(eta if i in votes.item else 1 / votes.classes, abs=1e-9)
    assert fit.loglik[-1] == pytest.approx(objective(votes, fit.confusion, fit.balance), abs=1e-8)
    assert len(fit.loglik) == fit.steps


@settings(max_examples=60, deadline=None)
@given(crowds(), st.floats(0.1, 20), st.floats(0.55, 0.99))
def test_loglik_never_falls(votes: Votes, strength: float, right: float) -> None:
    fit = dawid_skene(votes, prior=Prior(strength, right), steps=60)
    assert (np.diff(fit.loglik) >= -1e-10 * (1 + np.abs(fit.loglik[1:]))).all()
    assert fit.confusion.sum(axis=2) == pytest.approx(np.ones((votes.people, votes.classes)))
    assert ((fit.eta >= 0) & (fit.eta <= 1)).all()
    assert fit.eta.sum(axis=1) == pytest.approx(np.ones(votes.items))
    assert fit.balance.sum() == pytest.approx(1)


def test_the_end_is_a_maximum() -> None:
    """No small move of π or ρ raises the enumerated objective: the M-step solves the right problem."""
    rng = np.random.default_rng(3)
    for seed, classes in ((0, 2), (1, 2), (2, 2), (3, 3)):
        _, votes = simulate(seed, 6, [0.9, 0.7, 0.4], classes=classes)
        prior = Prior(2.0, 0.7)
        fit = dawid_skene(votes, prior=prior, steps=20_000, tolerance=1e-13)
        best = objective(votes, fit.confusion, fit.balance, prior)
        for _ in range(30):
            confusion = fit.confusion * np.exp(0.01 * rng.standard_normal(fit.confusion.shape))
            confusion /= confusion.sum(axis=2, keepdims=True)
            balance = fit.balance * np.exp(0.02 * rng.standard_normal(classes))
            balance /= balance.sum()
            assert objective(votes, confusion, balance, prior) <= best + 1e-9


def test_order_and_names_do_not_matter() -> None:
    _, votes = simulate(0, 60, [0.9, 0.8, 0.6, 0.3], each=3, balance=0.3)
    rng = np.random.default_rng(1)
    order, items, people = rng.permutation(len(votes.item)), rng.permutation(60), rng.permutation(4)
    moved = Votes(items[votes.item[order]], people[votes.who[order]], votes.code[order], 60, 4)
    swapped = Votes(votes.item, votes.who, 1 - votes.code, 60, 4)
    fit, again, mirror = dawid_skene(votes), dawid_skene(moved), dawid_skene(swapped)
    assert again.eta[items] == pytest.approx(fit.eta, abs=1e-9)
    assert again.confusion[people] == pytest.approx(fit.confusion, abs=1e-9)
    assert mirror.eta == pytest.approx(fit.eta[:, ::-1], abs=1e-9)
    assert mirror.confusion == pytest.approx(fit.confusion[:, ::-1, ::-1], abs=1e-9)
    assert mirror.balance == pytest.approx(fit.balance[::-1])

    one, other = agreement(votes), agreement(moved)
    assert other.alpha == pytest.approx(one.alpha)
    assert other.pairs[np.ix_(people, people)] == pytest.approx(one.pairs, nan_ok=True)
    assert set(items[disputes(votes)]) == set(disputes(moved))
    assert share(moved)[items] == pytest.approx(share(votes))


def test_recovery_with_a_bad_annotator() -> None:
    """Dawid and Skene err less than the majority where one of four is worse than chance.

    On 600 other seeds they erred more 6 times and less 592 times: three losses in 15 have probability
    5e-4. The gain was 14.3 errors of 200 items, standard deviation 6.3: a mean below 8 has 1e-4.
    """
    gains = []
    for seed in range(1000, 1015):
        truth, votes = simulate(seed, 200, [0.85, 0.85, 0.8, 0.3], each=3, balance=0.4)
        wrong = (dawid_skene(votes).eta.argmax(axis=1) != truth).sum()
        gains.append(int((majority(votes) != truth).sum() - wrong))
    assert sum(gain < 0 for gain in gains) <= 2
    assert np.mean(gains) > 8


def test_an_adversary_is_worth_a_witness() -> None:
    """Somebody nearly always wrong tells as much as somebody nearly always right.

    Each bound is 5 standard deviations or more from the mean over 300 other seeds (0.06 ± 0.016 for
    π̂, 0.018 ± 0.007 and 0.228 ± 0.021 for the errors): false alarms below 1e-5.
    """
    truth, votes = simulate(5, 400, [0.8, 0.8, 0.8, 0.02])
    fit = dawid_skene(votes)
    assert fit.confusion[3, 0, 0] < 0.15
    assert fit.confusion[3, 1, 1] < 0.15
    assert (fit.eta.argmax(axis=1) != truth).mean() < 0.06
    assert (majority(votes) != truth).mean() > 0.12


@pytest.mark.parametrize("each", [1, 2, 3])
def test_eta_is_calibrated(each: int) -> None:
    """Among items with η̂ in a tenth, the share of class 1 is η̂, within Hoeffding's width at 1e-6 a
    tenth and 0.02 for errors in π̂. Everybody votes on 1000 items, ``each`` people on the others."""
    accuracy = [0.95, 0.85, 0.75, 0.6, 0.2]
    _, full = simulate(11, 1000, accuracy, balance=0.4)
    truth, thin = simulate(12, 20_000, accuracy, each=each, balance=0.4)
    votes = Votes(
        np.r_[full.item, thin.item + 1000],
        np.r_[full.who, thin.who],
        np.r_[full.code, thin.code],
        21_000,
        5,
    )
    eta = dawid_skene(votes, steps=400).eta[1000:, 1]
    tenth = np.minimum((10 * eta).astype(int), 9)
    for cell in np.unique(tenth):
        inside = tenth == cell
        width = np.sqrt(np.log(2 / 1e-6) / (2 * inside.sum()))
        assert abs(eta[inside].mean() - truth[inside].mean()) < width + 0.02


def test_one_vote_is_worth_what_its_person_is() -> None:
    """An item with one vote: η̂ = ρ_1 π_k1c / (ρ_1 π_k1c + ρ_0 π_k0c).

    Over 300 other seeds 0.93 ± 0.03 for the best person, 0.61 ± 0.05 for the worst: 5 standard
    deviations apart, so the order is reversed with probability below 1e-6.
    """
    _, votes = simulate(2, 300, [0.95, 0.9, 0.6])
    lone = Votes(
        np.r_[votes.item, 300, 301], np.r_[votes.who, 0, 2], np.r_[votes.code, 1, 1], items=302, people=3
    )
    fit = dawid_skene(lone, steps=2000)
    for item, k in ((300, 0), (301, 2)):
        zero, one = fit.balance * fit.confusion[k, :, 1]
        assert fit.eta[item, 1] == pytest.approx(one / (one + zero))
    assert fit.eta[300, 1] > fit.eta[301, 1]


def test_one_annotator_only() -> None:
    """As many 0 as 1: the prior is the mode, and a vote is right with its probability."""
    votes = votes_of([(i, 0, i % 2) for i in range(10)], 11, 1)
    fit = dawid_skene(votes)
    assert fit.eta[:, 1] == pytest.approx(np.array([0.15, 0.85] * 5 + [0.5]))
    assert fit.confusion[0] == pytest.approx(np.array([[0.85, 0.15], [0.15, 0.85]]))
    seen = agreement(votes)
    assert np.isnan([seen.share, seen.alpha, seen.pairs[0, 0]]).all()
    assert seen.counts.tolist() == [[0]]


def test_no_votes() -> None:
    fit = dawid_skene(NOBODY)
    assert fit.eta.tolist() == share(NOBODY).tolist() == [[0.5, 0.5]] * 3
    assert fit.confusion[1] == pytest.approx(np.array([[0.85, 0.15], [0.15, 0.85]]))
    assert fit.balance.tolist() == [0.5, 0.5]
    assert majority(NOBODY).tolist() == [-1] * 3
    assert disputes(NOBODY).tolist() == []
    seen = agreement(NOBODY)
    assert np.isnan([seen.share, seen.alpha, cohen_kappa(NOBODY, 0, 1)]).all()
    assert np.isnan(seen.pairs).all()
    assert not seen.counts.any()
    nothing = Votes(np.array([]), np.array([]), np.array([]), 0, 0)
    assert len(dawid_skene(nothing).eta) == len(share(nothing)) == len(agreement(nothing).pairs) == 0


def test_all_agree() -> None:
    both = votes_of([(i, k, i % 2) for i in range(6) for k in range(3)], 6, 3)
    fit = dawid_skene(both)
    assert ((fit.eta > 0.98) | (fit.eta < 0.02)).all()
    assert fit.eta.argmax(axis=1).tolist() == [0, 1] * 3
    seen = agreement(both)
    assert seen.share == seen.alpha == cohen_kappa(both, 0, 2) == 1
    assert disputes(both).tolist() == []
    same = votes_of([(i, k, 1) for i in range(6) for k in range(3)], 6, 3)
    assert (dawid_skene(same).eta[:, 1] > 0.98).all()
    assert agreement(same).share == 1
    assert np.isnan([agreement(same).alpha, cohen_kappa(same, 0, 1)]).all()


# Agreement


def two_readers() -> Votes:
    """Krippendorff (2011), section A: Meg and Owen on ten articles."""
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    return votes_of([(i, k, said[i]) for k, said in enumerate((meg, owen)) for i in range(10)], 10, 2)


def test_textbook_alpha() -> None:
    """Coincidences o_01 = 4, n_0 = 14, n_1 = 6: α = 1 - 19 · 4 / (14 · 6) = 0.095."""
    seen = agreement(two_readers())
    assert seen.alpha == pytest.approx(1 - 19 * 4 / 84)
    assert round(seen.alpha, 3) == 0.095
    assert seen.share == pytest.approx(0.6)
    assert seen.pairs[0, 1] == seen.pairs[1, 0] == pytest.approx(0.6)
    assert seen.counts.tolist() == [[0, 10], [10, 0]]


def test_cohen_kappa_by_hand() -> None:
    """p_o = 0.6, p_e = 0.8 · 0.6 + 0.2 · 0.4 = 0.56: κ = 0.04 / 0.44."""
    assert cohen_kappa(two_readers(), 0, 1) == pytest.approx(0.04 / 0.44)


@given(crowds())
def test_agreement_pair_by_pair(votes: Votes) -> None:
    cast = list(zip(votes.item.tolist(), votes.who.tolist(), votes.code.tolist(), strict=True))
    same = [(x, y) for x, y in itertools.permutations(cast, 2) if x[0] == y[0]]
    seen = agreement(votes)
    assert seen.share == pytest.approx(_mean([x[2] == y[2] for x, y in same]), nan_ok=True)

    m = {i: sum(vote[0] == i for vote in cast) for i in range(votes.items)}
    paired = [vote for vote in cast if m[vote[0]] > 1]
    observed = sum((x[2] != y[2]) / (m[x[0]] - 1) for x, y in same) / max(len(paired), 1)
    expected = _mean([x[2] != y[2] for x, y in itertools.permutations(paired, 2)])
    alpha = 1 - observed / expected if expected > 0 else np.nan
    assert seen.alpha == pytest.approx(alpha, nan_ok=True)

    for a, b in itertools.product(range(votes.people), repeat=2):
        pairs = [(x, y) for x, y in same if (x[1], y[1]) == (a, b)]
        assert seen.pairs[a, b] == pytest.approx(_mean([x[2] == y[2] for x, y in pairs]), nan_ok=True)
        assert seen.counts[a, b] == len({x[0] for x, _ in pairs})
        if a != b:
            agreed = _mean([x[2] == y[2] for x, y in pairs])
            chance = _mean([x[2] == y[2] for x, _ in pairs for _, y in pairs])
            kappa = (agreed - chance) / (1 - chance) if chance < 1 - 1e-12 else np.nan
            assert cohen_kappa(votes, a, b) == pytest.approx(kappa, nan_ok=True, abs=1e-9)


def _mean(values: list[bool] | list[int]) -> float:
    return float(np.mean(values)) if values else np.nan


def test_agreement_over_several_blocks() -> None:
    """More items than a block, some without votes: the matrix against tables of all items."""
    _, votes = simulate(4, 2600, [0.9, 0.8, 0.7], each=2)
    votes = Votes(2 * votes.item + 1, votes.who, votes.code, 5202, 3)
    table = np.full((5202, 3), -1)
    table[votes.item, votes.who] = votes.code
    seen = agreement(votes)
    for a, b in itertools.combinations(range(3), 2):
        shared = (table[:, a] >= 0) & (table[:, b] >= 0)
        assert seen.counts[a, b] == seen.counts[b, a] == shared.sum()
        assert seen.pairs[a, b] == pytest.approx((table[shared, a] == table[shared, b]).mean())


def test_alpha_is_zero_by_chance() -> None:
    """Votes at random: 5000 items, two votes each; α has standard deviation 1/√5000 = 0.014, and 5 of
    them are passed with probability below 1e-6."""
    _, votes = simulate(8, 5000, [0.5, 0.5], balance=0.3)
    assert abs(agreement(votes).alpha) < 5 / np.sqrt(5000)
    assert abs(cohen_kappa(votes, 0, 1)) < 5 / np.sqrt(5000)


# A second opinion


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5), st.floats(0, 1))
def test_gain_by_enumeration(weights: list[float], accuracy: float) -> None:
    """Every answer by Bayes, from the joint table of truth and vote."""
    k = len(weights)
    eta = np.array(weights) / sum(weights) if sum(weights) > 1e-3 else np.eye(k)[0]
    says = np.full((k, k), (1 - accuracy) / (k - 1))
    np.fill_diagonal(says, accuracy)
    joint = eta[:, None] * says  # (truth, vote)
    after = sum(v.sum() * (1 - np.square(v / v.sum()).sum()) / 2 for v in joint.T if v.sum() > 0)
    before = (1 - np.square(eta).sum()) / 2
    gain = float(second_opinion_gain(eta, accuracy))
    assert gain == pytest.approx(before - after, abs=1e-12)
    assert 0 <= gain <= before + 1e-12


@given(st.floats(0, 1), st.floats(0, 1))
def test_gain_of_two_classes_in_closed_form(eta: float, accuracy: float) -> None:
    """(2a - 1)² V² / (q (1 - q)) with V = η (1 - η) and q = P(the vote says 1)."""
    says = accuracy * eta + (1 - accuracy) * (1 - eta)
    variance = eta * (1 - eta)
    gain = float(second_opinion_gain(pair(eta), accuracy))
    if says * (1 - says) > 1e-12:
        closed = (2 * accuracy - 1) ** 2 * variance**2 / (says * (1 - says))
        assert gain == pytest.approx(closed, rel=1e-9, abs=1e-15)


def test_gain_by_simulation() -> None:
    """The squared error of η falls by the gain, within 5 standard errors: false alarms below 1e-6."""
    rng = np.random.default_rng(0)
    for eta, accuracy in ((0.5, 0.85), (0.8, 0.7), (0.3, 0.2)):
        truth = rng.random(100_000) < eta
        says = truth == (rng.random(100_000) < accuracy)
        fall = np.square(truth - eta) - np.square(truth - _updated(eta, accuracy, says))
        error = fall.std() / np.sqrt(len(fall))
        assert abs(fall.mean() - second_opinion_gain(pair(eta), accuracy)) < 5 * error


def _updated(eta: float, accuracy: float, says: Array) -> Array:
    one = np.where(says, accuracy, 1 - accuracy) * eta
    return one / (one + np.where(says, 1 - accuracy, accuracy) * (1 - eta))


def test_gain_broadcasts_and_ranks() -> None:
    gain = second_opinion_gain(pair([[0.5], [0.8], [1.0]]), np.array([0.5, 0.7, 0.9, 1.0]))
    assert gain.shape == (3, 4)
    assert (np.diff(gain[:2], axis=1) > 0).all()
    assert not gain[:, 0].any()
    assert not gain[2].any()
    assert gain[:, 3] == pytest.approx([0.25, 0.16, 0.0])
    assert gain[0, 2] == pytest.approx(0.4**2)
