"""The DuckDB engine: coded rows in a temporary database file, which may be larger than memory.

DuckDB stores the rows and returns them block by block, within a memory limit. As in every engine, `coding` codes the
values and `counting` counts them. SQL does neither: so all engines read a value in the same way, and a pass is faster
than `GROUP BY GROUPING SETS` over all attributes (docs/benchmarks.md).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.chunked_counts import count_in_chunks
from scumble.engines.coding import code_blocks, code_type
from scumble.engines.counting import count_blocks
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.schema import Schema

MEMORY_LIMIT = "1GB"
BLOCK_ROWS = 1 << 17
SQL_TYPES = {np.uint8: "UTINYINT", np.uint16: "USMALLINT", np.uint32: "UINTEGER"}


class DuckDBEngine:
    """Keeps the coded table in a temporary database in the folder TMPDIR. `close` deletes it."""

    def __init__(self, schema: Schema) -> None:
        import duckdb  # slow to import, and only this engine needs it

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
                with _translated_failures():
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

    def tabulate(self, request: Tabulation) -> Counts:
        return count_in_chunks(request, lambda chunk: count_blocks(self.blocks(), chunk, self._schema))

    def blocks(self) -> Iterator[Block]:
        with _translated_failures():
            reader = self._connection.sql("SELECT * FROM coded").to_arrow_reader(BLOCK_ROWS)
        for batch in reader:
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return work(self.blocks())

    def close(self) -> None:
        self._connection.close()
        self._folder.cleanup()


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
