"""Figure 5 of the DiffGen paper (KDD 2011): the runtime of a release of 200,000 to 1 million records.

As in the paper, Adult is enlarged: its records are followed by variations of them, in which some values are replaced by
other values of the same domain. The settings are h = 15, eps = 1 and Algorithm 1. The time is that of the whole
`scumble release` on a Parquet file, from reading it to the finished folder, including the ledger. CPU seconds of all
threads are reported too.
"""

import os
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.charts import Chart, Panel, Point, Series
from scumble.comparison.tables import table_named
from scumble.comparison.trials import CodedTable
from scumble.engines.coding import code_type
from scumble.flows.release import release
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import simulation
from scumble.reproductions.figure import Claim, Figure, Request

SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
REPLACED = 0.25
"""The probability that an attribute value of a variation is replaced; the paper only says `some`."""
SEED = 2011
SETTINGS: Mapping[str, Any] = {"epsilon": "1", "selection": "published", "score": "max", "rounds": 15}
AUTHORS = "34 to 43 CPU s"
"""The time of the authors' C++ program for a million rows, which we compiled and ran; it is not in the paper."""


def figure_5(request: Request) -> Figure:
    rows = []
    warm_up(request)
    for number, size in enumerate(SIZES, start=1):
        rows += [timed(size, run) for run in range(request.runs or 1)]
        request.progress("sizes timed", number, len(SIZES))
    return figure_of(rows)


def warm_up(request: Request) -> None:
    """Make a small release first, so that importing and compiling are not timed."""
    timed(table_named("adult").rows, 0)
    request.progress("sizes timed", 0, len(SIZES))


def timed(size: int, run: int) -> dict[str, Any]:
    """The seconds of one release of `size` records."""
    adult = table_named("adult")
    with TemporaryDirectory() as folder:
        path = Path(folder, "records.parquet")
        pq.write_table(raw_values(enlarged(adult, size)), path)
        before, began = os.times(), time.perf_counter()
        made = release(
            path,
            schema=adult.schema,
            out=Path(folder, "release"),
            ledger=Path(folder, "ledger.db"),
            witness=Path(folder, "witness.db"),
            **SETTINGS,
        )
        seconds, after = time.perf_counter() - began, os.times()
    return {
        "records": size,
        "run": run,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(after.user - before.user + after.system - before.system, 3),
        "cells": made.to_json()["cells"],
    }


def enlarged(table: CodedTable, size: int) -> CodedTable:
    """A table of `size` records: the original ones, then repeated variations of them. The class is never replaced."""
    draw = simulation(SEED)
    places = np.arange(size) % table.rows
    variation = np.arange(size) >= table.rows
    columns = []
    for attribute, column in zip(table.schema.attributes, table.columns, strict=True):
        copied = column[places]
        if attribute.name != table.schema.target:
            replaced = variation & (draw.random(size) < REPLACED)
            drawn = draw.integers(0, attribute.domain.size, size)
            columns.append(np.where(replaced, drawn, copied).astype(code_type(attribute.domain.size)))
        else:
            columns.append(copied)
    return CodedTable(schema=table.schema, columns=tuple(columns))


def raw_values(table: CodedTable) -> pa.Table:
    """The codes as values of an owner's file: labels, and for a grid cell its lower edge."""
    attributes = table.schema.attributes
    return pa.table(
        {
            attribute.name: _values(attribute.domain, column.astype(np.int64))
            for attribute, column in zip(attributes, table.columns, strict=True)
        }
    )


def _values(domain: Domain, codes: Integers) -> pa.Array:
    if isinstance(domain, Tree):
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(domain.labels)).cast(pa.string())
    edges = [domain.edge(position) for position in range(domain.cells)]
    whole = all(edge == edge.to_integral_value() for edge in edges)
    kind = int if whole else float
    return pa.array(np.array([kind(Decimal(edge)) for edge in edges])[codes])


def figure_of(rows: Sequence[dict[str, Any]]) -> Figure:
    first, last = _median(rows, SIZES[0]), _median(rows, SIZES[-1])
    growth = SIZES[-1] / SIZES[0]
    most_cpu = max(row["cpu_seconds"] for row in rows if row["records"] == SIZES[-1])
    claims = (
        Claim(
            text="growth of the runtime, 1 million against 200,000 records",
            paper="O(h |D| log |D|)",
            ours=f"{last / first:.1f} times the seconds for {growth:.0f} times the records",
            holds=last <= growth * log(SIZES[-1]) / log(SIZES[0]) * first,
        ),
        Claim(
            text="1 million records; the authors' program, run by us (the paper prints no number)",
            paper=AUTHORS,
            ours=f"{most_cpu:.1f} CPU s",
        ),
    )
    series = [
        Series(
            label=label,
            points=tuple(Point(x=size / 1000, y=_median(rows, size, column)) for size in SIZES),
        )
        for label, column in (("seconds", "seconds"), ("CPU seconds", "cpu_seconds"))
    ]
    panel = Panel(title="", x_label="thousands of records", y_label="seconds", series=tuple(series), from_zero=True)
    title = "Figure 5: runtime of DiffGen, h = 15, eps = 1"
    note = f"{os.cpu_count()} cores; reading, releasing and writing the folder"
    return Figure(
        title=title,
        rows=rows,
        claims=claims,
        chart=Chart(title=title, panels=(panel,), note=note),
        notes=(
            "The paper prints no number for this figure. Its experiments on 45,222 records end within 30 seconds.",
            "The paper does not say what its time includes. Ours is the whole command, from Parquet to folder.",
        ),
    )


def _median(rows: Sequence[dict[str, Any]], size: int, column: str = "seconds") -> float:
    return float(np.median([row[column] for row in rows if row["records"] == size]))
