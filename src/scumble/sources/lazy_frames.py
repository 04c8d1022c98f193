"""Queries that are run when rows are read: polars LazyFrames, DuckDB relations and Arrow datasets.

Only the wanted columns are computed. Like a view of a database, a query is the owner's own: one that joins, aggregates
or casts can make one record change another, or end the run.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.errors import InputError
from scumble.sources.arrow_files import sliced
from scumble.sources.database_columns import DatabaseColumn, duckdb_column, expressions, kinds_of, named, read_batches
from scumble.sources.frames import PolarsSource
from scumble.sources.source import RowProgress, Source

BATCH_ROWS = 1 << 16


def lazy_source(data: Any) -> Source | None:
    """The source for such a query; None for other objects."""
    from narwhals.dependencies import is_duckdb_relation, is_polars_lazyframe

    if is_polars_lazyframe(data):
        return PolarsQuery(frame=data)
    if is_duckdb_relation(data):
        return DuckDBRelation(relation=data)
    dataset = sys.modules.get("pyarrow.dataset")  # an instance exists only if its module was imported
    return ArrowDataset(dataset=data) if dataset is not None and isinstance(data, dataset.Dataset) else None


@dataclass(frozen=True, kw_only=True)
class PolarsQuery:
    """A polars LazyFrame."""

    frame: Any
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return self._empty().columns()

    def kinds(self) -> pa.Schema:
        return self._empty().kinds()

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        import polars

        del progress
        wanted = self.frame.select(polars.selectors.by_name(*columns))
        try:
            parts: Iterable[Any] = (
                wanted.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
                if hasattr(wanted, "collect_batches")
                else [wanted.collect()]
            )
            for part in parts:
                yield from PolarsSource(frame=part).batches(columns)
        except polars.exceptions.PolarsError as error:
            raise _failed("polars", error) from None

    def _empty(self) -> PolarsSource:
        import polars

        try:
            return PolarsSource(frame=polars.DataFrame(schema=self.frame.collect_schema()))
        except (polars.exceptions.PolarsError, OSError) as error:
            raise _failed("polars", error) from None


@dataclass(frozen=True, kw_only=True)
class DuckDBRelation:
    """A relation of DuckDB's Python interface."""

    relation: Any
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.relation.columns)

    def kinds(self) -> pa.Schema:
        return kinds_of(self._declared())

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        import duckdb

        del progress
        try:
            wanted = named(self._declared(), columns)
            yield from read_batches(self.relation.project(expressions(wanted)).to_arrow_reader(BATCH_ROWS), wanted)
        except duckdb.Error as error:
            raise _failed("DuckDB", error) from None

    def _declared(self) -> list[DatabaseColumn]:
        import duckdb

        try:
            fields = self.relation.limit(0).to_arrow_reader(1).schema
        except duckdb.Error as error:
            raise _failed("DuckDB", error) from None
        return [
            duckdb_column(field.name, field.type, str(declared.id))
            for field, declared in zip(fields, self.relation.types, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class ArrowDataset:
    """A dataset of pyarrow."""

    dataset: Any
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.dataset.schema.names)

    def kinds(self) -> pa.Schema:
        return self.dataset.schema

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        try:
            for batch in self.dataset.to_batches(columns={name: pc.field(name) for name in columns}):
                yield from sliced(batch)
        except (pa.ArrowException, OSError) as error:
            raise _failed("Arrow", error) from None


def _failed(library: str, error: Exception) -> InputError:
    """A failure by its type only: the message of a library may repeat values of rows."""
    return InputError(
        f"{library} could not run the query: {type(error).__name__}. Run it, write the rows to a file, and give that."
    )
