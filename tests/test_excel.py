"""The first sheet of a workbook: what its cells say, and what is refused."""

import datetime
import io
import sys
import zipfile

import openpyxl
import pytest

from aced import InvalidInput, _excel
from aced._tables import read_table


def written(path, *rows, more=()):
    """A workbook with these rows in its first sheet, and ``more`` in a second one."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for row in more:
        (book["Sheet2"] if "Sheet2" in book.sheetnames else book.create_sheet("Sheet2")).append(row)
    book.save(path)
    return path


def test_cells_are_what_people_see(tmp_path):
    moment = datetime.datetime(2024, 5, 6, 7, 8)
    row = ["text", 3, 2.5, True, datetime.datetime(2024, 5, 6), moment, datetime.time(7, 8)]
    table = read_table(written(tmp_path / "a.xlsx", list("abcdefg"), row), "file")
    assert table.columns == list("abcdefg")
    assert table.rows == [["text", 3, 2.5, True, "2024-05-06", "2024-05-06 07:08:00", "07:08:00"]]


def test_characters_that_xml_has_no_place_for_are_read(tmp_path):
    """Excel writes the end of a line of Windows so, and shows it as the end of a line."""
    path = written(tmp_path / "a.xlsx", ["text"], ["one_x000D_\ntwo"], ["_x005F_x000D_"])
    assert read_table(path, "file").rows == [["one\r\ntwo"], ["_x000D_"]]


def test_only_the_first_sheet_counts_and_empty_rows_and_columns_do_not(tmp_path):
    rows = [[None], ["id", " n ", None], ["x", None, " "], [None, "", None], ["y", 2]]
    table = read_table(written(tmp_path / "a.xlsx", *rows, more=[["other"]]), "file")
    assert table.columns == ["id", "n"]
    assert table.rows == [["x", None], ["y", 2]]
    assert table.places == ["row 3", "row 5"]  # as the sheet numbers them


def test_a_column_without_a_name_is_kept(tmp_path):
    table = read_table(written(tmp_path / "a.xlsx", ["id"], ["x", "more"], ["y"]), "file")
    assert table.columns == ["id", ""]
    assert table.rows == [["x", "more"], ["y", None]]


def test_a_sheet_that_says_it_is_smaller_is_read_to_its_end(tmp_path):
    path = written(tmp_path / "a.xlsx", ["n"], [1], [2])
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w") as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part).replace(b'ref="A1:A3"', b'ref="A1"'))
    path.write_bytes(packed.getvalue())
    assert [row for (row,) in read_table(path, "file").rows] == [1, 2]


def test_an_empty_sheet_has_no_rows(tmp_path):
    table = read_table(written(tmp_path / "a.xlsx"), "file")
    assert (table.columns, list(table.rows)) == ([], [])


@pytest.mark.parametrize("content", [b"", b"no workbook", b"PK\x03\x04"])
def test_what_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "a.xlsx").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"^file: a.xlsx is not a readable Excel workbook \("):
        read_table(tmp_path / "a.xlsx", "file")


def test_a_damaged_workbook_is_refused(tmp_path):
    path = written(tmp_path / "a.xlsx", ["n"], [1])
    with zipfile.ZipFile(path) as book:
        names = book.namelist()
    for lost in ("xl/workbook.xml", "xl/worksheets/sheet1.xml"):
        assert lost in names
        packed = io.BytesIO()
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w") as new:
            for part in old.infolist():
                new.writestr(part.filename, b"<not" if part.filename == lost else old.read(part))
        (tmp_path / "b.xlsx").write_bytes(packed.getvalue())
        with pytest.raises(InvalidInput, match=r"b.xlsx is not a readable Excel workbook") as caught:
            read_table(tmp_path / "b.xlsx", "file")
        assert "\n" not in str(caught.value)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_excel, "MOST_BYTES", 1000)
    with pytest.raises(InvalidInput, match=r"a.xlsx unpacks to 0.0 GiB, which is too large; save it as"):
        read_table(written(tmp_path / "a.xlsx", ["n"], [1]), "file")


@pytest.mark.parametrize(
    "claim", [b'<row r="99999999999"><c r="A99999999999"', b'<row r="2"><c r="ZZZ2"']
)
def test_a_sheet_that_claims_rows_without_end_is_refused_before_they_are_made(
    tmp_path, monkeypatch, claim
):
    monkeypatch.setattr(_excel, "MOST_CELLS", 10_000)
    path = written(tmp_path / "a.xlsx", ["n"], [1])
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w") as new:
        for part in old.infolist():
            new.writestr(part.filename, old.read(part).replace(b'<row r="2"><c r="A2"', claim))
    path.write_bytes(packed.getvalue())
    with pytest.raises(
        InvalidInput, match="it claims more rows and cells than a sheet that can be read"
    ):
        read_table(path, "file")


def test_without_openpyxl_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    path = written(tmp_path / "a.xlsx", ["n"], [1])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        InvalidInput, match=r"reading .xlsx files needs openpyxl; pip install 'aced\[exc"
    ):
        read_table(path, "items")
