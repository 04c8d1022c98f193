"""The columns of a table on their way into another format, with the ends of intervals as numbers by choice."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.errors import InputError
from scumble.files.kinds import kind_of
from scumble.files.kinds.kind import ReleaseKind
from scumble.model.grid import Grid
from scumble.model.interval_bounds import has_intervals, label_bounds, whole_edges
from scumble.model.release import Release
from scumble.model.schema import Attribute, Schema
from scumble.model.values import NOWHERE, codes_within

LOW, HIGH = "_low", "_high"
"""What is appended to an attribute's name for the ends of its intervals."""


@dataclass(frozen=True, kw_only=True)
class ExportTable:
    """A table of a release, block by block. Every block is an Arrow table with the same columns and types."""

    name: str
    """The name of its file without `.csv`."""
    attributes: Mapping[str, Attribute]
    """The attribute of every column that has one. The others are numbers."""
    meanings: Mapping[str, str]
    """What every column is."""
    blocks: Iterator[pa.Table]


def export_table(
    release: Release, folder: Path, *, files: Collection[str], recommended: str, wanted: str | None, bounds: bool
) -> ExportTable:
    """The wanted table of a folder, or the recommended one. `files` are the names of all files of the folder."""
    kind = kind_of(release)
    columns = {file: each for file, each in kind.table_columns(release).items() if file in files}
    if not columns:
        release.table_named(wanted)  # which says why there is no table
        raise InputError(f"{folder} has no table to export. Ask for a release with tables.")
    chosen = recommended if wanted is None else f"{wanted.removesuffix('.csv')}.csv"
    if chosen not in columns:
        available = ", ".join(file.removesuffix(".csv") for file in sorted(columns))
        raise InputError(f"The folder has no {chosen}. Available: {available}.")
    name = chosen.removesuffix(".csv")
    schema = release.tables.get(name, release.schema)
    meanings = {each.name: each.meaning for each in columns[chosen]}
    blocks = kind.blocks(release, folder, name)
    if bounds:
        bounded = _bounded(kind, schema, [each.name for each in columns[chosen]], chosen)
        meanings = _with_bounds_meanings(meanings, bounded)
        blocks = (_with_bounds(block, schema, bounded) for block in blocks)
    attributes = {each: schema[each] for each in schema.names if each in meanings}
    return ExportTable(name=name, attributes=attributes, meanings=meanings, blocks=blocks)


def _bounded(kind: ReleaseKind[Release], schema: Schema, columns: Sequence[str], file: str) -> list[str]:
    """The columns whose values are intervals of numbers."""
    found = [name for name in columns if name in schema.names and has_intervals(schema[name])]
    if not kind.numbers_start_cells:
        found = [name for name in found if not isinstance(schema[name].domain, Grid)]
    if not found:
        raise InputError(f"{file} has no intervals of numbers. Export it without bounds.")
    taken = [f"{name}{end}" for name in found for end in (LOW, HIGH) if f"{name}{end}" in columns]
    if taken:
        raise InputError(f"{file} already has a column {taken[0]!r}. Export it without bounds.")
    return found


def _with_bounds_meanings(meanings: Mapping[str, str], bounded: Collection[str]) -> dict[str, str]:
    after = {}
    for name, meaning in meanings.items():
        after[name] = meaning
        if name in bounded:
            after[f"{name}{LOW}"] = f"{name}: the lower end of its interval, which belongs to it."
            after[f"{name}{HIGH}"] = f"{name}: the upper end of its interval, which does not belong to it."
    return after


def _with_bounds(block: pa.Table, schema: Schema, bounded: Collection[str]) -> pa.Table:
    """The same columns, each of the bounded ones followed by the ends of its intervals."""
    columns = {}
    for name in block.column_names:
        columns[name] = block.column(name)
        if name in bounded:
            columns[f"{name}{LOW}"], columns[f"{name}{HIGH}"] = _ends(schema[name], block.column(name))
    return pa.table(columns)


def _ends(attribute: Attribute, column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """The ends of the interval of every value; null for missing values."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        domain = attribute.domain
        assert isinstance(domain, Grid)
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)  # null becomes NaN
        codes = codes_within(domain, numbers)
        codes = np.where((codes == NOWHERE) | np.isnan(numbers), domain.cells, codes)
        edges = np.append(domain.edge_floats, np.nan)
        ends = [np.where(codes == domain.cells, np.nan, edges[codes + place]) for place in (0, 1)]
    else:
        labels = column.cast(pa.string()).combine_chunks().dictionary_encode()
        found = [label_bounds(attribute, label) for label in labels.dictionary.to_pylist()]
        of_label = np.array([(np.nan, np.nan) if each is None else tuple(map(float, each)) for each in found])
        ends = list(of_label.reshape(-1, 2)[labels.indices.to_numpy()].T)
    kind = pa.int64() if whole_edges(attribute) else pa.float64()
    low, high = (pa.array(each, pa.float64(), from_pandas=True).cast(kind) for each in ends)
    return low, high


def plain_text(block: pa.Table) -> pa.Table:
    """The same table with text instead of dictionaries."""
    columns = {name: block.column(name) for name in block.column_names}
    return pa.table(
        {
            name: pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in columns.items()
        }
    )
