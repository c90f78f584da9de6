"""Fuzzers of all boundaries, for an hour.

    python benchmarks/fuzz.py [--seconds 3600] [--seed 0] [--boundary NAME] [--case NUMBER]

The boundaries are those of tests/fuzz: requests over HTTP and bytes on its sockets, the ledger's file,
the project's folder, saved learners, tables, and Label Studio's exports and webhooks. They take turns of
a minute. A case is a problem if it leads to a traceback, to a hang, to far more memory than its size
explains, or to labels that are gone without a word. Each kind of problem is printed with the command
that repeats it, and the exit code is then 1.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy: cases are small, and one process runs them
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzz._runner import BOUNDARIES, REFUSED, TAKEN, Tally, fuzz  # noqa: E402  (found through the line above)

TURN = 60.0
"""Seconds of a boundary's turn, at most."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600.0, help="for all boundaries together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--boundary", choices=BOUNDARIES, action="append", help="default: all")
    parser.add_argument("--case", type=int, help="run only this case of one boundary")
    given = parser.parse_args()
    names = given.boundary or list(BOUNDARIES)
    if given.case is None:
        tallies = take_turns(names, given.seed, given.seconds)
    else:
        tallies = [fuzz(names[0], given.seed, cases=1, first=given.case)]
    for tally in tallies:
        print(tally.report(), end="")
    print_table(tallies)
    sys.exit(1 if any(tally.problems for tally in tallies) else 0)


def take_turns(names: list[str], seed: int, seconds: float) -> list[Tally]:
    """Each boundary's cases for an equal part of the time."""
    tallies = {name: Tally(name) for name in names}
    rounds = max(1, round(seconds / len(names) / TURN))
    for _ in range(rounds):
        for name, tally in tallies.items():
            more = fuzz(name, seed, seconds=seconds / len(names) / rounds, first=tally.cases)
            tally.counts += more.counts
            tally.problems += more.problems
            tally.seconds += more.seconds
            print(f"{name}: {tally.cases} cases, {len(tally.problems)} problems", file=sys.stderr)
    return list(tallies.values())


def print_table(tallies: list[Tally]) -> None:
    print(f"{'boundary':14} {'cases':>9} {'refused':>9} {'taken':>9} {'problems':>9} {'cases/s':>9}")
    for one in tallies:
        rate = one.cases / max(one.seconds, 1e-9)
        counts = (one.cases, one.counts[REFUSED], one.counts[TAKEN], len(one.problems), round(rate, 1))
        print(f"{one.boundary:14}", *(f"{count:9}" for count in counts))


if __name__ == "__main__":
    main()
