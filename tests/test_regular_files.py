"""A pipe or a device in the place of a file is refused at once; nobody waits for it."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

from aced import InvalidInput
from aced._tables import read_bytes, read_table
from aced.adapters import label_studio
from aced.bench import Records
from aced.datasets import load_dataset
from aced.items import features_from, read_items

LONG = 20
"""Seconds that tell a reader that waits for ever from one that answers."""


@pytest.fixture
def pipe(tmp_path):
    """A function that makes a pipe under a name. Its readers are let go at the end."""
    made: list[Path] = []

    def make(name):
        os.mkfifo(tmp_path / name)
        made.append(tmp_path / name)
        return made[-1]

    yield make
    for path in made:
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def answered(call, *arguments):
    """The sentence with which a call refuses, within some seconds."""
    said: list[str] = []

    def run():
        try:
            call(*arguments)
        except InvalidInput as error:
            said.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive(), "the reader waits"
    return said[0]


READERS = {
    "bytes.csv": lambda path: read_bytes(path, "file"),
    "table.csv": lambda path: read_table(path, "file"),
    "table.jsonl": lambda path: read_table(path, "file"),
    "table.parquet": lambda path: read_table(path, "file"),
    "items.csv": read_items,
    "items.parquet": read_items,
    "items.txt": read_items,
    "items.xlsx": read_items,
    "features.csv": lambda path: features_from(path, 3),
    "features.npy": lambda path: features_from(path, 3),
    "features.parquet": lambda path: features_from(path, 3),
    "data.csv": lambda path: load_dataset(str(path), label="y"),
    "data.npz": lambda path: load_dataset(str(path)),
    "data.parquet": lambda path: load_dataset(str(path), label="y"),
    "export.json": label_studio.load_export,
}


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_is_refused(pipe, name):
    assert "is a pipe or a device" in answered(READERS[name], pipe(name))


@pytest.mark.parametrize("name", ["bytes.csv", "items.csv", "features.csv", "data.csv", "export.json"])
def test_a_link_to_a_device_is_refused(tmp_path, name):
    (tmp_path / name).symlink_to(os.devnull)
    assert "is a pipe or a device" in answered(READERS[name], tmp_path / name)


def test_a_pipe_among_images_is_named(pipe, tmp_path):
    pipe("a.png")
    assert "a.png cannot be read as an image (no regular file)" in answered(read_items, tmp_path)


def test_a_pipe_in_the_place_of_records_is_refused(pipe, tmp_path):
    pipe("records.jsonl")
    assert "is a pipe or a device" in answered(Records, tmp_path)
