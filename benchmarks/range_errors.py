"""The error of range queries by the size of the range: flat contingency tables, hierarchies, wavelets.

    python benchmarks/range_errors.py [--exact] [--out docs/range-errors.svg]

First the exact root of the mean squared error at epsilon 1 on 65,536 values, the size of the experiments of Hay et al.
(2010), over random places of each range. Then the same for the shipped methods on 4,096 values, measured: releases of a
generated table, asked by `scumble.query`, and how often the 95 % interval covered the truth.
"""

import argparse
from math import sqrt
from pathlib import Path

import numpy as np

import scumble
from scumble.charts import Chart, Panel, Point, Series, write_svg
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.flows import release as flow
from scumble.methods import method_and_parameters
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity, Transform
from scumble.model.transforms.wavelets import Haar
from scumble.privacy.noise import PaidNoise, laplace_variance

SIZE, PLACES = 2**16, 20
POWERS = range(0, 16, 3)
MEASURED_SIZE, RELEASES, QUESTIONS = 2**12, 10, 20
METHODS = {
    "flat (contingency)": ("contingency", {}),
    "hay, 2 branches": ("hay", {"branching": 2}),
    "hay, 16 branches": ("hay", {"branching": 16}),
    "privelet": ("privelet", {}),
}


def transform(label: str, size: int) -> Transform:
    """What a method measures of one ordered attribute."""
    name, options = METHODS[label]
    if name == "hay":
        return Hierarchy(tree=IntervalTree.balanced(size, branching=options["branching"]))
    return Haar(size=size) if name == "privelet" else Identity(size=size)


def exact_error(measured: Transform, width: int) -> float:
    """The root of the mean variance of ranges of one width at random places, at epsilon 1."""
    lows = np.random.default_rng(width).integers(0, measured.values - width + 1, PLACES)
    places = np.arange(measured.values)[:, np.newaxis]
    weights = measured.adjoint(((places >= lows) & (places < lows + width)).astype(np.float64))
    noise = laplace_variance(sensitivity=measured.sensitivity, epsilon=1)
    return sqrt(float((weights**2).sum(axis=0).mean()) * noise)


def measured_errors(label: str, widths: list[int]) -> tuple[dict[int, float], float]:
    """The root of the mean squared error of answers by width, and the share of covered truths."""
    schema = parse_schema(
        f"scumble: schema/1\nattributes:\n  value: {{numeric: {{low: 0, high: {MEASURED_SIZE}, step: 1}}}}\n"
    )
    draw = np.random.default_rng(8)
    values = (draw.beta(2, 5, 100_000) * MEASURED_SIZE).astype(np.int64)
    name, options = METHODS[label]
    method, parameters = method_and_parameters(name, {"epsilon": "1", **options})
    errors: dict[int, list[float]] = {width: [] for width in widths}
    covered = []
    for _ in range(RELEASES):
        engine = MemoryEngine([(values.astype(np.uint16),)], schema)
        made = flow.run(method, schema, parameters, engine, PaidNoise(), plan=method.plan(schema, parameters))
        for width in widths:
            for low in draw.integers(0, MEASURED_SIZE - width + 1, QUESTIONS).tolist():
                count = scumble.query(made, f"value >= {low} and value < {low + width}").estimates[0]
                true = int(((values >= low) & (values < low + width)).sum())
                errors[width].append(float(count.value) - true)
                covered.append(float(count.low) <= true <= float(count.high))
    return {width: sqrt(float(np.mean(np.square(each)))) for width, each in errors.items()}, float(np.mean(covered))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="write the exact errors as a chart")
    parser.add_argument("--exact", action="store_true", help="print the exact errors only")
    given = parser.parse_args()
    exact = {label: [exact_error(transform(label, SIZE), 2**power) for power in POWERS] for label in METHODS}
    print(f"exact error of a range, {SIZE:,} values, epsilon 1")
    print("values".rjust(10), *(label.rjust(20) for label in METHODS))
    for place, power in enumerate(POWERS):
        print(f"{2**power:,}".rjust(10), *(f"{exact[label][place]:,.1f}".rjust(20) for label in METHODS))
    if given.out is not None:
        draw(exact, given.out)
    if not given.exact:
        print_measured([1, 64, 1024, 2048])


def print_measured(widths: list[int]) -> None:
    """The errors of the shipped methods by width."""
    print(f"\nmeasured by scumble.query, {MEASURED_SIZE:,} values, epsilon 1, {RELEASES} releases")
    print("method".ljust(20), *(f"{width:,}".rjust(10) for width in widths), "covered".rjust(10))
    for label in METHODS:
        errors, share = measured_errors(label, widths)
        print(label.ljust(20), *(f"{errors[width]:,.1f}".rjust(10) for width in widths), f"{share:.1%}".rjust(10))


def draw(exact: dict[str, list[float]], path: Path) -> None:
    """The exact errors as a chart."""
    series = tuple(
        Series(label=label, points=tuple(Point(x=2**p, y=y) for p, y in zip(POWERS, exact[label], strict=True)))
        for label in METHODS
    )
    panel = Panel(
        title=f"{SIZE:,} values, epsilon 1",
        x_label="values in the range",
        y_label="error in records (root mean square)",
        series=series,
        logarithmic=True,
        from_zero=True,
    )
    write_svg(Chart(title="Error of a range by its size", panels=(panel,)), path)


if __name__ == "__main__":
    main()
