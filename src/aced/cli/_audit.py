"""aced audit: make a project that says how accurate given predictions are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aced._check import probability
from aced.cli._init import check_place, names_of, shown_without, split_classes, whole_folder
from aced.cli._project import counted, percent, say, visible, working
from aced.items import columns_of, read_items, read_predictions
from aced.project import AUDIT, BATCH, EXPLORE, WITHIN, Project, audit_features, check_settings


def audit(
    items: Annotated[
        Path,
        typer.Argument(
            metavar="ITEMS", help="A .csv, .tsv, .jsonl, .parquet, .xlsx or .txt file or image folder."
        ),
    ],
    predictions: Annotated[
        Path, typer.Option(metavar="FILE", help="A class for each item, and perhaps a confidence.")
    ],
    project: Annotated[
        Path | None,
        typer.Option(metavar="PROJECT", help="Folder to make (default: the items' name and -audit)."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(
            help="The classes as a,b,c, or one option for each name (default: predicted ones)."
        ),
    ] = None,
    class_column: Annotated[
        str | None, typer.Option(help="The column of predicted classes (default: guessed).")
    ] = None,
    confidence_column: Annotated[
        str | None, typer.Option(help="The column that says how sure each is (default: guessed).")
    ] = None,
    within: Annotated[
        float, typer.Option(help="How far from its middle the interval may reach when it is enough.")
    ] = WITHIN,
    explore: Annotated[float, typer.Option(help="Share of uniform draws.")] = EXPLORE,
    column: Annotated[str | None, typer.Option(help="The column that holds the texts.")] = None,
    id_column: Annotated[str | None, typer.Option(help="The column that holds the ids.")] = None,
    kind: Annotated[str | None, typer.Option(help="text, image or row (default: guessed).")] = None,
    lease: Annotated[float, typer.Option(help="Seconds that an item is kept for a person.")] = 600.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same draws.")] = 0,
) -> None:
    """Ask people for as few labels as it takes to say how accurate given predictions are.

    It makes a project; aced label and aced serve ask, and aced status says how accurate they are.
    """
    place = Path(f"{items.name.split('.')[0] or 'items'}-audit") if project is None else project
    check_place(place)
    probability("within", within)
    probability("explore", explore)
    with working(f"reading {visible(items.name)}"):
        found = read_items(items, kind=kind, column=column, id_column=id_column)
        named = {"class_column": class_column, "confidence_column": confidence_column}
        said, sure = read_predictions(predictions, found.ids, id_column=id_column, **named)
    names = names_of(said, None if classes is None else split_classes(classes))
    settings: dict[str, Any] = {
        "strategy": AUDIT,
        "seed": seed,
        "check": 0.0,
        "overlap": 0.0,
        "lease": lease,
        "combine": "dawid-skene",
        "audit": {"explore": explore, "within": within},
    }
    check_settings(names, **settings)
    codes = np.array([names.index(one) for one in said])
    hidden = columns_of(predictions, **named) if predictions.resolve() == items.resolve() else []
    with whole_folder(place) as part:
        Project.create(
            part,
            ids=found.ids,
            contents=shown_without(found, hidden),
            kind=found.kind,
            features=audit_features(codes, len(names), sure),
            classes=names,
            root=found.root,
            batch=min(BATCH, len(found)),
            **settings,
        ).close()
    say(f"{place}: {counted(len(found), found.kind)}, each with a predicted class")
    counts = [(name, int((codes == code).sum())) for code, name in enumerate(names)]
    say("predicted: " + " · ".join(f"{name}: {count}" for name, count in counts[:12]))
    told = "none is given" if sure is None else f"{percent(float(sure.mean()))} in the mean"
    say(f"confidence: {told}")
    say(f"next: aced label {place}, or aced serve {place}; then aced status {place}")
