"""aced init: make a project from a file or a folder of items."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from aced._check import probability, share
from aced._errors import InvalidInput
from aced._tables import read_bytes
from aced._types import Float32
from aced.cli._columns import (
    Columns,
    Exclude,
    LabelColumn,
    Show,
    SkipBroken,
    check_skips,
    may_skip,
    warn_of_classes,
)
from aced.cli._init_report import report
from aced.cli._project import (
    counted,
    only_one_stop,
    share_of,
    visible,
    working,
)
from aced.items import (
    Embedding,
    Items,
    columns_of,
    embed_with,
    features_from,
    labels_of,
    read_items,
    read_predictions,
    reading_of,
)
from aced.project import (
    FUNCTION,
    Project,
    check_batch,
    check_classes,
    check_settings,
    labels_by_row,
    take_labels,
)
from aced.strategies import DEFAULT, STRATEGIES


def init(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="Folder to make for the project.")],
    items: Annotated[
        Path,
        typer.Option(
            metavar="PATH", help="A .csv, .tsv, .jsonl, .parquet, .xlsx or .txt file or image folder."
        ),
    ],
    classes: Annotated[
        list[str] | None, typer.Option(help="The classes as a,b,c, or one option for each name.")
    ] = None,
    classes_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The classes, one name a line; names may hold commas."),
    ] = None,
    features: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Features of your own, one row for each item.")
    ] = None,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="How items become features: auto (default), tfidf-svd, hog, pixels-pca, hog+pixels, "
            "table or module:function.",
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(help="The column that holds the texts.")] = None,
    columns: Columns = None,
    show: Show = None,
    exclude: Exclude = None,
    label_column: LabelColumn = None,
    id_column: Annotated[str | None, typer.Option(help="The column that holds the ids.")] = None,
    skip_broken: SkipBroken = False,
    kind: Annotated[str | None, typer.Option(help="text, image or row (default: guessed).")] = None,
    strategy: Annotated[str, typer.Option(help=f"One of {', '.join(STRATEGIES)}.")] = DEFAULT,
    batch: Annotated[
        int | None, typer.Option(help="Items in a round (default: 250, fewer in a small project).")
    ] = None,
    check: Annotated[
        float, typer.Option(help="Share of uniform draws, from which accuracy follows.")
    ] = 0.1,
    overlap: Annotated[float, typer.Option(help="Share of requests that are second opinions.")] = 0.0,
    lease: Annotated[float, typer.Option(help="Seconds that an item is kept for a person.")] = 600.0,
    combine: Annotated[
        str, typer.Option(help="How several opinions become one label: dawid-skene or majority.")
    ] = "dawid-skene",
    seed: Annotated[int, typer.Option(help="The same seed gives the same features and draws.")] = 0,
    l2: Annotated[
        float | None,
        typer.Option(help="A logistic regression with this penalty, for features as they are."),
    ] = None,
    representation: Annotated[
        str | None,
        typer.Option(
            help="Columns in which the classifier is linear: auto (default; the labels choose), linear "
            "(with --l2) or rbf."
        ),
    ] = None,
    stop_accuracy: Annotated[
        float | None, typer.Option(help="Say so when at least this share is classified rightly.")
    ] = None,
    stop_recall: Annotated[
        str | None,
        typer.Option(metavar="SHARE:CLASS", help="Say so when this share of a class is found."),
    ] = None,
    stop_regret: Annotated[
        float | None,
        typer.Option(help="Say so when no other classifier is right on more than this share more."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure that is.")] = 0.95,
    proposals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Guesses at the class of every item, by a language model, say: a start for the "
            "classifier. People see a guess only when they ask why.",
        ),
    ] = None,
    class_column: Annotated[
        str | None, typer.Option(help="The column of the proposals that holds the class.")
    ] = None,
    confidence_column: Annotated[
        str | None, typer.Option(help="The column of the proposals that says how sure each is.")
    ] = None,
    cost_per_label: Annotated[
        float | None, typer.Option(help="What a label costs: aced status then says what was saved.")
    ] = None,
) -> None:
    """Make a project from a file or a folder of items. Their features are computed and kept."""
    check_place(project)
    given = classes is not None or classes_file is not None or proposals is None
    names = _names(classes, classes_file) if given else []
    if features is not None and embed is not None:
        raise InvalidInput("features and embed", "are both given; leave one out")
    check_skips(skip_broken, features)
    stops = {"accuracy": stop_accuracy, "recall": stop_recall, "regret": stop_regret}
    settings: dict[str, Any] = {
        "strategy": strategy,
        "seed": seed,
        "check": check,
        "overlap": overlap,
        "lease": lease,
        "l2": l2,
        "representation": representation,
        "combine": combine,
        "cost_per_label": cost_per_label,
    }
    named = {"class_column": class_column, "confidence_column": confidence_column}
    _check_columns(proposals, named)
    if proposals is not None and stop_regret is not None:
        raise InvalidInput("stop_regret", "is about the model alone; leave proposals out")
    if given:  # whatever the items are
        check_settings(names, stop=_stop(names, stops, confidence), **settings)
    with working(f"reading {visible(items.name)}"), may_skip():
        found = read_items(
            items,
            kind=kind,
            column=column,
            id_column=id_column,
            columns=columns,
            show=show or (),
            exclude=exclude or (),
            label_column=label_column,
            skip_broken=skip_broken,
        )
        rows = np.searchsorted(found.firsts, found.same_as).tolist()
        proposed, hidden = None, []
        if proposals is not None:
            said, sure = read_predictions(proposals, found.ids, id_column=id_column, **named)
            names = names_of(said, names or None)
            codes = np.array([names.index(one) for one in said])[found.firsts]
            proposed = codes, None if sure is None else sure[found.firsts]
            if proposals.resolve() == items.resolve():
                hidden = columns_of(proposals, **named)
    settings["stop"] = _stop(names, stops, confidence)
    check_settings(names, **settings)
    labels = labels_by_row(labels_of(found), rows, found.ids, names)
    check_batch(batch, len(found.firsts))
    with working(f"computing features of {counted(len(found), 'item')}"), may_skip():
        computed, embedding = _features(found, features, embed or "auto", seed)
    with whole_folder(project) as part:
        made = Project.create(
            part,
            ids=found.ids,
            contents=shown_without(found, hidden),
            kind=found.kind,
            features=computed,
            classes=names,
            rows=rows,
            root=found.root,
            batch=batch,
            embedding=embedding,
            proposals=proposed,
            shown=found.shown,
            reading=reading_of(found),
            **settings,
        )
        if labels:
            take_labels(made, labels, items)
        made.close()
        if embedding is None and embed is not None:
            (part / FUNCTION).write_text(json.dumps({"function": embed}))
    came = embedding.describe() if embedding else f"from {embed}" if embed else "your own"
    report(project, found, f"{computed.shape[1]}, {came}", made.settings, proposed, labels)
    warn_of_classes(found, names, items.name, hidden)


def _check_columns(proposals: Path | None, named: dict[str, str | None]) -> None:
    option = next((name for name, column in named.items() if column is not None), None)
    if proposals is None and option is not None:
        raise InvalidInput(option, "is a column of the proposals; pass --proposals too")


def names_of(said: list[str], given: list[str] | None) -> list[str]:
    """The classes that people may choose: those given, or those predicted."""
    predicted = sorted(set(said))
    if given is None:
        if len(predicted) < 2:
            raise InvalidInput(
                "classes", f"only {predicted[0]!r} is predicted; name the classes that people may choose"
            )
        return predicted
    other = next((name for name in predicted if name not in given), None)
    if other is not None:
        raise InvalidInput("classes", f"must include {other[:80]!r}, which is predicted; name it too")
    return given


def shown_without(items: Items, hidden: list[str]) -> Any:
    """What people see: not the columns that hold the predictions."""
    if items.kind != "row" or not hidden:
        return items.contents
    rows: Any = items.contents
    return [{name: cell for name, cell in row.items() if name not in hidden} for row in rows]


def _stop(names: list[str], given: dict[str, Any], confidence: float) -> dict[str, Any] | None:
    """When labelling may stop, by these options; None if nobody asked."""
    only_one_stop(given)
    probability("confidence", confidence)
    for of in ("accuracy", "regret"):
        if given[of] is not None:
            return {"of": of, "wanted": share(f"stop_{of}", given[of]), "confidence": confidence}
    if given["recall"] is None:
        return None
    wanted, name = share_of("stop_recall", given["recall"], names)
    code = names.index(name)
    return {"of": "recall", "wanted": wanted, "confidence": confidence, "code": code}


def _names(given: list[str] | None, path: Path | None) -> list[str]:
    """The classes, from the options or from a file."""
    if (path is None) == (not given):
        both = "are both given" if given else "are both missing"
        raise InvalidInput("classes and classes_file", f"{both}; name the classes in one of them")
    return split_classes(given or []) if path is None else read_classes(path)


def read_classes(path: Path) -> list[str]:
    """The names in a file, one a line; empty lines and spaces around a name are left out."""
    try:
        text = read_bytes(path, "classes_file").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("classes_file", f"{path} is not UTF-8 text; save it as such") from error
    found = [name for line in text.split("\n") if (name := line.strip())]
    try:
        check_classes(found)
    except InvalidInput as error:
        raise InvalidInput("classes_file", f"{path}: {error.about('the classes')}") from error
    return found


def split_classes(given: list[str]) -> list[str]:
    """The names of the classes, given one by one or in one word with commas."""
    both = next((part for part in given if "," in part), None) if len(given) > 1 else None
    if both is not None:
        raise InvalidInput(
            "classes",
            f"is given {len(given)} times, and {both!r} holds a comma; write all names in one option, "
            "or one name a line in a --classes-file, where names may hold commas",
        )
    parts = given[0].split(",") if len(given) == 1 else given
    return [name.strip() for name in parts]


def check_place(project: Path) -> None:
    if project.exists() and (not project.is_dir() or any(project.iterdir())):
        raise InvalidInput("project", f"{project} exists and is not an empty folder; choose another")
    parent = project.absolute().parent
    if not parent.is_dir():
        raise InvalidInput("project", f"there is no folder {project.parent}; make it first")
    if not os.access(parent, os.W_OK):
        raise InvalidInput("project", f"{project.parent} cannot be written")


def _features(items: Items, path: Path | None, how: str, seed: int) -> tuple[Float32, Embedding | None]:
    """The features, one row for each distinct item, and the embedding that made them."""
    if path is not None:
        return features_from(path, len(items))[items.firsts], None
    first = distinct(items)
    if ":" in how:
        return embed_with(how, first), None
    embedding, rows = Embedding.fit(first, how, seed=seed)
    return rows, embedding


def distinct(items: Items) -> Items:
    """The items without those that repeat an earlier one."""
    firsts = items.firsts
    contents: Any = [items.contents[place] for place in firsts]
    ids = [items.ids[place] for place in firsts]
    return Items(items.kind, ids, contents, items.root, items.columns, np.arange(len(firsts)))


@contextmanager
def whole_folder(project: Path) -> Iterator[Path]:
    """A folder beside ``project`` that takes its name once it is complete."""
    part = project.absolute().with_name(f".{project.absolute().name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, project)
    except OSError as error:
        raise InvalidInput("project", f"{project} cannot be made ({error.strerror})") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
