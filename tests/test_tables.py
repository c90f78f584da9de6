import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aced import InvalidInput
from aced._tables import read_table


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
