"""aced label with a real terminal (a pty) and with a pipe."""

from __future__ import annotations

import codecs
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import tty
from dataclasses import dataclass
from fcntl import ioctl

import numpy as np
import pytest
from rich.console import Console

from aced import _preview
from aced.cli import _keys, _show, main
from aced.cli._key_list import key_line
from aced.cli._keys import LEFT, Terminal
from aced.cli._show import opinion, show_item, why
from aced.ledger import Draw, replay
from aced.project import LEDGER, Item, Project, class_keys, merge_class, rename_class
from tests import warm
from tests.helpers import blobs

COMMAND = [sys.executable, "-c", "from aced.cli import main; main()", "label"]
PATIENCE = 60.0
FIVE = ("cat", "cow", "dog", "sheep", "goat")
TWELVE = ("ant", "ape", "bear", "bee", "cat", "cow", "deer", "dog", "duck", "red deer", "swan", "Ärger")


def make(folder, n=60, contents=None, kind="text", classes=("good", "bad"), **options):
    rows, _ = blobs(n, 4)
    contents = [f"text {i} of the pool" for i in range(n)] if contents is None else contents
    project = Project.create(
        folder,
        ids=[f"i{i}" for i in range(n)],
        contents=contents,
        kind=kind,
        features=rows,
        classes=classes,
        **{"batch": 10, **options},
    )
    project.close()
    return folder


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def piped(monkeypatch, capsys):
    """aced label with these answers on a standard input that is no terminal."""

    def run(folder, answers, *options):
        monkeypatch.setattr(sys, "argv", ["aced", "label", str(folder), *options])
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        return Done(code, *capsys.readouterr())

    return run


def given(folder):
    """The answers in the order given, those undone left out."""
    project = Project(folder)
    state, names = project.state, project.classes
    kept = [(seq, *state.given[seq]) for seq in sorted(state.given) if seq not in state.undone]
    return [names[state.votes[row][who].code] if kind == "label" else kind for _, kind, row, who in kept]


class Screen:
    """aced label on a pty: what it writes, read until some words appear."""

    def __init__(self, folder, *options, rows=24, columns=80):
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            environment.pop(name, None)
        name = os.ttyname(slave)
        self.process = warm.start((name, name, name), environment, "label", folder, *options)
        self.letters = codecs.getincrementaldecoder("utf-8")()
        self.raw = ""
        self.seen = 0

    def until(self, words):
        """What was written since the last call, up to ``words`` and the end of that screen."""
        end = time.monotonic() + PATIENCE
        while words not in plain(self.raw[self.seen :]):
            assert time.monotonic() < end, plain(self.raw[self.seen :])
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.raw += self.letters.decode(os.read(self.master, 65536))
                except OSError:  # the program has ended and let the terminal go
                    break
            elif not self.process.is_alive():
                break
        found = plain(self.raw[self.seen :])
        assert words in found, found
        self.seen = len(self.raw)
        return found

    def resize(self, rows, columns):
        """What a terminal does when its window gets another size."""
        ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Exit code, once everything that was written has been read."""
        limit = time.monotonic() + PATIENCE
        while self.process.is_alive():
            assert time.monotonic() < limit, plain(self.raw[self.seen :])
            if select.select([self.master], [], [], 0.05)[0]:
                self.raw += self.letters.decode(os.read(self.master, 65536))
        while select.select([self.master], [], [], 0.05)[0]:
            self.raw += self.letters.decode(os.read(self.master, 65536))
        return self.process.exitcode

    def close(self):
        self.process.kill()
        self.process.join()
        self.process.close()
        os.close(self.master)
        os.close(self.slave)


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@pytest.fixture
def screen(request):
    opened = []

    def show(folder, *options, **size):
        opened.append(Screen(folder, *options, **size))
        return opened[-1]

    yield show
    for one in opened:
        one.close()


# -- a terminal ---------------------------------------------------------------------


def test_keys_label_skip_and_undo(screen, tmp_path):
    shown = screen(make(tmp_path / "p"), "--as", "ann")
    first = shown.until("q quit")
    assert "0 of 60 labelled" in first
    assert "1 or g good   2 or b bad" in first
    time.sleep(0.2)
    shown.type("1")
    assert "1 of 60 labelled" in shown.until("good\r\n")
    shown.type("b")
    shown.until(": bad")
    shown.type("s")
    shown.until(": skip")
    shown.type("u")
    shown.until(": unsure")
    shown.type("z")
    shown.until("Undone.")
    shown.type("2")
    shown.until("3 of 60 labelled")
    shown.type("w")
    assert "drawn with probability" in shown.until("Round 1")
    shown.type("q")
    assert shown.end() == 0
    assert "4 answers saved" in plain(shown.raw)
    assert given(tmp_path / "p") == ["good", "bad", "skip", "bad"]
    votes = [vote for row in Project(tmp_path / "p").state.votes.values() for vote in row.values()]
    assert min(vote.seconds for vote in votes) > 0
    assert max(vote.seconds for vote in votes) >= 0.2
    assert replay(tmp_path / "p" / LEDGER).problems == []


def test_undo_brings_the_same_item_back(screen, tmp_path):
    shown = screen(make(tmp_path / "p"))
    text = re.search(r"text \d+", shown.until("q quit"))[0]
    shown.type("1")
    shown.until("1 of 60 labelled")
    shown.type("z")
    assert text + " of" in shown.until("Undone.")
    shown.type("z")
    assert text + " of" in shown.until("Nothing to undo.")


def test_other_keys_are_no_answers(screen, tmp_path):
    shown = screen(make(tmp_path / "p"))
    shown.until("q quit")
    for keys in ("\x1b[A\x1bOBx", "\t", "\x1b[3~x"):  # arrows, delete, a letter, a tab
        shown.type(keys)
        shown.until("q quit")
    shown.type("1")
    shown.until("1 of 60 labelled")
    shown.type("q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["good"]


def test_of_two_classes_arrows_f_and_j_are_the_first_and_the_second(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=("spam", "ham")))
    assert "1 or s spam   2 or h ham   /s skip" in shown.until("q quit")
    pressed = [("\x1b[D", "spam"), ("j", "ham"), ("F", "spam"), ("\x1bOC", "ham"), ("\x1b[C", "ham")]
    for number, (key, name) in enumerate(pressed, 1):
        shown.type(key)
        assert f"{number} of 60 labelled" in shown.until(f": {name}")
    for keys in (
        "\x1b[1;5Dx",
        "\x1bj\t",
        "\x1b[Ax",
    ):  # an arrow with Ctrl, a letter with Alt, an arrow up
        shown.type(keys)
        assert "5 of 60 labelled" in shown.until("q quit")
    shown.type("\x7f")  # backspace undoes, as on the page
    shown.until("Undone.")
    shown.type("q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == [name for _, name in pressed[:-1]]


def test_the_list_of_keys_is_named_where_it_can_be_had():
    """A pipe has no ``?``."""
    assert "? keys" in key_line({"1": "good", "2": "bad"}, True).plain
    assert "?" not in key_line({"1": "good", "2": "bad"}, False).plain


def test_an_arrow_whose_bytes_come_apart_is_one_key(monkeypatch):
    monkeypatch.setattr(_keys, "REST", 10.0)
    master, slave = pty.openpty()
    tty.setcbreak(slave)
    late = threading.Timer(0.1, os.write, (master, b"D"))
    late.start()
    os.write(master, b"\x1b[")
    with os.fdopen(slave) as stream:
        assert Terminal(stream).read() == LEFT
    late.join()
    os.close(master)


def test_another_size_is_drawn_at_once(screen, tmp_path):
    text = "\n".join(f"line {i}" for i in range(40))
    shown = screen(make(tmp_path / "p", contents=[text] * 60), rows=20)
    shown.until("q quit")
    shown.type("w")
    shown.until("Round 1")
    shown.resize(29, 60)
    found = shown.until("Round 1")  # what was said of the item stays
    assert "page 1 of 2, m for more" in found
    assert max(len(line) for line in found.split("\r\n")) == 60
    shown.type("1")
    shown.until("1 of 60 labelled")
    os.kill(shown.process.pid, signal.SIGCONT)  # a shell has written over it meanwhile
    shown.until("1 of 60 labelled")


def test_another_size_keeps_what_was_typed(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=TWELVE, strategy="passive"))
    shown.until("swan")
    shown.type("du")
    shown.until("> du_")
    shown.resize(30, 50)
    shown.until("> du_")
    shown.type("\r")
    shown.until(": duck")


def test_all_keys_are_shown_and_the_next_key_is_no_answer(screen, tmp_path):
    shown = screen(make(tmp_path / "p"), rows=9)
    text = re.search(r"text \d+", shown.until("q quit"))[0]
    shown.type("?")
    found = shown.until("any key for more")
    assert re.search(r"1 g ← f +good\s+2 b → j +bad\s+s +skip: I should not label this item", found)
    assert text not in found
    shown.resize(24, 80)
    assert re.search(r"m +the next page of a long item", shown.until("any key goes back"))
    shown.type("1")
    found = shown.until("q quit")
    assert text + " of" in found
    assert "0 of 60 labelled" in found


def test_all_keys_are_shown_where_classes_are_typed(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=TWELVE, strategy="passive"))
    shown.until("swan")
    shown.type("?")
    found = shown.until("any key goes back")
    assert re.search(r"Enter +take the class that is marked in the list", found)
    assert re.search(r"1 … 9 +take the class with this number", found)
    assert re.search(r"/z +undo the last answer", found)
    shown.type("5")
    assert "0 of 60 labelled" in shown.until("swan")
    shown.type("d?")  # now it is typed
    shown.until("no class begins like this")


@pytest.mark.parametrize("classes", [("good", "bad"), TWELVE])
def test_why_an_item_is_shown_without_the_guess_which_comes_when_asked_for(screen, tmp_path, classes):
    project = Project(make(tmp_path / "p", classes=classes, strategy="margin"))
    project.add_person("ann", "lead", token=False)
    for number in range(10):  # with the labels of the first round there is a classifier
        project.refill()
        project.answer("ann", project.give("ann")[0].row, "label", classes[number % 2])
    project.refill()
    project.close()
    shown = screen(tmp_path / "p", "--as", "ann")
    key = "w" if len(classes) == 2 else "/w"
    shown.until("q quit")
    shown.type(key)
    found = shown.until("what the classifier says.")
    assert "drawn with probability" in found
    assert f"{key} again shows" in found
    assert "The classifier" not in found
    shown.type(key)
    assert re.search(r"The classifier says \w+ with \d+", shown.until(" %.").replace("\r\n", " "))


def test_what_classifiers_say_is_no_part_of_why():
    note = {"lam": 3.0, "says": 1, "sure": 0.8, "incumbent": 0, "separates": 5, "of": 64}
    draw = Draw(2, 0.25, False, note)
    told = why(draw).plain
    assert "5 of 64 rival classifiers" in told
    assert "good" not in told
    assert "bad" not in told
    assert opinion(draw, ["good", "bad"]).plain == (
        "The classifier says bad with 80 %. The best classifier so far says good."
    )
    assert opinion(None, []).plain == opinion(Draw(1, 0.1, False, {}), []).plain == ""


def test_keys_typed_ahead_do_not_answer_items_nobody_saw(screen, tmp_path):
    shown = screen(make(tmp_path / "p"))
    os.write(shown.master, b"1111")  # before anything is shown
    assert "0 of 60 labelled" in shown.until("q quit")
    shown.type("2222222")  # held down: one answer
    shown.until("1 of 60 labelled")
    shown.type("q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["bad"]


@pytest.mark.parametrize("way", ["q", "interrupt", "end of input", "terminate"])
def test_the_terminal_is_left_as_it_was(screen, tmp_path, way):
    shown = screen(make(tmp_path / "p"))
    shown.until("q quit")
    shown.type("1")
    shown.until("1 of 60 labelled")
    assert termios.tcgetattr(shown.slave) != shown.modes
    if way == "terminate":
        os.kill(shown.process.pid, signal.SIGTERM)
    elif way == "interrupt":
        os.kill(shown.process.pid, signal.SIGINT)
    else:
        shown.type({"q": "q", "end of input": "\x04"}[way])
    assert shown.end() == (128 + signal.SIGTERM if way == "terminate" else 0)
    assert termios.tcgetattr(shown.slave) == shown.modes
    assert shown.raw.rindex("\x1b[?25h") > shown.raw.rindex("\x1b[?25l")  # the cursor is back
    assert "Traceback" not in shown.raw
    assert given(tmp_path / "p") == ["good"]


def test_labelling_goes_on_into_the_next_rounds(screen, tmp_path):
    shown = screen(make(tmp_path / "p", 40))
    for number in range(35):
        shown.until(f"{number} of 40 labelled")
        shown.type("12"[number % 2])
    shown.until("35 of 40 labelled")
    shown.type("q")
    assert shown.end() == 0
    assert len(Project(tmp_path / "p").state.rounds) >= 3  # of 10 and 20
    assert len(given(tmp_path / "p")) == 35


def test_a_long_text_is_shown_page_by_page(screen, tmp_path):
    text = "\n".join(f"line {i}" for i in range(40))
    shown = screen(make(tmp_path / "p", contents=[text] * 60), rows=20)
    first = shown.until("q quit")
    assert "line 0" in first
    assert "line 20" not in first
    assert "page 1 of 4, m for more" in first
    shown.type("m")
    assert "line 11 " in shown.until("page 2 of 4")


def test_text_cannot_steer_the_terminal(screen, tmp_path):
    text = "\x1b]0;owned\x07 [bold red]plain[/] \x1b[2J \u202egnp"
    shown = screen(make(tmp_path / "p", contents=[text] * 60))
    shown.until("q quit")
    assert "\x1b]0;owned" not in shown.raw
    assert "\x07" not in shown.raw
    assert "\u202e" not in shown.raw
    assert "[bold red]plain[/]" in plain(shown.raw)


def test_an_image_is_drawn_in_blocks(screen, tmp_path):
    from PIL import Image

    (tmp_path / "images").mkdir()
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4, :, 0], pixels[4:, :, 2] = 250, 240
    for i in range(60):
        Image.fromarray(pixels).save(tmp_path / "images" / f"{i}.png")
    names = [f"{i}.png" for i in range(60)]
    names[30:] = ["absent.png"] * 30
    make(tmp_path / "p", contents=names, kind="image", root=tmp_path / "images", batch=60, check=0.0)
    shown = screen(tmp_path / "p", columns=200)
    seen = ""
    for number in range(12):
        seen += shown.until(f"{number} of 60 labelled")
        shown.type("1")
    assert "▀" in shown.raw
    assert "38;2;250;0;0" in shown.raw  # red above
    assert "38;2;0;0;240" in shown.raw
    assert "cannot be shown here" in seen  # and the file that is gone


def test_a_preview_is_made_once_and_never_of_a_pipe_or_of_too_many_pixels(tmp_path, monkeypatch):
    from PIL import Image

    made, make_preview = [], _preview.preview
    monkeypatch.setattr(_preview, "preview", lambda *given: made.append(given) or make_preview(*given))
    how = {"force_terminal": True, "color_system": "truecolor", "width": 200, "height": 40}
    console = Console(file=io.StringIO(), **how)

    def shown(name, page):
        item = Item(0, "x", "image", name)
        console.print(show_item(console, item, str(tmp_path), page))
        return console.file.getvalue()

    Image.new("RGB", (90, 90), "red").save(tmp_path / "a.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert all("▀" in shown("a.png", page) for page in range(3))
    assert len(made) == 1
    assert "is a pipe or a device" in shown("pipe.png", 0)
    Image.new("RGB", (91, 90), "red").save(tmp_path / "b.png")
    monkeypatch.setattr(_preview, "MOST_PIXELS", 90 * 90)
    assert "91 x 90 pixels, more than" in shown("b.png", 0)


def test_of_a_very_long_text_its_beginning_is_shown(monkeypatch):
    monkeypatch.setattr(_show, "FIRST", 4)
    console = Console(file=io.StringIO(), width=80)
    console.print(show_item(console, Item(0, "x", "text", "abcdefgh"), None, 0))
    console.print(show_item(console, Item(0, "x", "row", {"a": "ijklmnop", "b": 5}), None, 0))
    shown = console.file.getvalue()
    assert "abcd… (8 characters)" in shown
    assert "ijkl… (8 characters)" in shown
    assert "efgh" not in shown


def test_a_row_is_a_table(screen, tmp_path):
    rows = [{"age": i, "note": None, "[b]name[/b]": "x"} for i in range(60)]
    found = screen(make(tmp_path / "p", contents=rows, kind="row")).until("q quit")
    for word in ("age", "note", "[b]name[/b]"):
        assert word in found


@pytest.mark.parametrize(
    ("kind", "content", "empty"),
    [
        ("text", "", True),
        ("text", " \n\u200b", True),
        ("text", " . ", False),
        ("row", {"a": None, "b": " "}, True),
        ("row", {"a": 0}, False),
    ],
)
def test_an_empty_item_says_so(kind, content, empty):
    console = Console(file=io.StringIO(), width=60)
    console.print(show_item(console, Item(0, "i0", kind, content), None, 0))
    assert ("This item is empty." in console.file.getvalue()) == empty


# -- many classes -------------------------------------------------------------------


def test_five_classes_have_digits_and_letters(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=FIVE, strategy="passive"))
    line = shown.until("q quit")
    assert "1 or c cat   2 or o cow   3 or d dog   4 or s sheep   5 or g goat   /s skip" in " ".join(
        line.split("\r\n")
    )
    for number, (key, name) in enumerate([("4", "sheep"), ("s", "sheep"), ("G", "goat")], 1):
        shown.type(key)
        assert f"{number} of 60 labelled" in shown.until(f": {name}")
    shown.type("/s")
    shown.until(": skip")
    for key in ("/", "\x1b", "o"):  # a slash that was a slip
        time.sleep(0.1)
        shown.type(key)
    shown.until(": cow")
    shown.type("q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["sheep", "sheep", "goat", "skip", "cow"]


def test_classes_with_the_letters_of_commands_have_them_and_quit_has_a_slash(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=("query", "zoo"), strategy="passive"), columns=100)
    assert "/z undo" in shown.until("/q quit")
    for key, name in (("q", "query"), ("z", "zoo"), ("z", "zoo")):
        shown.type(key)
        shown.until(f": {name}")
    shown.type("/z")
    shown.until("Undone.")
    shown.type("/q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["query", "zoo"]


def test_the_keys_of_the_page_and_a_slash_before_a_command_go_together(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=("spam", "waffle"), strategy="passive"), columns=100)
    line = shown.until("q quit")
    assert "1 or s spam   2 or w waffle   /s skip   u unsure   z undo   /w why   ? keys" in line
    shown.type("?")
    found = shown.until("any key goes back")
    assert re.search(r"1 s ← f +spam\s+2 w → j +waffle\s+/s +skip: I should not label this", found)
    assert re.search(r"/w +why this item; .*\s+m +the next page", found)
    assert re.search(r"/ +before the letter of a command: also where a class has this letter", found)
    shown.type("/")  # goes back, and is no slash before a command
    shown.until("q quit")
    shown.type("/w")
    assert "drawn with probability" in shown.until("Round 1")
    shown.type("s")
    assert "1 of 60 labelled" in shown.until(": spam")
    shown.type("/")
    time.sleep(0.1)
    shown.resize(30, 90)  # a slash stays when everything is drawn anew
    shown.until("q quit")
    shown.type("s")
    shown.until(": skip")
    shown.type("/")
    time.sleep(0.1)
    shown.type("\x7f")  # takes the slash back, and undoes nothing
    time.sleep(0.1)
    shown.type("\x1b[C")
    assert "2 of 60 labelled" in shown.until(": waffle")
    shown.type("\x7f")
    shown.until("Undone.")
    shown.type("/q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["spam", "skip"]


def test_twelve_classes_are_typed(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=TWELVE, strategy="passive"))
    first = shown.until("swan")
    assert "/s skip" in first
    for number, (keys, name) in enumerate(
        [("bee\r", "bee"), ("d\x1b[C\r", "dog"), ("c2", "cow"), ("AR\n", "Ärger"), ("5", "cat")], 1
    ):
        shown.type(keys)
        assert f"{number} of 60 labelled" in shown.until(f": {name}")
    shown.type("suzwq")  # letters are no commands here
    shown.until("no class begins like this")
    shown.type("\x1b")
    shown.until("ape")
    shown.type("\x7f")
    shown.until("Undone.")
    shown.type("/s")
    shown.until(": skip")
    shown.type("/")
    shown.until("u unsure   z undo")
    shown.type("u")
    shown.until(": unsure")
    shown.type("/w")
    assert "drawn with probability" in shown.until("Round 1")
    shown.type("/q")
    assert shown.end() == 0
    assert given(tmp_path / "p") == ["bee", "dog", "cow", "Ärger", "skip", "unsure"]
    assert termios.tcgetattr(shown.slave) == shown.modes


def test_letters_typed_one_by_one_narrow_the_list(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=TWELVE, strategy="passive"))
    shown.until("swan")
    shown.type("d")
    found = shown.until("red deer").rpartition("> d_")[2]
    assert "deer" in found
    assert "swan" not in found
    shown.type("u")
    shown.until("> du_")
    shown.type("\x7f\x7f\x7f")
    shown.until("Nothing to undo.")
    shown.type("\x04")
    assert shown.end() == 0


def test_a_rename_and_a_merge_by_somebody_else_reach_the_terminal(screen, tmp_path):
    shown = screen(make(tmp_path / "p", classes=FIVE, strategy="passive"), "--as", "ann")
    shown.until("q quit")
    shown.type("2")
    shown.until(": cow")
    project = Project(tmp_path / "p")
    rename_class(project.ledger, "ann", "cow", "cattle")
    shown.type("2")  # what the screen still calls cow
    shown.until("The classes have changed.")
    merge_class(project.ledger, "ann", "dog", "cat")
    shown.type("3")
    shown.until("was merged into 'cat'")
    shown.type("c")
    shown.until("3 of 60 labelled")
    shown.type("q")
    assert shown.end() == 0
    project.close()
    assert given(tmp_path / "p") == ["cattle", "cattle", "cat"]


def test_many_classes_from_a_pipe(piped, tmp_path):
    make(tmp_path / "p", classes=TWELVE, strategy="passive")
    done = piped(tmp_path / "p", "bee\nSW\n/z\n\nred\n/s\narger\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert given(tmp_path / "p") == ["bee", "red deer", "skip", "Ärger"]
    done = piped(tmp_path / "p", "cat\nb\ncow\n")
    assert done.returncode == 2
    assert re.fullmatch(
        r"aced: answer to i\d+: 'b' may mean bear and bee; write more of the name\n", done.stderr
    )
    assert given(tmp_path / "p")[-1] == "cat"
    done = piped(tmp_path / "p", "nothing\n")
    assert done.returncode == 2
    assert re.fullmatch(
        r"aced: answer to i\d+: no class begins with 'nothing'; .* /s, .*\n", done.stderr
    )


def test_a_pipe_gives_a_letter_to_the_class_and_takes_names_in_any_case(piped, tmp_path):
    make(tmp_path / "p", classes=["s", "su", "Ham", "b"], strategy="passive")
    done = piped(tmp_path / "p", "/s\n/S\n1\nsu\nSU\nham\nHAM\nB\ns\nS\n/s1/u\n")
    assert (done.returncode, done.stderr) == (0, "")
    said = ["skip", "skip", "s", "su", "su", "Ham", "Ham", "b", "s", "s", "skip", "s", "unsure"]
    assert given(tmp_path / "p") == said


def test_the_end_of_a_pipe_ends_labelling_also_where_a_class_has_q(piped, tmp_path):
    make(tmp_path / "p", classes=["query", "other"], strategy="passive")
    done = piped(tmp_path / "p", "qo\n")
    assert "2 answers saved" in done.stdout
    assert given(tmp_path / "p") == ["query", "other"]
    done = piped(tmp_path / "p", "/x\n")
    assert (done.returncode, "'/x' is no key" in done.stderr) == (2, True)
    assert "/q" in done.stderr


# -- a pipe -------------------------------------------------------------------------


def test_a_real_pipe(tmp_path):
    done = subprocess.run(
        [*COMMAND, str(make(tmp_path / "p"))], input="1\n2\nz\n", capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert given(tmp_path / "p") == ["good"]


@pytest.mark.parametrize("answers", ["1\n2\nz\n1\ns\n", "12z1s", "good\nbad\nz\ng\ns", "1 2 z\n1s\n"])
def test_answers_from_a_pipe(piped, tmp_path, answers):
    done = piped(make(tmp_path / "p"), answers)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 answers saved" in done.stdout
    assert given(tmp_path / "p") == ["good", "good", "skip"]


def test_everything_can_be_labelled_and_then_there_is_nothing_left(piped, tmp_path):
    done = piped(make(tmp_path / "p"), "12" * 40)
    assert done.returncode == 0
    assert "nothing left for you" in done.stdout
    project = Project(tmp_path / "p")
    assert len(project.state.labelled()) == 60
    assert replay(project.ledger).problems == []
    assert "nothing left for you" in piped(tmp_path / "p", "1").stdout


def test_someone_who_skips_everything_is_shown_everything(piped, tmp_path):
    done = piped(make(tmp_path / "p"), "s" * 70)
    assert "60 answers saved" in done.stdout
    assert given(tmp_path / "p") == ["skip"] * 60


def test_second_opinions_for_others_do_not_stop_one_person(piped, tmp_path):
    piped(make(tmp_path / "p", overlap=0.5), "12" * 40, "--as", "ann")
    state = Project(tmp_path / "p").state
    assert len(state.labelled()) == 60
    assert state.waiting  # for somebody else
    piped(tmp_path / "p", "12" * 40, "--as", "bob")
    assert not Project(tmp_path / "p").state.waiting


def test_a_key_that_is_none_ends_with_one_sentence_and_keeps_the_rest(piped, tmp_path):
    done = piped(make(tmp_path / "p"), "1\n2\nx\n1\n")
    assert done.returncode == 2
    assert re.fullmatch(r"aced: answer to i\d+: 'x' is no key; use .*\n", done.stderr)
    assert given(tmp_path / "p") == ["good", "bad"]


def test_names_revoked_and_impossible_are_refused(piped, tmp_path):
    project = Project(make(tmp_path / "p"))
    project.add_person("eve")
    project.revoke("eve")
    project.close()
    before = replay(tmp_path / "p" / LEDGER).state.seq
    for name in ("eve", " ", "a\nb", "x" * 65):
        done = piped(tmp_path / "p", "1", "--as", name)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
    assert replay(tmp_path / "p" / LEDGER).state.seq == before


def test_a_person_invited_keeps_role_and_token(piped, tmp_path):
    project = Project(make(tmp_path / "p"))
    token = project.add_person("ann", "annotator")
    assert piped(tmp_path / "p", "1", "--as", "ann").returncode == 0
    assert project.who_is(token) == ("ann", "annotator")


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        (["spam", "ham"], {"1": "spam", "2": "ham", "s": "spam", "h": "ham"}),
        (["true", "tall"], {"1": "true", "2": "tall"}),
        (["1 star", "5 stars"], {"1": "1 star", "5": "5 stars"}),
        (["0", "odd"], {"0": "0", "o": "odd"}),
        (["Ärger", "Freude"], {"1": "Ärger", "2": "Freude", "ä": "Ärger", "f": "Freude"}),
        (["2", "skip it"], {"1": "skip it", "2": "2", "s": "skip it"}),
        (["2", "20"], {"1": "20", "2": "2"}),
        (["20", "2"], {"1": "20", "2": "2"}),
        (["50", "5"], {"1": "50", "5": "5"}),
        (["20", "21"], {"1": "20", "2": "21"}),
    ],
)
def test_a_key_means_one_class(classes, keys):
    assert class_keys(classes) == keys
