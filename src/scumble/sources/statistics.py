"""Files of statistics programs: Stata (.dta), SPSS (.sav, .zsav) and SAS (.sas7bdat, .xpt), read by pyreadstat (the
extra `statistics`).

- If the file declares value labels for a column, a value that has a label is read as the label: 1 as `female`. Other
  values of the column are read as they are. For SAS, labels are in a catalogue: `people.sas7bcat` beside the file.
- Values that the file declares as missing are missing.
- Numbers in a column with a format of dates, times of day or timestamps are read as such.
- Text that is not valid in the file's encoding is off the domain, value by value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from scumble.errors import InputError
from scumble.installation import needing
from scumble.model.raw_value import ValueKind, canonical
from scumble.sources.object_column import OFF_DOMAIN, object_column
from scumble.sources.source import RowProgress, Source
from scumble.sources.statistics_dates import date_reader

BATCH_ROWS = 1 << 16
READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
EVERY_BYTE = "ISO-8859-1"
"""An encoding in which every byte is a character, so that reading never fails for one value."""


def statistics_file(path: Path) -> Source | None:
    """The source for such a file by its ending; None for other files."""
    return StatisticsFile(path=path) if path.suffix.lower() in READERS else None


@dataclass(frozen=True, kw_only=True)
class _Column:
    """What the header declares about a column. `key` is the name as pyreadstat returns it for `EVERY_BYTE`."""

    name: str
    key: str
    kind: str
    labels: Mapping[object, str]
    as_date: Callable[[float], object] | None


@dataclass(frozen=True, kw_only=True)
class StatisticsFile:
    """A file of Stata, SPSS or SAS, read in chunks."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.stem

    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._header)

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        by_name = {column.name: column for column in self._header}
        wanted = [by_name[name] for name in columns]
        done = 0
        while True:
            read, _ = self._read(
                usecols=[column.key for column in wanted],
                encoding=EVERY_BYTE,
                row_offset=done,
                row_limit=BATCH_ROWS,
                disable_datetime_conversion=True,
            )
            arrays = [self._array(column, read[column.key]) for column in wanted]
            rows = len(arrays[0])
            if rows:
                yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            done += rows
            if progress is not None:
                progress(done, None)
            if rows < BATCH_ROWS:
                return

    @cached_property
    def _header(self) -> list[_Column]:
        _, declared = self._read(metadataonly=True, **self._catalogue())
        _, raw = self._read(metadataonly=True, encoding=EVERY_BYTE)
        program = self.path.suffix.lower()
        return [
            _Column(
                name=name,
                key=key,
                kind=declared.readstat_variable_types[name],
                labels=declared.variable_value_labels.get(name, {}),
                as_date=date_reader(program, declared.original_variable_types.get(name) or ""),
            )
            for name, key in zip(declared.column_names, raw.column_names, strict=True)
        ]

    @cached_property
    def _encoding(self) -> str:
        _, declared = self._read(metadataonly=True)
        return stata_encoding(self.path) if self.path.suffix.lower() == ".dta" else declared.file_encoding or "UTF-8"

    def _catalogue(self) -> dict[str, str]:
        catalogue = self.path.with_suffix(".sas7bcat")
        found = self.path.suffix.lower() == ".sas7bdat" and catalogue.is_file()
        return {"catalog_file": str(catalogue)} if found else {}

    def _array(self, column: _Column, values: Sequence[Any]) -> pa.Array:
        if column.kind == "string":
            return object_column(self._labelled(column, self._decoded(value)) for value in values)
        if not column.labels and column.as_date is None:
            return pa.array(values, pa.float32() if column.kind == "float" else pa.float64(), from_pandas=True)
        return object_column(self._labelled(column, _number(column, value)) for value in values)

    def _labelled(self, column: _Column, value: object) -> object:
        if value is None or not column.labels:
            return value
        return column.labels.get(value, value)

    def _decoded(self, value: str | None) -> object:
        if value is None or value.isascii():
            return value
        try:
            return value.encode(EVERY_BYTE).decode(self._encoding)
        except (UnicodeError, LookupError):
            return OFF_DOMAIN

    def _read(self, **options: Any) -> tuple[Any, Any]:
        with _refused(self.path):
            import pyreadstat

            return getattr(pyreadstat, READERS[self.path.suffix.lower()])(
                str(self.path), output_format="dict", **options
            )


def _number(column: _Column, value: Any) -> object:
    """A number with the reading of its column: as a date, or in the precision that the file declares."""
    if value is None or isinstance(value, str) or (column.labels and value in column.labels):
        return value
    if column.as_date is not None:
        return column.as_date(float(value))
    return shortest(value) if column.kind == "float" else value


def shortest(value: float) -> Decimal | None:
    """A number of single precision as its shortest decimal.

    >>> shortest(0.699999988079071)
    Decimal('0.7')
    """
    kind, text = canonical(np.float32(value))
    return Decimal(text) if kind is ValueKind.NUMBER else None


def stata_encoding(path: Path) -> str:
    """The encoding of text in a Stata file: UTF-8 since version 14, which writes format 118 and later."""
    with path.open("rb") as file:
        first = file.read(67)
    _, apart, release = first.partition(b"<release>")
    return "UTF-8" if apart and int(release[:3]) >= 118 else "windows-1252"


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Report failures without the messages of the library, which may repeat the content of the file."""
    with needing("statistics"):
        from pyreadstat import PyreadstatError, ReadstatError
    try:
        yield
    except (PyreadstatError, ReadstatError, OSError, UnicodeError):
        raise InputError(f"{path} is not a {path.suffix} file, or is damaged. Write it again.") from None
