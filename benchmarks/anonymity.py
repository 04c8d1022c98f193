"""The cost of mondrian and tds: CPU seconds on tables of growing size, without reading and writing files.

    python benchmarks/anonymity.py [--rows 1000000] [--data adult]

The table is enlarged as `benchmarks/tables.py` does. The limit is a minute for a million rows on two cores.
"""

import argparse
import json
import time
from typing import Any

import numpy as np

import tables
from scumble.engines.coding import code_blocks, code_type
from scumble.engines.memory import MemoryEngine
from scumble.methods import method_named
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation
from scumble.sources import ArrowSource

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tds", {"k": 5}),
    ("tds", {"k": 100}),
    ("mondrian", {"k": 5}),
    ("mondrian", {"k": 5, "relaxed": True}),
    ("mondrian", {"k": 5, "diversity": 2}),
    ("mondrian", {"k": 5, "closeness": "0.2"}),
)


def enlarged(name: str, rows: int) -> tuple[MemoryEngine, Schema]:
    """The coded records of a table, then variations of them with some values drawn from the public domains."""
    records, schema = tables.base(name)
    block = next(iter(code_blocks(ArrowSource(table=records.combine_chunks()).batches(schema.columns), schema)))
    random = simulation(tables.SEED)
    columns = []
    for attribute, column in zip(schema.attributes, block, strict=True):
        size = attribute.domain.size
        long = np.resize(column, rows).astype(code_type(size))
        if attribute.name != schema.target:
            changed = random.random(rows) < tables.REPLACED
            changed[: len(column)] = False
            long[changed] = random.integers(size, size=int(changed.sum()))
        columns.append(long)
    return MemoryEngine([tuple(columns)], schema), schema


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--data", default="adult")
    options = parser.parse_args()
    enlarged_tables = {rows: enlarged(options.data, rows) for rows in (2_000, options.rows)}
    for name, settings in CASES:
        method = method_named(name)
        parameters = method.parameters(**settings)
        for engine, schema in enlarged_tables.values():  # the small table compiles the loops
            holder = CentralHolder(engine=engine, noise=PaidNoise(), plan=method.plan(schema, parameters))
            began = time.process_time()
            made: Any = method.run(schema, parameters, holder)
            seconds = time.process_time() - began
        result = {"method": name, **settings, "rows": options.rows, "groups": len(made.group_sizes)}
        print(json.dumps({**result, "cpu_seconds": round(seconds, 2)}), flush=True)


if __name__ == "__main__":
    main()
