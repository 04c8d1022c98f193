"""The DuckDB engine: coded rows in a database file of its own that may outgrow memory, counted by SQL."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from scumble.engines.coding import Block, code_blocks, code_type
from scumble.model.counts import Counts, Integers, Tabulation, fine_shape
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node

MEMORY_LIMIT = "1GB"
SQL_TYPES = {np.uint8: "UTINYINT", np.uint16: "USMALLINT", np.uint32: "UINTEGER"}


class DuckDBEngine:
    """Keeps the coded table in a temporary database, in the folder that TMPDIR names, gone when closed."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        columns = ", ".join(
            f"{_column(place)} {SQL_TYPES[code_type(attribute.domain.size)]}"
            for place, attribute in enumerate(schema.attributes)
        )
        self._rows = 0
        self._folder = tempfile.TemporaryDirectory(prefix="scumble-")
        path = Path(self._folder.name)
        try:
            self._connection = duckdb.connect(
                str(path / "coded.duckdb"),
                config={"memory_limit": MEMORY_LIMIT, "temp_directory": str(path / "spill")},
            )
            self._connection.execute(f"CREATE TABLE coded ({columns})")
        except BaseException:
            self._folder.cleanup()
            raise

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema) -> "DuckDBEngine":
        engine = cls(schema)
        names = [_column(place) for place in range(len(schema.attributes))]
        try:
            for block in code_blocks(batches, schema):
                coded = pa.table([pa.array(codes) for codes in block], names=names)
                engine._connection.register("block", coded)
                engine._connection.execute("INSERT INTO coded SELECT * FROM block")
                engine._connection.unregister("block")
                engine._rows += len(coded)
        except BaseException:
            engine.close()
            raise
        return engine

    @property
    def rows(self) -> int:
        return self._rows

    def blocks(self) -> Iterator[Block]:
        reader = self._connection.sql("SELECT * FROM coded").to_arrow_reader(1 << 17)
        for batch in reader:
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)

    def close(self) -> None:
        self._connection.close()
        self._folder.cleanup()

    def tabulate(self, request: Tabulation) -> Counts:
        cut = request.cut
        places = {attribute.name: place for place, attribute in enumerate(self._schema.attributes)}
        classes = len(self._schema.classes)
        terms = [
            f"{_digit(_column(places[name]), nodes)}::BIGINT * {cut.outer_inner(name)[1]}"
            for name, nodes in cut.nodes.items()
            if len(nodes) > 1
        ]
        label = "0" if self._schema.target is None else _column(places[self._schema.target])
        fine_columns = [_column(places[name]) for name in request.fine]
        groupings = ["(cell, label)"] + [f"(cell, label, {column})" for column in fine_columns]
        answer = self._connection.sql(
            f"""
            WITH placed AS (SELECT {" + ".join(terms) or "0"} AS cell, {label} AS label
                            {"".join(f", {column}" for column in fine_columns)} FROM coded)
            SELECT cell, label, count(*) AS number, {"".join(f"{column}, " for column in fine_columns)}
            FROM placed GROUP BY GROUPING SETS ({", ".join(groupings)})
            """
        ).to_arrow_table()
        table = {name: answer.column(name) for name in answer.column_names}
        cell = table["cell"].to_numpy().astype(np.int64)
        flat_label = table["label"].to_numpy().astype(np.int64)
        number = table["number"].to_numpy()
        is_cells = np.ones(len(cell), dtype=np.bool_)
        fine: dict[str, Integers] = {}
        for name, column in zip(request.fine, fine_columns, strict=True):
            mine = table[column].is_valid().to_numpy()
            is_cells &= ~mine
            outer, size, inner, _ = fine_shape(cut, name)
            code = table[column].filter(mine).to_numpy().astype(np.int64)
            block, rest = np.divmod(cell[mine], inner * len(cut.nodes[name]))
            target = ((block * size + code) * inner + rest % inner) * classes + flat_label[mine]
            fine[name] = _dense(target, number[mine], outer * size * inner * classes).reshape(fine_shape(cut, name))
        target = cell[is_cells] * classes + flat_label[is_cells]
        cells = _dense(target, number[is_cells], cut.cells * classes).reshape(-1, classes)
        return Counts(cells=cells, fine=fine)


def _column(place: int) -> str:
    return f"column{place}"


def _dense(places: Integers, numbers: Integers, length: int) -> Integers:
    table = np.zeros(length, dtype=np.int64)
    table[places] = numbers
    return table


def _digit(column: str, nodes: Sequence[Node], first: int = 0) -> str:
    """SQL for the place of a code's generalized value in a cut, by halving."""
    if all(node.high - node.low == 1 for node in nodes):
        return f"({column} - {nodes[0].low - first})" if nodes[0].low != first else column
    if len(nodes) == 1:
        return str(first)
    half = len(nodes) // 2
    left, right = _digit(column, nodes[:half], first), _digit(column, nodes[half:], first + half)
    return f"CASE WHEN {column} < {nodes[half].low} THEN {left} ELSE {right} END"
