"""The history by keyboard, by touch and with many classes; letters that classes and commands share."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aced.ledger import replay
from aced.project import Project
from tests.browser.site import Annotator, Site, digits, texts
from tests.browser.test_pages import CONTRAST, CONTROLS
from tests.helpers import answer

PAIR = ["spam", "ham"]
MANY = [f"{kind} {name}" for kind in ("red", "blue", "green") for name in ("fox", "owl", "cat", "bee")]


def made(folder: Path, classes: list[str], n: int = 70, **options: object) -> Path:
    texts(folder, [f"message number {i}" for i in range(n)], classes, **options)
    return folder / "project"


def answered(folder: Path, classes: list[str], labels: int, passed: int) -> Path:
    """Labels of the first class by ana, and then skips and unsures; one skip by ben."""
    place = made(folder, classes)
    project = Project(place)
    project.add_person("ana", "lead", token=False)
    project.add_person("ben")
    for row in range(labels):
        answer(project, "ana", row, "label", classes[0], seconds=1.0)
    for row in range(labels, labels + passed):
        answer(project, "ana", row, "skip" if row % 2 else "unsure")
    answer(project, "ben", 69, "skip")
    project.close()
    return place


def entries(visitor: Annotator) -> list[str]:
    return [text.strip() for text in visitor.page.locator(".entry .said").all_text_contents()]


def opened(visitor: Annotator, url: str) -> None:
    visitor.page.goto(url)
    visitor.page.wait_for_selector(".entry[aria-selected=true]")


def sound(served: Site) -> Project:
    """The project, after it was checked that a replay gives its state."""
    project = Project(served.folder)
    found = replay(project.ledger)
    assert found.problems == []
    assert found.state.digest() == project.state.digest()
    return project


def test_a_wrong_label_of_forty_items_ago_and_two_skips_by_keyboard(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, PAIR, 45, 4))
    ana = visit()
    page = ana.page
    page.goto(served.url)
    page.wait_for_selector("#first:enabled")
    assert page.inner_text("#skip kbd") == "/S"  # spam has the letter
    assert page.inner_text("#to-history kbd") == "/H"
    page.keyboard.press("/")
    assert "S Skip" in page.inner_text("#notice")
    page.keyboard.press("h")
    page.wait_for_selector(".entry[aria-selected=true]")
    assert page.url.endswith("/history")
    assert entries(ana)[:5] == ["Unsure", "Skipped", "Unsure", "Skipped", "spam"]

    page.keyboard.press("/")
    page.keyboard.press("s")
    page.keyboard.type("NUMBER 5")
    page.wait_for_function("() => document.querySelectorAll('.entry').length === 1")
    page.keyboard.press("Enter")
    page.keyboard.press("h")  # the class key
    page.wait_for_function("() => document.querySelector('.entry .said').textContent === 'ham'")
    ana.saved()
    page.keyboard.press("/")
    page.keyboard.press("s")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelectorAll('.entry').length > 40")
    page.locator("#kinds").select_option("skip")
    page.wait_for_function("() => document.querySelectorAll('.entry').length === 2")
    for _ in range(2):
        page.keyboard.press("b")
        page.keyboard.press("ArrowDown")
    assert entries(ana) == ["Back in the queue"] * 2
    ana.saved()
    page.keyboard.press("z")  # one of them was a mistake
    page.wait_for_function("() => document.querySelectorAll('.entry').length === 1")
    ana.saved()
    project = sound(served)
    assert project.state.votes[5]["ana"].code == 1
    passed = [(row, said["ana"]) for row, said in project.state.passed.items() if said.get("ana")]
    assert sorted(kind for _, kind in passed) == ["skip", "unsure", "unsure"]
    (row,) = [event.row for event in served.events("returned") if event.row not in dict(passed)]
    project.close()
    page.keyboard.press("Escape")
    page.wait_for_selector("#first:enabled")
    assert not page.url.endswith("/history")
    seen = []
    while f"message number {row}" not in seen:
        seen.append(page.inner_text("#item p"))
        page.keyboard.press("s")
        page.wait_for_function("t => document.querySelector('#item').textContent !== t", arg=seen[-1])
    ana.saved()
    project = sound(served)
    assert project.state.votes[row]["ana"].code == 0
    assert project.state.wanted[row] == 1
    project.close()


def test_leads_see_everybody_and_change_only_what_is_theirs(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, PAIR, 2, 1))
    ana = visit()
    opened(ana, f"{served.url}/history")
    page = ana.page
    assert page.locator("#who option").all_text_contents() == ["ana (you)", "Everybody", "ben"]
    page.locator("#who").select_option("*")
    page.wait_for_function("() => document.querySelectorAll('.entry').length === 4")
    assert page.inner_text(".entry >> nth=0").startswith("Skipped")
    assert "ben, " in page.inner_text(".entry >> nth=0")
    page.keyboard.press("1")
    assert page.locator("#first").is_disabled()
    assert "Only ben can change it" in page.inner_text("#notice")
    page.keyboard.press("b")
    ana.saved()
    project = sound(served)
    assert not project.state.passed[69]
    assert 69 in list(project.state.ready("ben", project.ledger.now))
    project.close()


def test_pages_of_a_long_history_by_touch_and_with_many_classes(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, MANY, 60, 2))
    ana = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    opened(ana, f"{served.url}/history")
    page = ana.page
    assert len(entries(ana)) == 50
    page.locator("#more").scroll_into_view_if_needed()
    page.tap("#more")
    page.wait_for_function("() => document.querySelectorAll('.entry').length === 62")
    assert page.locator("#more").is_hidden()
    page.locator(".entry >> nth=1").tap()
    page.locator(".option >> nth=4").tap()
    page.wait_for_function(
        "() => !document.querySelectorAll('.entry')[1].textContent.includes('red fox')"
    )
    ana.saved()
    assert entries(ana)[1] == MANY[4]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_many_classes_are_typed_also_in_the_history(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, MANY, 3, 0))
    ana = visit()
    opened(ana, f"{served.url}/history")
    ana.page.keyboard.press("ArrowDown")
    ana.page.keyboard.type("blue ow")
    ana.page.keyboard.press("Enter")
    ana.saved()
    assert entries(ana) == ["red fox", "blue owl", "red fox"]
    ana.page.keyboard.type("/z")
    ana.page.wait_for_function(
        "() => document.querySelectorAll('.entry .said')[1].textContent === 'red fox'"
    )
    ana.saved()
    sound(served).close()


def test_a_server_that_is_away_loses_no_change(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, PAIR, 3, 2))
    ana = visit(expected=("ERR_CONNECTION_REFUSED", "ERR_FAILED", "ERR_CONNECTION_RESET", "ERR_EMPTY"))
    opened(ana, f"{served.url}/history")
    served.kill()
    ana.page.keyboard.press("b")
    ana.says("Offline, 1 waiting")
    ana.page.keyboard.press("ArrowDown")
    ana.page.keyboard.press("2")
    ana.says("Offline, 2 waiting")
    context = ana.page.context
    ana.page.close()
    served.start()
    again = visit(context)
    again.page.goto(served.url)  # the page to label in sends what the history left
    again.page.wait_for_selector("#first:enabled")
    again.saved()
    project = sound(served)
    assert len(served.events("returned")) == 1
    assert len(served.events("label")) == 4
    project.close()


def test_a_return_that_is_undone_on_the_page_to_label_in(tmp_path, site, visit) -> None:
    served = site(answered(tmp_path, PAIR, 0, 1))
    ana = visit()
    opened(ana, f"{served.url}/history")
    ana.page.keyboard.press("b")
    ana.saved()
    ana.page.goto(served.url)
    ana.page.wait_for_selector("#first:enabled")
    ana.page.keyboard.press("z")
    ana.page.wait_for_selector("#notice:not([hidden])")
    assert "out of your queue again" in ana.page.inner_text("#notice")
    ana.saved()
    project = sound(served)
    assert project.state.passed[0] == {"ana": "unsure"}
    project.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_history_fits_and_can_be_read(tmp_path, site, visit, scheme: str, width: int) -> None:
    if width == 390:
        digits(tmp_path, n=30)
        project = Project(tmp_path / "project")
        project.add_person("ana", "lead", token=False)
        for row in range(8):
            answer(project, "ana", row, "label" if row % 3 else "skip", "odd" if row % 3 else None)
        project.close()
        served = site(tmp_path / "project")
    else:
        served = site(answered(tmp_path, PAIR, 4, 3))
    ana = visit(viewport={"width": width, "height": 844}, color_scheme=scheme, has_touch=width < 600)
    opened(ana, f"{served.url}/history")
    page = ana.page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [pair for pair in page.evaluate(CONTRAST) if pair[1] < 4.5] == []
    for control in page.evaluate(CONTROLS):
        assert control["name"], control
        if control["tag"] in ("button", "a", "input", "select"):
            assert control["width"] >= 44, control
            assert control["height"] >= 44, control
    page.keyboard.press("?")
    assert re.search(r"Back into the queue", page.inner_text("dialog"))
    page.keyboard.press("Escape")
    assert page.url.endswith("/history")
