"""Where rows come from: CSV and Parquet files, or a frame in memory. A source is looked at in two steps.

`columns` reads the header alone. `batches` reads rows, and is called only after the ledger has reserved the budget.
Messages never repeat what a file holds: where a header is missing, its first line is somebody's record.
"""

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from scumble.errors import InputError
from scumble.model.schema import Schema

if TYPE_CHECKING:
    from narwhals import Series

BATCH_ROWS = 1 << 16
BLOCK_BYTES = 1 << 24
BUFFER_BYTES = 1 << 18
DELIMITERS = (",", ";", "\t", "|")

Progress = Callable[[int, int | None], None]
"""Called with how much was read and how much there is, in bytes or rows."""


class Source(Protocol):
    """A table that can be read once more for every release."""

    @property
    def name(self) -> str:
        """What the owner would call it: the stem of the file."""

    def columns(self) -> tuple[str, ...]:
        """The names in the header; no row is read."""

    def batches(self, schema: Schema, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        """The schema's columns, batch by batch."""


def open_source(data: Any, *, delimiter: str = ",") -> Source:
    """A source from a path (CSV, CSV.gz, Parquet) or from any frame that narwhals knows: pandas, polars, Arrow."""
    if not isinstance(data, str | Path):
        return _frame_source(data)
    path = Path(data)
    if not path.exists():
        raise InputError(f"There is no file {path}. Give a CSV or Parquet file.")
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give a CSV or Parquet file.")
    if path.suffix.lower() in {".parquet", ".pq"}:
        return ParquetSource(path=path)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InputError(f"The delimiter {delimiter!r} is not one ASCII character. Give one such as ';'.")
    return CSVSource(path=path, delimiter=delimiter)


def check_columns(source: Source, schema: Schema) -> None:
    """Compare the header with the schema. Further columns are left alone; they are never read."""
    columns = source.columns()
    where = getattr(source, "path", source.name)
    repeated = sorted({name for name in columns if columns.count(name) > 1})
    wanted = [attribute.name for attribute in schema.attributes]
    found = [name for name in wanted if name in columns]
    if not found:
        hint = source.hint(wanted) if isinstance(source, CSVSource) else "Compare the names in the schema and the file."
        raise InputError(f"{where}: its first line has none of the schema's columns. {hint}")
    absent = [name for name in wanted if name not in columns]
    if absent:
        raise InputError(
            f"{where}: no column {', '.join(repr(name) for name in absent)}, which the schema describes. "
            "Correct the name in the schema, or take the attribute out."
        )
    if repeated:
        shown = next((name for name in repeated if name in wanted), None)
        raise InputError(
            f"{where}: the column {shown!r} stands twice in the header. Rename one of them."
            if shown
            else f"{where}: a column stands twice in the header. Rename one of them."
        )
    if isinstance(source, ParquetSource | FrameSource):
        kinds = source.kinds()
        nested = [name for name in wanted if pa.types.is_nested(kinds.field(name).type)]
        if nested:
            raise InputError(
                f"{where}: the column {nested[0]!r} holds lists or records, not single values. Take it apart, or "
                "take the attribute out of the schema."
            )


@dataclass(frozen=True, kw_only=True)
class CSVSource:
    """A UTF-8 CSV file with one header line, plain or gzipped."""

    path: Path
    delimiter: str = ","

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(".gz").removesuffix(".csv")

    def columns(self) -> tuple[str, ...]:
        return self._fields(self.delimiter)

    def hint(self, wanted: Sequence[str]) -> str:
        """What is probably wrong with the first line, without telling what it says."""
        for delimiter in DELIMITERS:
            if delimiter != self.delimiter and any(name.strip() in wanted for name in self._fields(delimiter)):
                shown = "tab" if delimiter == "\t" else delimiter
                return f"It looks separated by {shown!r}: pass --delimiter {shown!r}."
        return "Does the file have a header? Put the attribute names into the first line."

    def _fields(self, delimiter: str) -> tuple[str, ...]:
        try:
            return tuple(next(csv.reader([self._first_line()], delimiter=delimiter), []))
        except csv.Error:
            raise InputError(f"{self.path}: its first line is no header. Write one line for each row.") from None

    def _first_line(self) -> str:
        try:
            with gzip.open(self.path, "rb") if self.path.suffix == ".gz" else self.path.open("rb") as file:
                return file.readline(1 << 20).decode("utf-8-sig").rstrip("\r\n")
        except (OSError, EOFError, zlib.error) as error:
            problem = getattr(error, "strerror", None) or "it is no gzip file, or cut short"
            raise InputError(f"{self.path} cannot be read: {problem}. Check the file.") from None
        except UnicodeDecodeError:
            raise InputError(f"{self.path} is not UTF-8 text. Convert it, or give a Parquet file.") from None

    def batches(self, schema: Schema, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        names = [attribute.name for attribute in schema.attributes]
        # Numbers too: most columns of them have few values, and each is then parsed once.
        types = dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string()))
        total = None if self.path.suffix == ".gz" else self.path.stat().st_size
        try:
            with pa.input_stream(str(self.path), compression="detect") as stream:
                counted = _Counted(stream, progress, total)
                yield from pacsv.open_csv(
                    pa.PythonFile(counted, mode="r"),
                    read_options=pacsv.ReadOptions(block_size=BLOCK_BYTES),
                    parse_options=pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                    convert_options=pacsv.ConvertOptions(
                        column_types=types, include_columns=names, strings_can_be_null=False, null_values=[]
                    ),
                )
        except (pa.ArrowInvalid, OSError):
            raise InputError(
                f"{self.path} is no well-formed CSV: its lines do not all have the header's number of fields, or it is "
                "not UTF-8, or cut short. Mend the file."
            ) from None


class _Counted:
    """A readable stream that reports how much of it was read, and whose last line has an end.

    Arrow reads a last row that has none, but takes a header that has none for no table at all.
    """

    def __init__(self, stream: Any, progress: Progress | None, total: int | None) -> None:
        self._stream, self._progress, self._total, self._read = stream, progress, total, 0
        self.closed = False

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        more = data
        while more and len(data) < size:
            more = self._stream.read(size - len(data))
            data += more
        self._read += len(data)
        if self._progress is not None:
            self._progress(self._read, self._total)
        return data + b"\n" if 0 < len(data) < size and not data.endswith((b"\n", b"\r")) else data

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True, kw_only=True)
class ParquetSource:
    """A Parquet file, read row group by row group, text as dictionaries."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    def columns(self) -> tuple[str, ...]:
        return tuple(self.kinds().names)

    def kinds(self) -> pa.Schema:
        """The types of the columns."""
        try:
            return pq.read_schema(self.path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self.path} is no Parquet file. Give a Parquet or CSV file.") from error

    def batches(self, schema: Schema, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        names = [attribute.name for attribute in schema.attributes]
        kinds = self.kinds()
        text = [name for name in names if _is_text(kinds.field(name).type)]
        try:
            # Without pre_buffer=False, all that was read of the file would stay in memory until its end.
            with pq.ParquetFile(self.path, read_dictionary=text, pre_buffer=False, buffer_size=BUFFER_BYTES) as file:
                rows = 0
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=names):
                    yield batch
                    rows += len(batch)
                    if progress is not None:
                        progress(rows, file.metadata.num_rows)
        except (pa.ArrowInvalid, OSError):
            raise InputError(f"{self.path} is a damaged Parquet file. Write it anew.") from None


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


@dataclass(frozen=True, kw_only=True)
class FrameSource:
    """A table in memory."""

    table: pa.Table
    name: str = "frame"

    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def kinds(self) -> pa.Schema:
        """The types of the columns."""
        return self.table.schema

    def batches(self, schema: Schema, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        del progress
        table = self.table.select([attribute.name for attribute in schema.attributes])
        yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _frame_source(frame: Any) -> FrameSource:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InputError(
            f"A {type(frame).__name__} is no table. Give a path, or a pandas, polars or Arrow frame."
        ) from error
    except DuplicateError:
        raise InputError("frame: a column stands twice in it. Rename one of them.") from None
    names = [str(name) for name in eager.columns]
    return FrameSource(table=pa.Table.from_arrays([_arrow(series) for series in eager.iter_columns()], names=names))


def _arrow(series: "Series[Any]") -> pa.Array | pa.ChunkedArray:
    """A column in Arrow's types. One of pandas' that mixes types becomes text: no value may stop a run."""
    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        cells = zip(series.to_list(), series.is_null().to_list(), strict=True)
        return pa.array([None if empty else str(value) for value, empty in cells], pa.string())
