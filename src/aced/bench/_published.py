"""The paper's curves, read off its figures (± 0.002): pool accuracy, running maximum."""

from __future__ import annotations

ACED: dict[str, dict[int, float]] = {
    "mnist": {1000: 0.80, 4000: 0.843, 6000: 0.857, 10000: 0.870, 11750: 0.8733},
    "svhn": {2500: 0.65, 4000: 0.6925, 5000: 0.707, 5750: 0.719},
    "cifar": {3000: 0.79, 3750: 0.818, 4250: 0.82, 6000: 0.825},
    "fashion": {500: 0.9866, 3500: 0.9925, 8000: 0.998, 10750: 1.0},
}
OTHERS: dict[str, str] = {
    "mnist": "passive 0.845 at 5000, 0.861 at 12000; IWAL0 (C0 1e-5) 0.8733 at 17500; OAC 0.84 at 5200, "
    "then stops asking",
    "svhn": "passive 0.67 at 5000; ORA-IWAL0 0.701 at 9200; OAC 0.657 at 1500, 0.693 at 7300",
    "cifar": "passive 0.78 at 3000; IWAL0/1 0.82 at about 5500; OAC 0.78 at 2700",
    "fashion": "passive and all others alike; 1.0 at 12000",
}
