"""The report, as a page and as a command."""

from __future__ import annotations

import json

from aced.bench import Records
from aced.bench._report import build, to_html, to_markdown


def test_the_report_is_one_page_that_stands_alone(records):
    blocks = build(records, "aced report x")
    page = to_html(blocks)
    assert page.count("<img") == 2  # the curves, and the C0 grid
    assert "http" not in page.replace("https://", "").replace("http-equiv", "")
    assert "C0 grids" in page
    text, pictures = to_markdown(blocks, "figures")
    assert "figures/breast.png" in text
    assert pictures["breast.png"].startswith(b"\x89PNG")


def test_the_command_writes_the_page_and_its_figures(call, tmp_path, records):
    folder = tmp_path / "some"
    folder.mkdir()
    book = Records(folder)
    for record in records:
        book.append(json.loads(json.dumps(record)))
    assert call("report", folder)[0] == 0
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "figures" / "breast.png").exists()
