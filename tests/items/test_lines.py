"""Files with a text on each line."""

import pytest

from aced import InvalidInput
from aced.items import read_items, reading_of


def test_each_line_is_a_text_and_its_number_the_id(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffone, two\r\n\r\n  three \r\n\t\r\nüvier\r\none, two".encode())
    items = read_items(path)
    assert items.kind == "text"
    assert items.contents == ["one, two", "three", "üvier", "one, two"]
    assert items.ids == ["1", "3", "5", "6"]
    assert items.same_as.tolist() == [0, 1, 2, 0]
    assert items.blank == 2
    assert (items.columns, reading_of(items)) == (None, None)


@pytest.mark.parametrize(("end", "blank"), [("", 0), ("\n", 0), ("\n\n", 1)])
def test_the_end_of_the_last_line_is_no_blank_line(tmp_path, end, blank):
    (tmp_path / "a.txt").write_text(f"one\ntwo{end}")
    assert read_items(tmp_path / "a.txt").blank == blank


def test_only_ends_of_lines_part_texts(tmp_path):
    (tmp_path / "a.txt").write_text("one\u2028still\x0bone\rtwo", newline="")
    assert len(read_items(tmp_path / "a.txt")) == 2


def test_what_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    for content, options, said in (
        (b"", {}, "a.txt holds no text; write one item on each line"),
        (b" \n\n", {}, "holds no text"),
        (b"caf\xe9\n", {}, "line 1 of a.txt is not UTF-8"),
        (b"a\0b\n", {}, "NUL character"),
        (b"one\n", {"column": "text"}, "has no column 'text'; leave it out"),
        (b"one\n", {"show": ["url"]}, "has no column 'url'"),
        (b"one\n", {"kind": "row"}, "a row comes from a table"),
        (b"one\n", {"kind": "image"}, "images are read from a folder"),
    ):
        path.write_bytes(content)
        with pytest.raises(InvalidInput) as caught:
            read_items(path, **options)
        assert caught.value.argument == "items"
        assert said in caught.value.sentence


def test_a_project_of_a_table_reads_new_lines(tmp_path):
    """A text is a text: lines have no columns to be missing."""
    (tmp_path / "a.csv").write_text("title,abstract\none,two\n")
    before = reading_of(read_items(tmp_path / "a.csv", columns=["title", "abstract"]))
    (tmp_path / "b.txt").write_text("three\n")
    assert read_items(tmp_path / "b.txt", kind="text", before=before).contents == ["three"]
