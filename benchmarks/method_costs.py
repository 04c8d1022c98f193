"""The cost of methods that measure one vector: CPU seconds of a run in memory, and what each further row costs.

    python benchmarks/method_costs.py

Rows are drawn evenly from the schema of the demo, as codes, so that neither reading nor coding is timed. A method is
run once on a few rows before it is timed. The cost of a row is the difference between two sizes.
"""

import time

import numpy as np

from scumble.demo.patients import PATIENTS_SCHEMA
from scumble.engines.coding import code_type
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.flows import release as flow
from scumble.methods import method_and_parameters
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise

SIZES = (100_000, 1_000_000)
RUNS = (
    ("histograms", {}),
    ("contingency", {"attributes": ("age", "admission"), "bins": 20}),
    ("hay", {"branching": 16}),
    ("privelet", {"attributes": ("age", "stay")}),
    ("barak", {"marginals": (("admission", "readmitted"), ("admission", "sex"), ("ward",))}),
)


def engine(schema: Schema, rows: int) -> MemoryEngine:
    """So many coded rows, drawn evenly."""
    draw = np.random.default_rng(rows)
    sizes = [attribute.domain.size for attribute in schema.attributes]
    return MemoryEngine([tuple(draw.integers(0, size, rows).astype(code_type(size)) for size in sizes)], schema)


def main() -> None:
    schema = parse_schema(PATIENTS_SCHEMA)
    engines = [engine(schema, rows) for rows in (1000, *SIZES)]
    print("method".ljust(14), *(f"{rows:,} rows".rjust(18) for rows in SIZES), "a row".rjust(14))
    for name, options in RUNS:
        method, parameters = method_and_parameters(name, {"epsilon": "1", **options})
        plan = method.plan(schema, parameters)
        seconds = []
        for each in engines:
            start = time.process_time()
            flow.run(method, schema, parameters, each, PaidNoise(), plan=plan)
            seconds.append(time.process_time() - start)
        cost = (seconds[-1] - seconds[-2]) / (SIZES[1] - SIZES[0]) * 1e6
        print(name.ljust(14), *(f"{each:.3f} s".rjust(18) for each in seconds[1:]), f"{cost:.3f} us".rjust(14))


if __name__ == "__main__":
    main()
