"""Figures about `perturb` and the trees trained on perturbed rows.

python benchmarks/perturb.py speed         training, perturbing and reconstructing, as ratios within one run
python benchmarks/perturb.py stream        peak memory of perturbing 1 and 10 million rows in blocks
python benchmarks/perturb.py smoothing     how the default amount of smoothing was chosen
python benchmarks/perturb.py anomaly       accuracy of Original on Function 2 by the least gain of a split
python benchmarks/perturb.py people        write people/train.csv, people/test.csv and people/schema.yaml, Function 2

The paper's figures are `scumble reproduce as-...`.
"""

import argparse
import csv
import resource
import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from scumble.files.schema_file import write_schema
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.mining.reconstruction.iteration import IntervalPartition, interval_partition, reconstruct_shares
from scumble.mining.reconstruction.smoothing import (
    JUDGED_ROWS,
    SMOOTHED_STOP_SHARE,
    WIDTH,
    Rule,
    reconstruct_by_rule,
    smoother,
)
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel, for_privacy
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Gaussian, Randomizer, Uniform
from scumble.model.schema import Attribute, Outside
from scumble.privacy.noise import KeyedWords, SimulatedWords, Simulation, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.perturbation.figures import matrix, published_matrix
from scumble.reproductions.perturbation.people import CLASSES, agrawal_schema, codes, generate, people_in_blocks


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
    values = published_matrix(model, perturb_block(model, cells))
    base = seconds(lambda: DecisionTreeClassifier().fit(values, labels))
    print(f"  DecisionTreeClassifier {base:.2f} s; ratios to it:")
    for algorithm in ("uncorrected", "global", "byclass", "local"):
        tree = PerturbedTreeClassifier(model, algorithm=algorithm)
        tree.fit(values[:2000], labels[:2000])  # compile before timing
        print(f"    {algorithm} {seconds(partial(tree.fit, values, labels), 2) / base:.2f}", flush=True)


def perturbing_speed(model: NoiseModel, cells: dict[str, Integers]) -> None:
    names = [str(row) for row in range(100_000)]
    words = KeyedWords(bytes(32))
    fresh = seconds(lambda: perturb_block(model, cells))
    keyed = seconds(lambda: perturb_block(model, cells, words=words, entities=names), 1)
    print(
        f"  perturb 100,000 x 9: {fresh:.3f} s, {100_000 / fresh:,.0f} rows per second; with a secret {keyed:.2f} s, ",
        end="",
    )
    print(f"{100_000 / keyed:,.0f} rows per second")


def reconstruction_speed(model: NoiseModel, cells: dict[str, Integers]) -> None:
    salary = model["salary"]
    part = interval_partition(salary, 100)
    reports = perturb_block(model, {name: np.resize(column, 10**6) for name, column in cells.items()})["salary"]
    counts = part.observe(reports)
    grid = salary.published.domain
    assert isinstance(grid, Grid)
    edges, numbers = grid.edge_floats[part.bins], grid.edge_floats[reports]
    binning = seconds(lambda: np.bincount(np.searchsorted(edges, numbers, side="right")))
    print(
        f"  binning 10^6 rows {1e3 * binning:.1f} ms; reconstructing 100 intervals from counts of 10^4 and 10^8 rows:"
    )
    for rule in Rule:
        taken = [
            seconds(partial(reconstruct_by_rule, np.round(counts * scale), part, rule), 5) for scale in (0.01, 1, 100)
        ]
        print(f"    {rule}: {1e3 * taken[0]:.1f} and {1e3 * taken[2]:.1f} ms; of the 10^6 rows {1e3 * taken[1]:.1f} ms")
    fixed = [
        seconds(partial(reconstruct_shares, np.round(counts * scale), part.kernel, stop_share=0, most=100), 5)
        for scale in (0.01, 100)
    ]
    print(f"    a hundred steps: {1e3 * fixed[0]:.1f} and {1e3 * fixed[1]:.1f} ms")


def stream_memory() -> None:
    model = for_privacy(agrawal_schema(), privacy="100%")
    for rows in (1_000_000, 10_000_000):
        start = time.process_time()
        for people, labels in people_in_blocks(1, rows, seed=1):
            perturb_block(model, {**codes(people), "group": labels})
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{rows:,} rows generated and perturbed: {time.process_time() - start:.0f} s, peak memory {peak} MB",
            flush=True,
        )


SHAPES: dict[str, Callable[[int, Simulation], Floats]] = {
    "plateau": lambda rows, draw: draw.uniform(0, 0.75, rows) + draw.uniform(0, 0.25, rows),
    "triangles": lambda rows, draw: 0.5 * draw.integers(0, 2, rows) + draw.triangular(0, 0.25, 0.5, rows),
    "two blocks": lambda rows, draw: draw.uniform(0, 1 / 3, rows) + 2 / 3 * draw.integers(0, 2, rows),
    "skewed": lambda rows, draw: draw.beta(1.5, 6, rows),
}
RANDOMIZERS: dict[str, Randomizer] = {
    "gaussian 0.25": Gaussian(sigma=Fraction(1, 4)),
    "gaussian 0.1": Gaussian(sigma=Fraction(1, 10)),
    "uniform 0.5": Uniform(half_width=Fraction(4995, 10_000)),
    "uniform 0.15": Uniform(half_width=Fraction(1495, 10_000)),
}
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)


def smoothing(repetitions: int = 3) -> None:
    """Mean total variation distance to the truth: the paper's rule, and multiples of our smoothing width."""
    domain = Grid.regular(low=Decimal(0), high=Decimal(1), step=Decimal("0.001"))
    attribute = Attribute(name="x", domain=domain, outside=Outside.CLAMP)
    print("rows, noise: paper |", *(f"width x {factor:g}" for factor in FACTORS))
    for rows in (1_000, 10_000, 100_000, 1_000_000):
        for name, randomizer in RANDOMIZERS.items():
            randomized = RandomizedAttribute(attribute=attribute, randomizer=randomizer)
            part = interval_partition(randomized, 20)
            found = [
                distances_of(randomized, part, rows, shape, simulation(seed))
                for seed in range(repetitions)
                for shape in SHAPES.values()
            ]
            paper, *ours = np.mean(found, axis=0)
            print(f"{rows:>9,} {name}: {paper:.3f} |", *(f"{each:.3f}" for each in ours), flush=True)


def distances_of(
    randomized: RandomizedAttribute,
    part: IntervalPartition,
    rows: int,
    shape: Callable[[int, Simulation], Floats],
    draw: Simulation,
) -> list[float]:
    cells = randomized.channel.inputs
    true = np.minimum((shape(rows, draw) * cells).astype(np.int64), cells - 1)
    counts = part.observe(randomized.apply(true, SimulatedWords(draw).draw(b"", (), true)))
    truth = np.bincount(np.searchsorted(part.intervals, true, side="right") - 1, minlength=part.size) / rows
    guesses = [reconstruct_by_rule(counts, part, Rule.PAPER)]
    for factor in FACTORS:
        matrix = smoother(part.intervals, rows, WIDTH * factor**0.5)
        judged = counts * (JUDGED_ROWS / rows)
        guesses.append(reconstruct_shares(judged, part.kernel, stop_share=SMOOTHED_STOP_SHARE, smoother=matrix).shares)
    return [float(np.abs(guess - truth).sum() / 2) for guess in guesses]


def anomaly() -> None:
    """Original on Function 2: splitting for any gain, and only for gains of at least some size."""
    people, labels = generate(2, 100_000, seed=1)
    test, wanted = generate(2, 5_000, seed=2)
    for least in (0.0, 1e-4, 1e-3, 3e-3, 1e-2):
        tree = DecisionTreeClassifier(min_impurity_decrease=least).fit(matrix(people), labels)
        accuracy = (tree.predict(matrix(test)) == wanted).mean()
        print(f"least gain of gini {least:g}: accuracy {accuracy:.1%}, {tree.get_n_leaves()} leaves", flush=True)


def write_people() -> None:
    """People of Function 2 as tables, to try the commands of docs/perturb.md on."""
    folder = Path("people")
    folder.mkdir()
    write_schema(agrawal_schema(), folder / "schema.yaml")
    for name, rows, seed in (("train", 100_000, 1), ("test", 5_000, 2)):
        people, labels = generate(2, rows, seed=seed)
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([*people, "group"])
            writer.writerows(
                zip(*(column.tolist() for column in people.values()), np.take(CLASSES, labels), strict=True)
            )


if __name__ == "__main__":
    parts = {
        "speed": speed,
        "stream": stream_memory,
        "smoothing": smoothing,
        "anomaly": anomaly,
        "people": write_people,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parts[parser.parse_args().part]()
