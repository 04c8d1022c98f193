"""Checks microaggregation: reference values, IL1s of the default, figures with claims, speed.

    python benchmarks/microaggregation.py reference     MDAV's published SSE/SST
    python benchmarks/microaggregation.py default       IL1s of the default, 40 runs, compared with its limits
    python benchmarks/microaggregation.py figures       figures 4 to 6, 3 runs, with their claims
    python benchmarks/microaggregation.py speed         MDAV and a plain numpy loop; the default with 10 million rows

SCUMBLE_DATA is the folder of the data sets. The exit code is 4 if a value misses its limit or a claim is false.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.methods.coordinates import FIXED_POINT
from scumble.methods.mdav.mdav import mdav
from scumble.methods.microaggregate.method import MicroaggregateMethod
from scumble.methods.microaggregate.parameters import Microaggregate
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation
from scumble.reproductions.microaggregation.figures import (
    DATASETS,
    EPSILONS,
    NumericTable,
    constant_line,
    default_line,
    figure_4,
    figure_5_or_6,
    judged_claims,
)
from scumble.reproductions.microaggregation.measures import sse_over_sst

REFERENCE = {"tarragona": (16.93, 22.46, 33.19), "census": (5.69, 9.09, 14.16)}
WANTED = {"census": (0.80, 0.70, 0.36, 0.23), "eia": (0.41, 0.34, 0.17, 0.085)}


def standardize(values: Any) -> Any:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def reference() -> bool:
    missed = False
    for name, wanted in REFERENCE.items():
        with (Path(os.environ["SCUMBLE_DATA"]) / f"{name}.csv").open() as file:
            values = standardize(np.array(list(csv.reader(file))[1:], dtype=np.float64))
        coordinates = np.rint(values * FIXED_POINT).astype(np.int64)
        found = [round(sse_over_sst(values, mdav(coordinates, k)), 2) for k in (3, 5, 10)]
        missed |= tuple(found) != wanted
        print(f"{name}: 100 SSE/SST at k = 3, 5, 10: {found}, published {list(wanted)}")
    return missed


def default() -> bool:
    missed = False
    for name in DATASETS:
        table = NumericTable.load(name)
        print(f"{name}: constant {constant_line(table).il1s:.4f}")
        for epsilon, wanted in zip(EPSILONS, WANTED[name], strict=True):
            line = default_line(table, epsilon, 40, PaidNoise())
            missed |= line.il1s > wanted
            print(f"  eps {line.epsilon:>4}: IL1s {line.il1s:.4f}, limit {wanted}; margins {line.margins:.4f}")
    return missed


def figures() -> bool:
    missed = False
    for name in DATASETS:
        table = NumericTable.load(name)
        began = time.perf_counter()
        lines = [*figure_4(table), *figure_5_or_6(table, default_runs=40)]
        for line in lines:
            print(f"{line.dataset},{line.method},{line.k},{line.epsilon},{line.il1s:.4f},{line.clamped:.4f}")
        for claim, holds in judged_claims(lines, len(table.codes)).items():
            missed |= not holds
            print(f"{'true' if holds else 'FALSE'}: {name}, {claim}")
        print(f"{name}: {time.perf_counter() - began:.1f} s")
    return missed


def textbook_mdav(values: Any, k: int) -> Any:
    """The textbook algorithm in plain numpy: recomputes the distances to all remaining records in every step."""
    left, labels, group = np.arange(len(values)), np.zeros(len(values), dtype=np.int64), 0

    def distances(target: Any) -> Any:
        return ((values[left] - target) ** 2).sum(axis=1)

    def take(seed: int) -> None:
        nonlocal left, group
        nearest = np.argpartition(distances(values[seed]), k - 1)[:k]
        labels[left[nearest]] = group
        group += 1
        left = np.delete(left, nearest)

    while len(left) >= 3 * k:
        one = left[distances(values[left].mean(axis=0)).argmax()]
        other = left[distances(values[one]).argmax()]
        take(one)
        take(other)
    if len(left) >= 2 * k:
        take(left[distances(values[left].mean(axis=0)).argmax()])
    labels[left] = group
    return labels


def speed() -> bool:
    values = simulation(1).normal(size=(100_000, 4))
    coordinates = np.rint(values * FIXED_POINT).astype(np.int64)
    mdav(coordinates[:1000], 10)  # compile before timing
    began = time.perf_counter()
    ours = mdav(coordinates, 10)
    fast = time.perf_counter() - began
    began = time.perf_counter()
    theirs = textbook_mdav(coordinates.astype(np.float64), 10)
    slow = time.perf_counter() - began
    print(f"MDAV, 100,000 x 4, k = 10: {fast:.2f} s, textbook loop {slow:.2f} s: {slow / fast:.0f} times as fast")
    print(f"  the same groups: {bool((ours == theirs).all())}")
    seconds = [default_seconds(rows) for rows in (1_000_000, 10_000_000)]
    ratio = seconds[1] / seconds[0]
    print(f"microaggregate, eps 1: 1 million rows {seconds[0]:.1f} s, 10 million {seconds[1]:.1f} s: {ratio:.1f} times")
    return slow / fast < 15 or ratio > 12


def default_seconds(rows: int) -> float:
    attributes = "".join(f"  a{side}: {{numeric: {{low: 0, high: 1000000, step: 1}}}}\n" for side in range(4))
    schema = parse_schema(f"scumble: schema/1\nunit: replace\nrows: {rows}\nattributes:\n{attributes}")
    draw = simulation(2)
    columns = [np.minimum(draw.lognormal(8, 1, rows), 999_999).astype(np.uint32) for _ in range(4)]
    blocks = [tuple(column[start : start + (1 << 17)] for column in columns) for start in range(0, rows, 1 << 17)]
    method, given = MicroaggregateMethod(), Microaggregate(epsilon="1")
    plan = method.plan(schema, given)
    began = time.perf_counter()
    method.groups(schema, given, CentralHolder(engine=MemoryEngine(blocks, schema), noise=PaidNoise(), plan=plan))
    return time.perf_counter() - began


if __name__ == "__main__":
    parts = {"reference": reference, "default": default, "figures": figures, "speed": speed}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=parts, help="default: all")
    chosen = parser.parse_args().parts or list(parts)
    missed = [name for name in chosen if parts[name]()]
    sys.exit(4 if missed else 0)
