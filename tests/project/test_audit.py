"""A project that audits predictions: draws, certificates and replay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from aced import InvalidInput
from aced.ledger import replay
from aced.project import (
    LEDGER,
    Driver,
    Inline,
    Project,
    add_class,
    audit_features,
    audited,
    import_labels,
    merge_class,
    repeat_rounds,
    summary,
)
from aced.project._audit import drawn_of, told

CLASSES = ["bug", "question", "other"]


def made(folder, seed=0, n=300, error=0.15, batch=20, explore=0.3, sure=True):
    """A project, and the true codes of its items."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.3, 0.3 * (1 - error) / error, n)
    truth = rng.integers(0, 3, n)
    said = np.where(rng.random(n) < chance, (truth + 1) % 3, truth)
    project = Project.create(
        folder,
        ids=[f"m{i}" for i in range(n)],
        contents=[f"message {i}" for i in range(n)],
        kind="text",
        features=audit_features(said, 3, 1 - 0.8 * chance if sure else None),
        classes=CLASSES,
        strategy="audit",
        seed=seed,
        batch=batch,
        check=0.0,
        audit={"explore": explore, "within": 0.02},
    )
    project.add_person("ann", "lead", token=False)
    return project, truth, said


def label(project, truth, count, kind="label", who="ann"):
    driver = Driver(project, Inline())
    for _ in range(count):
        while not (items := project.give(who)):
            assert driver.step(who, timeout=None)
        row = items[0].row
        project.answer(who, row, kind, CLASSES[truth[row]] if kind == "label" else None)


def right(truth, said):
    return float(np.mean(truth == said))


def test_all_looks_hold_at_once(tmp_path):
    """8 projects, each looked at after every 20 labels, confidence 0.95; three or more misses have
    probability below 0.01, the rate of false alarms."""
    missed = 0
    for seed in range(8):
        project, truth, said = made(tmp_path / str(seed), seed, sure=seed % 2 == 0)
        ever = False
        for _ in range(4):
            label(project, truth, 20)
            found = audited(project.features, project.state)["accuracy"]
            assert found["low"] <= found["estimate"] <= found["high"]
            ever |= not found["low"] - 1e-9 <= right(truth, said) <= found["high"] + 1e-9
        missed += ever
        project.close()
    assert missed < 3
    assert binom.sf(2, 8, 0.05) < 0.01


def test_draws_and_probabilities_follow_from_the_ledger(tmp_path):

    project, truth, said = made(tmp_path / "p")
    label(project, truth, 60)
    known = told(project.state)
    drawn, now = drawn_of(project.features, known)
    assert len(drawn) == len(known.rows)
    left = np.ones(300, bool)
    for t, row in enumerate(known.rows):  # every probability, by hand, from what the rounds recorded
        own = project.features[:, -1].astype(float)
        a, b = known.fits[known.rounds[t] - 1]
        s = np.clip(1 / (1 + np.exp(-(a + b * own))), 0.002, 0.998)
        d = np.sqrt(s * (1 - s)) * left
        q = 0.3 / left.sum() + 0.7 * d / d.sum()
        assert known.probabilities[t] == pytest.approx(q[row], rel=1e-4)
        assert drawn.doubt[t] == pytest.approx(s[row], rel=1e-5)
        assert drawn.doubts[t] == pytest.approx(s[left].sum(), rel=1e-5)
        left[row] = False
    assert now.said.tolist() == said.tolist()


def test_rounds_repeat_and_the_ledger_replays(tmp_path):
    project, truth, _ = made(tmp_path / "p")
    label(project, truth, 50)
    assert [one.differs for one in repeat_rounds(project.ledger, lambda: project.pool)] == [None] * len(
        project.state.rounds
    )
    digest = project.state.digest()
    project.close()
    assert replay(tmp_path / "p" / LEDGER).state.digest() == digest


def test_with_every_label_it_is_exact(tmp_path):
    project, truth, said = made(tmp_path / "p", n=60)
    label(project, truth, 60)
    found = audited(project.features, project.state)
    assert found["accuracy"]["low"] == pytest.approx(right(truth, said))
    assert found["accuracy"]["high"] == pytest.approx(right(truth, said))
    for code, one in enumerate(found["by_class"]):
        assert one["predicted"] == (said == code).sum()
        exact = ((said == code) & (truth == code)).sum()
        assert one["precision"]["low"] == pytest.approx(exact / (said == code).sum(), abs=1e-4)
        assert one["recall"]["low"] == pytest.approx(exact / (truth == code).sum(), abs=1e-4)
        assert one["count"]["low"] == pytest.approx((truth == code).sum())


def test_a_skipped_item_may_be_either(tmp_path):
    project, truth, said = made(tmp_path / "p", n=60)
    label(project, truth, 50)
    label(project, truth, 10, "skip")
    found = audited(project.features, project.state)["accuracy"]
    surely = (truth == said)[project.state.labelled()].sum() / 60
    assert surely - 1e-9 <= found["low"] <= right(truth, said)
    assert right(truth, said) <= found["high"] <= surely + 10 / 60 + 1e-9
    assert found["high"] - found["low"] > 0.02


def test_items_given_out_of_turn_count(tmp_path):
    """Nobody plans a round: all items are spare ones, drawn evenly or from the reserve."""
    project, truth, said = made(tmp_path / "p", n=120)
    for _ in range(15):
        row = project.give("ann", late=True)[0].row
        project.answer("ann", row, "label", CLASSES[truth[row]])
    label(project, truth, 25)
    for _ in range(45):
        row = project.give("ann", late=True)[0].row
        project.answer("ann", row, "label", CLASSES[truth[row]])
    label(project, truth, 20)
    assert len(project.state.spared) >= 30
    found = audited(project.features, project.state)["accuracy"]
    assert found["low"] - 1e-9 <= right(truth, said) <= found["high"] + 1e-9
    assert found["high"] - found["low"] < 0.2


def test_labels_that_came_from_elsewhere_count_exactly(tmp_path):
    project, truth, said = made(tmp_path / "p", n=200)
    label(project, truth, 30)
    others = [row for row in range(200) if row not in project.state.draws][:100]
    lines = ["item,label", *(f"m{row},{CLASSES[truth[row]]}" for row in others)]
    (tmp_path / "more.csv").write_text("\n".join(lines))
    before = audited(project.features, project.state)["accuracy"]
    import_labels(project, tmp_path / "more.csv")
    label(project, truth, 20)
    found = audited(project.features, project.state)["accuracy"]
    assert found["low"] - 1e-9 <= right(truth, said) <= found["high"] + 1e-9
    assert found["high"] - found["low"] < before["high"] - before["low"]


def test_a_merged_class_counts_as_the_other(tmp_path):
    project, truth, said = made(tmp_path / "p", n=90)
    label(project, truth, 90)
    merge_class(project.ledger, "ann", "other", "question")
    found = audited(project.features, project.state)
    merged = np.minimum(truth, 1) == np.minimum(said, 1)
    assert found["accuracy"]["estimate"] == pytest.approx(merged.mean())
    assert [one["class"] for one in found["by_class"]] == ["bug", "question"]


def test_a_class_that_nobody_predicted(tmp_path):
    project, truth, _ = made(tmp_path / "p", n=60)
    add_class(project.ledger, "ann", "spam")
    label(project, truth, 30)
    row = project.give("ann")[0].row
    project.answer("ann", row, "label", "spam")
    found = audited(project.features, project.state)
    assert found["by_class"][3]["predicted"] == 0
    assert found["by_class"][3]["count"]["low"] == pytest.approx(1)


def test_what_the_lead_sees(tmp_path):
    project, truth, _ = made(tmp_path / "p")
    label(project, truth, 45)
    found = summary(project)
    assert found["progress"]["audit"] is True
    assert found["progress"]["accuracy"]["checked"] > 10
    assert found["progress"]["labels_left"] > 0
    assert found["audit"]["accuracy"]["checked"] == 45
    assert found["curve"]
    assert "audited" in found["representation"]["sentence"]


def test_it_trains_no_classifier(tmp_path):
    project, _, _ = made(tmp_path / "p")
    with pytest.raises(InvalidInput, match="audits predictions"):
        project.classifier()
