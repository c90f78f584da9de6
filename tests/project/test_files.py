"""Items and features belong to the chain: what a label refers to cannot change unnoticed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from aced import InvalidInput
from aced._errors import Damaged
from aced.ledger import replay
from aced.project import FEATURES, ITEMS, LEDGER, Project, _files, export_rows
from tests.helpers import answer, filled, small_disk
from tests.project.places import make

BEFORE = Path(__file__).parents[1] / "data" / "before"


@pytest.fixture
def folder(tmp_path):
    project = make(tmp_path / "p")
    project.add_person("ann", token=False)
    for row in range(5):
        answer(project, "ann", row, "label", project.classes[row % 2])
    project.close()
    return tmp_path / "p"


def reverse_items(folder):
    """The same lines in another order: rows stay with ids, so only a hash shows it."""
    lines = [json.loads(line) for line in (folder / ITEMS).read_text().splitlines()]
    texts = [line["content"] for line in reversed(lines)]
    shown = [{**line, "content": text} for line, text in zip(lines, texts, strict=True)]
    (folder / ITEMS).write_text("".join(json.dumps(line) + "\n" for line in shown))


def cut_items(folder):
    lines = (folder / ITEMS).read_text().splitlines(keepends=True)
    (folder / ITEMS).write_text("".join(lines[: len(lines) // 3]))


def one_bit(folder):
    content = bytearray((folder / FEATURES).read_bytes())
    content[-1] ^= 1
    (folder / FEATURES).write_bytes(content)


def remove_items(folder):
    (folder / ITEMS).unlink()


def remove_features(folder):
    (folder / FEATURES).unlink()


def halve_features(folder):
    content = (folder / FEATURES).read_bytes()
    (folder / FEATURES).write_bytes(content[: len(content) // 2])


def pipe_of_items(folder):
    (folder / ITEMS).unlink()
    os.mkfifo(folder / ITEMS)


DAMAGES = [
    reverse_items, cut_items, one_bit, remove_items, remove_features, halve_features, pipe_of_items,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_changed_file_is_said_by_every_command(folder, damage, call):
    damage(folder)
    name = ITEMS if "items" in damage.__name__ else FEATURES
    with pytest.raises(Damaged, match=name):
        Project(folder)
    for words in (["status"], ["export", "--out", folder.parent / "out.csv"], ["label"], ["serve"]):
        code, out, err = call(words[0], folder, *words[1:])
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert name in err
        assert "restore" in err
    code, out, err = call("replay", folder)
    assert code == 1
    assert name in out
    assert not (folder.parent / "out.csv").exists()


def test_a_cut_ledger_is_said_by_every_command_and_the_loss_can_be_accepted(folder, call):
    import sqlite3

    base = sqlite3.connect(folder / LEDGER, isolation_level=None)
    base.execute("DROP TRIGGER events_remain")
    base.execute("DELETE FROM events WHERE seq > 8")
    base.close()
    for words in (["status"], ["export", "--out", "-"], ["label"], ["serve"]):
        code, out, err = call(words[0], folder, *words[1:])
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "events 9 to 12 were acknowledged" in err
        assert "--accept-loss" in err
    code, out, _ = call("replay", folder)
    assert code == 1
    assert "events 9 to 12 were acknowledged" in out
    assert call("replay", folder, "--accept-loss")[0] == 0
    code, out, _ = call("status", folder)
    assert code == 0
    assert "events 9 to 12" in " ".join(out.split())


def test_a_project_of_before_is_sealed_when_it_is_first_opened(tmp_path):
    folder = shutil.copytree(BEFORE / "project", tmp_path / "p")
    events = replay(folder / LEDGER).state.seq
    project = Project(folder)
    assert set(project.state.files) == {ITEMS, FEATURES}
    assert project.state.seq == events + 1
    project.close()
    Project(folder).close()
    found = replay(folder / LEDGER)
    assert found.problems == []
    assert found.state.seq == events + 1  # once
    reverse_items(folder)
    with pytest.raises(Damaged, match=ITEMS):
        Project(folder)


@pytest.mark.parametrize(
    "content", ["", "{", "[]\n", '{"id": "a"}\n', '{"id": 1, "row": 0, "content": ""}\n']
)
def test_a_project_of_before_with_damaged_items_is_not_sealed(tmp_path, content):
    folder = shutil.copytree(BEFORE / "project", tmp_path / "p")
    (folder / ITEMS).write_text(content)
    with pytest.raises(Damaged, match=ITEMS):
        Project(folder)
    assert replay(folder / LEDGER).state.files == {}


def test_a_large_file_is_read_again_only_if_it_looks_changed(folder, monkeypatch):
    monkeypatch.setattr(_files, "LARGE", 100)
    read = []
    plain = _files.hash_file
    monkeypatch.setattr(_files, "hash_file", lambda path: read.append(path.name) or plain(path))
    Project(folder).close()
    assert sorted(read) == [FEATURES, ITEMS]
    Project(folder).close()
    assert len(read) == 2
    os.utime(folder / FEATURES)
    Project(folder).close()
    assert read[2:] == [FEATURES]
    one_bit(folder)
    with pytest.raises(Damaged):
        Project(folder)
    _files.check_files(folder, {ITEMS: plain(folder / ITEMS)}, anew=True)
    assert read[-1] == ITEMS


def test_labels_come_out_with_the_items_they_were_given_for(folder):
    project = Project(folder)
    assert {row["item"]: row["content"] for row in export_rows(project)}["t3"] == "text 3"


def test_features_of_another_kind_are_refused(folder):
    np.save(folder / FEATURES, np.array([object()]), allow_pickle=True)
    with pytest.raises(InvalidInput, match="features"):
        Project(folder)


@pytest.mark.parametrize(
    "rows", [lambda row: 0, lambda row: -1 if row == 3 else row, lambda row: row + 1]
)
def test_a_project_of_before_whose_items_belong_to_other_rows_is_not_sealed(tmp_path, rows, call):
    folder = shutil.copytree(BEFORE / "project", tmp_path / "p")
    lines = [json.loads(line) for line in (folder / ITEMS).read_text().splitlines()]
    shown = [{**line, "row": rows(line["row"])} for line in lines]
    (folder / ITEMS).write_text("".join(json.dumps(line) + "\n" for line in shown))
    for _ in range(2):
        for words in (["status"], ["export", "--out", tmp_path / "out.csv"], ["replay"]):
            code, out, err = call(words[0], folder, *words[1:])
            assert code == 1
            assert ITEMS in out + err
    assert replay(folder / LEDGER).state.files == {}


def spoil_features(folder):
    rows = np.load(folder / FEATURES)
    rows[3, 1] = np.nan
    np.save(folder / FEATURES, rows)


@pytest.mark.parametrize("damage", [cut_items, remove_features, pipe_of_items, spoil_features])
def test_replay_says_of_a_project_of_before_what_an_opening_says(tmp_path, damage, call):
    folder = shutil.copytree(BEFORE / "project", tmp_path / "p")
    damage(folder)
    for command in ("replay", "status"):
        code, out, err = call(command, folder)
        assert code == 1
        assert (ITEMS if "items" in damage.__name__ else FEATURES) in out + err


def test_a_project_of_before_can_be_read_where_there_is_no_room_to_seal_it(tmp_path, call):
    with small_disk(tmp_path / "disk") as disk:
        folder = shutil.copytree(BEFORE / "project", disk / "p")
        for pages in (0, 8, 12, 16):
            with filled(disk, spare=4096 * pages):
                for words in (["status"], ["export", "--out", "-"], ["replay"]):
                    code, _, err = call(words[0], folder, *words[1:])
                    assert (code, err) == (0, "")
        assert call("status", folder)[0] == 0
        assert call("replay", folder)[0] == 0


@pytest.mark.parametrize("name", ["checked.json", "memory.npz", "ledger.snapshot"])
@pytest.mark.parametrize("make_it", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_folder_in_place_of_what_can_be_made_anew_stops_nobody(
    folder, name, make_it, monkeypatch
):
    monkeypatch.setattr(_files, "LARGE", 100)
    make_it(folder / name)
    project = Project(folder)
    project.ledger.keep_snapshot()
    assert project.refill(threads=1)
    assert project.give("ann")
    project.close()
    Project(folder).close()
