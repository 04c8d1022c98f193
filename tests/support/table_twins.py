"""Readable twins of coding and counting: the documented rules, applied value by value. Also tables in many formats, and
noise that is replayed from a recording."""

import csv
import io
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.engines import Engine
from scumble.model.counts import Block, Counts, Integers, Tabulation
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import Flaw, code_of, read_value
from scumble.privacy.noise import simulation

Row = tuple[int, ...]


def code_of_cell(attribute: Attribute, value: Any, kind: pa.DataType) -> int | None:
    """The code of one raw cell by the value codec, None if its row is dropped. In a column of single precision, the
    edges have single precision, too."""
    if isinstance(value, bytes):
        return code_of(attribute, value.decode("utf-8", "replace"))
    reading = read_value(attribute, value)
    grid = attribute.domain
    if isinstance(grid, Tree) or not pa.types.is_float32(kind) or reading.flaw not in {None, Flaw.OUTSIDE}:
        return reading.code
    edges = [float(np.float32(float(grid.edge(position)))) for position in range(grid.cells + 1)]
    if not edges[0] <= value < edges[-1]:
        return None if attribute.outside is Outside.DROP else 0 if value < edges[0] else grid.cells - 1
    return bisect_right(edges, value) - 1


def text_of(value: Any) -> str:
    """A cell as text: empty for null; bytes that are not UTF-8 are replaced."""
    return "" if value is None else value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def coded(table: pa.Table, schema: Schema) -> Counter[Row]:
    """The rows that are not dropped, as a multiset of codes in the order of the schema."""
    columns = []
    for attribute in schema.attributes:
        column = table.column(attribute.source_column)
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        columns.append([code_of_cell(attribute, value, kind) for value in column.to_pylist()])
    return Counter(row for row in zip(*columns, strict=True) if None not in row)


def tabulated(rows: Counter[Row], request: Tabulation) -> Counts:
    """Count row by row into dense tables with one dimension for each predictor and one for the class."""
    cut, schema = request.cut, request.cut.schema
    classes = len(schema.classes)
    places = {attribute.name: place for place, attribute in enumerate(schema.attributes)}
    sizes = {name: schema[name].domain.size for name in cut.nodes}
    cells = np.zeros((*cut.shape, classes), dtype=np.int64)
    fine = {}
    for name in request.fine:
        shape = [sizes[other] if other == name else len(nodes) for other, nodes in cut.nodes.items()]
        fine[name] = np.zeros((*shape, classes), dtype=np.int64)
    for row, times in rows.items():
        label = 0 if schema.target is None else row[places[schema.target]]
        codes = {name: row[places[name]] for name in cut.nodes}
        digits = {
            name: next(place for place, node in enumerate(nodes) if node.low <= codes[name] < node.high)
            for name, nodes in cut.nodes.items()
        }
        cells[(*digits.values(), label)] += times
        for name, table in fine.items():
            table[(*{**digits, name: codes[name]}.values(), label)] += times
    outer = {name: prod(cut.shape[:place]) for place, name in enumerate(cut.nodes)}
    return Counts(
        cells=cells.reshape(-1, classes),
        fine={name: table.reshape(outer[name], sizes[name], -1, classes) for name, table in fine.items()},
    )


def same(found: Counts, expected: Counts) -> bool:
    return (
        np.array_equal(found.cells, expected.cells)
        and list(found.fine) == list(expected.fine)
        and all(np.array_equal(found.fine[name], table) for name, table in expected.fine.items())
        and all(table.dtype == np.int64 for table in (found.cells, *found.fine.values()))
    )


def rows_of(engine: Engine) -> Counter[Row]:
    """The multiset of coded rows."""
    return Counter(row for block in engine.blocks() for row in rows_in(block))


def rows_in(block: Block) -> Iterator[Row]:
    return zip(*(column.tolist() for column in block), strict=True)


def as_csv(table: pa.Table, path: Path) -> Path:
    """Every cell as its shortest text, null as an empty one."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(table.column_names)
    columns = [column.cast(pa.string()).fill_null("").to_pylist() for column in table.columns]
    writer.writerows(zip(*columns, strict=True))
    raw = text.getvalue().encode("utf-8")
    with pa.output_stream(str(path), compression="detect") as stream:
        stream.write(raw)
    return path


def as_many(table: pa.Table, pattern: Path) -> Path:
    """Three files; the columns of the second are in another order."""
    third = -(-len(table) // 3)
    for number in range(3):
        part = table.slice(number * third, third)
        names = part.column_names if number != 1 else part.column_names[::-1]
        pq.write_table(part.select(names), str(pattern).replace("*", str(number)))
    return pattern


def as_duckdb(table: pa.Table, path: Path) -> str:
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM arrow")
    return f"{path}::people"


def as_parquet(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path, row_group_size=3)
    return path


class RecordedNoise:
    """Noise from a recording, so that the same queries and counts lead to the same decisions."""

    def __init__(self, seed: int) -> None:
        self._tape = simulation(seed)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return values + np.rint(self._tape.laplace(0, float(sensitivity / epsilon), len(values))).astype(np.int64)

    def select(self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Any) -> int:
        scale = float(sensitivity / epsilon) * (1 if monotone else 2)
        return int(np.argmax(scores / scale + self._tape.gumbel(size=len(scores))))
