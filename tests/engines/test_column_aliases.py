"""`column:` in a schema: an attribute is read from a column with another name and published under its own."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import column_names, schemas, tables
from table_twins import as_csv, as_duckdb, as_parquet, coded, rows_of

from scumble.engines import ENGINES, Engine
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema, schema_text
from scumble.model.schema import PUBLISHED_COLUMNS, Schema
from scumble.sources import check_columns, open_source

READERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "arrow": lambda table, folder: table,
    "pandas": lambda table, folder: table.to_pandas(),
    "csv": lambda table, folder: as_csv(table, folder / "rows.csv"),
    "parquet": lambda table, folder: as_parquet(table, folder / "rows.parquet"),
    "duckdb": lambda table, folder: as_duckdb(table, folder / "rows.duckdb"),
}


@st.composite
def aliased(draw: st.DrawFn, schema: Schema) -> Schema:
    """The schema with other names for its columns, those that a release adds and swapped ones among them."""
    names = st.one_of(column_names(), st.sampled_from([*PUBLISHED_COLUMNS, *schema.names]))
    size = len(schema.attributes)
    taken = {name.casefold() for name in schema.identifiers}  # names in databases do not distinguish cases
    free = names.filter(lambda name: name.casefold() not in taken)
    chosen = draw(st.lists(free, unique_by=str.casefold, min_size=size, max_size=size))
    attributes = zip(schema.attributes, chosen, strict=True)
    return replace(schema, attributes=tuple(replace(each, column=column) for each, column in attributes))


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
@pytest.mark.parametrize("reader", READERS)
@given(data=st.data())
@settings(max_examples=12)
def test_an_aliased_table_has_the_codes_of_the_renamed_table(kind: str, reader: str, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    assume(len({name.casefold() for name in schema.names}) == len(schema.names))
    table = data.draw(tables(schema, portable=True))
    renamed = data.draw(aliased(schema))
    names = [*renamed.columns, *schema.identifiers]
    with tempfile.TemporaryDirectory() as folder:
        expected = read(ENGINES[kind], READERS[reader](table, Path(folder)), schema)
    with tempfile.TemporaryDirectory() as folder:
        found = read(ENGINES[kind], READERS[reader](table.rename_columns(names), Path(folder)), renamed)
    assert found == expected
    if reader == "arrow":
        assert found == coded(table, schema)


def read(kind: type[Engine], data: Any, schema: Schema) -> Any:
    source = open_source(data)
    check_columns(source, schema.columns)
    engine = kind.open(source.batches(schema.columns), schema)
    try:
        return rows_of(engine)
    finally:
        engine.close()


@given(data=st.data())
def test_a_schema_keeps_its_aliases(data: st.DataObject) -> None:
    schema = data.draw(schemas().flatmap(aliased))
    assert parse_schema(schema_text(schema)) == schema
    assert schema.of_published_rows.columns == schema.names


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("a: {classes: [x], column: z}\n  b: {classes: [x], column: z}", "'a' and 'b' read the same column 'z'"),
        ("a: {classes: [x]}\n  b: {classes: [x], column: a}", "'a' and 'b' read the same column 'a'"),
        ("a: {classes: [x], column: z}\n  z: {identifier: true}", "'z', which is an identifier and never read"),
        ("a: {classes: [x]}\n  z: {identifier: true, column: y}", "an identifier is never read"),
        ("count: {classes: [x]}", "write `column: count` there"),
    ],
)
def test_contradictory_columns_are_refused(attributes: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_schema(f"scumble: schema/1\nattributes:\n  {attributes}\n")
