"""aced init --proposals: guesses at every class as a start."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from aced.project import Project


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A table of texts, one of them twice, and guesses at their classes."""
    rng = np.random.default_rng(0)
    truth = rng.choice(["bug", "question"], 120)
    with (tmp_path / "items.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        table.writerows([f"m{i}", f"it is a {truth[i]} number {max(i, 1)}"] for i in range(120))
    with (tmp_path / "said.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label", "confidence"])
        table.writerows([f"m{i}", truth[i], 0.8] for i in reversed(range(120)))
    monkeypatch.chdir(tmp_path)
    return truth


def test_proposals_name_the_classes_and_start_the_classifier(call, files):
    words = ("init", "p", "--items", "items.csv", "--proposals", "said.csv", "--batch", "20")
    code, out, err = call(*words)
    assert (code, err) == (0, "")
    counts = {name: int((files == name).sum()) for name in ("bug", "question")}
    assert f"bug: {counts['bug']}" in out
    assert "80.0 % sure in the mean" in out
    project = Project("p")
    assert project.classes == ["bug", "question"]
    assert len(project.proposed) == project.settings.rows
    project.add_person("ann", "lead", token=False)
    assert project.refill(threads=1)
    item = project.give("ann")[0]
    assert project.classes[project.state.draws[item.row].note["says"]] == files[int(item.id[1:])]
    project.close()
    code, out, _ = call("status", "p")
    assert code == 0
    assert "weight 1.00, beside the model's 1.00" in out
    assert json.loads(call("status", "p", "--json")[1])["proposals"]["proposals"] == 1.0
    code, out, _ = call("replay", "p", "--designs")
    assert (code, "1 of 1 round repeated to the bit" in out) == (0, True)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--proposals", "said.csv", "--classes", "bug,other"), "must include 'question'"),
        (("--proposals", "no.csv"), "no.csv"),
        (("--proposals", "said.csv", "--class-column", "x"), "has no column 'x'"),
        (("--classes", "bug,question", "--class-column", "label"), "pass --proposals too"),
        (("--proposals", "said.csv", "--l2", "1"), "leave l2 out"),
        ((), "are both missing"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_leaves_nothing(call, files, tmp_path, more, sentence):
    code, _, err = call("init", "p", "--items", "items.csv", *more)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert not (tmp_path / "p").exists()
