"""Measures how often the 95 % intervals of `scumble query` cover the truth.

    python benchmarks/query_coverage.py                       50 releases x 20 questions for each kind of release
    python benchmarks/query_coverage.py --releases 10 --kinds histograms cells

Releases of generated patients (or of Adult with `--data adult`) are made in memory with the production noise. Random
questions are drawn for each release until enough of them are answered with an interval; the others are answered by rows
and counted separately. The exit code is 4 if the share of covered answers of any kind is not between 92 and 98 %.

Quantiles are reported apart: they jump from one number to the next, so their band covers more often than it has to.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import scumble
from scumble.comparison.trials import CodedTable
from scumble.demo.patients import patients, patients_schema
from scumble.engines.memory import MemoryEngine
from scumble.flows.release import run
from scumble.methods import METHODS, method_named
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema
from scumble.model.values import published_values
from scumble.privacy.noise import PaidNoise, Simulation, simulation
from scumble.querying.expressions import name_text
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues
from scumble.querying.parser import parse
from scumble.querying.predicates import interpret
from scumble.sources import open_source

LOWEST, HIGHEST = 0.92, 0.98
MOST_TRIES = 200
"""Questions that are drawn at most for each release."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A random question: a condition, and what is wanted of the records that satisfy it."""

    where: str
    mean: str | None = None
    quantile: tuple[float, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The true table, which answers questions exactly."""

    table: CodedTable

    def places(self, where: str) -> Any:
        schema = self.table.schema
        values = {each.name: _values(each) for each in schema.attributes}
        codes = dict(zip(schema.names, self.table.columns, strict=True))
        found = interpret(parse(where), values, where, []).truth(codes)
        return np.broadcast_to(found, (self.table.rows,))

    def column(self, name: str) -> Any:
        place = self.table.schema.names.index(name)
        return published_values(self.table.schema[name].domain, self.table.columns[place].astype(np.int64))

    def answers(self, question: Question) -> dict[str, float]:
        """The true values by measure."""
        found = self.places(question.where)
        if question.mean is not None:
            numbers = self.column(question.mean)[found].astype(np.float64)
            return {"mean": float(np.nanmean(numbers))} if np.isfinite(numbers).any() else {}
        if question.quantile is not None:
            share, name = question.quantile
            numbers = np.sort(self.column(name)[found].astype(np.float64))
            numbers = numbers[np.isfinite(numbers)]
            rank = int(np.ceil(share * len(numbers) - 1e-9)) - 1
            return {"quantile": float(numbers[max(rank, 0)])} if len(numbers) else {}
        return {"count": float(found.sum()), "share": float(found.mean())}


def _values(attribute: Attribute) -> CellValues | LeafValues:
    return CellValues(attribute=attribute) if isinstance(attribute.domain, Grid) else LeafValues(attribute=attribute)


def random_condition(attribute: Attribute, draw: Simulation, edges: list[float]) -> str:
    """A random interval of a number, or some values of a category."""
    name = name_text(attribute.name)
    if isinstance(attribute.domain, Grid):
        low, high = sorted(draw.choice(edges, 2).tolist())
        return f"{name} >= {low:g} and {name} < {high:g}" if low < high else f"{name} >= {low:g}"
    labels = attribute.domain.finest.labels
    chosen = draw.permutation(len(labels))[: int(draw.integers(1, max(len(labels), 2)))]
    listed = ", ".join("'" + labels[place].replace("'", "''") + "'" for place in chosen.tolist())
    return f"{name} in ({listed})"


def random_question(schema: Schema, published: Schema, draw: Simulation) -> Question:
    """One attribute, or one and the class; half of the questions count, the others are means and quantiles."""
    attribute = schema.predictors[int(draw.integers(len(schema.predictors)))]
    grid = published[attribute.name].domain
    edges = grid.edge_floats.tolist() if isinstance(grid, Grid) else []
    parts = [random_condition(attribute, draw, edges)]
    if schema.target is not None and draw.random() < 0.5:
        label = schema.classes[int(draw.integers(len(schema.classes)))].replace("'", "''")
        parts.append(f"{name_text(schema.target)} = '{label}'")
    kind = draw.random()
    if not isinstance(attribute.domain, Grid) or kind < 0.5:
        return Question(where=" and ".join(parts))
    where = " and ".join(parts[1:])
    if kind < 0.75:
        return Question(where=where, mean=attribute.name)
    return Question(where=where, quantile=(float(draw.choice([0.1, 0.25, 0.5, 0.75, 0.9])), attribute.name))


def released(method: str, table: CodedTable, **parameters: Any) -> Callable[[], Any]:
    """Makes a release in memory with the production noise."""
    chosen = method_named(method)
    settings = chosen.parameters(**parameters)

    def make() -> Any:
        engine = MemoryEngine([table.columns], table.schema)
        plan = chosen.plan(table.schema, settings)
        return run(chosen, table.schema, settings, engine, PaidNoise(), plan=plan)

    return make


def asked(make: Callable[[], Any], truth: Truth, questions: int, draw: Simulation) -> Iterator[tuple[str, str, bool]]:
    """The measure, the source and whether the truth is covered, for enough questions to one release."""
    made = make()
    answered = 0
    for _ in range(MOST_TRIES):
        if answered >= questions:
            return
        question = random_question(truth.table.schema, made.schema, draw)
        try:
            answer = scumble.query(made, question.where, mean=question.mean, quantile=question.quantile)
        except scumble.InputError:
            yield "", "refused", False
            continue
        true = truth.answers(question)
        for estimate in answer.estimates:
            measure = estimate.measure.split(" ")[0]
            if measure not in true:
                continue
            if estimate.low is None or estimate.high is None:
                yield measure, estimate.source.value, False
                continue
            answered += measure != "share"
            covered = float(estimate.low) - 1e-9 <= true[measure] <= float(estimate.high) + 1e-9
            yield measure, "interval", covered


def main() -> int:
    kinds = ("cells", "histograms", "default", "explore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--rows", type=int, default=20_000, help="generated patients (default: %(default)s)")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--data", choices=("patients", "adult"), default="patients")
    parser.add_argument("--kinds", nargs="*", default=list(kinds), choices=kinds)
    options = parser.parse_args()
    if options.data == "adult":
        dataset = scumble.datasets.load("adult")
        table = CodedTable.read(open_source(dataset.path), dataset.schema)
    else:
        table = CodedTable.read(open_source(patients(options.rows, 1)), patients_schema())
    truth = Truth(table=table)
    parameters: dict[str, tuple[str, dict[str, Any]]] = {
        "cells": ("diffgen", {"detail": "no"}),
        "histograms": ("histograms", {}),
        "default": ("diffgen", {}),
        "explore": ("explore", {}),
    }
    known = {method.name for method in METHODS}
    failed = False
    print(f"{options.data}, {table.rows:,} records, epsilon {options.epsilon}: covered by the 95 % interval")
    for kind in options.kinds:
        method, further = parameters[kind]
        if method not in known:
            continue
        make = released(method, table, epsilon=options.epsilon, **further)
        hits: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        others: Counter[str] = Counter()
        for number in range(options.releases):
            for measure, source, covered in asked(make, truth, options.questions, simulation(number)):
                if source == "interval":
                    seen[measure] += 1
                    hits[measure] += covered
                else:
                    others[source] += 1
        judged = [measure for measure in seen if measure != "quantile"]
        total = sum(seen[measure] for measure in judged)
        share = sum(hits[measure] for measure in judged) / max(total, 1)
        failed |= not LOWEST <= share <= HIGHEST
        parts = ", ".join(f"{each} {hits[each] / seen[each]:.1%} of {seen[each]:,}" for each in sorted(seen))
        rest = ", ".join(f"{each} {number:,}" for each, number in sorted(others.items())) or "none"
        print(f"{kind:12} {share:.1%} of {total:,} ({parts}); without an interval: {rest}", flush=True)
    return 4 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
