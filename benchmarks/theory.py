"""What the theory promises, measured: `make bench-theory` (about a quarter of an hour on two cores).

    python benchmarks/theory.py [--only spread thresholds …] [--out docs/theory]

Prints one section a claim and draws two pictures. Everything is seeded.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.stats import binomtest, kendalltau

from aced.estimators import (
    Chaining,
    Sample,
    averages,
    ips,
    ips_width,
    naive_width,
    ridge,
    ridge_bias,
    ridge_for,
    ridge_width,
)
from aced.theory import measure, random, rectangles, separators, spread, thresholds
from aced.theory.algorithms import (
    a2,
    a2_planner,
    cal,
    chaining_planner,
    designed,
    efficient,
    fixed_budget,
    fixed_confidence,
    rage,
    rage_planner,
    uniform_design,
)
from aced.theory.complexity import (
    Tsybakov,
    gamma,
    gamma_bound,
    rho,
    rho_bound_noiseless,
    rho_bound_tsybakov,
    threshold_gamma_bound,
    threshold_rho,
    tsybakov_constant,
)
from theory_classes import show_classes, smallest_budget


def show_spread(out: Path) -> None:
    print("   m     n   rho closed    psi  theta  gamma +-      gamma/log n  theta/rho")
    for m in (5, 10, 20, 30):
        found = measure(spread(m))
        print(
            f"{m:4d} {found.n:5d} {found.rho.value:5.3f} {4 * m * m / (m + 1) ** 2:6.3f} "
            f"{found.psi.value:6.2f} {found.disagreement:6.2f} {found.gamma.value:6.3f} "
            f"{found.gamma.stderr:.3f} {found.gamma.value / np.log(found.n):10.3f} "
            f"{found.disagreement / found.rho.value:11.2f}"
        )
    print("no noise, labels until one hypothesis is left, mean of 200 runs:")
    for m in (5, 10, 20):
        problem, rng = spread(m), np.random.default_rng(m)
        plain = np.mean([cal(problem, rng).labels for _ in range(200)])
        where = np.mean([cal(problem, rng, design=designed).labels for _ in range(200)])
        print(f"  m {m:2d}: cal {plain:.1f}, cal with the design {where:.1f}, ratio {plain / where:.1f}")
    print("labels to confidence 0.9, mean of 10 runs (no run failed unless noted):")
    for noise in (0.0, 0.1):
        for m in (5, 10, 20):
            problem = spread(m, noise)
            plans = chaining_planner(), rage_planner(), a2_planner()
            methods = {
                "aced": lambda rng, p=problem, q=plans[0]: fixed_confidence(p, 0.1, rng, planner=q),
                "rage": lambda rng, p=problem, q=plans[1]: rage(p, 0.1, rng, planner=q),
                "a2": lambda rng, p=problem, q=plans[2]: a2(p, 0.1, rng, planner=q),
                "cal": lambda rng, p=problem: cal(p, rng),
            }
            text, labels = [], {}
            for name, run in methods.items():
                results = [run(np.random.default_rng([m, trial])) for trial in range(10)]
                labels[name] = np.mean([result.labels for result in results])
                failed = sum(problem.gaps[result.chosen] > 0 for result in results)
                text.append(f"{name} {labels[name]:.0f}" + (f" ({failed} failed)" if failed else ""))
            ratio = labels["a2"] / labels["aced"]
            print(f"  noise {noise}, m {m:2d}: {', '.join(text)}; a2/aced {ratio:.2f}")


def show_uniform(out: Path) -> None:
    print(
        "smallest budget with at most 10 % of 100 runs failing; same estimator, spread with noise 0.1:"
    )
    for estimator in ("naive", "ridge"):
        for m in (4, 8, 16):
            problem = spread(m, 0.1)

            def designed(t, rng, p=problem, e=estimator):
                return fixed_budget(p, t, p.delta_min, rng, estimator=e)

            def uniform(t, rng, p=problem, e=estimator):
                return fixed_budget(p, t, p.delta_min, rng, estimator=e, designer=uniform_design)

            best = smallest_budget(designed, problem, 0.1, 100)
            plain = smallest_budget(uniform, problem, 0.1, 100)
            print(
                f"  {estimator:6s} m {m:2d}: designed {best:5d}, uniform in the region {plain:5d}, "
                f"ratio {plain / best:.2f}"
            )


def show_thresholds(out: Path) -> None:
    print("   n      rho   closed form   gamma +-      lower   bound     gamma/(log n loglog n)")
    for n in (16, 32, 64, 128, 256, 512, 1024):
        problem = thresholds(n)
        first, second = rho(problem), gamma(problem)
        scale = np.log2(n) * np.log(np.log2(2 * n))
        print(
            f"{n:5d} {first.value:8.4f} {threshold_rho(n, n // 2, 1.0):10.4f} "
            f"{second.value:10.3f} {second.stderr:.3f} {second.lower:8.3f} "
            f"{threshold_gamma_bound(n, 1.0):8.0f} {second.value / scale:10.3f}"
        )


def random_instances(count: int):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(80, 3))
    labels = (rows @ [1.0, -1.0, 0.5] > 0).astype(int)
    for seed in range(count):
        kind = seed % 4
        if kind == 0:
            yield random(int(rng.integers(7, 30)), int(rng.integers(4, 60)), 0.2 * rng.random(), seed)
        elif kind == 1:
            yield rectangles(int(rng.integers(4, 11)), 0.4 * rng.random(), seed)
        elif kind == 2:
            n = int(rng.integers(4, 100))
            yield thresholds(n, 0.45 * rng.random(), int(rng.integers(1, n + 1)))
        else:
            yield separators(rows, labels, 40, noise=0.3 * rng.random(), seed=seed)


def show_inequalities(out: Path) -> None:
    tight: dict[str, list[float]] = {"noiseless": [], "Tsybakov": [], "gamma": []}
    violated = 0
    for number, noisy in enumerate(random_instances(400)):
        problem = noisy if number // 4 % 2 else noisy.realise(np.random.default_rng(number))
        if problem.delta_min == 0:
            continue
        for epsilon in (problem.delta_min / problem.n, 0.05, 0.2):
            if epsilon < problem.delta_min / problem.n:
                continue
            value = rho(problem, epsilon * problem.n).value
            if problem.noiseless:
                tight["noiseless"].append(value / rho_bound_noiseless(problem, epsilon))
            for alpha in np.linspace(0.1, 1, 10):
                pair = Tsybakov(tsybakov_constant(problem, float(alpha)), float(alpha))
                tight["Tsybakov"].append(value / rho_bound_tsybakov(problem, pair, epsilon))
            wide = gamma(problem, epsilon * problem.n, pairs=256, rounds=15, final_pairs=2048)
            tight["gamma"].append(wide.value / gamma_bound(problem, value))
    for name, ratios in tight.items():
        violated += sum(ratio > 1 for ratio in ratios)
        print(
            f"  {name:10s} {len(ratios):5d} checks, value / bound: "
            f"median {np.median(ratios):.4f}, largest {max(ratios):.4f}"
        )
    print(f"  violations: {violated}")


def show_estimators(out: Path) -> None:
    draws, t, n, delta = 2000, 60, 12, 0.1
    rng = np.random.default_rng(0)
    mu, lam = rng.uniform(-1, 1, n), rng.dirichlet(np.full(n, 2.0))
    v = rng.choice([-1.0, 0.0, 1.0], n)
    s = ridge_for(v, lam, t, delta)
    off: dict[str, list[float]] = {"ips": [], "ridge": [], "naive": []}
    widths = []
    for _ in range(draws):
        positions = rng.choice(n, t, p=lam)
        y = np.where(rng.random(t) < (1 + mu[positions]) / 2, 1.0, -1.0)
        sample = Sample.of(lam, positions, y)
        off["ips"].append(v @ (ips(sample) - mu))
        off["ridge"].append(v @ (ridge(sample, s) - mu))
        off["naive"].append(v @ (averages(sample.counts, sample.sums) - mu))
        widths.append(naive_width(v, sample.counts, delta))
    bias = {"ips": 0.0, "ridge": ridge_bias(v, lam, t, s), "naive": np.nan}
    bound = {
        "ips": ips_width(v, lam, t, delta),
        "ridge": ridge_width(v, lam, t, delta),
        "naive": float(np.mean(widths)),
    }
    print(f"one direction, {draws} draws of {t} labels, delta {delta}:")
    for name, values in off.items():
        array = np.array(values)
        missed = np.abs(array) > (np.array(widths) if name == "naive" else bound[name])
        print(
            f"  {name:6s} bias {array.mean():+.3f} +- {array.std() / np.sqrt(draws):.3f} "
            f"(at most {bias[name]:.3f}), 0.9 quantile {np.quantile(np.abs(array), 0.9):.2f}, "
            f"bound {bound[name]:.2f}, missed {missed.mean():.4f}"
        )
    for m, t in ((10, 20), (10, 40), (16, 32)):
        problem = spread(m, 0.05)
        lam = np.append(np.full(m, 1 / (2 * m)), np.full(m * m, 1 / (2 * m * m)))
        built = Chaining(problem.sets, lam, delta)
        zeta = rng.normal(size=(4000, problem.n))
        breadth = ((zeta / np.sqrt(t * lam)) @ problem.sets.T).max(axis=1).mean()
        theorem = np.sqrt(np.log(2 / delta)) * built.distances.max() / np.sqrt(t) + breadth
        chained, weighted, empty = [], [], 0
        for _ in range(2000):
            sample = problem.draw(lam, t, rng)
            found = built.fit(sample)
            empty += not found.consistent
            chained.append(np.ptp(problem.sets @ (found.mu - problem.mu)))
            weighted.append(np.ptp(problem.sets @ (ips(sample) - problem.mu)))
        print(
            f"all pairs, spread m {m}, {t} labels: theorem with constant 1: {theorem:.1f}, "
            f"own width {built.width(t):.0f}; P empty {empty} times"
        )
        for name, values in (("chaining", chained), ("ips", weighted)):
            above = np.mean(np.array(values) > theorem)
            high = np.quantile(values, 0.9)
            print(f"  {name:8s} 0.9 quantile {high:.1f}, above the theorem's {above:.4f}")


def show_confidence(out: Path) -> None:
    delta, runs = 0.1, 500
    for name, problem in (
        ("random 12 x 20, noise 0.15", random(12, 20, 0.15, seed=5)),
        ("thresholds 16, noise 0.15", thresholds(16, 0.15)),
        ("rectangles 6, noise 0.1", rectangles(6, 0.1)),
    ):
        for constant, label in ((2.0, "c = 2"), (None, "certified")):
            planner = chaining_planner(constant)
            rng = np.random.default_rng(0)
            results = [fixed_confidence(problem, delta, rng, planner=planner) for _ in range(runs)]
            failed = int(sum(problem.gaps[result.chosen] > 0 for result in results))
            tail = binomtest(failed, runs, delta, alternative="greater").pvalue
            print(
                f"  {name}, {label}: {failed} of {runs} runs failed (at most {delta} promised; "
                f"probability of as many at {delta}: {tail:.3g}), "
                f"{np.mean([r.labels for r in results]):.0f} labels"
            )
    points = []
    for number, problem in enumerate(
        [
            *(spread(m, 0.1) for m in (3, 5, 8, 12)),
            *(
                thresholds(n, noise)
                for n, noise in ((8, 0.1), (16, 0.1), (32, 0.1), (16, 0.3), (32, 0.25))
            ),
            *(random(14, 24, 0.15, seed) for seed in range(4)),
            *(rectangles(n, 0.1) for n in (5, 6, 8)),
        ]
    ):
        for delta in (0.2, 0.01, 1e-4):
            found = measure(problem, delta=delta)
            target = found.gamma.value + found.rho.value * np.log(1 / delta)
            planner, rng = chaining_planner(), np.random.default_rng(number)
            labels = np.mean(
                [fixed_confidence(problem, delta, rng, planner=planner).labels for _ in range(5)]
            )
            points.append((target, labels, delta))
    x, y = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    slope, level = np.polyfit(x, y, 1)
    print(
        f"  labels against gamma* + rho* log(1/delta), {len(points)} instances and deltas: "
        f"slope {slope:.2f} on log scales, "
        f"correlation {np.corrcoef(x, y)[0, 1]:.3f}, Kendall tau {kendalltau(x, y).statistic:.3f}"
    )
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, plane = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    for delta, colour in ((0.2, "#0b6e99"), (0.01, "#c8553d"), (1e-4, "#5a8f3d")):
        chosen = [p for p in points if p[2] == delta]
        plane.loglog(
            [p[0] for p in chosen], [p[1] for p in chosen], "o", color=colour, label=f"delta {delta:g}"
        )
    ends = np.array([x.min(), x.max()])
    plane.loglog(np.exp(ends), np.exp(level + slope * ends), "k--", label=f"slope {slope:.2f}")
    plane.set_xlabel("gamma* + rho* log(1/delta)")
    plane.set_ylabel("labels used")
    plane.set_title("Fixed-confidence ACED")
    plane.legend()
    plane.grid(alpha=0.25)
    figure.savefig(out / "confidence.png", dpi=110)
    plt.close(figure)


def show_budget(out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, plane = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    problem = random(12, 20, 0.15, seed=5)
    for name, colour in (("chaining", "#0b6e99"), ("ridge", "#5a8f3d"), ("ips", "#c8553d")):
        budgets, rates = [16, 32, 48, 64, 96, 128], []
        for budget in budgets:
            runs = 400
            failed = sum(
                problem.gaps[
                    fixed_budget(
                        problem,
                        budget,
                        problem.delta_min,
                        np.random.default_rng([budget, trial]),
                        estimator=name,
                    ).chosen
                ]
                > 0
                for trial in range(runs)
            )
            rates.append(failed / runs)
        kept = [(b, r) for b, r in zip(budgets, rates, strict=True) if r > 0]
        slope = np.polyfit([b for b, _ in kept], np.log([r for _, r in kept]), 1)[0]
        print(
            f"  random 12 x 20, {name}: failures "
            + ", ".join(f"{r:.3f} at {b}" for b, r in zip(budgets, rates, strict=True))
            + f"; log-failure falls by {-slope:.4f} a label (1/{-1 / slope:.0f})"
        )
        plane.semilogy([b for b, _ in kept], [r for _, r in kept], "o-", color=colour, label=name)
    plane.set_xlabel("budget T")
    plane.set_ylabel("failure probability")
    plane.set_title("Fixed Budget ACED on a random class")
    plane.legend()
    plane.grid(alpha=0.25)
    figure.savefig(out / "budget.png", dpi=110)
    plt.close(figure)
    print(
        "  smallest budget with at most 10 % of 60 runs failing, spread with noise 0.1 (psi* = m / 0.8):"
    )
    for m in (4, 8, 16):
        problem = spread(m, 0.1)

        def paid(t, rng, p=problem):
            return efficient(p, t, p.delta_min, rng)

        def chained(t, rng, p=problem):
            return fixed_budget(p, t, p.delta_min, rng)

        first = smallest_budget(paid, problem, 0.1, 60)
        second = smallest_budget(chained, problem, 0.1, 60)
        print(
            f"    m {m:2d}: efficient (importance weighting) {first}, chaining {second}, "
            f"ratio {first / second:.2f}"
        )


SECTIONS = {
    "spread": ("spread: closed forms, and what uniform sampling costs", show_spread),
    "uniform": ("spread: the design against uniform draws, budgets compared", show_uniform),
    "thresholds": ("thresholds: gamma* under the appendix's bound", show_thresholds),
    "inequalities": ("the propositions' inequalities on random instances", show_inequalities),
    "estimators": ("estimators: bias and tails", show_estimators),
    "confidence": ("fixed confidence: failures and labels", show_confidence),
    "budget": ("fixed budget: failures against T, and the price of psi*", show_budget),
    "classes": ("more than two classes: measures and labels", show_classes),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--out", type=Path, default=Path("docs/theory"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        title, show = SECTIONS[name]
        print(f"\n{title}", flush=True)
        started = time.perf_counter()
        show(arguments.out)
        print(f"  [{time.perf_counter() - started:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
