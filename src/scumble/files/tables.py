"""counts.csv, table.csv and fine.csv: the cells, records or fine rows of a release, written and read back."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.errors import CheckError
from scumble.model.counts import Integers, digits_of
from scumble.model.release import CellRelease
from scumble.model.schema import PUBLISHED_COLUMNS, Schema
from scumble.model.taxonomy import Domain, Grid
from scumble.model.values import Column

CHUNK = 1 << 18

Progress = Callable[[int, int | None], None]


def column_names(schema: Schema) -> list[str]:
    """The attributes as they stand in counts.csv and table.csv: predictors in order, then the target."""
    return [attribute.name for attribute in schema.predictors] + ([] if schema.target is None else [schema.target])


def entry_columns(schema: Schema, entries: Integers) -> list[pa.Array]:
    """The attribute columns of given (cell, class) entries, as text."""
    return [column.cast(pa.string()) for column in entry_dictionaries(schema, entries)]


def entry_dictionaries(schema: Schema, entries: Integers) -> list[pa.DictionaryArray]:
    """The same with each label written once."""
    labels = [attribute.domain.labels for attribute in schema.predictors]
    if schema.target is not None:
        labels.append(schema.classes)
    digits = digits_of(entries, [len(each) for each in labels])
    return [
        pa.DictionaryArray.from_arrays(pa.array(digit.astype(np.int32)), pa.array(each, pa.string()))
        for digit, each in zip(digits, labels, strict=True)
    ]


def write_csv(path: Path, names: list[str], chunks: Iterator[list[pa.Array]]) -> None:
    kinds = pa.schema([(name, pa.string()) for name in names])
    with path.open("wb") as file:
        first = True
        for columns in chunks:
            kinds = pa.schema([(name, column.type) for name, column in zip(names, columns, strict=True)])
            options = pacsv.WriteOptions(include_header=first, quoting_style="needed")
            pacsv.write_csv(pa.table(columns, schema=kinds), file, options)
            first = False
        if first:
            pacsv.write_csv(kinds.empty_table(), file)


def write_counts(release: CellRelease, path: Path) -> None:
    """counts.csv: every cell and class, the empty ones too, with published count, measured value and variance."""
    count, measured = release.count.ravel(), release.measured.ravel()

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, len(count), CHUNK):
            part = slice(start, min(start + CHUNK, len(count)))
            signed = measured[part] if release.resolution == 1 else measured[part] / release.resolution
            entries = np.arange(part.start, part.stop)
            variance = np.full(len(entries), release.variance)
            yield [*entry_columns(release.schema, entries), *map(pa.array, (count[part], signed, variance))]

    write_csv(path, [*column_names(release.schema), *PUBLISHED_COLUMNS], chunks())


def write_table(release: CellRelease, path: Path, progress: Progress | None = None) -> None:
    """table.csv: the published counts as rows, streamed."""
    count = release.count.ravel()
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, total, CHUNK):
            stop = min(start + CHUNK, total)
            yield entry_columns(release.schema, np.searchsorted(ends, np.arange(start, stop), side="right"))
            if progress is not None:
                progress(stop, total)

    write_csv(path, column_names(release.schema), chunks())


def read_counts(path: Path, schema: Schema, resolution: int, variance: float) -> tuple[Integers, Integers]:
    """The columns `count` and `measured` of counts.csv, after checking that its entries are all there and in order."""
    names = column_names(schema)
    kinds = zip(PUBLISHED_COLUMNS, (pa.int64(), pa.float64(), pa.float64()), strict=True)
    types = {**dict.fromkeys(names, pa.string()), **dict(kinds)}
    try:
        options = pacsv.ConvertOptions(column_types=types, strings_can_be_null=False)
        table = pacsv.read_csv(path, convert_options=options, parse_options=pacsv.ParseOptions(newlines_in_values=True))
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
        raise CheckError(f"{path}: the column 'variance' is not as release.json says. Ask for the release again.")
    if not (np.abs(signed) < 2**62 / resolution).all():
        raise CheckError(f"{path}: the column 'measured' is not finite. Ask for the release again.")
    measured = np.rint(signed * resolution).astype(np.int64)
    if not np.array_equal(measured / resolution, signed):
        raise CheckError(f"{path}: the column 'measured' is not in units of 1/{resolution}. Ask for the release again.")
    shape = (-1, len(schema.classes))
    return count.reshape(shape), measured.reshape(shape)


def write_rows(columns: Mapping[str, Column], path: Path, progress: Progress | None = None) -> None:
    """Records or fine rows as they are, a line for each; a missing number is an empty cell."""
    rows = len(next(iter(columns.values()), ()))

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, rows, CHUNK):
            yield [pa.array(column[start : start + CHUNK], from_pandas=True) for column in columns.values()]
            if progress is not None:
                progress(min(start + CHUNK, rows), rows)

    write_csv(path, list(columns), chunks())


def read_records(path: Path, schema: Schema) -> dict[str, Column]:
    """The records of table.csv: numbers where the published schema has a grid, labels elsewhere."""
    return _read_rows(
        path,
        {name: pa.float64() if isinstance(schema[name].domain, Grid) else pa.string() for name in column_names(schema)},
    )


def read_fine(path: Path, schema: Schema) -> dict[str, Column]:
    """The rows of fine.csv: lower edges of grid cells, whole where all of a grid are, and labels elsewhere."""
    return _read_rows(path, {name: _kind_of_edges(schema[name].domain) for name in column_names(schema)})


def _kind_of_edges(domain: Domain) -> pa.DataType:
    if not isinstance(domain, Grid):
        return pa.string()
    lower = domain.edge_floats[:-1]
    whole = domain.missing is None and np.array_equal(lower, np.rint(lower)) and np.abs(lower).max() < 2**53
    return pa.int64() if whole else pa.float64()


def _read_rows(path: Path, types: Mapping[str, pa.DataType]) -> dict[str, Column]:
    try:
        options = pacsv.ConvertOptions(column_types=types, strings_can_be_null=False)
        table = pacsv.read_csv(path, convert_options=options, parse_options=pacsv.ParseOptions(newlines_in_values=True))
    except (pa.ArrowInvalid, OSError) as error:
        raise CheckError(f"{path} cannot be read as rows: {error}. Ask for the release again.") from error
    if set(table.column_names) != set(types):
        raise CheckError(f"{path} does not have the columns of its schema. Ask for the release again.")
    return {name: table.column(name).to_numpy() for name in table.column_names}
