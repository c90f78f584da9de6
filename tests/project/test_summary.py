"""The summary against counts made anew from the state; what it costs does not grow."""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import pytest

from aced.project import Project, progress, summary
from tests.helpers import answer, blobs


def make(folder, n=300, **options):
    rows, truth = blobs(n, 4, flip=0.0)
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(n)],
        contents=[f"text {i}" for i in range(n)],
        kind="text",
        features=rows,
        classes=["no", "yes"],
        **{"batch": 20, "check": 0.3, **options},
    )
    return project, [project.classes[code] for code in truth]


def label_some(project, truth, who, count, seconds=2.0):
    for _ in range(count):
        project.refill()
        item = project.give(who)[0]
        answer(project, who, item.row, "label", truth[item.row], seconds=seconds)


def counted(project, who):
    """The counts of ``progress``, from nothing but the state."""
    state = project.state
    votes = [vote for row in state.votes.values() for name, vote in row.items() if who in (None, name)]
    today = time.localtime(project.ledger.now)[:3]
    return {
        "labelled": len(state.labelled()),
        "drawn": len(state.draws),
        "total": project.settings.rows,
        "mine": len(votes),
        "today": sum(time.localtime(vote.at)[:3] == today for vote in votes),
    }


def test_counts_follow_every_kind_of_answer_of_two_processes(tmp_path):
    project, _ = make(tmp_path / "p", 60, check=0.0)
    other = Project(tmp_path / "p")  # as another process has it
    for name in ("ann", "bob"):
        project.add_person(name, token=False)
    project.refill()
    rng = np.random.default_rng(0)
    for _ in range(200):
        which, who = (project, other)[rng.integers(2)], ("ann", "bob")[rng.integers(2)]
        kind = ("label", "label", "skip", "unsure", "undo")[rng.integers(5)]
        if kind == "undo":
            which.undo(who)
        else:
            name = project.classes[rng.integers(2)] if kind == "label" else None
            answer(which, who, int(rng.integers(60)), kind, name, seconds=1.0)
        for one in (None, "ann", "bob"):
            found = progress(project, one)
            assert {key: found[key] for key in counted(project, one)} == counted(project, one)
    people = {person["name"]: person for person in summary(project)["people"]}
    for who in ("ann", "bob"):
        passed = [names.get(who) for names in project.state.passed.values()]
        assert people[who]["skips"] == passed.count("skip")
        assert people[who]["unsure"] == passed.count("unsure")
        assert people[who]["labels"] == counted(project, who)["mine"]


def test_labels_of_yesterday_are_not_of_today(tmp_path):
    now = [1_700_000_000.0]
    make(tmp_path / "p")[0].close()
    project = Project(tmp_path / "p", clock=lambda: now[0])
    now[0] = project.ledger.state.at + 1
    project.add_person("ann", token=False)
    answer(project, "ann", 1, "label", "no")
    now[0] += 2 * 86400
    answer(project, "ann", 2, "label", "no")
    assert (progress(project, "ann")["mine"], progress(project, "ann")["today"]) == (2, 1)


def test_a_transaction_that_failed_leaves_no_trace_in_the_counts(tmp_path):
    project, _ = make(tmp_path / "p")
    project.add_person("ann", token=False)
    answer(project, "ann", 1, "label", "no")
    before = progress(project, "ann")
    with pytest.raises(RuntimeError), project.ledger.writing() as writing:  # noqa: PT012
        writing.append("label", "ann", 5, {"label": 1})
        raise RuntimeError
    assert progress(project, "ann") == before


def test_what_progress_costs_does_not_grow_with_labels(tmp_path):
    """Lines of Python run to take in fifty more answers, with few labels and with many."""
    project, _ = make(tmp_path / "p", 3000)
    project.add_person("ann", token=False)
    costs = []
    for row in range(2000):
        answer(project, "ann", row, "label", "yes", seconds=1.0)
        if row in (100, 1999):
            costs.append(lines_run(lambda: progress(project, "ann")))
        elif row % 50 == 0:
            progress(project, "ann")
    assert costs[1] <= costs[0]
    assert lines_run(lambda: progress(project, "ann")) < 200


def lines_run(call):
    count = 0

    def trace(frame, event, _):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def test_the_summary_of_two_who_disagree(tmp_path):
    project, _ = make(tmp_path / "p", 60)
    for name in ("ann", "bob"):
        project.add_person(name, token=False)
    votes = {0: ("no", "no"), 1: ("yes", "no"), 2: ("yes", "yes"), 3: ("no", "no")}
    for row, (first, second) in votes.items():
        answer(project, "ann", row, "label", first, seconds=1.0 + row)
        answer(project, "bob", row, "label", second, seconds=9.0)
    answer(project, "ann", 4, "label", "no", seconds=0.0)  # time not known: counts for no median
    found = summary(project)
    assert found["agreement"]["names"] == ["ann", "bob"]
    assert found["agreement"]["share"] == 0.75
    assert found["agreement"]["pairs"][0][1] == 0.75
    assert found["disputed"] == 1
    assert found["disputes"] == [
        {"row": 1, "id": "i1", "content": "text 1", "votes": {"ann": "yes", "bob": "no"}}
    ]
    assert sum(found["balance"].values()) == 5
    ann, bob = found["people"]
    assert (ann["labels"], ann["median_seconds"]) == (5, statistics.median([1, 2, 3, 4]))
    assert (bob["labels"], bob["median_seconds"]) == (4, 9.0)
    assert ann["last"] >= bob["last"]


def test_an_empty_project_has_a_summary(tmp_path):
    found = summary(make(tmp_path / "p")[0])
    assert found["balance"] == {"no": 0, "yes": 0}
    assert found["agreement"] == {"share": None, "alpha": None, "names": [], "pairs": [], "sole": None}
    assert found["progress"]["accuracy"] is found["progress"]["labels_left"] is None
    assert found["curve"] == found["people"] == found["disputes"] == found["rounds"] == []


def test_accuracy_curve_and_time_left_come_from_the_rounds(tmp_path):
    project, truth = make(tmp_path / "p", seed=3)
    project.add_person("ann", token=False)
    label_some(project, truth, "ann", 150)
    found = summary(project)
    rounds = [r for r in project.state.rounds if r["accuracy"]]
    assert len(rounds) >= 3
    assert [point["labels"] for point in found["curve"]] == [r["labels"] for r in rounds]
    assert found["progress"]["accuracy"] == rounds[-1]["accuracy"]
    left = found["progress"]["labels_left"]
    assert left is not None
    assert found["progress"]["seconds_left"] == 2.0 * left
    assert [r["round"] for r in found["rounds"]] == list(range(1, len(found["rounds"]) + 1))
