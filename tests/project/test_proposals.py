"""Projects that begin with proposals: planned with, weighed, repeated, merged, damaged."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced._errors import Damaged
from aced.ledger import replay
from aced.project import Project, merge_class, repeat_rounds, summary
from tests.helpers import blobs


def project_of(folder, n=240, error=0.1, names=("ham", "spam"), **options):
    rows, truth = blobs(n, 3)
    rng = np.random.default_rng(1)
    chance = rng.beta(0.5, 0.5 * (1 - error) / error, n)
    said = np.where(rng.random(n) < chance, 1 - truth, truth)
    options = {"proposals": (said, 1 - chance), "batch": 20, "check": 0.3, **options}
    project = Project.create(
        folder, ids=[f"item {i}" for i in range(n)], contents=[f"text {i}" for i in range(n)],
        kind="text", features=rows, classes=names, **options,
    )  # fmt: skip
    project.add_person("ann", token=False)
    return project, truth, said, 1 - chance


def label_round(project, truth):
    while items := project.give("ann"):
        row = items[0].row
        project.answer("ann", row, "label", project.classes[int(truth[row])])


def again(project):
    repeated = repeat_rounds(project.ledger, lambda: project.pool, proposed=project.proposed)
    return [one.differs for one in repeated]


def test_the_first_items_are_those_in_doubt_and_the_guess_is_the_proposal(tmp_path):
    project, truth, said, sure = project_of(tmp_path / "p")
    assert project.refill(threads=1)
    rows = list(project.state.draws)
    assert sure[rows].mean() < sure.mean() - 0.05
    notes = [draw.note for draw in project.state.draws.values()]
    likelier = np.where(sure >= 0.5, said, 1 - said)
    assert [note["says"] for note in notes] == likelier[rows].tolist()
    assert summary(project)["proposals"] == {"model": 1.0, "proposals": 1.0}
    for _ in range(3):
        label_round(project, truth)
        assert project.refill(threads=1)
    found = summary(project)
    assert found["proposals"]["proposals"] > 0
    assert found["progress"]["accuracy"]["low"] <= 1
    assert again(project) == [None] * 4
    (project.folder / "memory.npz").unlink()
    label_round(project, truth)
    assert Project(project.folder).refill(threads=1)  # the memory follows from the ledger
    assert again(project) == [None] * 5
    assert replay(project.ledger).problems == []


def test_proposals_follow_their_classes_through_a_merge(tmp_path):
    project, truth, _, _ = project_of(tmp_path / "p", names=("ham", "spam", "junk"))
    assert project.refill(threads=1)
    label_round(project, truth)
    merge_class(project.ledger, "ann", "spam", "junk")
    assert set(project.brief().proposals[0].tolist()) == {0, 2}
    assert project.refill(threads=1)
    assert again(project) == [None, None]


def test_a_damaged_file_of_proposals_is_named(tmp_path):
    project, _, _, _ = project_of(tmp_path / "p")
    project.close()
    path = tmp_path / "p" / "proposals.npy"
    assert "proposals.npy" in Project(tmp_path / "p").settings.files
    np.save(path, np.zeros((240, 2)))
    with pytest.raises(Damaged, match=r"proposals\.npy is not the one the project was made with"):
        Project(tmp_path / "p")


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"proposals": ([0, 1], None)}, "proposals must be one for each of 240 rows, got 2"),
        ({"proposals": (np.full(240, 2), None)}, "proposals must be codes of the classes"),
        ({"proposals": (np.zeros(240, int), np.full(240, 2.0))}, "numbers from 0 to 1"),
        ({"l2": 1.0}, "leave l2 out"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, how, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        project_of(tmp_path / "p", **how)
    assert not (tmp_path / "p" / "ledger.sqlite").exists()
