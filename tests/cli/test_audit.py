"""aced audit: what it makes and says, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest

from aced.project import Project


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.choice(["bug", "question"], 200)
    said = np.where(rng.random(200) < 0.1, "bug", truth)
    with (tmp_path / "items.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        table.writerows([f"m{i}", f"message {i} is a {truth[i]}"] for i in range(200))
    with (tmp_path / "said.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label", "confidence"])
        table.writerows([f"m{i}", said[i], 0.9] for i in reversed(range(200)))
    return tmp_path


def test_from_predictions_to_a_certificate(call, files, monkeypatch):
    monkeypatch.chdir(files)
    code, out, err = call("audit", "items.csv", "--predictions", "said.csv")
    assert (code, err) == (0, "")
    assert "items-audit: 200 texts, each with a predicted class" in out
    assert "confidence: 90.0 % in the mean" in out
    project = Project("items-audit")
    keys = []
    while project.refill() or len(keys) < 60:
        for row in project.state.draws:
            if row not in keys:
                keys.append(row)
        if len(keys) >= 60:
            break
        for row in keys:
            if not project.state.votes.get(row):
                project.add_person("ann", "lead", token=False)
                item = project.give("ann")[0]
                project.answer("ann", item.row, "label", item.content.split()[-1])
    project.close()
    code, out, err = call("status", "items-audit")
    assert (code, err) == (0, "")
    assert "95 % certificate from" in out
    assert "of these right" in out
    code, out, err = call("status", "items-audit", "--json")
    found = json.loads(out)
    assert found["audit"]["accuracy"]["low"] < found["audit"]["accuracy"]["estimate"]
    code, _, err = call("classify", "items-audit", "items.csv", "--out", "x.csv")
    assert code == 2
    assert "audits predictions" in err


def test_labels_from_the_terminal(call, files, monkeypatch):
    monkeypatch.chdir(files)
    assert call("audit", "items.csv", "--predictions", "said.csv", "--project", "p")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join("12" * 14) + "\n/q\n"))
    code, out, _ = call("label", "p")
    assert code == 0
    assert "accuracy" in out
    code, out, _ = call("export", "p", "--out", "labels.csv")
    assert code == 0
    with (files / "labels.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 28
    code, out, _ = call("replay", "p")
    assert code == 0


def test_rows_do_not_show_what_was_predicted(call, files, monkeypatch):
    """The items and the predictions are in one table."""
    monkeypatch.chdir(files)
    lines = ["id,height,label,confidence", *(f"r{i},{i},{'ab'[i % 2]},0.8" for i in range(30))]
    (files / "rows.csv").write_text("\n".join(lines))
    assert call("audit", "rows.csv", "--predictions", "rows.csv", "--kind", "row")[0] == 0
    project = Project("rows-audit")
    assert project.item(3).content == {"height": "3"}
    project.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--within", 0], "--within must lie between 0 and 1"),
        (["--explore", 1.5], "--explore must lie between 0 and 1"),
        (["--classes", "bug,other"], "--classes must include 'question', which is predicted"),
        (["--class-column", "x"], "has no column 'x'"),
        (["--predictions", "none.csv"], "none.csv"),
    ],
)
def test_what_cannot_be_used_is_refused(call, files, monkeypatch, options, words):
    monkeypatch.chdir(files)
    code, _, err = call("audit", "items.csv", "--predictions", "said.csv", *options)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert not (files / "items-audit").exists()


def test_one_predicted_class_needs_the_others(call, files, monkeypatch):
    monkeypatch.chdir(files)
    lines = ["id,label", *(f"m{i},bug" for i in range(200))]
    (files / "same.csv").write_text("\n".join(lines))
    code, _, err = call("audit", "items.csv", "--predictions", "same.csv")
    assert code == 2
    assert "only 'bug' is predicted" in err
    assert call("audit", "items.csv", "--predictions", "same.csv", "--classes", "bug,question")[0] == 0
