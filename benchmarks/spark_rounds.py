"""Measures Spark on two local workers: starting a session, opening a source, and a round. Prints JSON.

python benchmarks/spark_rounds.py adult SMALL.parquet LARGE.parquet LARGEST.parquet REPEATS

A round is one job of the engine. For comparison: an empty job, and the same counts by Spark SQL's `GROUPING SETS` on
coded columns cached in Spark's memory.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import tables
from counting import round_of
from scumble.engines.memory import MemoryEngine
from scumble.engines.spark import SparkEngine, _blocks
from scumble.model.counts import Tabulation
from scumble.model.schema import Schema
from scumble.sources import open_source
from scumble.sources.spark import session

MASTER = "local-cluster[2,1,1024]"


def seconds(work: Callable[[], Any], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return median(spent)


def grouping_sets(engine: SparkEngine, schema: Schema, request: Tabulation) -> Callable[[], Any]:
    """One SQL query for the same tables: each attribute by the cut's attributes and the class."""
    import pyarrow as pa

    names = [f"c{place}" for place in range(len(schema.attributes))]

    def plain(messages: Any) -> Any:
        for block in _blocks(message.as_py() for batch in messages for message in batch.column(0)):
            yield pa.record_batch([pa.array(codes.astype(np.int32)) for codes in block], names=names)

    kinds = ", ".join(f"{name} int" for name in names)
    rows = engine._coded.map(lambda message: (bytearray(message),)).toDF("message binary")
    coded = rows.mapInArrow(plain, kinds).persist()
    coded.count()
    coded.createOrReplaceTempView("coded")
    places = {attribute.name: f"c{place}" for place, attribute in enumerate(schema.attributes)}
    label = places[str(schema.target)]
    cut = [places[name] for name, nodes in request.cut.nodes.items() if len(nodes) > 1]
    sets = ", ".join(f"({', '.join(dict.fromkeys([*cut, places[name], label]))})" for name in request.fine)
    columns = ", ".join(dict.fromkeys([*(places[name] for name in request.fine), label]))
    query = f"SELECT {columns}, grouping_id() AS which, count(*) AS n FROM coded GROUP BY GROUPING SETS ({sets})"
    return lambda: session().sql(query).toArrow()


def main(data: str, small: str, large: str, largest: str, repeats: str) -> None:
    os.environ.setdefault("SCUMBLE_SPARK_MASTER", MASTER)
    schema = tables.schema_of(data)
    times = int(repeats)
    began = time.perf_counter()
    context = session().sparkContext
    answer: dict[str, Any] = {"master": context.master, "start": time.perf_counter() - began}
    context.parallelize([1], 2).count()
    answer["empty job"] = seconds(lambda: context.parallelize([1], 2).count(), 3 * times)
    top = round_of(schema, 1)
    for name, path in (("small", small), ("large", large), ("largest", largest)):
        began = time.perf_counter()
        engine = SparkEngine.open(open_source(path, engine="spark").batches(schema.columns), schema)
        answer[f"open {name}"] = time.perf_counter() - began
        answer[f"rows {name}"] = engine.rows
        expected = MemoryEngine.open(open_source(path).batches(schema.columns), schema)
        for cells in (1, 200):
            request = round_of(schema, cells)
            counts, known = engine.tabulate(request), expected.tabulate(request)
            assert np.array_equal(counts.cells, known.cells)
            assert all(np.array_equal(counts.fine[each], known.fine[each]) for each in request.fine)
            answer[f"round {name} {cells}"] = seconds(partial(engine.tabulate, request), times)
        if name != "largest":
            sets = grouping_sets(engine, schema, top)
            sets()
            answer[f"grouping sets {name} 1"] = seconds(sets, times)
        engine.close()
    print(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
