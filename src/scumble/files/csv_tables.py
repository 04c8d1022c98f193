"""CSV tables of a release folder: writing and reading shared by all kinds of release.

Tables are written in chunks, so that memory does not grow with their length.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from scumble.errors import CheckError
from scumble.files.coded_csv import write_coded
from scumble.foreign.files import open_file
from scumble.model.coded_columns import CodedColumns
from scumble.model.counts import Integers, digits_of
from scumble.model.schema import Schema
from scumble.model.values import NOWHERE, Column
from scumble.sources.source import RowProgress

CHUNK = 1 << 18
TEXTS = pa.dictionary(pa.int32(), pa.string())
PARSING = pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
"""An empty line is a row: in a table of one column, it is a missing number."""
IN_ONE_THREAD = pacsv.ReadOptions(use_threads=False)
"""Arrow's worker threads may release a Python file only while the interpreter ends. Then the process aborts, after all
of its work is done (apache/arrow, issues 34314 and 50482)."""


def column_names(schema: Schema) -> list[str]:
    """The attributes in the column order of the tables: predictors in order, then the target."""
    return [attribute.name for attribute in schema.predictors] + ([] if schema.target is None else [schema.target])


def column_labels(schema: Schema) -> list[tuple[str, ...]]:
    """The labels of each of those columns, by code."""
    labels = [attribute.domain.labels for attribute in schema.predictors]
    return labels if schema.target is None else [*labels, schema.classes]


def label_codes(column: pa.Array, labels: Sequence[str]) -> Integers:
    """The code of every published text of a column, `NOWHERE` for one that is not among the labels."""
    if isinstance(column, pa.DictionaryArray):
        return label_codes(column.dictionary, labels)[column.indices.to_numpy()]
    codes: Integers = pc.index_in(column, pa.array(labels, pa.string())).fill_null(NOWHERE).to_numpy().astype(np.int64)
    return codes


def entry_columns(schema: Schema, entries: Integers) -> list[pa.Array]:
    """The attribute columns of given (cell, class) entries, as text."""
    return [column.cast(pa.string()) for column in entry_dictionaries(schema, entries)]


def entry_dictionaries(schema: Schema, entries: Integers) -> list[pa.DictionaryArray]:
    """The attribute columns of given (cell, class) entries, as dictionary arrays."""
    labels = column_labels(schema)
    digits = digits_of(entries, [len(each) for each in labels])
    return [
        pa.DictionaryArray.from_arrays(pa.array(digit.astype(np.int32)), pa.array(each, pa.string()))
        for digit, each in zip(digits, labels, strict=True)
    ]


def arrow_table(columns: Mapping[str, Column]) -> pa.Table:
    """Columns in memory as an Arrow table. NaN, which means a missing number, becomes null."""
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})


def write_csv(path: Path, names: list[str], chunks: Iterator[list[pa.Array]]) -> None:
    """Write chunks of columns as one CSV file with a header."""
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


def write_rows(columns: Mapping[str, Column], path: Path, progress: RowProgress | None = None) -> None:
    """Write rows, one line each. A missing number is an empty field."""
    if isinstance(columns, CodedColumns):
        write_coded(columns, path, progress)
        return
    rows = len(next(iter(columns.values()), ()))

    def chunks() -> Iterator[list[pa.Array]]:
        for start in range(0, rows, CHUNK):
            yield [pa.array(column[start : start + CHUNK], from_pandas=True) for column in columns.values()]
            if progress is not None:
                progress(min(start + CHUNK, rows), rows)

    write_csv(path, list(columns), chunks())


def read_rows(path: Path, types: Mapping[str, pa.DataType]) -> dict[str, Column]:
    """Read the rows of a table that must have exactly the columns in `types`."""
    try:
        # Texts repeat: as dictionaries they are read faster, and every text is in memory once.
        kinds = {name: TEXTS if kind == pa.string() else kind for name, kind in types.items()}
        options = pacsv.ConvertOptions(column_types=kinds, strings_can_be_null=False)
        with open_file(path) as file:
            table = pacsv.read_csv(file, IN_ONE_THREAD, PARSING, options)
    except (pa.ArrowInvalid, OSError) as error:
        raise CheckError(f"{path} cannot be read as rows: {error}. Ask for the release again.") from error
    if set(table.column_names) != set(types):
        raise CheckError(f"{path} does not have the columns of its schema. Ask for the release again.")
    return {name: _values(table.column(name)) for name in table.column_names}


def _values(column: pa.ChunkedArray) -> Column:
    """A column as numpy has it, texts as objects."""
    if column.type != TEXTS:
        return column.to_numpy()
    whole = column.unify_dictionaries()
    if not whole.num_chunks:
        return np.zeros(0, dtype=np.object_)
    texts = whole.chunk(0).dictionary.to_numpy(zero_copy_only=False)
    return texts[np.concatenate([chunk.indices.to_numpy() for chunk in whole.chunks])]
