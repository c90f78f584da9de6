"""Files of predictions."""

from __future__ import annotations

import pytest

from aced import InvalidInput
from aced.items import read_predictions


def written(folder, text):
    path = folder / "said.csv"
    path.write_text(text)
    return path


def test_lines_are_matched_by_id(tmp_path):
    path = written(tmp_path, "id,label,confidence\nb,dog,0.5\na,cat,1\nc,ant,0\n")
    classes, sure = read_predictions(path, ["a", "b"])
    assert classes == ["cat", "dog"]
    assert sure.tolist() == [1.0, 0.5]


def test_a_file_without_ids_is_in_order(tmp_path):
    path = written(tmp_path, "Prediction\ncat\ndog\n")
    assert read_predictions(path, ["a", "b"]) == (["cat", "dog"], None)


def test_columns_may_be_named(tmp_path):
    path = written(tmp_path, "item,model,p,label\na,cat,0.25,x\n")
    classes, sure = read_predictions(path, ["a"], class_column="model", confidence_column="p")
    assert (classes, sure.tolist()) == (["cat"], [0.25])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,label\na,cat\n", "no line for item 'b'"),
        ("label\ncat\n", "1 rows and no column of ids, for 2 items"),
        ("id,label\na,cat\na,dog\nb,cat\n", "item 'a' is there twice"),
        ("id,label\na,\nb,cat\n", "item 'a' has no class"),
        ("id,label,confidence\na,cat,1.5\nb,cat,1\n", "from 0 to 1, got '1.5'"),
        ("id,label,confidence\na,cat,\nb,cat,1\n", "from 0 to 1, got ''"),
        ("id,what\na,cat\nb,cat\n", "name the column of classes, one of id, what"),
        ("id,label\n", "has no rows"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path, text, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        read_predictions(written(tmp_path, text), ["a", "b"])
    assert caught.value.argument == "predictions"


def test_a_column_that_is_not_there(tmp_path):
    path = written(tmp_path, "id,label\na,cat\n")
    with pytest.raises(InvalidInput, match="no column 'x'; it has id, label"):
        read_predictions(path, ["a"], class_column="x")
