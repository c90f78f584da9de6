"""Choosing among many classes by typing, stroke by stroke."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from aced.cli._keys import BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, UP
from aced.cli._typing import Said, Typed, from_line

NAMES = ["ant", "ape", "bear", "bee", "cat", "cow", "crow", "deer", "dog", "duck", "red deer", "swan"]


def after(*strokes: str, names: list[str] = NAMES, columns: int = 3) -> tuple[Said | None, Typed]:
    typed, said = Typed(names), None
    for stroke in strokes:
        assert said is None
        said = typed.take(stroke, columns)
    return said, typed


def test_enter_takes_what_is_marked_and_nothing_before_a_letter():
    assert after("b", "e", "e", ENTER)[0] == Said("bee")
    assert after("B", ENTER)[0] == Said("bear")
    said, typed = after(ENTER)
    assert said is None
    assert typed.marked is None
    assert after("x", ENTER)[0] is None


def test_enter_takes_the_class_whose_name_was_typed():
    assert after(*"red", ENTER, names=["reddish", "red", *NAMES])[0] == Said("red")
    kinds = [f"kind {number}" for number in range(30, 0, -1)]
    assert after(*"kind 1", ENTER, names=kinds)[0] == Said("kind 1")


def test_arrows_move_within_the_list():
    assert after("c", RIGHT, ENTER)[0] == Said("cow")
    assert after("c", RIGHT, RIGHT, RIGHT, LEFT, ENTER)[0] == Said("cow")
    assert after(DOWN, DOWN, ENTER)[0] == Said("bee")
    assert after(UP, ENTER)[0] == Said("swan")
    assert after("x", DOWN, ENTER)[0] is None


def test_digits_pick_from_the_list_shown():
    assert after("3")[0] == Said("bear")
    assert after("d", "2")[0] == Said("dog")
    assert after("d", "9")[0] is None
    numbered = [*NAMES, "type 2"]
    said, typed = after("t", "y", "p", "e", " ", "2", names=numbered)
    assert said is None
    assert typed.listed == ["type 2"]


def test_backspace_clears_a_letter_and_then_undoes_and_escape_clears_all():
    said, typed = after("c", "o", BACKSPACE)
    assert (said, typed.text) == (None, "c")
    assert after("c", BACKSPACE, BACKSPACE)[0] == Said(command="z")
    said, typed = after("c", "o", ESCAPE)
    assert (said, typed.text, typed.marked) == (None, "", None)


@pytest.mark.parametrize("letter", "suzwmq")
def test_commands_come_after_a_slash_and_never_without(letter: str):
    assert after("/", letter)[0] == Said(command=letter)
    assert after("/", letter.upper())[0] == Said(command=letter)
    assert after(letter)[0] is None


def test_a_slash_and_another_letter_do_nothing():
    said, typed = after("/", "x")
    assert (said, typed.text) == (None, "")


def test_what_is_shown_fits_and_marks_the_choice():
    names = [f"kind {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)]
    typed = Typed(names)
    console = Console(file=io.StringIO(), width=60, height=30, force_terminal=True)
    shown = typed.shown(console)
    assert max(len(line) for line in shown.plain.split("\n")) <= 60
    assert len(shown.plain.split("\n")) == typed.lines(console) + 1
    assert "more; type the first letters" in shown.plain
    for _ in range(30):
        typed.take(DOWN, typed.columns(console))
    assert names[-1] in typed.shown(console).plain  # the list follows the mark
    typed.take(ESCAPE)
    typed.take("ü")
    assert "no class begins like this" in typed.shown(console).plain


def test_lines_of_a_pipe():
    assert from_line("bee", NAMES) == Said("bee")
    assert from_line("BEE", NAMES) == Said("bee")
    assert from_line("deer", NAMES) == Said("deer")  # the name itself, though a word of another
    assert from_line("sw", NAMES) == Said("swan")
    assert from_line("b", NAMES) is None
    assert from_line("RED", ["reddish", "Red", *NAMES]) == Said("Red")
    assert from_line("kind 1", ["kind 10", "Kind 1"]) == Said("Kind 1")
    assert from_line("/s", NAMES) == Said(command="s")
    assert from_line("/x", NAMES) is None
