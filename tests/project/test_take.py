"""Labels that came with the items, and lines that an import leaves out."""

from __future__ import annotations

import pytest

from aced import InvalidInput
from aced.ledger import replay
from aced.project import (
    add_class,
    export_rows,
    import_labels,
    labels_by_row,
    progress,
    take_labels,
)
from tests.helpers import answer
from tests.project.places import make, votes


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "p")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# -- labels that came with the items ------------------------------------------------------


def test_labels_that_came_with_the_items_were_not_drawn(project, tmp_path):
    path = write(tmp_path / "items.csv", "whatever")
    given = {row: "yes" if row % 2 else "no" for row in range(30)}
    assert take_labels(project, given, path) == 30
    assert votes(project) == {row: {"import": label} for row, label in given.items()}
    assert {line["draw_probability"] for line in export_rows(project)} == {None}
    project.add_person("ann")
    for row in range(30):
        assert row not in project.state.draws
    project.refill()
    assert min(project.state.waiting) >= 30  # nobody is asked for what is known
    certain = progress(project)["accuracy"]
    assert certain["high"] - certain["low"] >= 0.5 - 1e-9  # nothing is known of the half without labels
    assert not replay(project.ledger).problems


def test_they_count_as_an_import_of_the_same_file(project, tmp_path):
    path = write(tmp_path / "x.csv", "item,label\nt1,yes\nt2,no\n")
    take_labels(project, {1: "yes", 2: "no"}, path)
    before = project.state.digest()
    assert import_labels(project, path).taken == 0
    assert project.state.digest() == before


def test_labels_are_matched_with_rows():
    rows, ids = [0, 1, 0], ["a", "b", "c"]
    assert labels_by_row(["yes", "", "yes"], rows, ids, ["no", "yes"]) == {0: "yes"}
    with pytest.raises(
        InvalidInput, match=r"item 'b' has the label 'maybe', and the classes are no and"
    ):
        labels_by_row(["yes", "maybe", ""], rows, ids, ["no", "yes"])
    with pytest.raises(InvalidInput, match=r"items 'a' and 'c' are the same, but have the labels 'yes'"):
        labels_by_row(["yes", "", "no"], rows, ids, ["no", "yes"])


# -- lines that are left out --------------------------------------------------------------

BAD = (
    "item,label,annotator\n"
    "t1,yes,ann\n"
    "t99,no,ann\n"
    "t2,maybe,ann\n"
    "t3,yes,ann\n"
    "t4,no,ann\n"
    "t3,no,ann\n"
    "t3,yes,bob\n"
)


def test_bad_lines_are_left_out_if_so_wished(project, tmp_path):
    path = write(tmp_path / "x.csv", BAD)
    with pytest.raises(InvalidInput, match="line 3: there is no item 't99'"):
        import_labels(project, path)
    assert votes(project) == {}
    found = import_labels(project, path, skip_bad=True)
    assert votes(project) == {1: {"ann": "yes"}, 3: {"bob": "yes"}, 4: {"ann": "no"}}
    assert (found.taken, found.known) == (3, 0)
    assert [line.split(",")[0].split(":")[0] for line in found.left] == [
        "line 3",
        "line 4",
        "line 5 says 'yes' where line 7 says 'no'",
        "line 7 says 'no' where line 5 says 'yes'",
    ]


def test_a_file_without_bad_lines_is_taken_as_ever(project, tmp_path):
    path = write(tmp_path / "x.csv", "item,label\nt1,yes\n")
    found = import_labels(project, path, skip_bad=True)
    assert (found.taken, list(found.left)) == (1, [])
    event = project.ledger.find(next(e.key for e, _ in project.ledger.events() if e.kind == "imported"))
    assert event.body == {"labels": 1}  # what it always was


def test_lines_that_were_left_out_are_taken_once_they_can_be(project, tmp_path):
    path = write(tmp_path / "x.csv", BAD)
    import_labels(project, path, skip_bad=True)
    answer(project, "ann", 1, "label", "no")  # changed by hand; the file does not change it back
    before = project.state.digest()
    assert import_labels(project, path, skip_bad=True).taken == 0
    assert project.state.digest() == before
    add_class(project.ledger, "ann", "maybe")
    found = import_labels(project, path, skip_bad=True)
    assert (found.taken, len(found.left)) == (1, 3)
    assert votes(project)[2] == {"ann": "maybe"}
    assert votes(project)[1] == {"ann": "no"}
    assert import_labels(project, path, skip_bad=True).taken == 0
    assert not replay(project.ledger).problems


def test_skips_and_unsures_are_taken_and_left_out_like_labels(project, tmp_path):
    lines = (
        "item,answer,label,annotator",
        "t1,skip,,ann",
        "t2,unsure,,ann",
        "t3,skip,,ann",
        "t3,unsure,,ann",
        "t4,skip,,ann",
        "t4,label,yes,ann",
        "t5,forgot,,ann",
        "t99,skip,,ann",
        "t6,label,no,ann",
    )
    path = write(tmp_path / "x.csv", "\n".join(lines))
    with pytest.raises(InvalidInput, match="line 8: "):
        import_labels(project, path)
    project.add_person("ann")
    answer(project, "ann", 1, "label", "yes")  # a skip takes no label away
    found = import_labels(project, path, skip_bad=True)
    assert (found.taken, found.known) == (2, 1)
    assert votes(project) == {1: {"ann": "yes"}, 6: {"ann": "no"}}
    assert {row: said for row, said in project.state.passed.items() if said} == {2: {"ann": "unsure"}}
    assert [line.split(",")[0].split(":")[0] for line in found.left] == [
        "line 4 says skip where line 5 says unsure",
        "line 5 says unsure where line 4 says skip",
        "line 6 says skip where line 7 says 'yes'",
        "line 7 says 'yes' where line 6 says skip",
        "line 8",
        "line 9",
    ]
    assert import_labels(project, path, skip_bad=True).taken == 0
    assert not replay(project.ledger).problems
