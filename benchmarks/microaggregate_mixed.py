"""`microaggregate` on Adult, a mixed table, compared with other differentially private methods at the same epsilon.

    python benchmarks/microaggregate_mixed.py [--splits 3] [--epsilons 0.1 1]

For each contender the script prints the mean total variation distance of the released margins from those of the
training rows (one attribute, and two; at most 20 bins each), and the accuracy of boosting on the
test rows when it is trained on the release: for the class, and for the marital status. A third of the rows are test
rows. `independent` is `microaggregate` without groups: noisy counts of each attribute alone. Epsilon is under
add-remove everywhere.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

import scumble
from scumble.datasets import load
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

OTHER = "marital-status"
CONTENDERS: dict[str, dict[str, Any]] = {
    "independent": {"method": "microaggregate", "depth": 0},
    "histograms": {"method": "histograms"},
    "diffgen": {"method": "diffgen"},
    "microaggregate": {"method": "microaggregate"},
    "microaggregate, mean": {"method": "microaggregate", "centre": "mean"},
    "microaggregate, median": {"method": "microaggregate", "centre": "median"},
}
COLUMNS = ("one way", "two ways", "class", OTHER)


def splits(table: pa.Table, number: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Training and test rows."""
    for seed in range(number):
        order = simulation(seed).permutation(len(table))
        cut = 2 * len(table) // 3
        yield table.take(order[:cut]), table.take(order[cut:])


def figures(
    train: pa.Table, test: pa.Table, schema: Schema, epsilon: str, contender: str, settings: dict[str, Any]
) -> tuple[float, ...]:
    """The figures of one release."""
    public = replace(schema, target=None) if contender == "independent" else schema
    with tempfile.TemporaryDirectory() as folder:
        out, ledger = Path(folder) / "out", Path(folder) / "ledger"
        scumble.release(train, schema=public, dataset="adult", out=out, ledger=ledger, epsilon=epsilon, **settings)
        targets = [str(schema.target), OTHER] if public.target is None else [OTHER]
        found = scumble.evaluate(out, test=test, train=train, classifiers=["boosting"], targets=targets)
    distances, other = found["fidelity"], found["targets"]
    scores = found if public.target is not None else other[str(schema.target)]
    accuracies = scores["boosting"]["accuracy"], other[OTHER]["boosting"]["accuracy"]
    return distances["one_way"]["mean"], distances["two_way"]["mean"], *accuracies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1"])
    given = parser.parse_args()
    adult = load("adult")
    table = pacsv.read_csv(adult.path)
    print(f"| eps | method | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}")
    for epsilon in given.epsilons:
        for contender, settings in CONTENDERS.items():
            lines = [figures(*pair, adult.schema, epsilon, contender, settings) for pair in splits(table, given.splits)]
            means = [fmean(column) for column in zip(*lines, strict=True)]
            shown = [f"{value:.3f}" for value in means[:2]] + [f"{100 * value:.1f}" for value in means[2:]]
            print(f"| {epsilon} | {contender} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
