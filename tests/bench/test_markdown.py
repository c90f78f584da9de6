"""What a record says is text in the report, and never the place of a file."""

from __future__ import annotations

from hypothesis import given, strategies as st

from aced.bench._markdown import LONGEST, file_name, plain


@given(st.lists(st.text(), max_size=5))
def test_names_of_files_are_short_distinct_and_name_no_folder(titles):
    taken: set[str] = set()
    names = [file_name(title, taken) for title in titles]
    assert len({name.lower() for name in names}) == len(titles)
    for name in names:
        assert name.isascii()
        assert name.replace("-", "").isalnum()
        assert len(name) <= LONGEST + 3


def test_usual_names_stay_as_they_are():
    assert [file_name(name, set()) for name in ("svhn", "svhn-c0", "breast")] == [
        "svhn",
        "svhn-c0",
        "breast",
    ]
    assert plain("iwal0 C0=0.1, least-confidence: +0.5 (p = 0.11)") == (
        "iwal0 C0=0.1, least-confidence: +0.5 (p = 0.11)"
    )


def test_markdown_shows_what_a_record_says_and_does_nothing_else():
    assert plain("a|b") == r"a\|b"
    assert plain("![x](http://y)\n\n# z") == r"\!\[x\](http://y) # z"
    assert plain("<script>&amp;") == r"\<script\>\&amp;"
