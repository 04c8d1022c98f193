"""The DuckDB engine: coded rows in a database file of its own that may outgrow memory.

DuckDB keeps the rows and hands them back block by block, within a limit of memory. Values are coded by `coding` and
counted by `counting`, as in every engine, and not in SQL: so no value can be read in two ways, and a pass costs less
than SQL's own `GROUP BY GROUPING SETS` over all attributes (docs/benchmarks.md).
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.chunked_counts import count_in_turns
from scumble.engines.coding import code_blocks, code_type
from scumble.engines.counting import count_blocks
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.schema import Schema

MEMORY_LIMIT = "1GB"
BLOCK_ROWS = 1 << 17
SQL_TYPES = {np.uint8: "UTINYINT", np.uint16: "USMALLINT", np.uint32: "UINTEGER"}


class DuckDBEngine:
    """Keeps the coded table in a temporary database, in the folder that TMPDIR names, gone when closed."""

    def __init__(self, schema: Schema) -> None:
        import duckdb  # takes a while, and only this engine needs it

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
                with _failures_in_pythons_words():
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
        return count_in_turns(request, lambda turn: count_blocks(self.blocks(), turn, self._schema))

    def blocks(self) -> Iterator[Block]:
        with _failures_in_pythons_words():
            reader = self._connection.sql("SELECT * FROM coded").to_arrow_reader(BLOCK_ROWS)
        for batch in reader:
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return work(self.blocks())

    def close(self) -> None:
        self._connection.close()
        self._folder.cleanup()


@contextmanager
def _failures_in_pythons_words() -> Iterator[None]:
    """Ctrl-C as what it is, which DuckDB calls a RuntimeError, and a full disk or memory as the machine's failure."""
    import duckdb

    try:
        yield
    except RuntimeError as error:
        if "interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise OSError(f"{error} (TMPDIR names the folder that --engine duckdb works in)") from error


def _column(place: int) -> str:
    return f"column{place}"
