"""The formats of an export: CSV and Parquet by Arrow, Stata and SPSS by pyreadstat."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from scumble.errors import InputError
from scumble.files.csv_tables import write_csv
from scumble.files.exports.statistics import check_installed, write_spss, write_stata
from scumble.files.exports.tables import ExportTable, plain_text


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format: the endings of its files, and how a table is written.

    `write` returns the names of the columns that had to be changed, by the old name. `facts` are what the file says
    about itself, as far as the format has a place for it.
    """

    endings: tuple[str, ...]
    write: Callable[[ExportTable, Path, Mapping[str, str]], Mapping[str, str]]
    check: Callable[[], None] = field(default=lambda: None)
    """Raises `InputError` if a package is missing."""


def _write_csv(table: ExportTable, path: Path, facts: Mapping[str, str]) -> Mapping[str, str]:
    def chunks() -> Iterator[list[pa.Array]]:
        for block in table.blocks:
            yield [each.combine_chunks() for each in plain_text(block).columns]

    write_csv(path, list(table.meanings), chunks())
    return {}


def _write_parquet(table: ExportTable, path: Path, facts: Mapping[str, str]) -> Mapping[str, str]:
    """Labels are dictionaries, which pandas and polars read as categories."""
    import pyarrow.parquet as pq

    blocks = map(_with_dictionaries, table.blocks)
    first = next(blocks)
    fields = [each.with_metadata({"description": table.meanings[each.name]}) for each in first.schema]
    schema = pa.schema(fields, metadata={f"scumble.{name}": text for name, text in facts.items()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        writer.write_table(first.cast(schema))
        for block in blocks:
            writer.write_table(block.cast(schema))
    return {}


def _with_dictionaries(block: pa.Table) -> pa.Table:
    columns = {name: block.column(name) for name in block.column_names}
    return pa.table(
        {
            name: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in columns.items()
        }
    )


FORMATS: Mapping[str, Format] = {
    "parquet": Format(endings=(".parquet",), write=_write_parquet),
    "stata": Format(endings=(".dta",), write=write_stata, check=check_installed),
    "spss": Format(endings=(".sav", ".zsav"), write=write_spss, check=check_installed),
    "csv": Format(endings=(".csv",), write=_write_csv),
}


def format_named(name: str | None, out: Path) -> str:
    """The name of a format: the given one, else the one that the ending of the file says."""
    if name is not None and name not in FORMATS:
        raise InputError(f"Unknown format {name!r}. Available: {', '.join(FORMATS)}.")
    by_ending = next((each for each, known in FORMATS.items() if out.suffix.lower() in known.endings), None)
    if by_ending is None or name not in (None, by_ending):
        wanted = FORMATS if name is None else [name]
        endings = ", ".join(ending for each in wanted for ending in FORMATS[each].endings)
        raise InputError(f"{out} does not end with {endings}. Other programs know the format by the ending.")
    return by_ending
