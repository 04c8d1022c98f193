"""The DuckDB engine: coded rows in a temporary database file, which may be larger than memory.

The file has no name: it is unlinked as soon as it is open, and all rows are written in one transaction that is never
committed, so that DuckDB writes no log. However the process ends, the operating system frees the file. Only if the rows
of persons must be sorted beyond the memory limit, DuckDB writes files with names: into a folder with mode 0700 that is
locked, removed at the end, and removed by the next run if this one is killed.

DuckDB stores the rows and returns them block by block, within a memory limit. As in every engine, `coding` codes the
values and `counting` counts them. SQL does neither: so all engines read a value in the same way, and a pass is faster
than `GROUP BY GROUPING SETS` over all attributes (docs/benchmarks.md).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.chunked_counts import count_in_chunks
from scumble.engines.coding import code_blocks, code_type
from scumble.engines.contributions import NO_KEY, REPEAT_STEP, read_contributions
from scumble.engines.counting import count_blocks
from scumble.installation import needing
from scumble.locked_folders import locked_folder
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.persons import Persons
from scumble.model.schema import Schema

PREFIX = ".scumble-rows-"
MEMORY_LIMIT = "1GB"
BLOCK_ROWS = 1 << 17
SQL_TYPES = {np.uint8: "UTINYINT", np.uint16: "USMALLINT", np.uint32: "UINTEGER"}


class DuckDBEngine:
    """Keeps the coded table in an unnamed temporary database on the disk of the folder TMPDIR. `close` frees it."""

    def __init__(self, schema: Schema) -> None:
        with needing("duckdb"):
            import duckdb  # slow to import, and only this engine needs it

        self._schema = schema
        columns = ", ".join(
            f"{_column(place)} {SQL_TYPES[code_type(attribute.domain.size)]}"
            for place, attribute in enumerate(schema.attributes)
        )
        self._rows = 0
        self._table = "coded"
        with ExitStack() as stack, _translated_failures():
            folder = stack.enter_context(locked_folder(Path(tempfile.gettempdir()), PREFIX))
            self._connection = duckdb.connect(
                str(folder / "coded.duckdb"),
                config={"memory_limit": MEMORY_LIMIT, "temp_directory": str(folder / "spill")},
            )
            stack.callback(self._connection.close)
            (folder / "coded.duckdb").unlink()
            self._connection.execute("BEGIN TRANSACTION")
            bounding = "" if schema.persons is None else ", inside BOOLEAN, person VARCHAR, hash UBIGINT"
            self._connection.execute(f"CREATE TABLE coded ({columns}{bounding})")
            self._opened = stack.pop_all()

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema, *, key: bytes = NO_KEY) -> "DuckDBEngine":
        engine = cls(schema)
        try:
            if schema.persons is None:
                for block in code_blocks(batches, schema):
                    engine._insert(*block)
            else:
                for part in read_contributions(batches, schema, schema.persons, key):
                    engine._insert(*part.block, part.inside, part.persons, part.hashes)
                engine._bound(schema.persons)
            with _translated_failures():
                (engine._rows,) = engine._connection.sql(f"SELECT count(*) FROM {engine._table}").fetchall()[0]
        except BaseException:
            engine.close()
            raise
        return engine

    def _insert(self, *columns: Any) -> None:
        rows = pa.table([pa.array(column) for column in columns], names=[str(place) for place in range(len(columns))])
        with _translated_failures():
            self._connection.register("block", rows)
            self._connection.execute("INSERT INTO coded SELECT * FROM block")
            self._connection.unregister("block")

    def _bound(self, persons: Persons) -> None:
        """Keep the rows that `scumble.engines.contributions.kept_rows` would keep, then drop the ids."""
        columns = ", ".join(_column(place) for place in range(len(self._schema.attributes)))
        most = persons.rows_each_at_most
        with _translated_failures():
            self._connection.execute(
                f"""CREATE TABLE bounded AS
                WITH crowded AS (SELECT person FROM coded GROUP BY person HAVING count(*) > {most}),
                numbered AS (
                    SELECT *, row_number() OVER (PARTITION BY person, hash) - 1 AS repeat
                    FROM coded SEMI JOIN crowded USING (person)
                ),
                ranked AS (
                    SELECT *, row_number() OVER (
                        PARTITION BY person
                        ORDER BY (hash::HUGEINT + repeat::HUGEINT * {REPEAT_STEP}) % {1 << 64}
                    ) AS place
                    FROM numbered
                )
                SELECT {columns} FROM ranked WHERE inside AND place <= {most}
                UNION ALL SELECT {columns} FROM coded ANTI JOIN crowded USING (person) WHERE inside"""
            )
            self._connection.execute("DROP TABLE coded")
        self._table = "bounded"

    @property
    def rows(self) -> int:
        return self._rows

    def tabulate(self, request: Tabulation) -> Counts:
        return count_in_chunks(request, lambda chunk: count_blocks(self.blocks(), chunk, self._schema))

    def blocks(self) -> Iterator[Block]:
        with _translated_failures():
            reader = self._connection.sql(f"SELECT * FROM {self._table}").to_arrow_reader(BLOCK_ROWS)
        for batch in reader:
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return work(self.blocks())

    def close(self) -> None:
        self._opened.close()


@contextmanager
def _translated_failures() -> Iterator[None]:
    """Turn DuckDB's RuntimeError at Ctrl-C into KeyboardInterrupt, and a full disk or memory into OSError."""
    import duckdb

    try:
        yield
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise OSError(f"{error} (--engine duckdb works in the folder TMPDIR)") from error


def _column(place: int) -> str:
    return f"column{place}"
