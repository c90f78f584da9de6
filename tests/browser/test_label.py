"""People at work: keys, undo, reload, two at once, a server that dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aced.project import Project
from tests.browser.site import Annotator, Site, digits, until

AWAY = ("ERR_CONNECTION_REFUSED", "ERR_FAILED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")


def label(annotator: Annotator, truth: np.ndarray, keys: str = "12") -> int:
    row = annotator.row()
    annotator.press(keys[truth[row]])
    return row


def test_sixty_items_by_keyboard_and_the_lead_watches(tmp_path: Path, site, visit) -> None:
    truth = digits(tmp_path, batch=10, check=0.5)
    served = site(tmp_path / "project")
    ana = visit().open(served.url)
    for keys in ("12", "fj"):
        for _ in range(10):
            label(ana, truth, keys)
        served.planned()

    for _ in range(2):  # two slips of the finger, put right
        row = ana.row()
        ana.press("21"[truth[row]])
        ana.page.keyboard.press("z")
        ana.page.wait_for_selector(f"#item img[src='/api/image/{row}']")
        label(ana, truth)
    skipped = ana.row()
    ana.press("s")

    before = ana.row()
    ana.saved()
    ana.page.reload()
    assert ana.row() == before

    for _ in range(22):
        served.planned()
        label(ana, truth)
    lead = visit(ana.page.context)
    lead.page.goto(f"{served.url}/lead")
    lead.page.wait_for_selector("#curve .point")
    first = lead.page.locator("#curve .point").count()
    for _ in range(16):
        label(ana, truth)
    more = "n => document.querySelectorAll('#curve .point').length > n"
    lead.page.wait_for_function(more, arg=first, timeout=60_000)
    lead.page.wait_for_selector("#saved-curve .line.other")
    assert "Random labelling would have taken about" in lead.page.inner_text("#saved-words")

    ana.saved()
    state = served.state()
    assert skipped not in state.labelled()
    assert state.passed[skipped] == {"ana": "skip"}
    assert len(served.events("undo")) == 2
    assert len(served.events("label")) == 62
    for row in state.labelled():  # what was pressed is what was shown
        assert state.votes[row]["ana"].code == truth[row]
        assert 0 < state.votes[row]["ana"].seconds < 60
    assert len(state.labelled()) == 60
    assert "60 of" in ana.page.inner_text(".facts")


@pytest.fixture(scope="module")
def office(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Site, np.ndarray, dict[str, str]]]:
    """A server that asks for links; those of a lead and of two annotators."""
    folder = tmp_path_factory.mktemp("office")
    truth = digits(folder, batch=120)
    project = Project(folder / "project")
    roles = {"ana": "lead", "ben": "annotator", "eva": "annotator"}
    tokens = {name: project.add_person(name, role) for name, role in roles.items()}
    project.close()
    served = Site(folder / "project", "--tokens")
    yield served, truth, {name: f"{served.url}/enter?token={token}" for name, token in tokens.items()}
    served.end()


def test_two_people_never_get_the_same_row(office, visit) -> None:
    served, truth, links = office
    people = {name: visit().open(links[name]) for name in ("ben", "eva")}
    seen: dict[str, list[int]] = {name: [] for name in people}
    for _ in range(15):
        for name, person in people.items():
            seen[name].append(label(person, truth))
    for person in people.values():
        person.saved()
    assert not set(seen["ben"]) & set(seen["eva"])
    votes = served.state().votes
    assert all(set(votes[row]) == {name} for name, rows in seen.items() for row in rows)
    ben = people["ben"].page
    assert ben.evaluate("document.cookie") == ""
    assert ben.locator("#to-lead").is_hidden()
    assert ben.request.get(f"{served.url}/lead").status == 403


def test_the_link_that_is_revoked_ends_the_visit(office, visit) -> None:
    served, truth, links = office
    lead = visit()
    lead.page.goto(links["ana"])
    lead.page.fill("#invite-name", "<i>dan</i>")
    lead.page.click("#invite button")
    lead.page.wait_for_selector("#once:not([hidden])")
    link = lead.page.input_value("#once-link")
    assert link.startswith(f"{served.url}/enter?token=")

    dan = visit(expected=("401",)).open(link)
    assert dan.page.evaluate("location.href") == f"{served.url}/"
    label(dan, truth)
    dan.saved()
    lead.page.on("dialog", lambda dialog: dialog.accept())
    lead.page.click("button[aria-label='Revoke <i>dan</i>']")
    until(lambda: not served.state().people["<i>dan</i>"].active, "dan is revoked")
    dan.page.keyboard.press("1")
    dan.says("No access")
    assert "may no longer label" in dan.page.inner_text("#stage")


def test_another_link_opened_in_the_same_browser_takes_no_answers_along(office, visit) -> None:
    served, _, links = office
    before = len(served.events("label"))
    eva = visit(expected=("403",)).open(links["eva"])
    visit(eva.page.context).open(links["ben"])
    eva.page.keyboard.press("1")
    eva.says("No access")
    assert "belongs to ben now" in eva.page.inner_text("#stage")
    assert len(served.events("label")) == before


def test_a_server_that_is_killed_loses_nothing(tmp_path: Path, site, visit) -> None:
    truth = digits(tmp_path, batch=40)
    served: Site = site(tmp_path / "project", "--as", "ana")
    ana = visit(expected=(*AWAY, "401"))
    ana.page.goto(served.url)
    ana.page.wait_for_selector(".message.unknown")
    ana.page.goto(served.link)
    assert ana.page.evaluate("location.href") == f"{served.url}/lead"
    ana.open(served.url)
    rows = [label(ana, truth) for _ in range(8)]
    ana.saved()

    served.kill()
    rows += [label(ana, truth)]
    ana.says("Offline, 1 waiting")
    rows += [label(ana, truth)]
    ana.says("Offline, 2 waiting")
    ana.press("z")  # takes back what the server has not heard of yet
    assert ana.row() == rows[-1]
    rows += [label(ana, truth)]
    ana.says("Offline, 4 waiting")
    kept = served.state()
    assert kept.labelled() == sorted(rows[:8])
    context = ana.page.context
    ana.page.close()  # the browser crashes as well

    served.start()
    again = visit(context, expected=AWAY).open(served.url)
    again.saved()
    assert again.row() not in rows

    lost: list[str] = []

    def lose(route) -> None:
        """The server hears and its answer is lost, twice."""
        if len(lost) < 2:
            lost.append(route.request.post_data)
            route.fetch()
            route.abort()
        else:
            route.continue_()

    again.page.route("**/api/answer", lose)
    rows += [label(again, truth)]
    again.saved()
    assert len(lost) == 2
    events = served.events("label")
    assert [event.row for event in events] == rows
    assert len({event.key for event in events}) == len(events)
    assert len(served.events("undo")) == 1
    assert served.state().labelled() == sorted(set(rows))


def test_answers_that_an_older_page_kept_are_sent(tmp_path: Path, site, visit) -> None:
    digits(tmp_path, batch=40)
    served = site(tmp_path / "project")
    ana = visit().open(served.url)
    row = ana.row()
    keep = """([row, label]) => fetch("/api/me").then((reply) => reply.json()).then((me) => {
      const key = `aced:${JSON.stringify([me.pool, me.classes, me.name])}:000000000000001-000000-k`;
      const body = { row, kind: "label", label, seconds: 1, key: "k" };
      localStorage.setItem(key, JSON.stringify({ key, path: "/api/answer", body }));
    })"""
    ana.page.evaluate(keep, [row, "odd"])
    ana.page.reload()
    ana.saved()
    assert [(event.row, event.key) for event in served.events("label")] == [(row, "k")]


def test_an_image_is_zoomed_and_dragged_and_the_next_is_whole(office, visit) -> None:
    _, truth, links = office
    eva = visit().open(links["eva"])
    turned = "() => document.querySelector('#item .zoom').style.transform"
    assert eva.page.evaluate(turned) == ""
    box = eva.page.locator("#stage").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    eva.page.mouse.click(*middle)
    assert "scale(2.5)" in eva.page.evaluate(turned)
    eva.page.mouse.move(*middle)
    eva.page.mouse.down()
    eva.page.mouse.move(middle[0] + 40, middle[1] + 30)
    eva.page.mouse.up()
    assert "translate(40px, 30px)" in eva.page.evaluate(turned)
    eva.page.keyboard.press("+")
    assert "scale(3.75)" in eva.page.evaluate(turned)
    label(eva, truth)
    assert eva.page.evaluate(turned) == ""


def test_space_after_a_click_scrolls_and_answers_only_on_a_button_that_was_tabbed_to(
    tmp_path: Path, site, visit
) -> None:
    digits(tmp_path, batch=40)
    served = site(tmp_path / "project")
    ana = visit().open(served.url)
    for button, kind in (("#first", "label"), ("#skip", "skip")):
        count = len(served.events(kind))
        before = ana.row()
        ana.page.click(button)
        ana.page.wait_for_function(f"() => !document.querySelector(\"img[src='/api/image/{before}']\")")
        after = ana.row()
        for key in ("Space", "Enter"):
            ana.page.keyboard.press(key)
            assert ana.row() == after
        ana.saved()
        assert len(served.events(kind)) == count + 1

    ana.page.focus("#stage")
    ana.page.keyboard.press("Tab")
    assert ana.page.evaluate("document.activeElement.id") == "first"
    for key in ("Space", "Enter", "Space"):  # the button keeps the focus
        ana.press(key)
    ana.saved()
    assert len(served.events("label")) == 4
