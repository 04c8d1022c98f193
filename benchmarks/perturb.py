"""The trusting-nobody path in figures: speeds as ratios of one run, distances of Figure 2, and the paper's claims.

python benchmarks/perturb.py speed | fig2 | stream | local-dp | fig5 [RUNS] | fig6 [RUNS]
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from scumble.experiments.agrawal import RANGES, agrawal_schema, codes, generate, stream
from scumble.experiments.as_claims import figure_5_claims, figure_6_claims
from scumble.experiments.as_figures import (
    FIGURE_6_PRIVACY,
    Claim,
    accuracies,
    figure_2,
    figure_2_claims,
    mean_accuracy,
    published_values,
)
from scumble.mining.perturbed_classifier import PerturbedTreeClassifier
from scumble.mining.reconstruct import partition, reconstruct
from scumble.model.counts import Integers
from scumble.model.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.taxonomy import Grid
from scumble.privacy.noise import KeyedWords
from scumble.privacy.perturb import perturb_block


def seconds(work: Callable[[], object], times: int = 3) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def speed() -> None:
    people, labels = generate(2, 100_000, seed=1)
    cells = {**codes(people), "group": labels}
    for noise in ("uniform", "gaussian"):
        model = for_privacy(agrawal_schema(), privacy="100%", noise=noise)
        print(noise)
        training_speed(model, cells, labels)
        perturbing_speed(model, cells)
        reconstruction_speed(model, cells)


def training_speed(model: NoiseModel, cells: dict[str, Integers], labels: Integers) -> None:
    values = published_values(model, perturb_block(model, cells))
    base = seconds(lambda: DecisionTreeClassifier().fit(values, labels))
    print(f"  DecisionTreeClassifier {base:.2f} s; ratios to it:")
    for algorithm in ("uncorrected", "global", "byclass", "local"):
        tree = PerturbedTreeClassifier(model, algorithm=algorithm)
        tree.fit(values[:2000], labels[:2000])  # compiles
        print(f"    {algorithm} {seconds(partial(tree.fit, values, labels), 2) / base:.2f}", flush=True)


def perturbing_speed(model: NoiseModel, cells: dict[str, Integers]) -> None:
    names = [str(row) for row in range(100_000)]
    words = KeyedWords(bytes(32))
    fresh = seconds(lambda: perturb_block(model, cells))
    keyed = seconds(lambda: perturb_block(model, cells, words=words, entities=names), 1)
    print(f"  perturb 100,000 x 9: {fresh:.3f} s, keyed {keyed:.2f} s")


def reconstruction_speed(model: NoiseModel, cells: dict[str, Integers]) -> None:
    blurred = model["salary"]
    part = partition(blurred, 100)
    told = perturb_block(model, {name: np.resize(column, 10**6) for name, column in cells.items()})["salary"]
    counts = part.observe(told)
    few, many = (seconds(partial(reconstruct, np.round(counts * scale), part.kernel), 5) for scale in (0.01, 100))
    grid = blurred.published.domain
    assert isinstance(grid, Grid)
    edges, numbers = grid.edge_floats[part.bins], grid.edge_floats[told]
    binning = seconds(lambda: np.bincount(np.searchsorted(edges, numbers, side="right")))
    fixed = [
        seconds(partial(reconstruct, np.round(counts * scale), part.kernel, stop_share=0, most=100), 5)
        for scale in (0.01, 100)
    ]
    print(f"  reconstruct 10^4 rows {1e3 * few:.1f} ms, 10^8 rows {1e3 * many:.1f} ms (more rows, more steps to stop);")
    print(
        f"  a hundred steps each: {1e3 * fixed[0]:.1f} and {1e3 * fixed[1]:.1f} ms; binning 10^6 {1e3 * binning:.1f} ms"
    )


def stream_memory() -> None:
    model = for_privacy(agrawal_schema(), privacy="100%")
    for rows in (1_000_000, 10_000_000):
        start = time.process_time()
        for people, labels in stream(1, rows, seed=1):
            perturb_block(model, {**codes(people), "group": labels})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{rows:,} rows made and blurred: {time.process_time() - start:.0f} s, peak memory {peak} MB", flush=True)


def local_dp() -> None:
    """The same task under interval and under local privacy: which epsilon reaches the accuracy of 100 %."""
    schema = agrawal_schema()
    people, labels = generate(1, 100_000, seed=1)
    test, wanted = generate(1, 5_000, seed=2)
    table = np.stack([test[name] for name in RANGES], axis=1)
    cells = {**codes(people), "group": labels}
    models = {"gaussian 100%": for_privacy(schema, privacy="100%")}
    models |= {f"epsilon {e}": for_epsilon(schema, epsilon=e) for e in (1, 5, 10, 20, 40, 80)}
    for name, model in models.items():
        told = perturb_block(model, cells)
        tree = PerturbedTreeClassifier(model).fit(published_values(model, told), told["group"])
        print(f"{name}: {(tree.predict(table) == wanted).mean():.3f}", flush=True)


def show(claims: list[Claim]) -> None:
    for claim in claims:
        print("holds " if claim.holds else "FAILS ", claim.text, "|", claim.measured)


def figure(number: int, runs: int) -> None:
    options = {} if number == 5 else {"privacy": FIGURE_6_PRIVACY, "algorithms": ("randomized", "byclass")}
    rows = []
    for row in accuracies(runs=runs, **options):  # type: ignore[arg-type]
        rows.append(row)
        print(json.dumps(row), file=sys.stderr, flush=True)
    settings = sorted({(r["function"], r["noise"], r["privacy"], r["algorithm"]) for r in rows}, key=str)
    for function, noise, privacy, algorithm in settings:
        mean = mean_accuracy(rows, function=function, noise=noise, privacy=privacy, algorithm=algorithm)
        print(f"function {function} {noise:8} {privacy:>4} {algorithm:10} {mean:.1f}")
    show(figure_5_claims(rows) if number == 5 else figure_6_claims(rows))


if __name__ == "__main__":
    what, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    match what:
        case "speed":
            speed()
        case "stream":
            stream_memory()
        case "local-dp":
            local_dp()
        case "fig2":
            for rule in Rule:
                print(rule)
                show(figure_2_claims(figure_2(seed=1, rule=rule)))
        case "fig5" | "fig6":
            figure(int(what[-1]), runs)
