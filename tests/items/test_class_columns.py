"""Columns that hold the names of the classes, or labels."""

import pytest

from aced.items import class_columns, labels_of, read_items


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["yes", "no", "yes"], True),
        (["Yes ", "", "NO"], True),  # spaces, case and empty cells make no difference
        (["yes", "maybe", "no"], False),
        (["", "", ""], False),
    ],
)
def test_a_column_whose_cells_are_all_names_of_classes_is_found(tmp_path, cells, found):
    path = tmp_path / "a.csv"
    path.write_text("n,said\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    assert class_columns(read_items(path), ["yes", "no"]) == (["said"] if found else [])


def test_columns_with_another_use_are_not_looked_at(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n,said,told\n1,yes,no\n2,no,yes\n")
    assert class_columns(read_items(path), ["yes", "no"]) == ["said", "told"]
    items = read_items(path, label_column="said", exclude=["told"])
    assert class_columns(items, ["yes", "no"]) == []
    assert labels_of(items) == ["yes", "no"]
    assert labels_of(read_items(path)) == ["", ""]
    assert class_columns(read_items(path, id_column="said"), ["yes", "no"]) == ["told"]
