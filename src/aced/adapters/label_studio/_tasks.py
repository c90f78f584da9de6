"""Drawn items as tasks of Label Studio, and the labelling configuration they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from aced._check import whole
from aced.adapters.label_studio._predictor import Predictor
from aced.project import Item, Project, finite

LOCAL_FILES = "/data/local-files/?d="
"""Where Label Studio serves images from a folder of its machine."""
COLUMNS = "aced_columns"
LABEL, ITEM, BESIDE = "label", "item", "beside"
"""What the labelling configuration calls the choices, the item, and what is shown beside a text."""

_SHOWN = {
    "text": f'<Text name="{ITEM}" value="$text"/>',
    "image": f'<Image name="{ITEM}" value="$image"/>',
    "row": f'<Table name="{ITEM}" value="${COLUMNS}"/>',
}


def config(project: Project) -> str:
    """The labelling configuration: the item, and a choice between the classes."""
    choices = "\n".join(
        f"    <Choice value={quoteattr(name)}{_hotkey(place)}/>"
        for place, name in enumerate(project.classes, 1)
    )
    item = _SHOWN[project.settings.kind]
    if project.settings.kind == "text" and (project.settings.reading or {}).get("show"):
        item += f'\n  <Table name="{BESIDE}" value="${COLUMNS}"/>'
    return (
        f"<View>\n  {item}\n"
        f'  <Choices name="{LABEL}" toName="{ITEM}" choice="single" showInLine="true">\n'
        f"{choices}\n  </Choices>\n</View>\n"
    )


def _hotkey(place: int) -> str:
    """The digit that chooses one of the first nine classes."""
    return f' hotkey="{place}"' if place < 10 else ""


def tasks(
    project: Project, count: int | None = None, *, images: str | None = None
) -> list[dict[str, Any]]:
    """Tasks of up to ``count`` items (default: a batch) that were drawn and wait for an opinion.

    A round is planned first if one is due. ``images`` is the address put before an image's path. By
    default it fits a Label Studio whose local files begin one folder above the items' folder.
    """
    count = project.settings.batch if count is None else whole("count", count, 1)
    rows = _waiting(project)
    while len(rows) < count and project.refill():
        before, rows = rows, _waiting(project)
        if len(rows) <= len(before):
            break  # the strategy has nothing more to ask
    rows = rows[:count]
    folder = Path(project.settings.root or "").name
    prefix = f"{LOCAL_FILES}{quote(folder)}/" if images is None else images
    with project.ledger.reading() as state:
        probabilities = [state.draws[row].probability for row in rows]
    guesses = Predictor.of(project)(rows)
    return [
        {
            "data": {
                **_shown(project.item(row), prefix),
                "aced_id": project.item(row).id,
                "aced_row": row,
                "draw_probability": probability,
            },
            "predictions": [] if guess is None else [prediction(guess)],
        }
        for row, probability, guess in zip(rows, probabilities, guesses, strict=True)
    ]


def _waiting(project: Project) -> list[int]:
    """Rows that want an opinion and that nobody is looking at."""
    now = project.ledger.now
    with project.ledger.reading() as state:
        held = {row for row, ends in state.leases.items() if any(at > now for at in ends.values())}
        return [row for row in state.waiting if row not in held]


def _shown(item: Item, prefix: str) -> dict[str, Any]:
    if item.kind == "image":
        return {"image": prefix + quote(str(item.content))}
    if item.kind == "row":
        columns = finite({**item.content, **(item.shown or {})})
        return {**columns, COLUMNS: columns}
    return {"text": item.content, **({COLUMNS: finite(dict(item.shown))} if item.shown else {})}


def prediction(guess: tuple[str, float, str]) -> dict[str, Any]:
    """What the classifier says of one item, as Label Studio writes it."""
    label, score, version = guess
    value = {"choices": [label]}
    chosen = {"from_name": LABEL, "to_name": ITEM, "type": "choices", "value": value}
    return {"model_version": version, "score": score, "result": [chosen]}
