"""What pages are sent of an item."""

from __future__ import annotations

import pytest

from aced.project import Item
from aced.web import _views


def test_of_a_very_long_text_its_beginning_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_views, "FIRST", 4)
    text = Item(0, "x", "text", "abcdefgh")
    row = Item(0, "x", "row", {"a": "abcdefgh", "b": 5, "c": "abcd"})
    assert _views.item_view(text)["content"] == "abcd… (8 characters)"
    assert _views.item_view(row)["content"] == {"a": "abcd… (8 characters)", "b": 5, "c": "abcd"}


def test_what_is_shown_beside_an_item_is_sent_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_views, "FIRST", 4)
    item = Item(0, "x", "text", "abc", {"url": "abcdefgh", "year": 5})
    assert _views.item_view(item)["shown"] == {"url": "abcd… (8 characters)", "year": 5}
    assert "shown" not in _views.item_view(Item(0, "x", "text", "abc"))
