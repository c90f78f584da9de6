import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import InvalidInput
from aced._tables import Table, check_distinct, read_table


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "separator"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")]
)
def test_a_row_is_placed_where_its_first_line_stands(tmp_path, name, separator):
    lines = [["x", " y "], ["1", '"two\nlines"'], [" ", ""], ["3", "4"]]
    text = "\n".join(separator.join(line) for line in lines)
    table = read_table(_written(tmp_path / name, text), "file")
    assert table.columns == ["x", "y"]
    assert list(table.lines()) == [
        ("line 2", {"x": "1", "y": "two\nlines"}),
        ("line 5", {"x": "3", "y": "4"}),
    ]


def test_lines_of_json_and_rows_of_parquet_are_placed_alike(tmp_path):
    rows = [{"x": 1, "y": [2]}, {"x": 3, "y": None}]
    path = _written(tmp_path / "a.jsonl", '{"x": 1, "y": [2]}\n\n{"x": 3}\n')
    assert list(read_table(path, "file").lines()) == [("line 1", rows[0]), ("line 3", rows[1])]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert list(read_table(tmp_path / "a.parquet", "file").lines()) == [
        ("row 1", rows[0]),
        ("row 2", rows[1]),
    ]


def test_two_columns_of_one_name_are_refused_in_parquet_too(tmp_path):
    pq.write_table(
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), tmp_path / "a.parquet"
    )
    with pytest.raises(InvalidInput, match=r"^file: a.parquet has more than one column 'x'"):
        read_table(tmp_path / "a.parquet", "file")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "utf-8"])
def test_a_byte_order_mark_names_the_encoding(tmp_path, encoding):
    """Excel writes its "Unicode text" in UTF-16, with tabs."""
    (tmp_path / "a.csv").write_bytes("ä\tb\r\nö\t☃\r\n".encode(encoding))
    assert list(read_table(tmp_path / "a.csv", "file").lines()) == [("line 2", {"ä": "ö", "b": "☃"})]
    (tmp_path / "a.jsonl").write_bytes('{"ä": "☃"}\n'.encode(encoding))
    assert list(read_table(tmp_path / "a.jsonl", "file").lines()) == [("line 1", {"ä": "☃"})]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\nc,ä\n".encode("latin-1"), "line 2 of a.csv is not UTF-8; save it as UTF-8"),
        ("a,b\nc,d\n".encode("utf-16-le"), "line 1 of a.csv holds a NUL character"),
        ("a,b\nc,ä\n".encode("utf-16-be"), "line 2 of a.csv is not UTF-8"),
        (b"a,b\nc,d\0\n", "line 2 of a.csv holds a NUL character; save it as a text in UTF-8"),
        ("a,b\n".encode("utf-16") + b"\0", "line 2 of a.csv is not UTF-16, as its first bytes say"),
    ],
)
def test_text_in_another_encoding_is_one_sentence(tmp_path, content, said):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_table(tmp_path / "a.csv", "file")


def test_text_that_is_no_text_is_refused_in_parquet_too(tmp_path):
    offsets, letters = pa.array([0, 2, 3], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfea")
    damaged = pa.Array.from_buffers(pa.string(), 2, [None, offsets, letters])
    pq.write_table(pa.table({"x": damaged}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match=r"^file: a.parquet is not a readable Parquet file"):
        read_table(tmp_path / "a.parquet", "file")


class Counted(str):
    """A name that counts how often it is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_names_of_columns_are_not_compared_pair_by_pair(tmp_path):
    names = [Counted(f"c{place}") for place in range(300)]
    check_distinct(names, tmp_path / "a.csv", "file")
    table = Table(names, [list(range(300))], ["line 1"])
    assert [table.column(Counted(f"c{place}")) for place in range(300)] == [
        [place] for place in range(300)
    ]
    assert Counted.compared < 300 * 10
