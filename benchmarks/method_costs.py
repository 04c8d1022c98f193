"""The cost of every method: CPU microseconds a row of a run in memory, at a stated number of rows.

    python benchmarks/method_costs.py               all methods
    python benchmarks/method_costs.py diffgen hay   some of them

Rows are drawn evenly from a schema, as codes, so that neither reading nor coding is timed. Most methods run on the
attributes of the demo's patients; those that only take numbers run on two numbers whose number of records is public. A
method is run once on a few rows before it is timed. What does not depend on the rows is included.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from figures import Figure, Section
from scumble.demo.patients import PATIENTS_SCHEMA
from scumble.engines.coding import code_type
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.flows import release as flow
from scumble.methods import METHODS, method_and_parameters
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise

WARM = 1000
TEXT = """\
Printed by `python benchmarks/method_costs.py`. A run in memory on rows that are coded already, drawn evenly from the
schema of the demo (or from two numbers, for the methods that only take numbers), divided by the number of rows:
without reading, coding and writing, with what does not depend on the rows."""


def patients(rows: int) -> Schema:
    """The demo's schema, whatever the number of rows."""
    del rows
    return parse_schema(PATIENTS_SCHEMA)


def two_numbers(rows: int) -> Schema:
    """Two numbers, and a public number of records."""
    return parse_schema(
        f"scumble: schema/1\nunit: replace\nrows: {rows}\nattributes:\n"
        "  age: {numeric: {low: 0, high: 100, step: 1}}\n  pay: {numeric: {low: 0, high: 10000, step: 10}}\n"
    )


@dataclass(frozen=True, kw_only=True)
class MethodRun:
    """How a method is run: its parameters besides epsilon, the schema for a number of rows, and the rows."""

    options: Mapping[str, Any] = field(default_factory=dict)
    schema: Callable[[int], Schema] = patients
    rows: int = 1_000_000


GROUPED = MethodRun(options={"k": 20}, schema=two_numbers, rows=100_000)
RUNS: Mapping[str, MethodRun] = {
    "diffgen": MethodRun(),
    "histograms": MethodRun(),
    "explore": MethodRun(),
    "microaggregate": MethodRun(schema=two_numbers),
    "mdav": GROUPED,
    "i-mdav": GROUPED,
    "s-mdav": GROUPED,
    "plain": MethodRun(schema=two_numbers, rows=100_000),
    "contingency": MethodRun(options={"attributes": ("age", "admission"), "bins": 20}),
    "diffp-c45": MethodRun(),
    "hay": MethodRun(options={"branching": 16}),
    "mondrian": MethodRun(options={"k": 20}),
    "tds": MethodRun(options={"k": 20}),
    "privelet": MethodRun(options={"attributes": ("age", "stay")}),
    "barak": MethodRun(options={"marginals": (("admission", "readmitted"), ("admission", "sex"), ("ward",))}),
}


def seconds_of(name: str, chosen: MethodRun, rows: int) -> float:
    """The CPU seconds of one run on so many rows, drawn evenly."""
    schema = chosen.schema(rows)
    draw = np.random.default_rng(rows)
    sizes = [attribute.domain.size for attribute in schema.attributes]
    engine = MemoryEngine([tuple(draw.integers(0, size, rows).astype(code_type(size)) for size in sizes)], schema)
    kind = next(method.parameters for method in METHODS if method.name == name)
    epsilon = {"epsilon": "1"} if "epsilon" in kind.model_fields else {}
    method, parameters = method_and_parameters(name, {**epsilon, **chosen.options})
    plan = method.plan(schema, parameters)
    start = time.process_time()
    flow.run(method, schema, parameters, engine, PaidNoise(), plan=plan)
    return time.process_time() - start


def method_costs(
    names: Sequence[str] = tuple(RUNS), *, most: int | None = None, log: Callable[[str], None] = lambda line: None
) -> list[Figure]:
    """A figure for each method, on at most so many rows."""
    found = []
    for name in names:
        chosen = RUNS[name]
        rows = chosen.rows if most is None else min(chosen.rows, most)
        seconds_of(name, chosen, min(WARM, rows))
        seconds = seconds_of(name, chosen, rows)
        settings = [f"{key} {_shown(value)}" for key, value in chosen.options.items()]
        detail = "; ".join([f"{seconds:.3f} s for {rows:,} rows", *settings])
        found.append(Figure(what=f"`{name}`", measured=1e6 * seconds / rows, unit="µs a row", detail=detail))
        log(f"{name}: {detail}")
    return found


def _shown(value: Any) -> str:
    """
    >>> _shown((("age", "sex"), ("ward",))), _shown(("age", "sex")), _shown(20)
    ('age,sex;ward', 'age,sex', '20')
    """
    if not isinstance(value, tuple):
        return str(value)
    return (";" if isinstance(value[0], tuple) else ",").join(map(_shown, value))


def method_section(figures: Sequence[Figure]) -> Section:
    """The section of docs/benchmarks.md."""
    return Section(title="Methods", figures=figures, text=TEXT)


if __name__ == "__main__":
    unknown = [name for name in sys.argv[1:] if name not in RUNS]
    if unknown:
        sys.exit(f"Unknown method {unknown[0]!r}. Available: {', '.join(RUNS)}.")
    made = method_costs(tuple(sys.argv[1:]) or tuple(RUNS), log=lambda line: print(line, file=sys.stderr, flush=True))
    print(method_section(made).markdown())
