"""How microaggregate's defaults were chosen: IL1s on generated tables of several shapes.

    python benchmarks/microaggregate_defaults.py

The parameters are the share of the budget for splits and the smallest group size (in units of the error of a private
median). For every combination, the script prints IL1s divided by the best IL1s of all combinations, averaged over
tables and epsilons. 1.00 would mean that the combination is the best everywhere.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from statistics import fmean

import numpy as np

from scumble.files.schema_file import parse_schema
from scumble.methods.microaggregate import parameters
from scumble.model.counts import Integers
from scumble.privacy.noise import PaidNoise, simulation
from scumble.reproductions.microaggregation.figures import NumericTable, constant_line, default_line

SHARES = (Fraction(1, 10), Fraction(1, 5), Fraction(7, 20), Fraction(1, 2))
SMALLEST = (2, 3, 4, 5, 6, 8)
EPSILONS = tuple(Fraction(text) for text in ("0.05", "0.2", "1", "5"))
RUNS = 3


def tables() -> Iterator[NumericTable]:
    draw = simulation(7)
    for rows in (1000, 5000):
        common, own = draw.normal(size=(rows, 1)), draw.normal(size=(rows, 4))
        centres = draw.uniform(0, 10_000, (5, 4))[draw.integers(0, 5, rows)]
        exponential, ages = draw.exponential(1000, (rows, 2)), draw.normal(40, 12, (rows, 2))
        yield table("lognormal, one size behind all", np.exp(6 + 1.2 * (0.9 * common + 0.44 * own)))
        yield table("lognormal, independent", np.exp(6 + own))
        yield table("normal, correlated", 5000 + 1000 * (0.7 * common + 0.7 * own))
        yield table("uniform", draw.uniform(0, 10_000, (rows, 4)))
        yield table("five clusters", centres + 300 * own)
        yield table("exponential and ages", np.concatenate([exponential, ages], axis=1))


def table(name: str, values: np.ndarray) -> NumericTable:
    """Bounds as in the papers: from 0 to 1.5 times the largest value."""
    codes: Integers = np.maximum(np.floor(values), 0).astype(np.int64)
    lines = "".join(
        f"  a{side}: {{numeric: {{low: 0, high: {int(top * 1.5) + 2}, step: 1}}}}\n"
        for side, top in enumerate(codes.max(axis=0))
    )
    schema = parse_schema(f"scumble: schema/1\nunit: replace\nrows: {len(codes)}\nattributes:\n{lines}")
    return NumericTable(f"{name}, {len(codes)} rows", schema, codes)


def main() -> None:
    regrets: dict[tuple[Fraction, int], list[float]] = {pair: [] for pair in product(SHARES, SMALLEST)}
    for each, epsilon in product(list(tables()), EPSILONS):
        found: dict[tuple[Fraction, int], float] = {}
        by_depth: dict[tuple[Fraction, int], float] = {}
        for share, smallest in regrets:
            parameters.SPLIT_SHARE, parameters.PER_GROUP = share, smallest
            given = parameters.Microaggregate(epsilon=epsilon)
            depth = parameters.partition_settings(each.schema, given).depth
            if (share, depth) not in by_depth:
                by_depth[share, depth] = default_line(each, epsilon, RUNS, PaidNoise()).il1s
            found[share, smallest] = by_depth[share, depth]
        best = min(found.values())
        for pair, loss in found.items():
            regrets[pair].append(loss / best)
        print(
            f"{each.name}, eps {float(epsilon):g}: best {best:.3f}, constant {constant_line(each).il1s:.3f}", flush=True
        )
    print("\n| share for splits | smallest group | mean of IL1s / best | worst |\n|---|---|---|---|")
    for (share, smallest), values in regrets.items():
        print(f"| {float(share):g} | {smallest} | {fmean(values):.3f} | {max(values):.2f} |")


if __name__ == "__main__":
    main()
