"""CSV files. Messages never repeat the content of a file: if it has no header, its first line is a private record.

`scumble.sources.csv_records` defines the records, `scumble.sources.dialect` how a header is read.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath

import pyarrow as pa

from scumble.errors import InputError
from scumble.model.dialect import AS_FOUND, Dialect
from scumble.sources.byte_streams import ByteStream, TextStream
from scumble.sources.csv_parser import CSVParser
from scumble.sources.csv_records import RecordShape
from scumble.sources.encodings import BYTE_ORDERS, to_utf8
from scumble.sources.header_line import DELIMITERS, HeaderLine, read_header, shown_delimiter
from scumble.sources.source import RowProgress

BLOCK_BYTES = 1 << 22
FIRST_BYTES = 1 << 12
LONGEST_HEADER = 1 << 20
NOTE_FOR_EXCEL = re.compile(r'"?sep=.?"?', re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class CSVSource:
    """A CSV file with one header line, plain, compressed or in a zip archive."""

    stream: TextStream
    dialect: Dialect = AS_FOUND
    quote: str | None = None
    """None: found in the header line."""

    @property
    def path(self) -> PurePath:
        return self.stream.path

    @property
    def name(self) -> str:
        return self.stream.plain_name.removesuffix(".csv")

    def columns(self) -> tuple[str, ...]:
        return self.header.names

    def kinds(self) -> None:
        return None

    @cached_property
    def header(self) -> HeaderLine:
        """The header line, with the delimiter and the quote that are used for all lines."""
        tab = PurePath(self.stream.plain_name).suffix.lower() == ".tsv"
        return self._header(self.dialect.delimiter or ("\t" if tab else None))

    @property
    def reading(self) -> str | None:
        """What was found in the header, and the encoding, as a sentence; None if a comma and the double quote were
        found, or it was stated."""
        found = []
        if self.dialect.delimiter is None and self.header.delimiter != ",":
            found.append(f"separated by {shown_delimiter(self.header.delimiter)}")
        if self.header.quote != '"':
            found.append(f"quoted by {self.header.quote}")
        encoding = f"in {self.dialect.text_encoding.upper()}"
        return f"{self.stream} was read as CSV {', '.join([*found, encoding])}." if found else None

    def hint(self, wanted: Sequence[str]) -> str:
        """What is probably wrong with the first line, without repeating it."""
        return self.delimiter_hint(wanted) or (
            "Does the file have a header? Write the attribute names into the first line."
        )

    def delimiter_hint(self, wanted: Sequence[str]) -> str | None:
        """The delimiter by which the first line would have a wanted name, as advice."""
        for delimiter in DELIMITERS:
            others = self._header(delimiter).names
            if delimiter != self.header.delimiter and any(name.strip() in wanted for name in others):
                shown = shown_delimiter(delimiter)
                return f"Its fields seem to be separated by {shown}: pass --delimiter {shown}."
        return None

    def _header(self, delimiter: str | None) -> HeaderLine:
        if self.quote is None and NOTE_FOR_EXCEL.fullmatch(self._first_line):
            raise InputError(
                f"{self.stream}: its first line is a note for Excel (sep=), not a header. Delete this line. The "
                "delimiter is found in the header, or stated with --delimiter."
            )
        try:
            return read_header(self._first_line, delimiter=delimiter, quote=self.quote)
        except csv.Error:
            raise InputError(
                f"{self.stream}: its first line cannot be read as a header. Write one line for each row."
            ) from None

    @cached_property
    def _first_line(self) -> str:
        raw = next(self.stream.chunks(len(next(iter(BYTE_ORDERS)))), b"")
        encoding = self.dialect.text_encoding
        if encoding == "utf-16" and raw not in BYTE_ORDERS:
            raise InputError(f"{self.stream} has no byte order mark. Pass --encoding utf-16-le (Windows) or utf-16-be.")
        line = b""
        for chunk in to_utf8(self.stream.chunks(FIRST_BYTES), encoding):
            line += chunk
            if b"\n" in chunk or len(line) >= LONGEST_HEADER:
                break
        try:
            return line.split(b"\n")[0][:LONGEST_HEADER].decode("utf-8-sig").rstrip("\r")
        except UnicodeDecodeError:
            likely = "utf-16" if raw in BYTE_ORDERS else "latin-1"
            advice = f"Pass --encoding {likely}" if encoding != likely else "Convert it to UTF-8"
            raise InputError(
                f"{self.stream} is not {encoding.upper()} text. {advice}, or give a Parquet file."
            ) from None

    def malformed(self) -> int:
        """Read the file and count the malformed records. For the data owner only."""
        parser = CSVParser(self.shape, [0], ["first"])
        for _ in parser.batches(self._chunks(None)):
            pass
        return parser.malformed

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        names = self.columns()
        parser = CSVParser(self.shape, [names.index(name) for name in columns], columns)
        yield from read_ahead(parser.batches(self._chunks(progress)))

    @property
    def shape(self) -> RecordShape:
        """How the records look, by the header."""
        return RecordShape(
            delimiter=self.header.delimiter,
            quote=self.header.quote,
            fields=len(self.header.names),
            multiline=self.dialect.multiline,
        )

    def _chunks(self, progress: RowProgress | None) -> Iterator[bytes]:
        """The text after the header, as UTF-8."""
        header = True
        for chunk in to_utf8(self._counted(progress), self.dialect.text_encoding):
            if not header:
                yield chunk
            elif b"\n" in chunk:
                header = False
                yield chunk[chunk.index(b"\n") + 1 :]

    def _counted(self, progress: RowProgress | None) -> Iterator[bytes]:
        done, total = 0, self.stream.size
        for chunk in self.stream.chunks(BLOCK_BYTES):
            done += len(chunk)
            if progress is not None:
                progress(done, total)
            yield chunk


def published_csv(path: Path) -> CSVSource:
    """The source for a CSV file that scumble wrote."""
    return CSVSource(
        stream=ByteStream(path=path, published=True), dialect=Dialect(delimiter=",", multiline=True), quote='"'
    )


def read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches. While one is processed, a thread reads the next."""
    with ThreadPoolExecutor(1) as reader:
        waiting = reader.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = reader.submit(next, batches, None)
            yield batch
