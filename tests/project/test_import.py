"""Labels made elsewhere: all of a file or nothing, once however often."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from aced import InvalidInput
from aced.ledger import replay
from aced.project import export_rows, import_labels, write_csv, write_jsonl, write_parquet
from tests.helpers import answer
from tests.project.places import make, votes


@pytest.fixture
def project(tmp_path):
    return make(tmp_path / "p")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def refused(project, path, match, **options):
    """One sentence, and the ledger is as it was."""
    before = project.state.digest()
    with pytest.raises(InvalidInput, match=match) as caught:
        import_labels(project, path, **options)
    assert "\n" not in str(caught.value)
    assert project.state.digest() == before


def test_csv_with_all_columns(project, tmp_path):
    path = write(
        tmp_path / "x.csv",
        "item,label,annotator,seconds,note\nt1,yes,ann,2.5,a\nt2,no,bob,,b\nt1,no,bob,1,c\n",
    )
    found = import_labels(project, path)
    assert (found.taken, found.known, found.people) == (3, 0, ["ann", "bob"])
    assert votes(project) == {1: {"ann": "yes", "bob": "no"}, 2: {"bob": "no"}}
    assert project.state.votes[1]["ann"].seconds == 2.5
    assert project.who_is("") is None  # new people have no token


def test_jsonl_and_parquet_and_a_column_called_id(project, tmp_path):
    lines = [{"id": "t1", "label": "yes"}, {"id": "t2", "label": "no", "seconds": 3}]
    one = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    assert import_labels(project, one, who="ann").taken == 2
    two = tmp_path / "y.parquet"
    pyarrow.parquet.write_table(pa.table({"id": ["t3"], "label": ["yes"], "seconds": [1.5]}), two)
    assert import_labels(project, two, who="ann").taken == 1
    assert votes(project) == {1: {"ann": "yes"}, 2: {"ann": "no"}, 3: {"ann": "yes"}}


LABEL_STUDIO = "aced_id,aced_row,annotation_id,annotator,created_at,id,label,lead_time,text,updated_at"


def test_label_studios_csv_names_items_by_aced_id(tmp_path):
    """Its column id is the number of the task; here every number is an item's id, too."""
    project = make(tmp_path / "p", ids=[str(i) for i in range(61)])
    given = [(row, "yes" if row % 2 else "no") for row in range(40)]
    lines = [
        f"{row},{row},{500 + row},{'ann@b.org' if row % 3 else 7},2021,{row + 3},{label},2.5,x,2021"
        for row, label in given
    ]
    path = write(tmp_path / "x.csv", "\n".join([LABEL_STUDIO, *lines]) + "\n")
    found = import_labels(project, path)
    assert (found.taken, found.people) == (40, ["label-studio 7", "ann@b.org"])
    assert {row: said for row, votes_of in votes(project).items() for said in votes_of.values()} == dict(
        given
    )
    assert {vote.seconds for said in project.state.votes.values() for vote in said.values()} == {2.5}


def test_aced_id_outranks_a_column_called_item_and_seconds_lead_time(project, tmp_path):
    path = write(tmp_path / "x.csv", "item,aced_id,label,seconds,lead_time\nt1,t2,yes,1,2\n")
    import_labels(project, path, who="ann")
    assert votes(project) == {2: {"ann": "yes"}}
    assert project.state.votes[2]["ann"].seconds == 1


def test_label_studios_csv_without_the_items_names_is_refused(tmp_path):
    project = make(tmp_path / "p", ids=[str(i) for i in range(61)])
    path = write(tmp_path / "x.csv", "annotation_id,annotator,id,label,lead_time\n9,1,3,yes,2.5\n")
    refused(project, path, "export of Label Studio without the column aced_id")
    named = write(tmp_path / "y.csv", "annotation_id,item,id,label,lead_time\n9,5,3,yes,2.5\n")
    import_labels(project, named)
    assert list(votes(project)) == [5]


def test_lines_that_label_studio_made_from_predictions_are_left_out(project, tmp_path):
    heading = "aced_id,annotation_id,annotator,label,lead_time,parent_prediction"
    lines = ["t1,1,7,yes,,12", "t2,2,7,no,0.0,12", "t3,3,7,no,2.5,12", "t4,4,7,yes,,"]
    path = write(tmp_path / "x.csv", "\n".join([heading, *lines]))
    for taken in (2, 0):
        found = import_labels(project, path)
        assert (found.taken, found.ignored) == (taken, 2)
    assert votes(project) == {3: {"label-studio 7": "no"}, 4: {"label-studio 7": "yes"}}


def test_nobody_named_is_called_import(project, tmp_path):
    import_labels(project, write(tmp_path / "x.csv", "item,label\nt1,yes\n"))
    assert votes(project) == {1: {"import": "yes"}}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_byte_order_mark_quotes_and_other_separators(project, tmp_path, separator):
    text = '\ufeffitem,note,label\r\nt1,"two\r\nlines ""quoted""",yes\r\n\r\nt2,,no\r\n'
    import_labels(project, write(tmp_path / "x.csv", text.replace(",", separator)), who="ann")
    assert votes(project) == {1: {"ann": "yes"}, 2: {"ann": "no"}}


def test_the_same_file_twice_changes_nothing_even_after_other_labels(project, tmp_path):
    path = write(tmp_path / "x.csv", "item,label\nt1,yes\nt2,no\n")
    import_labels(project, path, who="ann")
    before = project.state.digest()
    again = import_labels(project, path, who="ann")
    assert (again.taken, again.known) == (0, 2)
    assert project.state.digest() == before
    answer(project, "ann", 1, "label", "no")
    project.undo("ann")
    answer(project, "ann", 2, "label", "yes")
    before = project.state.digest()
    assert import_labels(project, path, who="ann").taken == 0
    assert project.state.digest() == before
    assert import_labels(project, path, who="bob").taken == 2  # somebody else's labels


def test_a_corrected_file_corrects_and_can_be_corrected_back(project, tmp_path):
    for number, label in enumerate(["yes", "no", "yes"]):
        path = write(tmp_path / f"{number}.csv", f"item,label,note\nt1,{label},{number}\n")
        assert import_labels(project, path, who="ann").taken == 1
        assert votes(project) == {1: {"ann": label}}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_export_comes_back_as_it_was(tmp_path, ending):
    """Ids, classes and names that an export must neutralise; another project and the same one."""
    options = {"ids": [f"={i}" for i in range(61)], "classes": ["-", "+"]}
    first, second = make(tmp_path / "a", **options), make(tmp_path / "b", **options)
    for name in ("@ann", "bob"):
        first.add_person(name)
        for row in range(0, 20, 2):
            label = "+" if row % 3 else "-"
            answer(first, name, row, "label", label, seconds=1.5)
    path = tmp_path / f"x.{ending}"
    {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}[ending](export_rows(first), path)
    assert import_labels(second, path).taken == 20
    assert votes(second) == votes(first)
    assert second.state.votes[2]["bob"].seconds == 1.5
    given = {
        kind: sum(e.kind == kind for e, _ in first.ledger.events()) for kind in ("label", "annotator")
    }
    assert import_labels(first, path).taken == 0
    for kind, count in given.items():
        assert sum(e.kind == kind for e, _ in first.ledger.events()) == count
    before = first.state.digest()
    assert import_labels(first, path).taken == 0
    assert first.state.digest() == before


def test_a_file_that_only_confirmed_a_label_does_not_set_it_back_later(tmp_path):
    project = make(tmp_path / "p")
    path = write(tmp_path / "x.csv", "item,label\nt1,yes\n")
    project.add_person("ann")
    answer(project, "ann", 1, "label", "yes")
    assert import_labels(project, path, who="ann").taken == 0
    answer(project, "ann", 1, "label", "no")
    assert import_labels(project, path, who="ann").taken == 0
    assert votes(project) == {1: {"ann": "no"}}


NASTY = [
    "=1", "'=1", "''=1", "'''=1", "+1", "'+1", "-", "'-", "@a", "'@a", "'", "''", "'a", "a'", "1", "'1",
    "\t=1", "'\t=1", "\r", "'\r", "a\rb", "a\nb", "a\r\nb", 'a"b', '"', '""', "a,b", "a;b", ",", "＝1",
    "'＝1", " =1", "= 1", "ä", "名前", "\u202e", "x" * 500,
]  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_ids_classes_and_names_survive_the_round_trip(tmp_path, ending):
    """Two ids that differ by an apostrophe stay two; so do two classes and two people."""
    ids = NASTY + [f"t{place}" for place in range(61 - len(NASTY))]
    options = {"ids": ids, "classes": ["=x", "'=x"]}
    first, second = make(tmp_path / "a", **options), make(tmp_path / "b", **options)
    for place, name in enumerate(["=ann", "'=ann", "bob"]):
        first.add_person(name)
        for row in range(len(NASTY)):
            answer(first, name, row, "label", options["classes"][(row + place) % 2])
    path = tmp_path / f"x.{ending}"
    {"jsonl": write_jsonl, "parquet": write_parquet}.get(ending, write_csv)(export_rows(first), path)
    if ending == "tsv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t").writerows(rows)
    assert import_labels(second, path).taken == 3 * len(NASTY)
    assert votes(second) == votes(first)


def test_what_somebody_wrote_by_hand_is_read_as_it_stands_if_there_is_no_other_reading(tmp_path):
    project = make(tmp_path / "p", ids=["'=1", "=2", *(f"t{place}" for place in range(59))])
    import_labels(project, write(tmp_path / "x.csv", "item,label\n'=1,yes\n=2,no\n"), who="ann")
    assert votes(project) == {0: {"ann": "yes"}, 1: {"ann": "no"}}


def test_an_apostrophe_of_ones_own_is_kept(tmp_path):
    project = make(tmp_path / "p", ids=["'=a", "=a", *[f"t{i}" for i in range(59)]])
    import_labels(project, write(tmp_path / "x.csv", "item,label\n''=a,yes\n"))
    assert list(votes(project)) == [0]
    import_labels(project, write(tmp_path / "x.jsonl", '{"item": "\'=a", "label": "no"}\n'))
    assert votes(project) == {0: {"import": "no"}}


def test_undrawn_items_count_as_labels_and_rounds_go_on(project, tmp_path):
    lines = "".join(f"t{i},{'yes' if i % 2 else 'no'}\n" for i in range(30))
    import_labels(project, write(tmp_path / "x.csv", f"item,label\n{lines}"), who="ann")
    assert project.classifier() is not None
    assert {row["draw_probability"] for row in export_rows(project)} == {None}
    while project.refill():
        for row in list(project.state.waiting):
            assert row >= 30  # what is labelled is not drawn
            answer(project, "ann", row, "label", "yes")
    assert len(project.state.labelled()) == 60
    assert not replay(project.ledger).problems


def test_all_labels_imported_leave_nothing_to_draw(project, tmp_path):
    lines = "".join(f"t{i},{'yes' if i % 2 else 'no'}\n" for i in range(60))
    import_labels(project, write(tmp_path / "x.csv", f"item,label\n{lines}"), who="ann")
    assert not project.refill()


def test_someone_who_was_revoked_stays_so(project, tmp_path):
    project.add_person("ann")
    project.revoke("ann")
    import_labels(project, write(tmp_path / "x.csv", "item,label,annotator\nt1,yes,ann\n"))
    assert votes(project) == {1: {"ann": "yes"}}
    assert not project.state.people["ann"].active


def test_repeated_lines_and_duplicate_items_count_once(project, tmp_path):
    path = write(tmp_path / "x.csv", "item,label\nt0,yes\nt60,yes\nt0,yes\n")
    assert import_labels(project, path, who="ann").taken == 1


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("item,label\nt1,yes\nt99,no\n", "line 3: there is no item 't99'"),
        ("item,label\nt1,maybe\n", "line 2: label must be one of no and yes, got 'maybe'"),
        ("item,label\nt1,yes\nt2,\n", "line 3: label is empty"),
        ("item,label\nt1,yes\nt2,no\nt1,no\n", "line 4 says 'no' where line 2 says 'yes'"),
        ("item,label\nt0,yes\nt60,no\n", "line 3 says 'no' where line 2 says 'yes'"),
        ("item,label,seconds\nt1,yes,-1\n", "line 2: seconds must be a number from 0 up"),
        ("item,label,seconds\nt1,yes,nan\n", "line 2: seconds"),
        ("item,label,seconds\nt1,yes,soon\n", "line 2: seconds"),
        (f"item,label,annotator\nt1,yes,{'x' * 65}\n", "line 2: annotator name must be 1 to 64"),
        ("item,label,annotator\nt1,yes,a\x1bb\n", "line 2: annotator name"),
        ("item,label\nt1,yes,extra\n", "line 2 of x.csv has 3 values for 2 columns"),
        ('item,label\n"t1\nx",yes\nt9,yes\nt1,"yes\n', r"line \d of x.csv cannot be read"),
        ('item,label,note\nt1,yes,"two\nlines"\nt99,no,\n', "line 4: there is no item"),
        ("item,label,label\nt1,yes,no\n", "more than one column 'label'"),
        ("thing,label\nt1,yes\n", "must have columns item .or id. and label; its columns are"),
        ("item,class\nt1,yes\n", "must have columns"),
        ("item,label\n", "has no labels"),
        ("", "has no labels"),
    ],
)
def test_what_is_wrong_in_a_csv_is_one_sentence_with_its_line(project, tmp_path, text, match):
    refused(project, write(tmp_path / "x.csv", text), match, who="ann")


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("[1]", "line 2 of x.jsonl is no JSON object"),
        ("{", "line 2 of x.jsonl is no JSON object"),
        ("[" * 100_000, "line 2 of x.jsonl is no JSON object"),
        ('{"item": "t2"}', "line 2: label is empty"),
        ('{"label": "yes"}', "line 2: there is no item ''"),
        ('{"item": {"a": 1}, "label": "yes"}', "line 2: there is no item"),
        ('{"item": "t2", "label": "yes", "seconds": true}', "line 2: seconds"),
        ('{"item": "t2", "label": "yes", "seconds": [1]}', "line 2: seconds"),
        ('{"item": "t2", "label": "yes", "seconds": 1e400}', "line 2: seconds"),
    ],
)
def test_what_is_wrong_in_json_lines(project, tmp_path, line, match):
    text = f'{{"item": "t1", "label": "yes"}}\n{line}\n'
    refused(project, write(tmp_path / "x.jsonl", text), match, who="ann")


def test_files_that_cannot_be_read(project, tmp_path):
    refused(project, tmp_path / "none.csv", "there is no file")
    refused(project, tmp_path, "is a folder; name a file")
    refused(project, write(tmp_path / "x.txt", "item,label\nt1,yes\n"), "must end in .csv")
    refused(project, write(tmp_path / "x.parquet", "item"), "not a readable Parquet file")
    (tmp_path / "x.csv").write_bytes(b"item,label\nt1,\xff\n")
    refused(project, tmp_path / "x.csv", "line 2 of x.csv is not UTF-8")


def test_a_format_by_name(project, tmp_path):
    import_labels(project, write(tmp_path / "x.txt", "item,label\nt1,yes\n"), who="ann", form="csv")
    assert votes(project) == {1: {"ann": "yes"}}


def test_long_cells_are_read_and_the_limit_is_put_back(project, tmp_path):
    limit = csv.field_size_limit()
    import_labels(project, write(tmp_path / "x.csv", f"item,label,text\nt1,yes,{'a' * 200_000}\n"))
    assert csv.field_size_limit() == limit
