"""Classes that are added, renamed and merged, and changes that are taken back."""

from __future__ import annotations

import pytest

from aced.ledger import Event, Ledger, replay
from tests.helpers import SETTINGS
from tests.ledger.test_state import Story, drawn, people


class Three(Story):
    """A story about three classes, with a label of each."""

    def __init__(self):
        super().__init__()
        people(self, "ann")
        drawn(self, [0, 1, 2])
        self("class-added", "lea", body={"code": 2, "name": "c"})
        self.labels = [self("label", "ann", row, {"label": row}).seq for row in range(3)]

    def merge(self, code, into):
        labels = self.state.labels_of_class(code)
        return self("class-merged", "lea", body={"code": code, "into": into, "labels": labels})

    def meant(self):
        return [self.state.names[self.state.votes[row]["ann"].code] for row in range(3)]


def test_an_added_class_takes_labels_and_has_the_next_code():
    story = Three()
    assert [one.name for one in story.state.classes] == ["a", "b", "c"]
    assert story.state.codes == [0, 1, 2]
    assert story.meant() == ["a", "b", "c"]


def test_a_merge_names_the_labels_it_changes_and_undo_brings_them_back():
    story = Three()
    merge = story.merge(1, 2)
    assert merge.body["labels"] == [story.labels[1]]
    assert story.state.codes == [0, 2]
    assert story.meant() == ["a", "c", "c"]
    assert story.state.votes[1]["ann"].code == 1  # what the person said
    story("class-undone", "lea", body={"of": merge.seq})
    assert story.state.codes == [0, 1, 2]
    assert story.meant() == ["a", "b", "c"]


def test_merges_follow_one_another():
    story = Three()
    story("class-added", "lea", body={"code": 3, "name": "d"})
    first, second = story.merge(0, 1), story.merge(1, 2)
    assert second.body["labels"] == story.labels[:2]
    assert story.meant() == ["c", "c", "c"]
    assert story.state.stands == [2, 2, 2, 3]
    story("class-undone", "lea", body={"of": second.seq})
    assert story.meant() == ["b", "b", "c"]
    story("class-undone", "lea", body={"of": first.seq})
    assert story.meant() == ["a", "b", "c"]


def test_an_answer_that_is_undone_after_a_merge_brings_back_what_counts_now():
    story = Three()
    again = story("label", "ann", 1, {"label": 0})
    story.merge(1, 2)
    story("undo", "ann", 1, {"of": again.seq})
    assert story.meant() == ["a", "c", "c"]


def test_a_rename_keeps_the_old_name_and_undo_keeps_the_new_one():
    story = Three()
    rename = story("class-renamed", "lea", body={"code": 1, "from": "b", "to": "bee"})
    assert story.meant() == ["a", "bee", "c"]
    assert story.state.classes[1].former == ("b",)
    story("class-undone", "lea", body={"of": rename.seq})
    assert story.meant() == ["a", "b", "c"]
    assert story.state.classes[1].former == ("bee",)


def test_an_addition_without_labels_can_be_taken_back_and_made_again():
    story = Three()
    added = story("class-added", "lea", body={"code": 3, "name": "d"})
    story("class-undone", "lea", body={"of": added.seq})
    assert story.state.codes == [0, 1, 2]
    with pytest.raises(ValueError, match="there is no class 3"):
        story("label", "ann", 0, {"label": 3})
    with pytest.raises(ValueError, match="cannot have the code 3"):
        story("class-added", "lea", body={"code": 3, "name": "e"})
    story("class-added", "lea", body={"code": 3, "name": "d"})
    assert story.state.codes == [0, 1, 2, 3]


def test_every_change_is_counted():
    story = Three()
    before = story.state.classes_seq
    merge = story.merge(1, 2)
    assert before < story.state.classes_seq == merge.seq
    undone = story("class-undone", "lea", body={"of": merge.seq})
    assert story.state.classes_seq == undone.seq
    assert len(story.state.changes) == 1


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        ("class-added", {"code": 4, "name": "d"}, "cannot have the code 4"),
        ("class-added", {"code": 1, "name": "b"}, "cannot have the code 1"),
        ("class-added", {"code": 3, "name": "b"}, "belongs to class 1"),
        ("class-added", {"code": 3, "name": " "}, "name of a class-added"),
        ("class-added", {"code": True, "name": "d"}, "code of a class-added"),
        ("class-renamed", {"code": 1, "from": "a", "to": "d"}, "is called 'b'"),
        ("class-renamed", {"code": 1, "from": "b", "to": "b"}, "is called 'b'"),
        ("class-renamed", {"code": 1, "from": "b", "to": "a"}, "belongs to class 0"),
        ("class-renamed", {"code": 7, "from": "b", "to": "d"}, "there is no class 7"),
        ("class-renamed", {"code": 1, "to": "d"}, "from of a class-renamed"),
        ("class-merged", {"code": 1, "into": 1, "labels": []}, "two classes must remain"),
        ("class-merged", {"code": 1, "into": 9, "labels": []}, "there is no class 9"),
        ("class-merged", {"code": 1, "into": 0, "labels": []}, "labels are not those"),
        ("class-merged", {"code": 1, "into": 0}, "labels of a class-merged"),
        ("class-undone", {"of": 1}, "not the last change"),
        ("class-undone", {"of": -1}, "of of a class-undone"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(kind, body, message):
    story = Three()
    before = story.state.digest()
    with pytest.raises(ValueError, match=message):
        story(kind, "lea", body=body)
    assert story.state.digest() == before


def test_two_classes_remain_and_labelled_classes_stay():
    story = Three()
    added = story.state.changes[-1]
    with pytest.raises(ValueError, match="labels name class 2"):
        story("class-undone", "lea", body={"of": added.seq})
    story.merge(1, 2)
    with pytest.raises(ValueError, match="two classes must remain"):
        story.merge(0, 2)
    with pytest.raises(ValueError, match="there is no class 1"):
        story("label", "ann", 0, {"label": 1})


def test_a_ledger_with_changes_opens_with_and_without_a_snapshot(tmp_path):
    story = Three()
    ledger = Ledger(tmp_path / "l", create=True, clock=lambda: 1000.0)
    with ledger.writing() as writing:
        writing.append("created", "", body={**SETTINGS, "classes": ["a", "b", "c"]})
        writing.append("annotator", "ann", body={"name": "ann", "role": "lead", "token": None})
        for row in range(3):
            writing.append("label", "ann", row, {"label": row})
        labels = writing.state.labels_of_class(1)
        writing.append("class-merged", "lea", body={"code": 1, "into": 0, "labels": labels})
        writing.append("class-renamed", "lea", body={"code": 0, "from": "a", "to": "x"})
    digest = ledger.state.digest()
    ledger.keep_snapshot()
    ledger.close()
    for _ in range(2):
        again = Ledger(tmp_path / "l")
        assert again.state.digest() == digest
        assert again.state.names == ["x", "x", "c"]
        assert replay(again).problems == []
        again.close()
        (tmp_path / "l.snapshot").unlink(missing_ok=True)
    with pytest.raises(RuntimeError), Ledger(tmp_path / "l").writing() as writing:  # noqa: PT012
        writing.append("class-undone", "lea", body={"of": writing.state.changes[-1].seq})
        assert writing.state.names == ["a", "a", "c"]
        raise RuntimeError
    assert replay(tmp_path / "l").state.digest() == digest
    assert isinstance(story.merge(1, 2), Event)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"classes": [0, 1, 3]}, "there is no class 3"),
        ({"classes": [0, -1]}, "classes of a draw is wrong"),
        ({"confusion": [[0, 3, 5]]}, "there is no class 3"),
        ({"confusion": [[0, 1]]}, "confusion of a draw is wrong"),
        ({"confusion": [[0, 1, -5]]}, "confusion of a draw is wrong"),
        ({"notes": [{"says": 3, "sure": 0.5}]}, "there is no class 3"),
        ({"notes": [{"incumbent": -1}]}, "there is no class -1"),
        ({"notes": [{"says": "c"}]}, "there is no class c"),
    ],
)
def test_a_round_about_classes_that_there_are_not_is_refused(more, message):
    with pytest.raises(ValueError, match=message):
        drawn(Three(), [5], **more)
    drawn(Three(), [5], classes=[0, 1, 2], confusion=[[0, 2, 5]], notes=[{"says": 2, "incumbent": 1}])
