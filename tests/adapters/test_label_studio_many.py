"""Label Studio with many classes: choices both ways, and classes that change meanwhile."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from starlette.applications import Starlette

from aced.adapters import label_studio as ls
from aced.project import merge_class, rename_class, undo_change
from tests.adapters.test_label_studio import annotation, exported, refused, task_of
from tests.helpers import answer
from tests.project.places import make, votes
from tests.web.helpers import LOCAL, TestClient

ODD = ["a, b", 'say "no"', "<&>", "it's", "日本語", "=1+1", "a  b", "c7", "c8", "c9", "c10", "c11"]


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "p", classes=ODD, strategy="passive")


def test_each_class_is_a_choice_and_the_first_nine_have_a_key(project):
    _, choices = ElementTree.fromstring(ls.config(project))
    assert [one.get("value") for one in choices] == ODD
    keys = [one.get("hotkey") for one in choices]
    assert keys == [*"123456789", None, None, None]


def test_a_merged_class_is_no_choice_any_more(project):
    merge_class(project.ledger, "lea", "<&>", "c7")
    rename_class(project.ledger, "lea", "c8", "<new>")
    _, choices = ElementTree.fromstring(ls.config(project))
    left = ["<new>" if name == "c8" else name for name in ODD if name != "<&>"]
    assert [one.get("value") for one in choices] == left


def test_choices_come_back_as_classes(project):
    tasks = [{**task_of(project, row), "predictions": []} for row in range(24)]
    said = [[annotation(number, ODD[number % 12])] for number in range(24)]
    assert ls.read_export(project, exported(tasks, said)).taken == 24
    rows = [task["data"]["aced_row"] for task in tasks]
    assert [votes(project)[row]["label-studio 1"] for row in rows] == [ODD[i % 12] for i in range(24)]


def test_predictions_name_the_best_of_all_classes(project):
    project.add_person("ann")
    for row in range(36):
        answer(project, "ann", row, "label", ODD[row % 12])
    model = project.classifier()
    for task in ls.tasks(project, 10):
        (guess,) = task["predictions"]
        share = model.predict_proba(project.pool.rows([task["data"]["aced_row"]]))[0]
        assert guess["result"][0]["value"]["choices"] == [ODD[model.classes_[share.argmax()]]]
        assert guess["score"] == pytest.approx(share.max(), abs=1e-4)


def test_predictions_skip_classes_nobody_used_and_follow_a_merge(project):
    """Codes of classes with labels are 3 and 9; their places among the model's classes are 0 and 1."""
    project.add_person("ann")
    for row in range(30):
        answer(project, "ann", row, "label", ODD[3] if row % 2 else ODD[9])
    client = TestClient(
        Starlette(routes=ls.routes(project, local=True)), base_url=LOCAL, client=("127.0.0.1", 1)
    )
    tasks = [task_of(project, row) for row in range(40, 50)]

    def said():
        reply = client.post("/predict", json={"tasks": tasks})
        return {one["result"][0]["value"]["choices"][0] for one in reply.json()["results"]}

    assert said() <= {ODD[3], ODD[9]}
    merge_class(project.ledger, "lea", ODD[9], ODD[10])
    assert said() <= {ODD[3], ODD[10]}
    rename_class(project.ledger, "lea", ODD[3], "another name")
    assert said() <= {"another name", ODD[10]}


def test_annotations_made_before_a_change_count(project):
    """A renamed class is that class; a merged one counts as the class it was merged into."""
    export = [
        task_of(project, 0, annotation(1, "c7")),
        task_of(project, 1, annotation(2, "c8")),
    ]
    assert ls.read_export(project, export[:1]).taken == 1
    rename_class(project.ledger, "lea", "c8", "eight")
    merge_class(project.ledger, "lea", "c7", "c9")
    assert ls.read_export(project, export).taken == 1  # the first is known
    assert {row: said["label-studio 1"] for row, said in votes(project).items()} == {0: "c9", 1: "eight"}
    undo_change(project.ledger, "lea")
    assert votes(project)[0]["label-studio 1"] == "c7"
    assert ls.read_export(project, export).taken == 0


def test_a_choice_that_is_no_class_is_refused_with_some_names(project):
    export = [task_of(project, 0, annotation(1, "c99"))]
    refused(project, export, "must be one of a, b, say .* and 2 more, got 'c99'")
