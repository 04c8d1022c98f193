"""CSV files. Messages never repeat the content of a file: if it has no header, its first line is a private record."""

import csv
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from scumble.errors import InputError
from scumble.sources.csv_parser import CSVParser
from scumble.sources.csv_records import RecordShape
from scumble.sources.source import RowProgress

BLOCK_BYTES = 1 << 22
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
    multiline: bool = False
    """Whether values may contain line breaks, inside quotes."""

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
            raise InputError(self._unreadable(error)) from None
        except UnicodeDecodeError:
            raise InputError(f"{self.path} is not UTF-8 text. Convert it, or give a Parquet file.") from None

    def _unreadable(self, error: OSError) -> str:
        compression = COMPRESSED.get(self.path.suffix)
        damaged = "it is damaged" if compression is None else f"it is not a complete {compression} file"
        problem = error.strerror if error.errno else damaged
        return f"{self.path} cannot be read: {problem}. Check the file."

    def malformed(self) -> int:
        """Read the file and count the malformed records. For the data owner only."""
        parser = CSVParser(self._shape(), [0], ["first"])
        for _ in parser.batches(self._chunks(None)):
            pass
        return parser.malformed

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        names = self.columns()
        parser = CSVParser(self._shape(), [names.index(name) for name in columns], columns)
        yield from read_ahead(parser.batches(self._chunks(progress)))

    def _shape(self) -> RecordShape:
        return RecordShape(delimiter=self.delimiter, quote='"', fields=len(self.columns()), multiline=self.multiline)

    def _chunks(self, progress: RowProgress | None) -> Iterator[bytes]:
        """The bytes after the header."""
        total = None if self._compressed else self.path.stat().st_size
        done = 0
        header = True
        try:
            with pa.input_stream(str(self.path), compression="detect") as stream:
                while chunk := stream.read(BLOCK_BYTES):
                    done += len(chunk)
                    if progress is not None:
                        progress(done, total)
                    if header:
                        after = chunk.find(b"\n") + 1
                        header = after == 0
                        chunk = chunk[after:] if after else b""
                    yield chunk
        except OSError as error:
            raise InputError(self._unreadable(error)) from None


def read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches. While one is processed, a thread reads the next."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = reader.submit(next, batches, None)
            yield batch
