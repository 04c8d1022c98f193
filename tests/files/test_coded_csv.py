"""CSV from codes: the bytes that pyarrow writes for the decoded columns."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.files.coded_csv import BLOCK, assembled, csv_fields, fields_of, header, repeated, write_coded
from scumble.files.csv_tables import write_rows
from scumble.files.schema_file import parse_schema
from scumble.model.coded_columns import CodedColumns, code_array
from scumble.model.grid import Grid

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 400, step: 1}}
  size: {numeric: {low: 0.5, high: 3, step: 0.25}, missing: "?"}
  'ward, or "none"': {taxonomy: {Any: {'a "b"': , "c, d": , "e": , "": , "ünï": }}}
  ill: {classes: ["no", "yes"]}
"""
)


def coded(rows: int) -> CodedColumns:
    generator = np.random.default_rng(3)
    sizes = {each.name: each.domain.size for each in SCHEMA.attributes}
    return CodedColumns(
        SCHEMA, {name: code_array(generator.integers(0, size, rows), size) for name, size in sizes.items()}
    )


@pytest.mark.parametrize("rows", [0, 1, BLOCK, 2 * BLOCK + 7])
def test_the_bytes_are_those_of_the_decoded_columns(rows: int, tmp_path: Path) -> None:
    columns, seen = coded(rows), []
    write_coded(columns, tmp_path / "coded.csv", lambda done, total: seen.append((done, total)))
    write_rows(dict(columns), tmp_path / "plain.csv")
    assert (tmp_path / "coded.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert seen[-1:] == ([(rows, rows)] if rows else [])


def test_rows_that_are_given_as_codes_are_written_from_codes(tmp_path: Path) -> None:
    write_rows(coded(100), tmp_path / "coded.csv")
    write_rows(dict(coded(100)), tmp_path / "plain.csv")
    assert (tmp_path / "coded.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


@given(st.lists(st.text(), min_size=1) | st.lists(st.integers(-(2**62), 2**62), min_size=1))
@settings(max_examples=60, deadline=None)
def test_fields_of_any_texts_and_whole_numbers(values: list[str] | list[int]) -> None:
    assert as_pyarrow(pa.array(values)) == written(values)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=1))
@settings(max_examples=60, deadline=None)
def test_fields_of_any_numbers(values: list[float]) -> None:
    column = np.array(values)
    assert as_pyarrow(pa.array(column, from_pandas=True)) == written(column)


def as_pyarrow(column: pa.Array) -> bytes:
    sink = pa.BufferOutputStream()
    options = pacsv.WriteOptions(include_header=False, quoting_style="needed")
    pacsv.write_csv(pa.table([column, column], names=["a", "b"]), sink, options)
    return bytes(sink.getvalue().to_pybytes())


def written(values: object) -> bytes:
    return "".join(f"{field},{field}\n" for field in csv_fields(values)).encode()  # type: ignore[arg-type]


def test_lines_are_repeated_in_pieces() -> None:
    text, ends = assembled(fields_of([["a", "b"], ["x", "y"]]), [np.array([0, 1, 1]), np.array([0, 0, 1])])
    pieces = list(repeated(text, ends, np.array([2, 5, 1]), most=3))
    lines = ['"a","x"\n'] * 2 + ['"b","x"\n'] * 5 + ['"b","y"\n']
    assert b"".join(piece for piece, _ in pieces).decode() == "".join(lines)
    assert [rows for _, rows in pieces] == [3, 6, 8]


def test_the_header_and_the_types_of_codes() -> None:
    assert header(["a", 'b "c"']) == b'"a","b ""c"""\n'
    grid = Grid.regular(low=Decimal(0), high=Decimal(300), step=Decimal(1))
    assert code_array(np.arange(3), grid.size).dtype == np.uint16
    assert coded(5).codes["ill"].dtype == np.uint8 and len(coded(5)) == 4 and coded(5).rows == 5
