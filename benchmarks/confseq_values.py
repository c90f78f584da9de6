"""Write the wealth of confseq's bets on uniform draws, which tests/certificates/test_confseq.py reads.

    pip install confseq==0.0.11 multiprocess    # wheels up to Python 3.10; else it needs Boost
    python benchmarks/confseq_values.py tests/certificates/confseq.json

Of confseq only betting.py is needed, which is plain Python.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from aced.certificates._betting import CAP, THETA

N, DRAWS, VARIANCE, ALPHA, EVERY = 200, 120, 0.2, 0.05, 6


def bets(theta: float):  # type: ignore[no-untyped-def]
    """λ_t of the bet θ / V_t on a share of the pool, for confseq's bet on the mean of the open rows."""
    left = N - np.arange(DRAWS)
    return lambda x, m: theta / VARIANCE * left[: len(x)] / N


def main() -> None:
    setattr(np, "float_", np.float64)  # noqa: B010  a name that numpy 2 dropped and confseq uses
    from confseq.betting import diversified_betting_mart

    ladder = [bets(theta) for theta in THETA]
    found = []
    for seed, share in enumerate((0.02, 0.1, 0.3, 0.5)):
        rng = np.random.default_rng(seed)
        marks = (np.arange(N) < share * N).astype(float)[rng.permutation(N)]
        x = marks[:DRAWS]
        for m in (0.5 * share, share, min(1.5 * share, 0.9), share + 0.15):
            sides = {
                side: diversified_betting_mart(
                    x, m, ladder, N=N, alpha=ALPHA, theta=theta, trunc_scale=CAP
                )[EVERY - 1 :: EVERY]
                for side, theta in (("too_small", 1), ("too_large", 0))
            }
            rounded = {side: [float(f"{w:.10g}") for w in wealth] for side, wealth in sides.items()}
            found.append({"x": x.astype(int).tolist(), "m": m, **rounded})
    shown = {"n": N, "variance": VARIANCE, "every": EVERY, "cases": found}
    Path(sys.argv[1]).write_text(json.dumps(shown) + "\n")


if __name__ == "__main__":
    main()
