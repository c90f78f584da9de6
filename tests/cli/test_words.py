"""One thing is not called many, and a number that puzzles is explained."""

from __future__ import annotations

import csv
import json

import numpy as np

from tests.cli.test_project import label_rows, refused
from tests.helpers import answer
from tests.project.places import make


def test_a_sole_label_says_how_sure_it_counts(call, tmp_path):
    project = make(tmp_path / "p")
    project.close()
    assert "no item has two labels yet" in call("status", tmp_path / "p")[1]
    assert "0.75" not in call("status", tmp_path / "p")[1]
    label_rows(tmp_path / "p", {0: "no", 1: "yes"})
    seen = " ".join(call("status", tmp_path / "p")[1].replace("│", " ").split())
    assert "no item has two labels yet, so each label counts as right with probability 0.75" in seen
    assert json.loads(call("status", tmp_path / "p", "--json")[1])["agreement"]["sole"] == 0.75
    code, out, err = call("export", tmp_path / "p", "--out", "-")
    assert code == 0
    assert {line["combined_probability"] for line in csv.DictReader(out.splitlines())} == {"0.75"}
    assert err.startswith("combined_probability is 0.75 where an item has one label: nothing is known")
    assert err.count("\n") == 1


def test_where_people_can_be_compared_nothing_needs_a_word(call, tmp_path):
    project = make(tmp_path / "p")
    for who in ("ann", "bob"):
        project.add_person(who)
        answer(project, who, 1, "label", "yes")
    answer(project, "ann", 2, "label", "no")
    project.close()
    code, _, err = call("export", tmp_path / "p", "--out", "-")
    assert (code, err) == (0, "")


def test_one_event_is_not_called_events(call, tmp_path):
    make(tmp_path / "p").close()
    assert call("replay", tmp_path / "p", "--until", 1)[1].startswith("1 event, digest")


def test_one_column_is_not_called_columns(call, tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "".join(f"text {i}\n" for i in range(9)))
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(9, 3)))
    words = ("--items", tmp_path / "a.csv", "--classes", "a,b", "--features", tmp_path / "x.npy")
    assert call("init", tmp_path / "p", *words)[0] == 0
    label_rows(tmp_path / "p", {0: "a", 1: "b"})
    np.save(tmp_path / "y.npy", np.zeros((9, 1)))
    given = ("classify", tmp_path / "p", tmp_path / "a.csv", "--features", tmp_path / "y.npy")
    refused(call(*given), "has 1 column, but the project has 3")
