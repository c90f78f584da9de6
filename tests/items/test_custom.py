import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from aced import InvalidInput
from aced.items import embed_with, read_items
from aced.items._items import row_items, text_items

CODE = """
def lengths(contents):
    return [[len(content), 1] for content in contents]

def sizes(paths):
    import os
    assert all(os.path.isabs(path) for path in paths)
    return [[os.path.getsize(path)] for path in paths]

def fails(contents):
    raise RuntimeError("out of luck\\nsecond line")

def short(contents):
    return [[1.0]]

def nan(contents):
    return [[float("nan")] for _ in contents]

number = 3
"""
TEXTS = text_items(["a", "bcd"], ["1", "2"])


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "my_features.py").write_text(CODE)
    (tmp_path / "broken_features.py").write_text("import nothing_of_that_name")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")  # forgets what import has cached
    yield
    sys.modules.pop("my_features", None)


def test_texts_rows_and_images(tmp_path):
    before = list(sys.path)
    assert embed_with("my_features:lengths", TEXTS).tolist() == [[1, 1], [3, 1]]
    assert embed_with("my_features:lengths", TEXTS).dtype == np.float32
    assert embed_with("my_features:lengths", row_items([{"n": 1}], ["1"], ["n"])).tolist() == [[1, 1]]
    folder = Path("pictures")
    folder.mkdir()
    Image.new("L", (3, 3)).save(folder / "a.png")
    sizes = embed_with("my_features:sizes", read_items(folder))
    assert sizes.tolist() == [[(folder / "a.png").stat().st_size]]
    assert sys.path == before


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("my_features", "module:function"),
        (":lengths", "module:function"),
        ("no_such_module:f", "no_such_module cannot be imported"),
        ("broken_features:f", "broken_features cannot be imported .*nothing_of_that_name"),
        ("my_features:none", "no function 'none'"),
        ("my_features:number", "no function 'number'"),
        ("my_features:fails", "failed with RuntimeError: out of luck$"),
        ("my_features:short", "1 rows for 2 items"),
        ("my_features:nan", "row 0, column 0 is NaN"),
    ],
)
def test_what_is_refused(function, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        embed_with(function, TEXTS)
    assert str(caught.value).startswith("embed: ")
    assert "\n" not in str(caught.value)
