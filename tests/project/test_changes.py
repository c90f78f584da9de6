"""Classes that change while people label: names, answers, imports, rounds."""

from __future__ import annotations

import numpy as np
import pytest

from aced import InvalidInput
from aced.project import (
    MEMORY,
    ClassGone,
    KeyTaken,
    Project,
    add_class,
    export_rows,
    import_labels,
    knows_classes,
    labels_changed,
    listed,
    merge_class,
    plan_round,
    rename_class,
    repeat_rounds,
    summary,
    undo_change,
)
from tests.project.places import make, votes
from tests.project.test_many import LETTERS, labelled


@pytest.fixture
def project(tmp_path):
    """Three classes; ann holds four items and has labelled three others, one of each class."""
    made = make(tmp_path / "p", classes=["cat", "dog", "fox"], strategy="passive")
    made.add_person("ann", "lead", token=False)
    made.refill(threads=1)
    for label in made.classes:
        made.answer("ann", made.give("ann")[0].row, "label", label, key=f"first {label}")
    return made


def said(project):
    return [label for people in votes(project).values() for label in people.values()]


# -- names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([], "at least two"),
        (["a"], "at least two different names, got 'a'"),
        (["a", "b", "a"], "'a' is there twice"),
        (["a", "b", " a "], "'a' is there twice"),
        (["Cat", "dog", "cat"], "'cat' looks like 'Cat'"),
        (["ﬁsh", "dog", "fish"], "'fish' looks like 'ﬁsh'"),
        (["a", ""], "1 to 100 printable characters, got ''"),
        (["a", "b" * 101], "1 to 100 printable characters"),
        (["a", "/s"], "'/s' begins with /, as commands do"),
        (["a", "b\nc"], "1 to 100 printable characters"),
        ([f"c{i}" for i in range(101)], "are 101; a project takes at most 100"),
    ],
)
def test_names_that_cannot_be_classes(tmp_path, classes, message):
    with pytest.raises(InvalidInput, match=message):
        make(tmp_path / "p", classes=classes, strategy="passive")
    assert not (tmp_path / "p").exists()


def test_names_may_hold_anything_that_can_be_shown(tmp_path):
    classes = ["a,b", 'say "no"', "<&>'", "日本語", "=1+1", "🦊"]
    project = make(tmp_path / "p", classes=classes, strategy="passive")
    assert project.classes == classes
    assert len(make(tmp_path / "q", classes=[f"c{i}" for i in range(100)]).classes) == 100


def test_a_strategy_for_two_classes_refuses_a_third_at_any_time(tmp_path):
    with pytest.raises(InvalidInput, match="two"):
        make(tmp_path / "p", classes=["a", "b", "c"], strategy="iwal0")
    project = make(tmp_path / "q", strategy="iwal0")
    with pytest.raises(InvalidInput, match="iwal0, is made for two classes only"):
        add_class(project.ledger, "lea", "c")
    assert rename_class(project.ledger, "lea", "no", "never").classes == ["never", "yes"]


@pytest.mark.parametrize(
    ("change", "names", "message"),
    [
        (add_class, ["Dog"], "there is a class 'dog' already; choose another"),
        (add_class, [""], "1 to 100 printable"),
        (add_class, [" /cow"], "'/cow' begins with /, as commands do; choose another beginning"),
        (rename_class, ["cat", "/cat"], "'/cat' begins with /"),
        (rename_class, ["cow", "ox"], "no class 'cow'; the classes are cat"),
        (rename_class, ["cat", "cat"], "is the name of this class already"),
        (rename_class, ["cat", "dog"], "already; to make one class of the two"),
        (merge_class, ["cat", "cat"], "is the class itself"),
        (merge_class, ["cat", "cow"], "there is no class 'cow'"),
        (undo_change, [], "no change of the classes to take back"),
    ],
)
@pytest.mark.parametrize("dry", [True, False])
def test_changes_that_cannot_be_made(project, change, names, message, dry):
    before = project.state.digest()
    with pytest.raises(InvalidInput, match=message):
        change(project.ledger, "lea", *names, dry=dry)
    assert project.state.digest() == before


def test_a_name_never_becomes_another_classes(project):
    ledger = project.ledger
    rename_class(ledger, "lea", "cat", "lion")
    with pytest.raises(InvalidInput, match="was the name of 'lion' before"):
        add_class(ledger, "lea", "cat")
    assert rename_class(ledger, "lea", "lion", "CAT").classes == ["CAT", "dog", "fox"]
    merge_class(ledger, "lea", "dog", "fox")
    with pytest.raises(InvalidInput, match="'dog' was merged into 'fox'; undo that"):
        add_class(ledger, "lea", "dog")
    with pytest.raises(InvalidInput, match="two classes must remain"):
        merge_class(ledger, "lea", "CAT", "fox")


def test_sentences_about_classes_that_have_gone(project):
    ledger = project.ledger
    add_class(ledger, "lea", "e2")
    rename_class(ledger, "lea", "e2", "egg")
    undo_change(ledger, "lea")
    undo_change(ledger, "lea")
    with pytest.raises(
        InvalidInput, match="'E2' looks like 'e2', a class that was taken back; add 'e2'"
    ):
        add_class(ledger, "lea", "E2")
    with pytest.raises(InvalidInput, match="'egg' was a name of 'e2', a class that was taken back"):
        add_class(ledger, "lea", "egg")
    assert add_class(ledger, "lea", "e2").classes == ["cat", "dog", "fox", "e2"]
    merge_class(ledger, "lea", "dog", "fox")
    for names in (["cat", "dog"], ["dog", "cat"]):
        with pytest.raises(InvalidInput, match="'dog' was merged into 'fox'; name 'fox' or another"):
            merge_class(ledger, "lea", *names)


def test_a_hundred_classes_are_the_most(tmp_path):
    project = make(tmp_path / "p", classes=[f"c{i}" for i in range(100)], strategy="passive")
    with pytest.raises(InvalidInput, match="there are 100 classes, the most"):
        add_class(project.ledger, "lea", "one more")
    merge_class(project.ledger, "lea", "c7", "c8")
    assert len(add_class(project.ledger, "lea", "one more").classes) == 100


def test_a_dry_run_says_what_would_change_and_changes_nothing(project):
    before = project.state.digest()
    planned = merge_class(project.ledger, "lea", "dog", "fox", dry=True)
    assert planned.classes == ["cat", "fox"]
    (label,) = labels_changed(project, planned, 10)
    assert (label["annotator"], label["label"]) == ("ann", "dog")
    assert project.state.digest() == before
    assert merge_class(project.ledger, "lea", "dog", "fox") == planned
    assert project.classes == planned.classes


def test_the_same_change_sent_twice_counts_once(project):
    ledger = project.ledger
    for _ in range(2):
        assert add_class(ledger, "lea", "cow", key="k").classes == ["cat", "dog", "fox", "cow"]
    with pytest.raises(KeyTaken):
        add_class(ledger, "lea", "hen", key="first cat")


# -- undo -------------------------------------------------------------------------------


def test_changes_are_taken_back_from_the_last_one_on(project):
    ledger, before = project.ledger, project.classes
    add_class(ledger, "lea", "cow")
    rename_class(ledger, "lea", "cat", "lion")
    merge = merge_class(ledger, "lea", "lion", "cow")
    assert said(project) == ["cow", "dog", "fox"]
    undone = undo_change(ledger, "lea")
    assert undone.labels == merge.labels
    assert undone.classes == project.classes == ["lion", "dog", "fox", "cow"]
    assert said(project) == ["lion", "dog", "fox"]
    assert undo_change(ledger, "lea").classes == ["cat", "dog", "fox", "cow"]
    assert undo_change(ledger, "lea").classes == project.classes == before
    with pytest.raises(InvalidInput, match="no change"):
        undo_change(ledger, "lea")


def test_an_added_class_with_labels_is_merged_not_taken_back(project):
    ledger = project.ledger
    add_class(ledger, "lea", "cow")
    project.answer("ann", project.give("ann")[0].row, "label", "cow")
    with pytest.raises(InvalidInput, match="'cow' has labels; merge it"):
        undo_change(ledger, "lea")
    project.undo("ann")
    assert undo_change(ledger, "lea").classes == ["cat", "dog", "fox"]
    with pytest.raises(ClassGone, match="'cow' is no class any more"):
        project.answer("ann", project.give("ann")[0].row, "label", "cow")
    assert add_class(ledger, "lea", "cow").classes == ["cat", "dog", "fox", "cow"]
    assert project.codes == [0, 1, 2, 3]


# -- answers of pages that were opened before -------------------------------------------


def test_an_answer_with_the_old_name_of_a_renamed_class_counts(project):
    row = project.give("ann")[0].row
    rename_class(project.ledger, "lea", "dog", "hound")
    project.answer("ann", row, "label", "dog")
    assert votes(project)[row] == {"ann": "hound"}


def test_an_answer_with_a_merged_class_is_refused_and_the_item_stays(project):
    row = project.give("ann")[0].row
    merge_class(project.ledger, "lea", "dog", "fox")
    before = project.state.seq
    with pytest.raises(ClassGone, match="'dog' was merged into 'fox' meanwhile; choose 'fox'") as gone:
        project.answer("ann", row, "label", "dog")
    assert gone.value.classes == ["cat", "fox"]
    assert project.state.seq == before
    assert project.give("ann")[0].row == row


def test_an_answer_sent_again_after_a_merge_is_known(project):
    row = next(iter(project.state.votes))
    event, _ = project.answer("ann", row, "label", "cat", key="first cat")
    merge_class(project.ledger, "lea", "cat", "fox")
    again, _ = project.answer("ann", row, "label", "cat", key="first cat")
    assert again == event
    with pytest.raises(KeyTaken):
        project.answer("ann", row, "label", "fox", key="first cat")


def test_a_label_outside_the_classes_is_refused_with_their_names(project):
    row = project.give("ann")[0].row
    with pytest.raises(InvalidInput, match="must be one of cat, dog and fox, got 'cow'"):
        project.answer("ann", row, "label", "cow")
    with pytest.raises(InvalidInput, match="must be one of cat, dog and fox, got 'None'"):
        project.answer("ann", row, "label")


def test_long_lists_of_names_are_cut():
    assert listed([str(i) for i in range(30)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more"


# -- files ------------------------------------------------------------------------------


def test_files_may_use_names_of_before(project, tmp_path):
    """A renamed class is still that class, and a merged one counts as the class it was merged into."""
    rename_class(project.ledger, "lea", "cat", "lion")
    merge_class(project.ledger, "lea", "dog", "fox")
    (tmp_path / "l.csv").write_text("item,label,annotator\nt50,cat,bob\nt51,dog,bob\nt52,fox,bob\n")
    assert import_labels(project, tmp_path / "l.csv").taken == 3
    assert [votes(project)[row]["bob"] for row in (50, 51, 52)] == ["lion", "fox", "fox"]
    undo_change(project.ledger, "lea")
    assert votes(project)[51]["bob"] == "fox"  # it was taken as that
    add_class(project.ledger, "lea", "cow")
    undo_change(project.ledger, "lea")
    (tmp_path / "m.csv").write_text("item,label\nt53,cow\n")
    with pytest.raises(InvalidInput, match="line 2: label must be one of lion, dog and fox, got 'cow'"):
        import_labels(project, tmp_path / "m.csv")


def test_an_export_taken_in_again_after_a_merge_changes_nothing(project, tmp_path):
    from aced.project import write_csv

    write_csv(export_rows(project), tmp_path / "before.csv")
    merge_class(project.ledger, "lea", "dog", "fox")
    write_csv(export_rows(project), tmp_path / "after.csv")
    before = said(project)
    assert before.count("fox") == 2
    assert import_labels(project, tmp_path / "before.csv").taken == 0
    assert import_labels(project, tmp_path / "after.csv").taken == 0
    assert said(project) == before


# -- opinions and rounds ----------------------------------------------------------------


def test_opinions_export_and_summary_follow_a_merge(project):
    before = {line["item"]: line["label"] for line in export_rows(project)}
    merge_class(project.ledger, "lea", "dog", "fox")
    found = project.opinions()
    assert found.classes.tolist() == [0, 2]
    assert found.eta.shape == (3, 2)
    assert sorted(found.codes.tolist()) == [0, 2, 2]
    after = {line["item"]: line["label"] for line in export_rows(project)}
    assert after == {item: "fox" if label == "dog" else label for item, label in before.items()}
    assert {line["combined_label"] for line in export_rows(project)} == {"cat", "fox"}
    assert summary(project)["balance"] == {"cat": 1, "fox": 2}
    undo_change(project.ledger, "lea")
    assert {line["item"]: line["label"] for line in export_rows(project)} == before


def test_two_labels_that_differed_agree_after_a_merge(project):
    project.add_person("bob", token=False)
    row = next(row for row, people in votes(project).items() if people["ann"] == "dog")
    with project.ledger.writing() as writing:
        writing.append("label", "bob", row, {"label": 2})
    assert summary(project)["disputed"] == 1
    merge_class(project.ledger, "lea", "dog", "fox")
    assert summary(project)["disputed"] == 0


@pytest.mark.parametrize("strategy", ["aced", "passive", "margin"])
def test_rounds_follow_the_classes_and_repeat_to_the_bit(tmp_path, strategy):
    """Draws stay; the next round knows the new classes, and so does a replay."""
    project, truth = labelled(tmp_path / "p", LETTERS[:4], strategy=strategy)
    drawn = dict(project.state.draws)
    merge_class(project.ledger, "lea", LETTERS[1], LETTERS[2])
    add_class(project.ledger, "lea", "new")
    rename_class(project.ledger, "lea", LETTERS[0], "other")
    assert {row: project.state.draws[row] for row in drawn} == drawn
    assert project.refill(threads=1)
    assert project.state.rounds[-1]["classes"] == [0, 2, 3, 4]
    says = {draw.note["says"] for row, draw in project.state.draws.items() if row not in drawn}
    assert says <= {0, 2, 3}  # nobody has chosen the new class yet
    held = project.give("ann")
    project.answer("ann", held[0].row, "label", "new")
    while items := project.give("ann"):
        label = project.classes[[0, 1, 1, 2][truth[items[0].row]]]
        project.answer("ann", items[0].row, "label", label)
    assert project.refill(threads=1)
    undo_change(project.ledger, "lea")
    assert project.refill(threads=1) in (True, False)
    repeated = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert [one.differs for one in repeated] == [None] * len(project.state.rounds)
    assert not any(one.older for one in repeated)
    folder = project.folder
    project.close()
    again = Project(folder)
    assert set(np.unique(again.classifier().predict(again.features))) <= {0, 2, 3, 4}


def test_confusion_of_before_counts_as_the_classes_of_now(tmp_path):
    project, _ = labelled(tmp_path / "p", LETTERS[:3], rounds=3, strategy="passive")
    project.refill(threads=1)
    before = np.array(summary(project)["confusion"]["counts"])
    merge_class(project.ledger, "lea", LETTERS[0], LETTERS[2])
    add_class(project.ledger, "lea", "new")
    shown = summary(project)
    assert shown["confusion"]["classes"] == [LETTERS[1], LETTERS[2], "new"]
    joined = np.array([[0, 1, 0], [1, 0, 1]])
    assert (
        np.array(shown["confusion"]["counts"])[:2, :2].tolist() == (joined @ before @ joined.T).tolist()
    )
    assert shown["accuracy_by_class"][2]["checked"] == 0
    assert shown["accuracy_by_class"][2]["estimate"] is None
    assert shown["changes"]["kind"] == "class-added"
    assert (shown["changes"]["class"], shown["changes"]["who"]) == ("new", "lea")
    undo_change(project.ledger, "lea")
    last = summary(project)["changes"]
    assert (last["kind"], last["class"], last["name"]) == ("class-merged", LETTERS[0], LETTERS[2])


def test_accuracy_stays_true_after_a_merge_and_its_undo(tmp_path):
    options = {"batch": 30, "check": 0.4, "strategy": "passive"}
    project = make(tmp_path / "p", n=240, classes=LETTERS[:3], **options)
    project.add_person("ann", token=False)

    def label_a_round():
        """With labels that no classifier can learn, and the next round, which estimates accuracy."""
        while items := project.give("ann"):
            row = items[0].row
            project.answer("ann", row, "label", project.classes[row % len(project.classes)])
        assert project.refill(threads=1)

    project.refill(threads=1)
    for _ in range(3):
        label_a_round()

    def shown():
        found = summary(project)
        overall = found["progress"]["accuracy"]
        assert found["curve"][-1]["estimate"] == overall["estimate"]
        assert overall["low"] <= overall["estimate"] <= overall["high"]
        return overall, np.array(found["confusion"]["counts"]), found["accuracy_by_class"]

    before, table, parts = shown()
    assert before == project.state.rounds[-1]["accuracy"]
    mistaken = np.argwhere((table + table.T) * ~np.eye(3, dtype=bool))
    assert len(mistaken)  # two classes that are taken for each other
    one, other = (LETTERS[place] for place in mistaken[0])
    merge_class(project.ledger, "lea", one, other)
    merged, _, left = shown()
    assert merged["estimate"] > before["estimate"]
    assert (merged["low"], merged["high"]) == (before["low"], 1.0)  # errors can only have become fewer
    third = next(part for part in parts if part["class"] not in (one, other))
    assert third in left
    assert [part["estimate"] for part in left if part != third] == [None]
    assert knows_classes(project.state)
    undo_change(project.ledger, "lea")
    assert shown()[0] == before
    merge_class(project.ledger, "lea", one, other)
    label_a_round()
    last = project.state.rounds[-1]
    assert shown()[0] == last["accuracy"]
    assert last["accuracy"]["checked"] > before["checked"]
    assert last["accuracy"]["high"] - last["accuracy"]["low"] < 0.6  # draws before the merge still count
    assert knows_classes(project.state)
    undo_change(project.ledger, "lea")
    assert shown()[0] == last["accuracy"]  # as of the last round
    assert not knows_classes(project.state)


@pytest.mark.parametrize("strategy", ["aced", "margin"])
def test_a_merge_while_a_round_is_planned(tmp_path, strategy):
    """The round is recorded with the classes it was planned with; it and the next one repeat."""
    project, _ = labelled(tmp_path / "p", LETTERS[:4], strategy=strategy)
    brief = project.brief()
    planned = plan_round(project.pool, brief, threads=1)
    merge_class(project.ledger, "lea", LETTERS[3], LETTERS[0])
    assert project.record(brief, planned)
    assert project.state.rounds[-1]["classes"] == [0, 1, 2, 3]
    assert {project.names[draw.note["says"]] for draw in project.state.draws.values() if "says" in
            draw.note} <= set(project.classes)  # fmt: skip
    while items := project.give("ann"):
        project.answer("ann", items[0].row, "label", LETTERS[1])
    assert project.refill(threads=1)
    assert project.state.rounds[-1]["classes"] == [0, 1, 2]
    repeated = list(repeat_rounds(project.ledger, lambda: project.pool, threads=1))
    assert [one.differs for one in repeated] == [None] * len(project.state.rounds)


def test_a_lost_memory_is_made_again_across_a_change(tmp_path):
    found = []
    for lose in (False, True):
        project, _ = labelled(tmp_path / f"p{lose}", LETTERS[:4], strategy="aced")
        merge_class(project.ledger, "lea", LETTERS[3], LETTERS[0])
        if lose:
            (project.folder / MEMORY).unlink()
        assert project.refill(threads=1)
        found.append(list(project.state.draws))
    assert found[0] == found[1]
