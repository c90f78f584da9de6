"""The report, in HTML and Markdown. Someone who has not read the paper can understand it."""

from __future__ import annotations

import base64
import html
from typing import Any

import numpy as np

from aced.bench._field_report import field_blocks, is_field
from aced.bench._figures import figure, sensitivity
from aced.bench._markdown import file_name, plain
from aced.bench._published import ACED, OTHERS
from aced.bench._summary import HOLDOUT, POOL, Ranking, Runs, Task, ranking, tasks_of

INTRODUCTION = (
    "Each run starts with no labels. A strategy chooses rows of the pool and is told their labels, "
    "batch by batch. After every batch a classifier is trained on the labels so far. It is scored "
    "on the whole pool, labelled or not, and on a holdout that no strategy saw. The dotted line is "
    "the classifier trained on every label. A good strategy reaches this line with few labels.",
    "A pool curve is shown in two ways. The paper (Active Classification using Experimental Design, "
    "ICML 2021) shows the best accuracy so far (running maximum). The plain accuracy at each point is "
    "what a user would have. Bands are the spread over seeds. On the paper's tasks, crosses are the "
    "paper's ACED curve, read off its figures.",
    "Strategies that judge a stream (IWAL, active cover) have a constant C0. The paper searched a grid "
    "and showed the C0 that took the fewest labels. This choice needs labels that nobody has in "
    "advance. It is shown here, too, with the whole grid and with one fixed C0 for all tasks.",
)

Block = tuple[str, Any]  # ("h2" | "h3" | "p", text), ("table", (head, rows)), ("figure", (title, png))


def build(records: list[dict[str, Any]], command: str) -> list[Block]:
    """The report as blocks."""
    tasks = tasks_of([record for record in records if not is_field(record)])
    blocks: list[Block] = [("h1", "Labelling simulations"), ("p", f"Made by: {command}")]
    spent = sum(record["timing"]["total"] for record in records)
    blocks.append(("p", f"{len(records)} runs, {spent / 3600:.2f} hours of process time in all."))
    if tasks:
        blocks += [("p", text) for text in INTRODUCTION]
        blocks += _ranks(ranking(tasks))
        for task in tasks:
            blocks += _task(task)
    if field := [record for record in records if is_field(record)]:
        blocks += field_blocks(field)
    return blocks


def _ranks(found: Ranking | None) -> list[Block]:
    if found is None:
        return []
    rows = [
        [name, f"{rank:.2f}", "-" if name not in found.against else f"{found.against[name]:.3g}"]
        for name, rank in zip(found.strategies, found.ranks, strict=True)
    ]
    text = f"Mean rank by area under the pool curve, over {found.blocks} tasks and seeds; 1 is best. "
    if found.friedman is not None:
        text += f"Friedman's test that all strategies are alike: p = {found.friedman:.3g}. "
    text += "The last column tests each strategy against aced (Wilcoxon, corrected by Holm)."
    table = (["strategy", "rank", "p against aced"], rows)
    return [("h2", "Who is ahead"), ("p", text), ("table", table)]


def _task(task: Task) -> list[Block]:
    every = task.everything
    holdout = "" if every[HOLDOUT] is None else f", holdout {every[HOLDOUT]:.4f}"
    text = f"{task.rows} rows, {task.features} features. "
    text += f"With every label: pool {every[POOL]:.4f}{holdout}."
    picture = (task.name, figure(task))
    blocks: list[Block] = [("h2", task.name), ("p", text), ("figure", picture)]
    head = [
        "strategy", "seeds", "labels to match all, pool", "holdout", "mean pool", "mean holdout",
        "ms a label",
    ]  # fmt: skip
    rows = [_row(task, runs) for runs in sorted(task.shown, key=lambda runs: -_area(task, runs, POOL))]
    blocks.append(("table", (head, rows)))
    fixed = task.fixed()
    if fixed:
        blocks.append(("p", "The streams at one fixed C0 for all tasks:"))
        blocks.append(("table", (head, [_row(task, runs) for runs in fixed])))
    blocks += _published(task)
    blocks += _grids(task)
    return blocks


def _area(task: Task, runs: Runs, measure: str) -> float:
    """Mean accuracy over the horizon. A run that stopped asking keeps its last accuracy."""
    if task.everything[measure] is None:
        return float("nan")
    return float(np.nanmean(runs.at(task.horizon(), measure, best=False)))


def _row(task: Task, runs: Runs) -> list[str]:
    return [
        runs.label,
        str(len(runs.records)),
        _needed(runs.labels_needed(POOL), runs.last()),
        "-" if task.everything[HOLDOUT] is None else _needed(runs.labels_needed(HOLDOUT), runs.last()),
        f"{_area(task, runs, POOL):.4f}",
        "-" if task.everything[HOLDOUT] is None else f"{_area(task, runs, HOLDOUT):.4f}",
        f"{1000 * runs.seconds_per_label():.2f}",
    ]


def _needed(labels: list[int | None], last: int) -> str:
    reached = [count for count in labels if count is not None]
    if not reached:
        return f"not within {last}"
    text = f"{np.mean(reached):.0f}"
    return text if len(reached) == len(labels) else f"{text} ({len(reached)} of {len(labels)} seeds)"


def _published(task: Task) -> list[Block]:
    paper = ACED.get(task.name)
    mine = next((runs for runs in task.shown if runs.strategy == "aced"), None)
    if paper is None or mine is None:
        return []
    counts = [count for count in paper if count <= mine.last()]
    values = mine.at(np.array(counts), POOL, best=True)
    rows = [
        [str(count), f"{paper[count]:.4f}", f"{mean:.4f}", f"{mean - paper[count]:+.4f}"]
        for count, mean in zip(counts, values.mean(axis=0), strict=True)
    ]
    return [
        ("h3", "Beside the paper"),
        ("p", f"Best pool accuracy of ACED so far. Others in the paper: {OTHERS[task.name]}."),
        ("table", (["labels", "paper", "here", "difference"], rows)),
    ]


def _grids(task: Task) -> list[Block]:
    rows = []
    for strategy in dict.fromkeys(runs.strategy for runs in task.every if runs.c0 is not None):
        for runs in task.grid(strategy):
            asked = np.mean([r["curve"][-1]["labels"] if r["curve"] else 0 for r in runs.records])
            best = max((p[POOL] for r in runs.records for p in r["curve"]), default=float("nan"))
            needed = _needed(runs.labels_needed(POOL), runs.last())
            rows.append([strategy, f"{runs.c0:g}", f"{asked:.0f}", f"{best:.4f}", needed])
    if not rows:
        return []
    head = ["strategy", "C0", "labels asked for", "best pool accuracy", "labels to match all"]
    text = "Each line is one C0, from dark (small) to light (large), and ends at the last label. "
    return [
        ("h3", "The C0 grids"),
        ("p", text + "The grey line is passive."),
        ("figure", (f"{task.name}-c0", sensitivity(task))),
        ("table", (head, rows)),
    ]


def to_markdown(blocks: list[Block], folder: str) -> tuple[str, dict[str, bytes]]:
    """Markdown, and the pictures it points to in ``folder``, under names that are made from titles."""
    lines: list[str] = []
    pictures: dict[str, bytes] = {}
    taken: set[str] = set()
    for kind, value in blocks:
        if kind in ("h1", "h2", "h3"):
            lines.append("#" * int(kind[1]) + " " + plain(value))
        elif kind == "p":
            lines.append(plain(value))
        elif kind == "figure":
            title, png = value
            name = f"{file_name(title, taken)}.png"
            pictures[name] = png
            lines.append(f"![{plain(title)}]({folder}/{name})")
        else:
            head, rows = value
            cells = [[plain(cell) for cell in row] for row in (head, ["---"] * len(head), *rows)]
            lines.append("\n".join("| " + " | ".join(row) + " |" for row in cells))
    return "\n\n".join(lines) + "\n", pictures


STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.9rem;display:block;overflow-x:auto}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #8884;text-align:right}"
    "th:first-child,td:first-child{text-align:left}"
    "img{max-width:100%;background:#fff}h2{margin-top:2.5rem}"
)


def to_html(blocks: list[Block]) -> str:
    """One page with its pictures inside."""
    parts = []
    for kind, value in blocks:
        if kind in ("h1", "h2", "h3", "p"):
            parts.append(f"<{kind}>{html.escape(value)}</{kind}>")
        elif kind == "figure":
            title, png = value
            code = base64.b64encode(png).decode()
            parts.append(
                f'<img alt="curves on {html.escape(title)}" src="data:image/png;base64,{code}">'
            )
        else:
            head, rows = value
            cells = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in head)
            body = "".join(
                "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                for row in rows
            )
            parts.append(f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>")
    heading = html.escape(next(value for kind, value in blocks if kind == "h1"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{heading}</title><style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )
