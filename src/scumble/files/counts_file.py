"""counts.csv and table.csv of a release of cells: the noisy counts, and the same counts written out as rows."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.errors import CheckError
from scumble.files.coded_csv import assembled, fields_of, header, repeated
from scumble.files.csv_tables import (
    CHUNK,
    IN_ONE_THREAD,
    PARSING,
    TEXTS,
    column_labels,
    column_names,
    entry_columns,
    entry_dictionaries,
    label_codes,
    write_csv,
)
from scumble.foreign.files import open_file
from scumble.model.counts import Integers, digits_of
from scumble.model.release import CellRelease
from scumble.model.schema import PUBLISHED_COLUMNS, Schema
from scumble.model.values import NOWHERE
from scumble.sources.source import RowProgress


def write_counts(release: CellRelease, path: Path) -> None:
    """Write counts.csv: every cell and class, including empty ones, with count, measured value and variance."""
    entries = release.count.size

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, entries, CHUNK):
            part = slice(start, min(start + CHUNK, entries))
            labels = entry_columns(release.schema, np.arange(part.start, part.stop))
            yield [*labels, *_numbers(release, part)]

    write_csv(path, [*column_names(release.schema), *PUBLISHED_COLUMNS], chunks())


def _numbers(release: CellRelease, part: slice) -> list[pa.Array]:
    """The columns `count`, `measured` and `variance` of some entries."""
    count, measured = release.count.ravel()[part], release.measured.ravel()[part]
    signed = measured if release.resolution == 1 else measured / release.resolution
    return [pa.array(count), pa.array(signed), pa.array(np.full(len(count), release.variance))]


def counts_table(release: CellRelease) -> pa.Table:
    """counts.csv as an Arrow table, its labels as dictionaries."""
    everything = slice(0, release.count.size)
    columns = [*entry_dictionaries(release.schema, np.arange(everything.stop)), *_numbers(release, everything)]
    return pa.table(columns, names=[*column_names(release.schema), *PUBLISHED_COLUMNS])


def read_counts(path: Path, schema: Schema, resolution: int, variance: float) -> tuple[Integers, Integers]:
    """Read the columns `count` and `measured` of counts.csv. All entries must be present, in order."""
    names = column_names(schema)
    kinds = zip(PUBLISHED_COLUMNS, (pa.int64(), pa.float64(), pa.float64()), strict=True)
    types = {**dict.fromkeys(names, pa.string()), **dict(kinds)}
    try:
        options = pacsv.ConvertOptions(column_types=types, strings_can_be_null=False)
        with open_file(path) as file:
            table = pacsv.read_csv(file, IN_ONE_THREAD, PARSING, options)
    except (pa.ArrowInvalid, OSError) as error:
        raise CheckError(f"{path} cannot be read as counts: {error}. Ask for the release again.") from error
    entries = math.prod(attribute.domain.size for attribute in schema.predictors) * len(schema.classes)
    if table.column_names != [*names, *PUBLISHED_COLUMNS] or len(table) != entries:
        raise CheckError(f"{path} does not list all cells of schema.yaml. Ask for the release again.")
    for name, expected in zip(names, entry_columns(schema, np.arange(entries)), strict=True):
        if not table.column(name).combine_chunks().equals(expected):
            raise CheckError(f"{path}: the column {name!r} does not follow schema.yaml. Ask for the release again.")
    if any(table.column(name).null_count for name in PUBLISHED_COLUMNS):
        raise CheckError(f"{path} has empty counts. Ask for the release again.")
    count, signed, variances = (table.column(name).to_numpy() for name in PUBLISHED_COLUMNS)
    if not (variances == variance).all():
        raise CheckError(f"{path}: the column 'variance' differs from release.json. Ask for the release again.")
    if not (np.abs(signed) < 2**62 / resolution).all():
        raise CheckError(f"{path}: the column 'measured' is not finite. Ask for the release again.")
    measured = np.rint(signed * resolution).astype(np.int64)
    if not np.array_equal(measured / resolution, signed):
        raise CheckError(f"{path}: the column 'measured' is not in units of 1/{resolution}. Ask for the release again.")
    shape = (-1, len(schema.classes))
    return count.reshape(shape), measured.reshape(shape)


def write_table(release: CellRelease, path: Path, progress: RowProgress | None = None) -> None:
    """Write table.csv: one row for each record counted in `count`, or fewer where `row_counts` says so."""
    times, labels = release.row_counts.ravel(), column_labels(release.schema)
    filled, total = np.flatnonzero(times), int(times.sum())
    digits = digits_of(filled, [len(each) for each in labels])
    text, ends = assembled(fields_of(labels), digits)
    with path.open("wb") as file:
        file.write(header(column_names(release.schema)))
        for lines, written in repeated(text, ends, times[filled], CHUNK):
            file.write(lines)
            if progress is not None:
                progress(written, total)


def rows_table(release: CellRelease) -> pa.Table:
    """table.csv as an Arrow table, its labels as dictionaries."""
    count = release.row_counts.ravel()
    columns = entry_dictionaries(release.schema, np.repeat(np.arange(len(count)), count))
    return pa.table(columns, names=column_names(release.schema))


def check_table(path: Path, release: CellRelease, expected: Integers) -> None:
    """Raise `CheckError` unless table.csv has exactly the expected number of rows of each cell and class."""
    names = column_names(release.schema)
    found = np.zeros(release.count.size, dtype=np.int64)
    options = pacsv.ConvertOptions(column_types=dict.fromkeys(names, TEXTS), strings_can_be_null=False)
    try:
        with (
            open_file(path) as file,
            pacsv.open_csv(file, IN_ONE_THREAD, PARSING, options) as reader,
        ):
            if reader.schema.names != names:
                raise CheckError("table.csv does not have the columns of schema.yaml. Do not trust this folder.")
            for batch in reader:
                found += np.bincount(_entries(batch, release.schema), minlength=len(found))
    except (pa.ArrowInvalid, OSError) as error:
        raise CheckError(f"table.csv cannot be read by schema.yaml: {error}. Do not trust this folder.") from error
    if not np.array_equal(found, expected.ravel()):
        raise CheckError("The rows of table.csv differ from counts.csv. Do not trust this folder.")


def _entries(batch: pa.RecordBatch, schema: Schema) -> Integers:
    """The (cell, class) entry of every row."""
    entry = np.zeros(len(batch), dtype=np.int64)
    for name, values in zip(column_names(schema), column_labels(schema), strict=True):
        code = label_codes(batch.column(name), values)
        if (code == NOWHERE).any():
            raise CheckError(
                f"table.csv: {name!r} has a value that schema.yaml does not list. Do not trust this folder."
            )
        entry = entry * len(values) + code
    return entry
