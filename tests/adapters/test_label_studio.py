"""Label Studio: out as tasks, back as its JSON export, and the protocol of a backend there."""

from __future__ import annotations

import json
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from aced import InvalidInput
from aced.adapters import label_studio as ls
from aced.ledger import replay
from aced.project import export_rows
from tests.helpers import answer
from tests.project.places import make, votes


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "p")


def annotation(number, choice, who=1, **more):
    """As the documentation of Label Studio's raw JSON shows one."""
    chosen = {
        "id": "Dx_aB91ISN",
        "from_name": "label",
        "to_name": "item",
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [choice]},
    }
    return {
        "id": number,
        "result": [] if choice is None else [chosen],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2021-03-09T22:16:08.728353Z",
        "updated_at": "2021-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
        "parent_prediction": None,
        "result_count": 0,
        "task": number,
        "completed_by": who,
        **more,
    }


def exported(tasks, annotations):
    """What comes back of tasks once they are annotated."""
    return [
        {
            "id": 100 + number,
            "data": task["data"],
            "created_at": "2021-03-09T21:52:49.513742Z",
            "updated_at": "2021-03-09T22:16:08.746926Z",
            "project": 83,
            "annotations": list(said),
            "drafts": [],
            "predictions": task["predictions"],
        }
        for number, (task, said) in enumerate(zip(tasks, annotations, strict=True))
    ]


def choice_of(row):
    return "yes" if row % 3 else "no"


def task_of(project, row, *annotations):
    item = project.item(row)
    data = {"text": item.content, "aced_id": item.id, "aced_row": row}
    return {"id": row, "data": data, "annotations": list(annotations), "predictions": []}


def refused(project, export, match):
    before = project.state.digest()
    with pytest.raises(InvalidInput, match=match) as caught:
        ls.read_export(project, export)
    assert "\n" not in str(caught.value)
    assert project.state.digest() == before


# -- there ----------------------------------------------------------------------------


def test_the_configuration_is_xml_with_the_classes(tmp_path):
    classes = ['a "quoted" <one>', "b & c"]
    for kind, tag in (("text", "Text"), ("image", "Image"), ("row", "Table")):
        root = ElementTree.fromstring(ls.config(make(tmp_path / kind, kind=kind, classes=classes)))
        shown, choices = root
        assert (shown.tag, shown.get("name")) == (tag, choices.get("toName"))
        assert choices.get("choice") == "single"
        assert [one.get("value") for one in choices] == classes


def test_tasks_are_the_drawn_items_with_their_probabilities(project):
    tasks = ls.tasks(project)
    assert [task["data"]["aced_row"] for task in tasks] == list(project.state.draws)
    for task in tasks:
        data = task["data"]
        draw = project.state.draws[data["aced_row"]]
        assert set(data) == {"text", "aced_id", "aced_row", "draw_probability"}
        assert data["draw_probability"] == draw.probability
        assert data["text"] == project.item(data["aced_row"]).content
        assert task["predictions"] == []  # nothing is known yet
    assert ls.tasks(project) == tasks  # the same until they are labelled
    assert len(ls.tasks(project, 3)) == 3


def test_tasks_leave_out_what_is_labelled_or_being_looked_at(project):
    project.add_person("ann")
    first, second = ls.tasks(project, 2)
    answer(project, "ann", first["data"]["aced_row"], "label", "yes")
    (held,) = project.give("ann")
    assert held.row == second["data"]["aced_row"]
    rows = {task["data"]["aced_row"] for task in ls.tasks(project)}
    assert not rows & {first["data"]["aced_row"], second["data"]["aced_row"]}


def test_predictions_are_the_classifiers(project):
    project.add_person("ann")
    for row in range(20):
        answer(project, "ann", row, "label", choice_of(row))
    model = project.classifier()
    versions = set()
    for task in ls.tasks(project):
        (prediction,) = task["predictions"]
        (chosen,) = prediction["result"]
        share = model.predict_proba(project.features[[task["data"]["aced_row"]]])[0]
        assert chosen["value"]["choices"] == [project.classes[share.argmax()]]
        assert (chosen["from_name"], chosen["to_name"], chosen["type"]) == ("label", "item", "choices")
        assert prediction["score"] == pytest.approx(share.max(), abs=1e-4)
        versions.add(prediction["model_version"])
    assert len(versions) == 1
    answer(project, "ann", 30, "label", "yes")
    assert ls.tasks(project)[0]["predictions"][0]["model_version"] not in versions


def test_one_class_gives_no_prediction(project):
    project.add_person("ann")
    answer(project, "ann", 1, "label", "yes")
    assert all(task["predictions"] == [] for task in ls.tasks(project))


def test_pictures_and_rows(tmp_path):
    folder = tmp_path / "my items"
    images = make(tmp_path / "i", kind="image", contents=["a b/ü#1.png"] * 61, root=folder)
    url = ls.tasks(images, 1)[0]["data"]["image"]
    assert url.startswith("/data/local-files/?d=my%20items/a%20b/")
    assert unquote(url).endswith("?d=my items/a b/ü#1.png")
    assert ls.tasks(images, 1, images="https://x/")[0]["data"]["image"].startswith("https://x/a%20b")
    values = {"size": 2, "aced_id": "mine", "empty": float("nan")}
    rows = make(tmp_path / "r", kind="row", contents=[values] * 61)
    data = ls.tasks(rows, 1)[0]["data"]
    assert (data["size"], data["empty"]) == (2, None)
    assert data["aced_columns"] == {"size": 2, "aced_id": "mine", "empty": None}
    assert data["aced_id"] == rows.item(data["aced_row"]).id
    json.dumps(data, allow_nan=False)


def test_what_is_shown_beside_a_text_is_a_table(tmp_path):
    shown = [{"url": f"https://x.org/{i}"} for i in range(61)]
    reading = {"kind": "text", "columns": ["text"], "named": True, "show": ["url"]}
    project = make(tmp_path / "p", shown=shown, reading=reading)
    data = ls.tasks(project, 1)[0]["data"]
    assert data["aced_columns"] == {"url": f"https://x.org/{data['aced_row']}"}
    table = ElementTree.fromstring(ls.config(project)).find("Table")
    assert table.attrib["value"] == "$aced_columns"
    assert ElementTree.fromstring(ls.config(make(tmp_path / "q"))).find("Table") is None


def test_no_tasks_when_all_is_labelled_and_no_number_below_one(project):
    project.add_person("ann")
    for row in range(60):
        answer(project, "ann", row, "label", choice_of(row))
    assert ls.tasks(project) == []
    with pytest.raises(InvalidInput, match="count must be at least 1, got 0"):
        ls.tasks(project, 0)


# -- and back -------------------------------------------------------------------------


def test_round_trip_over_several_rounds(project):
    """Drawn, sent, annotated there by two people, read back: the labels are those given."""
    number, given = 0, {}
    for _ in range(3):
        tasks = json.loads(json.dumps(ls.tasks(project)))
        assert tasks
        answers = []
        for task in tasks:
            row = task["data"]["aced_row"]
            assert row not in given
            given[row] = {"label-studio 1": choice_of(row), "bob@example.org": "yes"}
            bob = {"id": 2, "email": "bob@example.org", "first_name": "", "last_name": ""}
            answers.append(
                [annotation(number, choice_of(row)), annotation(number + 1, "yes", who=bob, lead_time=1)]
            )
            number += 2
        found = ls.read_export(project, json.loads(json.dumps(exported(tasks, answers))))
        assert (found.taken, found.known) == (2 * len(tasks), 0)
        assert votes(project) == given
    assert {row["draw_probability"] is None for row in export_rows(project)} == {False}
    seconds = project.state.votes[next(iter(given))]
    assert (seconds["label-studio 1"].seconds, seconds["bob@example.org"].seconds) == (4.288, 1.0)
    assert not replay(project.ledger).problems


def test_the_same_export_twice_changes_nothing_whatever_happened_since(project):
    export = [task_of(project, 1, annotation(7, "yes")), task_of(project, 2, annotation(8, "no"))]
    assert ls.read_export(project, export).taken == 2
    before = project.state.digest()
    assert ls.read_export(project, export).known == 2
    assert project.state.digest() == before
    answer(project, "label-studio 1", 1, "label", "no")
    project.undo("label-studio 1")
    answer(project, "label-studio 1", 2, "label", "yes")
    before = project.state.digest()
    assert ls.read_export(project, export).taken == 0
    assert project.state.digest() == before


def test_a_changed_annotation_replaces_and_an_old_export_does_not(project):
    old = [task_of(project, 1, annotation(7, "yes", updated_at="2021-03-09T22:16:08.728378Z"))]
    new = [task_of(project, 1, annotation(7, "no", updated_at="2021-03-10T00:16:08+02:00"))]
    newer = [task_of(project, 1, annotation(7, "yes", updated_at="2021-03-11T00:00:00.000000Z"))]
    for export, taken, label in (
        (old, 1, "yes"),
        (new, 0, "yes"),  # is some milliseconds older, in another time zone
        (newer, 0, "yes"),
    ):
        assert ls.read_export(project, export).taken == taken
        assert votes(project) == {1: {"label-studio 1": label}}
    new[0]["annotations"][0]["updated_at"] = "2021-03-12T00:00:00Z"
    assert ls.read_export(project, new).taken == 1
    assert ls.read_export(project, old).taken == 0
    assert votes(project) == {1: {"label-studio 1": "no"}}


def test_an_annotation_with_two_answers_of_one_time_is_refused(project):
    (task,) = ls.tasks(project, 1)
    twice = exported([task], [[annotation(7, "no"), annotation(7, "yes")]])
    with pytest.raises(InvalidInput, match="annotation 7 stands there twice"):
        ls.read_export(project, twice)
    same = exported([task], [[annotation(7, "no"), annotation(7, "no")]])
    assert ls.read_export(project, same).taken == 1
    assert ls.read_export(project, same).taken == 0


def test_cancelled_is_skip_and_empty_is_unsure(project):
    export = [
        task_of(project, 1, annotation(1, None, was_cancelled=True)),
        task_of(project, 2, annotation(2, None)),
        task_of(project, 3, annotation(3, "yes", result=None)),
        task_of(project, 4, annotation(4, "yes", was_cancelled=True)),
        task_of(project, 5),
    ]
    assert ls.read_export(project, export).taken == 4
    assert votes(project) == {}
    said = {row: names["label-studio 1"] for row, names in project.state.passed.items()}
    assert said == {1: "skip", 2: "unsure", 3: "unsure", 4: "skip"}
    before = project.state.digest()
    ls.read_export(project, export)
    assert project.state.digest() == before
    again = annotation(1, "yes", updated_at="2022-01-01T00:00:00Z")
    ls.read_export(project, [task_of(project, 1, again)])
    assert votes(project) == {1: {"label-studio 1": "yes"}}


def test_annotations_that_label_studio_made_from_predictions_are_no_labels(project):
    """ "Create annotations from predictions" says whose, and no time that a person spent."""
    unchanged = annotation(4, "yes", lead_time=None)
    unchanged["result"][0]["origin"] = "prediction"
    ours = [
        annotation(1, "yes", parent_prediction=12, lead_time=None),
        annotation(2, "no", parent_prediction=12, lead_time=0),
        annotation(3, "other", who="x" * 99, parent_prediction="12", lead_time=None),
        unchanged,
    ]
    export = [task_of(project, row, one) for row, one in enumerate(ours)]
    export[3]["annotations"][0].pop("lead_time")
    found = ls.read_export(project, [*export, task_of(project, 5, annotation(5, "no"))])
    assert (found.taken, found.known, found.ignored) == (1, 0, 4)
    assert votes(project) == {5: {"label-studio 1": "no"}}
    assert found.people == ["label-studio 1"]


def test_a_prediction_that_a_person_submitted_is_a_label_and_marked(project):
    seen = annotation(1, "yes", parent_prediction=12, lead_time=None)
    assert ls.read_export(project, [task_of(project, 1, seen)]).taken == 0
    seen = {**seen, "lead_time": 2.5, "updated_at": "2022-01-01T00:00:00Z"}
    found = ls.read_export(project, [task_of(project, 1, seen, annotation(2, "no", who=2))])
    assert (found.taken, found.ignored) == (2, 0)
    assert votes(project) == {1: {"label-studio 1": "yes", "label-studio 2": "no"}}
    bodies = [event.body for event, _ in project.ledger.events() if event.kind == "label"]
    marked = {body["label"]: body.get("from_prediction") for body in bodies}
    assert marked == {1: True, 0: None}


def test_people_by_number_mail_and_default(project):
    export = [
        task_of(
            project,
            1,
            annotation(1, "yes", who=3),
            annotation(2, "no", who={"email": "a@b.c"}),
            annotation(3, "no", who={"id": 4}),
            annotation(4, "yes", who=None, ground_truth=True),
            annotation(5, "yes", who={"id": 6, "email": ""}),
        )
    ]
    found = ls.read_export(project, export, who="expert")
    assert found.people == ["label-studio 3", "a@b.c", "label-studio 4", "expert", "label-studio 6"]
    assert votes(project)[1]["expert"] == "yes"
    # somebody known by number stays so when an address is told later
    later = annotation(9, "no", who={"id": 3, "email": "c@d.e"})
    assert ls.read_export(project, [task_of(project, 2, later)]).people == []
    assert votes(project)[2] == {"label-studio 3": "no"}


def test_an_annotation_keeps_its_author(project):
    """An export tells the address, a webhook only the number."""
    ls.read_export(project, [task_of(project, 1, annotation(1, "yes", who={"id": 3, "email": "c@d.e"}))])
    later = annotation(1, "no", who=3, updated_at="2022-01-01T00:00:00Z")
    assert ls.read_export(project, [task_of(project, 1, later)]).people == []
    assert votes(project) == {1: {"c@d.e": "no"}}


def test_two_annotations_of_one_person_the_later_counts(project):
    late = annotation(1, "no", updated_at="2023-01-01T00:00:00Z")
    early = annotation(2, "yes", updated_at="2022-01-01T00:00:00Z")
    ls.read_export(project, [task_of(project, 1, late, early)])
    assert votes(project) == {1: {"label-studio 1": "no"}}


def test_a_configuration_of_ones_own_with_one_choice(project):
    one = annotation(1, "yes")
    one["result"][0]["from_name"] = "sentiment"
    one["result"].append({"type": "textarea", "from_name": "why", "value": {"text": ["so"]}})
    ls.read_export(project, [task_of(project, 1, one)])
    assert votes(project) == {1: {"label-studio 1": "yes"}}


def broken(project, **more):
    return task_of(project, 1, annotation(7, "yes", **more))


def region(*choices):
    return [{"type": "choices", "from_name": "label", "value": {"choices": list(choices)}}]


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"result": region("maybe")}, "task 1, annotation 7: label must be one of no and yes"),
        ({"result": region("yes", "no")}, r"annotation 7 chooses \['yes', 'no'\]"),
        ({"result": "yes"}, "annotation 7: result must be a list"),
        ({"result": ["yes"]}, "annotation 7: result must be a list"),
        ({"lead_time": -1}, "annotation 7: lead_time must be a number"),
        ({"lead_time": "long"}, "annotation 7: lead_time must be a number"),
        ({"completed_by": "x" * 99}, "annotation 7: completed_by: name must be"),
        ({"id": None}, "task 1: the id of an annotation must be a number, got None"),
        ({"id": "\ud800"}, "task 1: the id of an annotation"),
        ({"id": "7\n8"}, "task 1: the id of an annotation"),
    ],
)
def test_what_is_wrong_in_an_annotation_is_one_sentence(project, more, match):
    good = task_of(project, 2, annotation(6, "yes"))
    refused(project, [good, broken(project, **more)], match)


def test_what_is_wrong_in_a_task_is_one_sentence(project):
    refused(project, "nonsense", "a list of tasks")
    refused(project, [1], "a list of tasks")
    refused(project, [{"id": 1, "text": "x", "label": "yes"}], "not JSON-MIN")
    foreign = {"id": 5, "data": {"text": "x"}, "annotations": []}
    refused(project, [foreign], "task 5 is not an item of this project")
    refused(project, [{**foreign, "id": "\x1b[2J\n"}], r"task '.x1b\[2J.n' is not an item")
    moved = task_of(project, 1, annotation(1, "yes"))
    moved["data"]["aced_row"] = 2
    refused(project, [moved], "task 1 is not an item of this project")
    ls.read_export(project, [task_of(project, 1, annotation(1, "yes"))])
    refused(project, [task_of(project, 2, annotation(1, "yes"))], "was another item's before")


def test_a_file_that_is_no_json(tmp_path):
    path = tmp_path / "x.json"
    for content in (b"{", b"\xff", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="is not JSON"):
            ls.load_export(path)
    with pytest.raises(InvalidInput, match="there is no file"):
        ls.load_export(tmp_path / "none.json")


def test_deleted_annotations_are_taken_back(project):
    first = annotation(1, "yes")
    ls.read_export(project, [task_of(project, 1, first, annotation(2, "no", who=2))])
    later = annotation(1, "no", updated_at="2022-01-01T00:00:00Z")
    ls.read_export(project, [task_of(project, 1, later)])
    assert ls.delete(project, [1]) == 2  # both versions
    assert votes(project) == {1: {"label-studio 2": "no"}}
    assert ls.delete(project, [1, 99]) == 0
    assert ls.read_export(project, [task_of(project, 1, later)]).taken == 0
    assert not replay(project.ledger).problems


def test_a_deletion_leaves_what_was_said_since(project):
    ls.read_export(project, [task_of(project, 1, annotation(1, "yes"))])
    answer(project, "label-studio 1", 1, "label", "no")
    assert ls.delete(project, [1]) == 0
    assert votes(project) == {1: {"label-studio 1": "no"}}


def test_an_author_without_a_number_and_a_date_that_is_none_are_taken(project):
    odd = annotation(7, "yes", completed_by={}, updated_at="yesterday")
    assert ls.read_export(project, [task_of(project, 1, odd)]).taken == 1
    assert votes(project) == {1: {"label-studio": "yes"}}


def test_an_annotation_that_is_no_object_is_refused(project):
    with pytest.raises(InvalidInput, match="an annotation that is no object"):
        ls.read_export(project, [task_of(project, 1, "yes")])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_any_json_is_taken_or_refused_in_one_sentence(project, data):
    """A sound export with one of its values replaced by any other."""
    task = json.loads(json.dumps(task_of(project, 1, annotation(7, "yes"))))
    spots = [
        (task, "id"),
        (task, "data"),
        (task, "annotations"),
        (task["data"], "aced_id"),
        (task["data"], "aced_row"),
        *[(task["annotations"][0], name) for name in task["annotations"][0]],
        *[(task["annotations"][0]["result"][0], name) for name in ("type", "from_name", "value")],
        (task["annotations"][0]["result"][0]["value"], "choices"),
    ]
    place, name = data.draw(st.sampled_from(spots))
    place[name] = data.draw(json_values)
    before = project.state.digest()
    try:
        ls.read_export(project, [task])
        sentence = ""
    except InvalidInput as error:
        sentence = str(error)
    assert sentence.isprintable()
    assert not sentence or project.state.digest() == before
    assert not replay(project.ledger).problems


def test_what_cannot_be_used_is_left_out_if_so_wished(project):
    good = task_of(project, 1, annotation(1, "yes"), annotation(2, "maybe"))
    foreign = {**task_of(project, 2, annotation(3, "no")), "data": {"aced_id": "elsewhere"}}
    twice = task_of(project, 3, annotation(4, "no"), annotation(4, "yes"))
    export = [good, foreign, twice, task_of(project, 4, annotation(5, "no"))]
    refused(project, export, "maybe")
    found = ls.read_export(project, export, skip_bad=True)
    assert (found.taken, len(found.left)) == (2, 3)
    assert {row: list(said.values()) for row, said in votes(project).items()} == {1: ["yes"], 4: ["no"]}
    for words, sentence in zip(("maybe", "elsewhere", "twice"), found.left, strict=True):
        assert words in sentence
