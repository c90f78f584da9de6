import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import InvalidInput
from aced.items import Items, _read, read_items
from aced.items._items import text_items


def _write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def _refused(path, *words, **options):
    with pytest.raises(InvalidInput) as caught:
        read_items(path, **options)
    said = str(caught.value)
    assert said.startswith("items: ")
    assert "\n" not in said
    for word in words:
        assert word in said
    return said


def test_texts_of_a_csv_with_ids_and_a_byte_order_mark(tmp_path):
    path = _write(tmp_path / "a.csv", '\ufeffid,text,stars\r\nx,"one, two\nthree",5\r\ny,four,4\r\n')
    items = read_items(path)
    assert items.kind == "text"
    assert items.ids == ["x", "y"]
    assert items.contents == ["one, two\nthree", "four"]
    assert items.columns == ["text"]
    assert items.root is None
    assert len(items) == 2


def test_duplicate_texts_are_shown_once(tmp_path):
    path = _write(tmp_path / "a.csv", "text\ncafé\ntea\n cafe\u0301 \ntea\n")
    items = read_items(path)
    assert items.ids == ["1", "2", "3", "4"]
    assert items.same_as.tolist() == [0, 1, 0, 1]
    assert items.firsts.tolist() == [0, 1]
    assert items.duplicates == 2
    assert items.contents[2] == " cafe\u0301 "  # shown as it was given


def test_rows_of_a_tsv(tmp_path):
    path = _write(tmp_path / "a.tsv", "age\tcity\n31\tOslo\n\tBergen\n31\tOslo\n")
    items = read_items(path)
    assert items.kind == "row"
    assert items.contents[1] == {"age": "", "city": "Bergen"}
    assert list(items.contents[0]) == items.columns == ["age", "city"]
    assert items.same_as.tolist() == [0, 1, 0]


def test_semicolons_blank_lines_and_unnamed_columns(tmp_path):
    path = _write(tmp_path / "a.csv", ";age;city\n\n0;31;Oslo\n;;\n1;32;Rome\n")
    items = read_items(path)
    assert items.columns == ["column 1", "age", "city"]
    assert len(items) == 2


def test_lines_of_json(tmp_path):
    records = [{"id": 7, "review": "good"}, {"id": 8, "review": None, "extra": [1, 2]}]
    path = _write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, records)) + "\n\n")
    items = read_items(path)
    assert items.ids == ["7", "8"]
    assert items.contents == ["good", ""]
    rows = read_items(path, kind="row")
    assert rows.contents == [{"review": "good", "extra": None}, {"review": None, "extra": "[1, 2]"}]


def test_half_a_surrogate_pair_can_be_written_out(tmp_path):
    path = _write(tmp_path / "a.jsonl", '{"text": "a\\ud800b"}\n')
    assert read_items(path).contents == ["a?b"]


def test_a_parquet_column(tmp_path):
    pq.write_table(pa.table({"doc": ["a b", None], "n": [1, 2]}), tmp_path / "a.parquet")
    items = read_items(tmp_path / "a.parquet", column="doc", id_column="n")
    assert items.ids == ["1", "2"]
    assert items.contents == ["a b", ""]
    assert read_items(tmp_path / "a.parquet").kind == "row"


def test_bytes_in_parquet_are_refused(tmp_path):
    for value in (b"png", {"bytes": b"png"}):
        pq.write_table(pa.table({"picture": [value]}), tmp_path / "a.parquet")
        _refused(tmp_path / "a.parquet", "'picture'", "bytes", "folder")


@pytest.mark.parametrize(
    ("header", "cells", "column"),
    [
        ("title,Body", ["a,b", "c,d"], "Body"),  # by name, in the order of preference
        ("name,remark", ["x,this is a rather long remark", "y,and so is this one here"], "remark"),
        ("one,two", ["this is a rather long remark,and so is this one here"], None),  # which one?
        ("when,n", ["2024-01-01T00:00:00.000+00:00,1"], None),  # long, yet nothing to read
        ("url,remark", ["https://example.org/a/b/c/d,a remark of some length it is"], "remark"),
        ("text,n", ["1,2", "3,4"], None),  # a column of numbers is no text, whatever its name
        ("word", ["yes", "no"], "word"),  # the only column
        ("id,word", ["1,yes", "2,no"], "word"),
        ("n", ["1", "2"], None),
    ],
)
def test_the_obvious_text_column(tmp_path, header, cells, column):
    items = read_items(_write(tmp_path / "a.csv", "\n".join([header, *cells])))
    assert (items.kind, items.columns if column else None) == (
        ("text", [column]) if column else ("row", None)
    )


def test_column_and_kind_overrule(tmp_path):
    path = _write(tmp_path / "a.csv", "text,tag\nlong,x\n")
    assert read_items(path, column="tag").contents == ["x"]
    assert read_items(path, kind="row").contents == [{"text": "long", "tag": "x"}]
    assert read_items(path, kind="text").contents == ["long"]


def test_a_long_document_fits_in_a_cell(tmp_path):
    path = _write(tmp_path / "a.csv", "text\n" + "word " * 40_000)
    assert len(read_items(path).contents[0]) == 200_000


def test_what_is_refused(tmp_path):
    _refused(tmp_path / "none.csv", "no file or folder")
    _refused(_write(tmp_path / "a.docx", "x"), "a.docx", ".csv")
    _refused(_write(tmp_path / "a.csv", " \n"), "a.csv is empty")
    _refused(_write(tmp_path / "a.csv", "text\n"), "no rows")
    _refused(_write(tmp_path / "a.csv", "a,b\n1,2\n3\n"), "line 3", "1 values", "2")
    _refused(_write(tmp_path / "a.csv", 'a,b\n1,"2\n3,4\n'), "quotes")
    _refused(_write(tmp_path / "a.csv", "a,a\n1,2\n"), "more than one column 'a'")
    _refused(_write(tmp_path / "a.csv", "1,2\n3,4\n"), "first line", "names")
    _refused(_write(tmp_path / "a.csv", "text\nok\ncafé\n", "latin-1"), "line 3", "not UTF-8")
    _refused(_write(tmp_path / "a.csv", "id,text\nx,a\nx,b\n"), "'x'", "items 1 and 2")
    _refused(_write(tmp_path / "a.csv", "id,text\nx,a\n,b\n"), "row 2", "'id'")
    _refused(_write(tmp_path / "a.csv", "id\nx\n"), "no other column")
    good = _write(tmp_path / "a.csv", "alpha,beta\n1,2\n")
    _refused(good, "'gamma'", "alpha, beta", column="gamma")
    _refused(good, "'gamma'", "alpha, beta", id_column="gamma")
    _refused(good, "'poem'", "text, image, row", kind="poem")
    _refused(good, "folder", kind="image")
    _refused(good, "alpha, beta", kind="text")
    _refused(good, "'alpha'", kind="row", column="alpha")
    _refused(_write(tmp_path / "a.jsonl", '{"a": 1}\n[1]\n'), "line 2")
    _refused(_write(tmp_path / "a.jsonl", '{"a": 1}\n{"a": \n'), "line 2")
    _refused(_write(tmp_path / "a.parquet", "x"), "Parquet")


def test_items_made_by_hand_are_checked():
    with pytest.raises(InvalidInput, match="no items"):
        text_items([], [])
    with pytest.raises(InvalidInput, match="2 ids, 1 contents"):
        text_items(["a"], ["1", "2"])
    one = text_items(["a"], ["1"])
    with pytest.raises(InvalidInput, match="root"):
        Items("image", one.ids, one.contents, None, None, one.same_as)
    with pytest.raises(InvalidInput, match="1 ids and 2 values of shown"):
        text_items(["a"], ["1"], shown=[{}, {}])
    with pytest.raises(InvalidInput, match="unknown"):
        Items("poem", one.ids, one.contents, None, None, one.same_as)


def test_a_nul_character_is_refused_in_every_format(tmp_path):
    path = _write(tmp_path / "a.jsonl", '{"text": "a\\u0000b"}\n')
    with pytest.raises(InvalidInput, match=r"column 'text' of a.jsonl holds a NUL character; remove it"):
        read_items(path)


def test_many_columns_are_refused_at_once_and_read_if_one_holds_the_texts(tmp_path):
    names = [f"c{place}" for place in range(_read.MOST_COLUMNS)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(",".join([*names, "last"]) for _ in range(2)))
    with pytest.raises(InvalidInput, match=r"a.csv has 10001 columns, and people can be shown 10000"):
        read_items(path)
    assert read_items(path, column="last").contents == ["last"]
    path.write_text("\n".join(",".join(names) for _ in range(2)))
    assert len(read_items(path).columns) == _read.MOST_COLUMNS
