"""CSV files. Messages never repeat the content of a file: if it has no header, its first line is a private record."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.errors import InputError
from scumble.sources.source import RowProgress

BLOCK_BYTES = 1 << 24
FIRST_BYTES = 1 << 12
LONGEST_HEADER = 1 << 20
DELIMITERS = (",", ";", "\t", "|")
COMPRESSED = {".gz": "gzip", ".zst": "Zstandard", ".bz2": "bzip2", ".lz4": "LZ4"}
"""The endings by which Arrow recognizes a compression."""


@dataclass(frozen=True, kw_only=True)
class CSVSource:
    """A UTF-8 CSV file with one header line, plain or compressed."""

    path: Path
    delimiter: str = ","

    @property
    def name(self) -> str:
        plain = self.path.with_suffix("") if self._compressed else self.path
        return plain.name.removesuffix(".csv")

    @property
    def _compressed(self) -> bool:
        return self.path.suffix in COMPRESSED

    def columns(self) -> tuple[str, ...]:
        return self._fields(self.delimiter)

    def kinds(self) -> None:
        return None

    def likely_delimiter(self) -> str:
        """The delimiter, or another one if the header is one field by this delimiter and several by the other."""
        fields = {delimiter: len(self._fields(delimiter)) for delimiter in (self.delimiter, *DELIMITERS)}
        return self.delimiter if fields[self.delimiter] > 1 else max(fields, key=lambda each: fields[each])

    def hint(self, wanted: Sequence[str]) -> str:
        """What is probably wrong with the first line, without repeating it."""
        for delimiter in DELIMITERS:
            if delimiter != self.delimiter and any(name.strip() in wanted for name in self._fields(delimiter)):
                shown = "tab" if delimiter == "\t" else delimiter
                return f"Its fields seem to be separated by {shown!r}: pass --delimiter {shown!r}."
        return "Does the file have a header? Write the attribute names into the first line."

    def _fields(self, delimiter: str) -> tuple[str, ...]:
        try:
            return tuple(next(csv.reader([self._first_line()], delimiter=delimiter), []))
        except csv.Error:
            raise InputError(
                f"{self.path}: its first line cannot be read as a header. Write one line for each row."
            ) from None

    def _first_line(self) -> str:
        line = b""
        try:
            with pa.input_stream(str(self.path), compression="detect") as stream:
                while b"\n" not in line and len(line) < LONGEST_HEADER:
                    more = stream.read(FIRST_BYTES)
                    line += more
                    if not more:
                        break
            return line.split(b"\n")[0][:LONGEST_HEADER].decode("utf-8-sig").rstrip("\r")
        except OSError as error:
            compression = COMPRESSED.get(self.path.suffix)
            damaged = "it is damaged" if compression is None else f"it is not a complete {compression} file"
            problem = error.strerror if error.errno else damaged
            raise InputError(f"{self.path} cannot be read: {problem}. Check the file.") from None
        except UnicodeDecodeError:
            raise InputError(f"{self.path} is not UTF-8 text. Convert it, or give a Parquet file.") from None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        # Also for numbers: most such columns have few distinct values, and each is then parsed once. Bytes that are not
        # UTF-8 stay as they are: coding reads such a cell as a value off the domain.
        types = dict.fromkeys(columns, pa.dictionary(pa.int32(), pa.string()))
        total = None if self._compressed else self.path.stat().st_size
        try:
            with pa.input_stream(str(self.path), compression="detect") as stream:
                counted = _Counted(stream, progress, total)
                yield from pacsv.open_csv(
                    pa.PythonFile(counted, mode="r"),
                    read_options=pacsv.ReadOptions(block_size=BLOCK_BYTES),
                    parse_options=pacsv.ParseOptions(
                        delimiter=self.delimiter,
                        newlines_in_values=True,
                        # In a table of one column, an empty line is a record with an empty value.
                        ignore_empty_lines=len(self.columns()) > 1,
                    ),
                    convert_options=pacsv.ConvertOptions(
                        column_types=types,
                        include_columns=list(columns),
                        strings_can_be_null=False,
                        null_values=[],
                        check_utf8=False,
                    ),
                )
        except (pa.ArrowInvalid, OSError):
            raise InputError(
                f"{self.path} is not valid CSV: a line has more or fewer fields than the header, or the file is "
                "incomplete. Fix the file."
            ) from None


class _Counted:
    """A readable stream that reports how much was read and adds a line break at the end if there is none.

    Arrow reads a last row without a line break, but fails on a file that is only a header without one.
    """

    def __init__(self, stream: Any, progress: RowProgress | None, total: int | None) -> None:
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
