"""What the last round says of the representation, for the page, the terminal and ``aced status``."""

from __future__ import annotations

from typing import Any

from aced._explained import compared, errors_of, explained, since
from aced.ledger import State


def representation(state: State) -> dict[str, Any]:
    """The representation of the last round, since when it is used, and what a random forest would do.

    ``wanted`` is the project's setting; None in a project of before there was a choice.
    """
    wanted, l2 = state.settings.representation, state.settings.l2
    if state.settings.audit:
        return {"wanted": None, "sentence": "none: predictions are audited", "advice": None}
    designs = [one.get("design") or {} for one in state.rounds]
    first = since(designs)
    if l2 is not None or first is None:
        fixed = f"Rows are taken as they are, and the classifier's penalty is fixed (l2 = {l2})."
        said = "not known yet" if l2 is None else fixed
        return {"wanted": wanted, "sentence": said, "advice": None}
    last = next(one for one in reversed(designs) if one.get("representation") is not None)
    began = state.rounds[first]
    labels = f"{began['labels']} label{'s' * (began['labels'] != 1)}"
    sentence = explained(last)
    if errors_of(last):
        sentence = f"{sentence} This has been so since round {began['round']} ({labels})."
    forest = compared(last)
    return {
        "wanted": wanted,
        "used": last["representation"],
        "errors": errors_of(last),
        "since": {"round": began["round"], "labels": began["labels"]},
        "sentence": sentence or "not known yet",
        "forest": last.get("forest"),
        "model": last.get("model"),
        "advice": forest
        and f"{forest}. A project cannot train one, but you can, with the labels that it exports.",
    }
