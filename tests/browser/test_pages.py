"""What the pages show and how: hostile items, phones, contrast, names, time spent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aced.project import Project
from tests.browser.site import Annotator, Site, texts
from tests.helpers import answer

HOSTILE = [
    "<img src=x onerror='window.ran = 1'>",
    "<script>window.ran = 1</script>",
    "</p><svg onload='window.ran = 1'>",
    "<a href='javascript:window.ran=1'>x</a><style>body{display:none}</style>",
    "javascript:window.ran=1",
    "\u202eright to left\u202c and \U0001f600",
    "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 6,
    "a long story\n" * 300,
    "short",
]
CONTESTED = (1, 2, 5)
CLASSES = ["<b onmouseover='window.ran = 1'>spam</b>", "ham"]

# The colour of every visible text against what is painted behind it, as WCAG 2 computes it.
CONTRAST = """() => {
  const parts = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = (colour) => {
    const [r, g, b] = parts(colour).map((v) => {
      const s = v / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (parts(colour)[3] === 1) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || !node.checkVisibility() || node.closest(":disabled, noscript")) continue;
    const style = getComputedStyle(node);
    const colour = node.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    found.push([node.textContent.trim().slice(0, 30), ratio]);
  }
  return found;
}"""

CONTROLS = """() =>
  [...document.querySelectorAll("button, a, input, select, [tabindex], [role=progressbar]")]
  .filter((node) => node.checkVisibility())
  .map((node) => {
    const box = node.getBoundingClientRect();
    const by = document.getElementById(node.getAttribute("aria-labelledby"))?.textContent;
    const labels = [...(node.labels ?? [])].map((label) => label.textContent).join(" ");
    const text = node.matches("button, a") ? node.textContent : "";
    const name = node.getAttribute("aria-label") || by || labels || text;
    return { name: name.trim(), tag: node.localName, width: box.width, height: box.height };
  })"""

WATCH = """window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));"""


def made(folder: Path) -> Path:
    """Hostile texts, three of them labelled by two people who disagree."""
    texts(folder, HOSTILE, CLASSES)
    project = Project(folder / "project")
    for name, wrong in (("<u>eva</u>", 0), ("ben", 1)):
        project.add_person(name)
        for row in CONTESTED:
            answer(project, name, row, "label", CLASSES[(row + wrong) % 2], seconds=2.0)
    project.close()
    return folder / "project"


@pytest.fixture
def served(tmp_path: Path, site) -> Site:
    return site(made(tmp_path))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """For tests that leave items to the others."""
    started = Site(made(tmp_path_factory.mktemp("shared")), "--as", "ana", "--no-token")
    yield started
    started.end()


def harmless(visitor: Annotator) -> None:
    assert visitor.page.evaluate("window.ran") is None
    assert visitor.page.evaluate("window.violations") == []


def spread(points: list[list[float]], box: dict[str, float]) -> list[tuple[float, float, int]]:
    """Where on the screen the map shows each row: 12 pixels from the edges at the extremes."""
    at = np.array([point[:2] for point in points])
    share = (at - at.min(axis=0)) / np.ptp(at, axis=0)
    x = box["x"] + 12 + share[:, 0] * (box["width"] - 24)
    y = box["y"] + 12 + (1 - share[:, 1]) * (box["height"] - 24)
    return list(zip(x.tolist(), y.tolist(), [int(point[5]) for point in points], strict=True))


def test_hostile_items_are_shown_as_they_are(served, visit) -> None:
    ana = visit()
    ana.page.add_init_script(WATCH)
    ana.page.goto(served.url)
    ana.page.keyboard.press("w")
    seen = []
    for left in range(6, 0, -1):
        ana.page.wait_for_selector("#first:enabled")
        seen.append(ana.page.eval_on_selector("#item p", "node => node.textContent"))
        assert ana.page.locator("#item p > *").count() == 0
        ana.page.keyboard.press("ArrowLeft" if left > 1 else "u")
        ana.page.wait_for_function(
            "before => document.querySelector('#item').textContent !== before", arg=seen[-1]
        )
    ana.page.wait_for_selector(".message.done")
    ana.saved()
    assert sorted(seen) == sorted(text for i, text in enumerate(HOSTILE) if i not in CONTESTED)
    assert ana.page.inner_text("#first .name") == CLASSES[0]
    harmless(ana)

    ana.page.goto(f"{served.url}/lead")
    ana.page.wait_for_selector("#disputes li .vote")
    shown = ana.page.locator("#disputes .what").all_text_contents()
    assert sorted(shown) == sorted(HOSTILE[row] for row in CONTESTED)
    points = ana.page.request.get(f"{served.url}/api/map").json()["drawn"]
    for x, y, row in spread(points, ana.page.locator("#map canvas").bounding_box()):
        ana.page.mouse.move(x, y)
        said = "text => document.querySelector('#map .tip p')?.textContent === text"
        ana.page.wait_for_function(said, arg=HOSTILE[row][:400])
    assert "<u>eva</u>" in ana.page.inner_text("#people")
    harmless(ana)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_fit_and_can_be_read(shared, visit, scheme: str, width: int) -> None:
    ana = visit(viewport={"width": width, "height": 844}, color_scheme=scheme, has_touch=width < 600)
    for path, ready in (("/", "#first:enabled"), ("/lead", "#disputes li .vote")):
        ana.page.goto(shared.url + path)
        ana.page.wait_for_selector(ready)
        if path == "/":
            ana.page.click("#why-open")
            ana.page.wait_for_selector("#why-facts dd")
        assert ana.page.evaluate("document.documentElement.scrollWidth") <= width
        contrasts = ana.page.evaluate(CONTRAST)
        assert len(contrasts) > 10
        assert [pair for pair in contrasts if pair[1] < 4.5] == []
        for control in ana.page.evaluate(CONTROLS):
            assert control["name"], control
            if control["tag"] in ("button", "a", "input", "select"):
                assert control["width"] >= 44, control
                assert control["height"] >= 44, control
        assert ana.page.locator("main").count() == 1
        assert ana.page.evaluate("document.documentElement.lang") == "en"
    ana.page.goto(shared.url)
    ana.page.wait_for_selector("#first:enabled")
    for choice in ("#first", "#second"):  # whatever the item, the buttons stay where the thumb is
        box = ana.page.locator(choice).bounding_box()
        assert box["y"] > 844 - 220
        assert box["y"] + box["height"] <= 844


def test_time_spent_leaves_out_the_hidden_page_and_a_held_key_counts_once(shared, visit) -> None:
    ana = visit()
    ana.page.clock.install()
    ana.page.goto(shared.url)
    ana.page.wait_for_selector("#first:enabled")
    hide = """hidden => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    ana.page.clock.fast_forward(10_000)
    ana.page.evaluate(hide, True)
    ana.page.clock.fast_forward(100_000)
    ana.page.evaluate(hide, False)
    ana.page.clock.fast_forward(5_000)
    ana.page.keyboard.down("1")
    ana.page.keyboard.down("1")  # the keyboard repeats it
    ana.page.keyboard.up("1")
    ana.page.clock.fast_forward(3_600_000)
    ana.page.keyboard.press("2")
    ana.saved()
    first, second = shared.events("label")[-2:]
    assert 15 <= first.body["seconds"] < 30
    assert second.body["seconds"] == 300
    assert len([event for event in shared.events("label") if event.who == "ana"]) == 2


def test_rows_of_a_table_and_the_list_of_keys(tmp_path: Path, site, visit) -> None:
    texts(
        tmp_path,
        [{"age": i, "<b>city</b>": "Köln", "gap": None} for i in range(9)],
        ["no", "yes"],
        "row",
    )
    served = site(tmp_path / "project")
    ana = visit()
    ana.page.goto(served.url)
    ana.page.wait_for_selector(".values")
    assert ana.page.locator(".values th").all_text_contents() == ["age", "<b>city</b>", "gap"]
    assert ana.page.locator(".values td").all_text_contents()[1:] == ["Köln", "–"]
    ana.page.keyboard.press("?")
    assert "Undo the last answer" in ana.page.inner_text("dialog")
    ana.page.keyboard.press("1")  # labels nothing while the list is open
    ana.page.keyboard.press("Escape")
    ana.page.keyboard.press("2")
    ana.page.wait_for_function("() => document.querySelector('#last').textContent.includes('yes')")
    ana.saved()
    assert [event.body["label"] for event in served.events("label")] == [1]
