"""Make tests/data/crowd/crowd_kit.json: what crowd-kit says of votes on items of four classes.

    python -m venv /tmp/crowd-kit && /tmp/crowd-kit/bin/pip install crowd-kit==1.4.2
    /tmp/crowd-kit/bin/python benchmarks/crowd_kit.py

crowd-kit has no prior. Ours (20 votes of each person on each class, 0.85 of them right, and one more
item of each class) is given to it as one golden item a class, on which everybody has voted 20 times: 17
times right, and once for each other class. Its maximum of the likelihood is then our mode.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote
from crowdkit.metrics.data import alpha_krippendorff

CLASSES, ITEMS, PEOPLE, STEPS = 4, 80, 6, 3000
RIGHT, WRONG = 17, 1


def cast(rng: np.random.Generator) -> list[tuple[int, int, int]]:
    """Votes (item, who, code): each item has two to five, of people of different quality."""
    truth = rng.choice(CLASSES, size=ITEMS, p=[0.4, 0.3, 0.2, 0.1])
    quality = np.array([0.95, 0.85, 0.8, 0.7, 0.5, 0.3])
    votes = []
    for item in range(ITEMS):
        for who in sorted(rng.choice(PEOPLE, size=rng.integers(2, 6), replace=False)):
            wrong = (truth[item] + rng.integers(1, CLASSES)) % CLASSES
            votes.append((item, int(who), int(truth[item] if rng.random() < quality[who] else wrong)))
    return votes


def golden() -> list[tuple[int, int, int]]:
    """Everybody's votes on item ITEMS + c, which is known to be of class c."""
    return [
        (ITEMS + truth, who, code)
        for truth in range(CLASSES)
        for who in range(PEOPLE)
        for code in range(CLASSES)
        for _ in range(RIGHT if code == truth else WRONG)
    ]


def frame(votes: list[tuple[int, int, int]]) -> pd.DataFrame:
    return pd.DataFrame(votes, columns=["task", "worker", "label"])


def main() -> None:
    votes = cast(np.random.default_rng(17))
    known = pd.Series(range(CLASSES), index=range(ITEMS, ITEMS + CLASSES))
    model = DawidSkene(n_iter=STEPS, tol=-np.inf).fit(frame(votes + golden()), true_labels=known)
    shares = MajorityVote().fit_predict_proba(frame(votes))
    columns = list(range(CLASSES))
    errors = [  # of a person: what they say along the first axis, the truth along the second
        model.errors_.loc[who].reindex(columns)[columns].to_numpy().tolist() for who in range(PEOPLE)
    ]
    found: dict[str, Any] = {
        "classes": CLASSES,
        "items": ITEMS,
        "people": PEOPLE,
        "votes": votes,
        "prior": {"votes": RIGHT + (CLASSES - 1) * WRONG, "right": RIGHT / (RIGHT + CLASSES - 1)},
        "eta": model.probas_.loc[range(ITEMS), columns].to_numpy().tolist(),
        "balance": model.priors_[columns].tolist(),
        "errors": errors,
        "share": shares.reindex(columns=columns).fillna(0.0).loc[range(ITEMS)].to_numpy().tolist(),
        "alpha": float(alpha_krippendorff(frame(votes))),
    }
    place = Path(__file__).parents[1] / "tests" / "data" / "crowd" / "crowd_kit.json"
    place.write_text(json.dumps(found, separators=(",", ":")) + "\n")
    print(place, place.stat().st_size)


if __name__ == "__main__":
    main()
