"""aced export and aced import: files, exit codes, one sentence."""

from __future__ import annotations

import csv
import json

import pytest

from aced.project import Project
from tests.adapters.test_label_studio import annotation, choice_of, exported
from tests.helpers import answer
from tests.project.places import make, votes


@pytest.fixture
def folder(tmp_path):
    project = make(tmp_path / "p")
    project.add_person("ann")
    for row in range(10):
        answer(project, "ann", row, "label", choice_of(row), seconds=1.5)
    project.close()
    return tmp_path / "p"


def read_votes(folder):
    project = Project(folder)
    found = votes(project)
    project.close()
    return found


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_out_of_one_project_and_into_another(call, folder, tmp_path, ending):
    make(tmp_path / "q").close()
    out = tmp_path / f"x.{ending}"
    code, said, _ = call("export", folder, "--out", out)
    assert (code, said.strip()) == (0, f"{out}: 11 labels")  # one is a duplicate's
    code, said, _ = call("import", tmp_path / "q", out)
    assert (code, said.strip()) == (0, "10 answers taken, 0 were known already; new annotators: ann")
    assert read_votes(tmp_path / "q") == read_votes(folder)
    code, said, _ = call("import", tmp_path / "q", out)
    assert (code, said.strip()) == (0, "0 answers taken, 10 were known already")


def test_a_format_by_name_and_standard_output(call, folder, tmp_path):
    code, said, _ = call("export", folder, "--out", "-")
    assert code == 0
    assert len(list(csv.DictReader(said.splitlines()))) == 11
    code, said, _ = call("export", folder, "--out", "-", "--format", "jsonl")
    assert [json.loads(line)["annotator"] for line in said.splitlines()] == ["ann"] * 11
    call("export", folder, "--out", tmp_path / "labels", "--format", "csv")
    assert (tmp_path / "labels").read_text().startswith("item,content,answer,label,")


def test_names_by_as(call, folder, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("id,label\nt20,yes\n")
    assert call("import", folder, path, "--as", "bob")[0] == 0
    assert read_votes(folder)[20] == {"bob": "yes"}


def test_label_studio_there_and_back(call, folder, tmp_path):
    out = tmp_path / "tasks.json"
    code, said, _ = call("export", folder, "--out", out, "--format", "label-studio", "--count", 4)
    assert code == 0
    assert "4 tasks" in said
    assert (tmp_path / "tasks.xml").read_text().startswith("<View>")
    tasks = json.loads(out.read_text())
    answers = [[annotation(i, "yes")] for i in range(len(tasks))]
    out.write_text(json.dumps(exported(tasks, answers)))
    code, said, _ = call("import", folder, out)
    assert (code, said.strip()) == (
        0,
        "4 answers taken, 0 were known already; new annotators: label-studio 1",
    )
    found = read_votes(folder)
    assert all(found[task["data"]["aced_row"]]["label-studio 1"] == "yes" for task in tasks)
    assert call("import", folder, out, "--format", "label-studio")[1].startswith("0 answers taken")


def test_import_says_how_many_annotations_no_person_made(call, folder, tmp_path):
    out = tmp_path / "tasks.json"
    call("export", folder, "--out", out, "--format", "label-studio", "--count", 4)
    tasks = json.loads(out.read_text())
    made = {"parent_prediction": 12, "lead_time": None}
    answers = [[annotation(i, "yes", **(made if i else {}))] for i in range(len(tasks))]
    out.write_text(json.dumps(exported(tasks, answers)))
    code, said, _ = call("import", folder, out)
    assert code == 0
    assert said.splitlines() == [
        "1 answer taken, 0 were known already; new annotators: label-studio 1",
        "3 annotations left out: made by predictions, not by people",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["export", "P", "--out", "T/x.json"], "must end in .csv, .jsonl or .parquet"),
        (["export", "P", "--out", "T/x"], "must end in"),
        (["export", "P", "--out", "T/none/x.csv"], "there is no folder"),
        (["export", "P", "--out", "T"], "must end in"),
        (["export", "P", "--out", "T", "--format", "csv"], "is a folder"),
        (["export", "T", "--out", "T/x.csv"], "is not a project"),
        (["export", "P", "--out", "T/x.csv", "--count", "3"], "--count is for --format label-studio"),
        (["export", "P", "--out", "T/x.xml", "--format", "label-studio"], "name a .json file"),
        (["export", "P", "--out", "T/x.j", "--format", "label-studio", "--count", "0"], "at least 1"),
        (["import", "P", "T/none.csv"], "there is no file"),
        (["import", "P", "T/bad.csv"], "line 3: there is no item 'zzz'"),
        (["import", "P", "T/bad.json"], "is not JSON"),
        (["import", "P", "T/bad.txt"], "must end in .csv"),
        (["import", "P", "T/bad.csv", "--format", "label-studio"], "is not JSON"),
        (["import", "P", "T/good.csv", "--as", "\x1b"], "line 2: annotator name must be"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(call, folder, tmp_path, arguments, words):
    for name in ("bad.csv", "bad.json", "bad.txt"):
        (tmp_path / name).write_text("item,label\nt11,yes\nzzz,no\n")
    (tmp_path / "good.csv").write_text("item,label\nt11,yes\n")
    before = read_votes(folder)
    names = {"P": str(folder), "T": str(tmp_path)}
    files = sorted(tmp_path.iterdir())
    code, out, err = call(*[names.get(a, a.replace("T/", f"{tmp_path}/")) for a in arguments])
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("aced: ")
    assert err.count("\n") == 1
    assert read_votes(folder) == before
    assert sorted(tmp_path.iterdir()) == files


def test_an_unknown_format_is_refused(call, folder, tmp_path):
    code, _, err = call("export", folder, "--out", tmp_path / "x.csv", "--format", "xls")
    assert code == 2
    assert "xls" in err


def test_fewer_tasks_than_asked_for_are_said_to_be_fewer(call, folder, tmp_path):
    out = tmp_path / "tasks.json"
    code, said, _ = call("export", folder, "--out", out, "--format", "label-studio", "--count", 5000)
    assert code == 0
    assert " of 5000: no other item is drawn and waits; " in said


def test_lines_that_cannot_be_used_are_left_out_and_listed(call, folder, tmp_path):
    path = tmp_path / "x.csv"
    lines = [f"t{row},{'yes' if row < 14 else 'maybe'}" for row in range(10, 30)]
    path.write_text("\n".join(["item,label", *lines, "t99,no"]) + "\n")
    code, out, err = call("import", folder, path)
    assert (code, out) == (2, "")
    assert "line 6: label must be one of no and yes, got 'maybe'" in err
    code, out, _ = call("import", folder, path, "--skip-bad")
    assert code == 0
    assert out.startswith("4 answers taken, 0 were known already; new annotators: import\n")
    assert "\n17 left out that cannot be used:\n  line 6: label must be one of no and yes" in out
    assert out.endswith("\n  and 5 more; --left-out FILE lists all of them\n")
    code, out, _ = call("import", folder, path, "--skip-bad", "--left-out", tmp_path / "left.txt")
    assert out.endswith(f"17 left out that cannot be used; {tmp_path / 'left.txt'} lists them\n")
    listed = (tmp_path / "left.txt").read_text().splitlines()
    assert len(listed) == 17
    assert listed[-1].startswith("line 22: there is no item 't99'")


def test_a_list_of_nothing_is_refused(call, folder, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("item,label\nt20,yes\n")
    code, _, err = call("import", folder, path, "--left-out", tmp_path / "left.txt")
    assert (code, err) == (
        2,
        "aced: --left-out needs --skip-bad, as it lists what that leaves out; pass both\n",
    )
    assert 20 not in read_votes(folder)
