"""Projects that were told when labelling may stop."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aced.ledger import replay
from aced.project import Project, merge_class, progress, repeat_rounds, summary
from tests.helpers import blobs


def project_of(folder, stop, names=("ham", "spam"), n=240, **options):
    rows, truth = blobs(n, 3)
    options = {"batch": 30, "check": 0.3, **options}
    project = Project.create(
        folder, ids=[f"item {i}" for i in range(n)], contents=[f"text {i}" for i in range(n)],
        kind="text", features=rows, classes=names, stop=stop, **options,
    )  # fmt: skip
    project.add_person("ann", token=False)
    return project, truth


def label_round(project, truth):
    while items := project.give("ann"):
        project.answer("ann", items[0].row, "label", project.classes[int(truth[items[0].row])])


def test_it_says_when_the_accuracy_is_reached_and_goes_on(tmp_path):
    stop = {"of": "accuracy", "wanted": 0.8, "confidence": 0.9}
    project, truth = project_of(tmp_path / "p", stop)
    said = []
    while project.refill(threads=1):
        said.append(progress(project)["stop"])
        label_round(project, truth)
    assert said[0] is None  # nothing is known yet
    reached = [one["reached"] for one in said[1:]]
    assert not reached[0]
    assert reached[-1]
    first = reached.index(True) + 1
    assert "at least " in said[first]["claim"]
    assert "90 % confidence" in said[first]["claim"]
    model = project.classifier()
    assert (model.predict(project.features) == truth).mean() >= 0.8
    assert progress(project)["labels_left"] == 0
    assert len(project.opinions().rows) == 240  # nobody is forced to stop
    assert [one.differs for one in repeat_rounds(project.ledger, lambda: project.pool)] == [None] * 8
    assert replay(project.ledger).problems == []


def test_what_is_foreseen_counts_down(tmp_path):
    stop = {"of": "accuracy", "wanted": 0.8, "confidence": 0.95}
    project, truth = project_of(tmp_path / "p", stop, n=600)
    found = progress(project)
    while not (found["stop"] and found["stop"]["ahead"]):
        label_round(project, truth)
        assert project.refill(threads=1)
        found = progress(project)
        assert found["labels_left"] is None or found["stop"]["ahead"]
    assert not found["stop"]["reached"]
    least, middle, most = found["stop"]["ahead"]
    assert 0 <= least <= middle
    assert most is None or middle <= most
    assert found["labels_left"] == middle
    label_round(project, truth)
    assert progress(project)["labels_left"] == max(1, middle - 30)


def test_recall_of_a_class_follows_a_merge(tmp_path):
    """Spam is merged into ham: it is then the recall of ham that labelling is for."""
    stop = {"of": "recall", "wanted": 0.7, "confidence": 0.95, "code": 1}
    project, truth = project_of(tmp_path / "p", stop, names=("ham", "spam", "other"))
    truth = np.where(np.arange(240) % 5 == 0, 2, truth)
    for _ in range(3):
        project.refill(threads=1)
        label_round(project, truth)
    project.refill(threads=1)
    assert "% of the rows of spam are found" in progress(project)["stop"]["claim"]
    merge_class(project.ledger, "lea", "spam", "ham")
    label_round(project, np.where(truth == 2, 1, 0))
    project.refill(threads=1)
    assert "% of the rows of ham are found" in summary(project)["progress"]["stop"]["claim"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--stop-accuracy", "1.5"], "--stop-accuracy must be from 0 to 1"),
        (["--stop-recall", "0.9:nope"], "--stop-recall must be like 0.95:CLASS, with a class of a, b"),
        (["--stop-recall", "0.9:a", "--stop-accuracy", "0.9"], "are both given; leave one out"),
        (["--stop-accuracy", "0.9", "--check", "0"], "--check is 0, and without uniform draws"),
        (["--stop-accuracy", "0.9", "--confidence", "1"], "--confidence must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, tmp_path, words, says):
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(f"word {i} and {i % 7}" for i in range(30)))
    init = ["init", tmp_path / "p", "--items", tmp_path / "texts.csv", "--classes", "a,b"]
    code, _, error = call(*init, *words)
    assert code == 2
    assert says in " ".join(error.split())
    assert not (tmp_path / "p").exists()


def test_status_says_it(call, tmp_path):
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(f"word {i} and {i % 7}" for i in range(30)))
    init = ["init", tmp_path / "p", "--items", tmp_path / "texts.csv", "--classes", "a,b"]
    assert call(*init, "--stop-recall", "0.9:b", "--batch", 10)[0] == 0
    project = Project(tmp_path / "p")
    assert project.settings.stop == {"of": "recall", "wanted": 0.9, "confidence": 0.95, "code": 1}
    project.add_person("ann", token=False)
    project.refill(threads=1)
    label_round(project, np.arange(30) % 2)
    project.refill(threads=1)
    project.close()
    shown = " ".join(call("status", tmp_path / "p")[1].replace("│", " ").split())
    assert "Not yet: at least" in shown
    assert "of the rows of b are found" in shown
    found = json.loads(call("status", tmp_path / "p", "--json")[1])
    assert found["progress"]["stop"]["reached"] is False
