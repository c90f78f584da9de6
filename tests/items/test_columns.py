"""Which columns of a table are learned from, which are shown, and which are left."""

import pytest

from aced import InvalidInput
from aced.items import read_items, reading_of

TABLE = (
    "title,abstract,url,year\n"
    "One,a rather long abstract,https://a,1\n"
    "Two,,https://b,2\n"
    ",yet another long abstract,https://c,3\n"
)


@pytest.fixture
def table(tmp_path):
    return written(tmp_path / "a.csv", TABLE)


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def refused(path, argument, *words, **options):
    with pytest.raises(InvalidInput) as caught:
        read_items(path, **options)
    assert caught.value.argument == argument
    for word in words:
        assert word in caught.value.sentence


def test_several_columns_make_one_text_and_empty_cells_make_no_gap(table):
    items = read_items(table, columns=["title", "abstract"])
    assert items.kind == "text"
    assert items.columns == ["title", "abstract"]
    assert items.contents == ["One\n\na rather long abstract", "Two", "yet another long abstract"]
    assert read_items(table, columns=["abstract,title"]).contents[0] == "a rather long abstract\n\nOne"


def test_columns_without_texts_are_the_features_of_rows(table):
    items = read_items(table, columns=["year", "url"])
    assert items.kind == "row"
    assert items.contents[0] == {"year": "1", "url": "https://a"}
    assert read_items(table, columns=["year", "url"], kind="text").contents[0] == "1\n\nhttps://a"
    assert read_items(table, columns=["title", "abstract"], kind="row").columns == ["title", "abstract"]


def test_what_is_shown_is_not_learned_from(table):
    items = read_items(table, column="title", show=["url", "year"])
    assert items.contents == ["One", "Two", ""]
    assert items.shown[1] == {"url": "https://b", "year": "2"}
    rows = read_items(table, kind="row", show=["url"])
    assert rows.columns == ["title", "abstract", "year"]
    assert rows.shown[0] == {"url": "https://a"}
    assert "url" not in rows.contents[0]


def test_items_that_differ_in_what_is_shown_are_not_the_same(tmp_path):
    path = written(tmp_path / "a.csv", "text,url\ntea,x\ntea,y\ntea,x\n")
    assert read_items(path).same_as.tolist() == [0, 0, 0]
    assert read_items(path, show=["url"]).same_as.tolist() == [0, 1, 0]
    assert read_items(path, kind="row", columns=["text"]).same_as.tolist() == [0, 0, 0]
    assert read_items(path, kind="row", columns=["text"], show=["url"]).same_as.tolist() == [0, 1, 0]


def test_columns_that_are_left_out_are_nowhere(table):
    items = read_items(table, exclude=["title,year"], label_column="url")
    assert (items.kind, items.columns, items.shown) == ("text", ["abstract"], None)
    rows = read_items(table, kind="row", exclude=["title", "year"], label_column="url")
    assert rows.columns == ["abstract"]


def test_an_id_that_is_left_out_names_nothing(tmp_path):
    path = written(tmp_path / "a.csv", "id,text\nx,a\nx,b\n")
    assert read_items(path, exclude=["id"]).ids == ["1", "2"]
    assert read_items(written(path, "id,text\nx,a\ny,b\n"), show=["id"]).shown[1] == {"id": "y"}


def test_a_name_with_a_comma_is_one_column_if_there_is_such_a_column(tmp_path):
    path = written(tmp_path / "a.csv", 'text,"a,b",a,b\nlong,1,2,3\n')
    assert read_items(path, show=["a,b"]).shown == [{"a,b": "1"}]
    assert read_items(path, show=["b,a"]).shown == [{"b": "3", "a": "2"}]


@pytest.mark.parametrize(
    ("header", "learned", "left"),
    [
        ("title,abstract", ["title"], ["abstract"]),
        ("one,two", ["one", "two"], ["one", "two"]),  # which one? Each row is an item
        ("title,year", ["title"], []),
        ("abstract,year", ["abstract"], []),
    ],
)
def test_columns_of_text_that_the_reader_leaves_are_known(tmp_path, header, learned, left):
    prose = "this is a rather long remark"
    second = "7" if "year" in header else prose
    source = read_items(written(tmp_path / "a.csv", f"{header}\n{prose},{second}\n")).source
    assert (source.learned, source.left, source.named) == (learned, left, False)


def test_names_that_cannot_be_used_are_refused(table, tmp_path):
    for argument, options in (
        ("columns", {"columns": ["title,body"]}),
        ("show", {"show": ["body"]}),
        ("exclude", {"exclude": ["body"]}),
        ("label_column", {"label_column": "body"}),
    ):
        refused(table, argument, "'body'", "title, abstract, url, year", **options)
    refused(table, "show", "'url' twice", show=["url", "url"])
    refused(table, "columns and show", "'url'", columns=["url"], show=["url"])
    refused(table, "columns and label_column", "'url'", columns=["url"], label_column="url")
    refused(table, "show and exclude", "'url'", show=["url"], exclude=["url"])
    refused(table, "id_column and exclude", "'url'", id_column="url", exclude=["url"])
    refused(table, "id_column and label_column", "'url'", id_column="url", label_column="url")
    refused(table, "column and columns", "both given", column="title", columns=["abstract"])
    every = ["title", "abstract", "url", "year"]
    refused(table, "items", "no other column to learn from", kind="row", show=every)
    refused(table, "items", "no other column", kind="row", exclude=every)
    (tmp_path / "images").mkdir()
    for options in ({"columns": ["x"]}, {"show": ["x"]}, {"exclude": ["x"]}, {"label_column": "x"}):
        refused(tmp_path / "images", "items", "no column 'x'", **options)


def before_of(path, **options):
    return reading_of(read_items(path, **options))


def test_another_file_is_read_as_the_first_one_was(table, tmp_path):
    named = {"columns": ["title", "abstract"], "show": ["url"], "id_column": "year"}
    before = before_of(table, **named, label_column=None)
    new = written(tmp_path / "new.csv", "abstract,year,title,body\nlong,9,New,no\n")
    items = read_items(new, kind="text", before=before)
    assert (items.ids, items.contents) == (["9"], ["New\n\nlong"])  # what is only shown may be missing
    assert read_items(new, kind="text", before=before, column="body").contents == ["no"]
    missing = written(tmp_path / "no.csv", "year,title\n9,New\n")
    refused(missing, "items", "'abstract'", "project's texts", "year, title", kind="text", before=before)
    missing.write_text("title,abstract\nNew,long\n")
    refused(missing, "items", "'year'", kind="text", before=before)


def test_a_guess_is_repeated_where_it_can_be(tmp_path):
    before = before_of(written(tmp_path / "a.csv", "remark,n\nthis is a rather long remark,1\n"))
    both = written(tmp_path / "b.csv", "text,remark\nx,y\n")
    assert read_items(both).columns == ["text"]
    assert read_items(both, kind="text", before=before).columns == ["remark"]
    other = written(tmp_path / "c.csv", "body,n\nx,1\n")
    assert read_items(other, kind="text", before=before).columns == ["body"]


def test_rows_take_the_columns_that_were_learned_from(tmp_path):
    path = written(tmp_path / "a.csv", "age,city,verdict,url\n1,Oslo,yes,x\n2,Rome,no,y\n")
    before = before_of(path, kind="row", label_column="verdict", show=["url"], exclude=["city"])
    new = written(tmp_path / "b.csv", "url,more,city,age\nz,1,Oslo,3\n")
    items = read_items(new, kind="row", before=before)
    assert (items.columns, items.contents, items.shown) == (["age"], [{"age": "3"}], None)


def test_a_table_of_before_such_choices_is_read_as_ever(table):
    assert read_items(table, kind="text", before={}).columns == ["title"]


def test_images_have_no_columns(tmp_path):
    from PIL import Image

    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    assert reading_of(read_items(tmp_path)) is None
