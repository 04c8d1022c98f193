"""Headers and file formats. Every error says what to do, and none repeats the content of a file."""

import gzip
import io
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import column_names

from scumble.engines import ENGINES
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.model.schema import Schema
from scumble.sources import ArrowSource, CSVSource, Dialect, check_columns, open_source

SCHEMA = parse_schema(
    """
scumble: schema/1
target: income
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}}
  work: {taxonomy: {Any: {Private: , Gov: }}}
  income: {classes: [low, high]}
  name: {identifier: true}
"""
)
HEADER = "name,age,work,income"
SECRET = "Zaphod,41.99887,Private,high"


def read(data: Any, schema: Schema = SCHEMA, **options: Any) -> list[tuple[int, ...]]:
    """All coded rows, as a release would read them."""
    source = open_source(data, dialect=Dialect(**options))
    check_columns(source, schema.columns)
    engine = ENGINES["memory"].open(source.batches(schema.columns), schema)
    return [row for block in engine.blocks() for row in zip(*(column.tolist() for column in block), strict=True)]


def written(folder: Path, content: str | bytes, name: str = "people.csv") -> Path:
    path = folder / name
    raw = content.encode("utf-8") if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def refusal(data: Any, **options: Any) -> str:
    """The error message, after checking that neither it nor its traceback shows anything of the rows."""
    with pytest.raises(InputError) as caught:
        read(data, **options)
    assert caught.value.exit_code == 2
    shown = "".join(traceback.format_exception(caught.value))
    for secret in ("Zaphod", "41.99887", "Beeblebrox"):
        assert secret not in shown
    return str(caught.value)


# Valid input --------------------------------------------------------------------------------------------------------

ONE = [(4, 0, 1)]
WELL_FORMED: dict[str, str | bytes] = {
    "plain": f"{HEADER}\n{SECRET}\n",
    "no newline at the end": f"{HEADER}\n{SECRET}",
    "Windows lines": f"{HEADER}\r\n{SECRET}\r\n",
    "a byte order mark": b"\xef\xbb\xbf" + b"age,work,income\n41.99887,Private,high\n",
    "empty lines": f"{HEADER}\n\n{SECRET}\n\n",
    "quotes": '"name","age","work","income"\n"Zaphod","41.99887","Private","high"\n',
    "quoted quotes and delimiters": f'{HEADER}\n"Zaphod\r""the, first""",41.99887,Private,high\n',
    "a quote inside a field": f'{HEADER}\nZaphod "the first",41.99887,"Priv"ate,high\n',
    "columns in another order, and more of them": "income,x,work,age\nhigh,,Private,41.99887\n",
    "a column twice removed": "age,work,income,Age, age\n41.99887,Private,high,1,2\n",
    "not UTF-8 in a column that nobody reads": f"{HEADER}\n".encode() + b"Zaph\xf6d,42,Private,high\n",
}


@pytest.mark.parametrize("case", WELL_FORMED)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.txt"])
def test_well_formed_files_are_read(tmp_path: Path, case: str, name: str) -> None:
    assert read(written(tmp_path, WELL_FORMED[case], name)) == ONE


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    for content in (HEADER, f"{HEADER}\n", f"{HEADER}\r\n\r\n"):
        assert read(written(tmp_path, content)) == []


@pytest.mark.parametrize(
    "leaf", ["010", "1.0", "1e3", "null", "NA", "nan", "true", "2020-01-31", "10:00:00", "-0", " 7"]
)
def test_text_of_csv_files_is_not_guessed_at(tmp_path: Path, leaf: str) -> None:
    """Type inference would read a column of such cells as numbers, nulls, booleans or dates."""
    schema = parse_schema(f"scumble: schema/1\nattributes: {{x: {{taxonomy: {{Any: {{other: , '{leaf}': }}}}}}}}")
    assert read(written(tmp_path, f"x,y\n{leaf},1\n{leaf},2\n"), schema) == [(1,), (1,)]


@pytest.mark.parametrize(("ending", "called"), [("gz", "gzip"), ("zst", "Zstandard"), ("bz2", "bzip2"), ("lz4", "LZ4")])
def test_compressed_files_are_read_and_damaged_ones_refused(tmp_path: Path, ending: str, called: str) -> None:
    path = tmp_path / f"people.csv.{ending}"
    with pa.output_stream(str(path), compression="detect") as stream:
        stream.write(WELL_FORMED["plain"].encode())
    assert read(path) == ONE
    assert open_source(path).name == "people"
    path.write_bytes(WELL_FORMED["plain"].encode())
    assert f"it is not a complete {called} file" in refusal(path)


def test_a_pattern_is_one_table(tmp_path: Path) -> None:
    written(tmp_path, WELL_FORMED["plain"], "people-1.csv")
    written(tmp_path, WELL_FORMED["columns in another order, and more of them"], "people-2.csv.gz")
    (tmp_path / "more" / "deep").mkdir(parents=True)
    pq.write_table(
        pa.table({"age": [42], "work": ["Private"], "income": ["high"]}),
        tmp_path / "more" / "deep" / "people-3.parquet",
    )
    assert read(tmp_path / "people-*") == ONE * 2
    assert read(f"{tmp_path}/people-[1].csv") == ONE
    assert read(tmp_path / "**" / "people-*") == ONE * 3
    assert open_source(tmp_path / "people-*").name == "people-*"
    progress: list[tuple[int, int | None]] = []
    list(open_source(tmp_path / "people-*").batches(SCHEMA.columns, lambda done, total: progress.append((done, total))))
    assert progress == [(1, 2), (2, 2)]


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path: Path) -> None:
    assert read(written(tmp_path, WELL_FORMED["plain"], "people[1].csv")) == ONE


def test_every_file_of_a_pattern_is_checked(tmp_path: Path) -> None:
    written(tmp_path, WELL_FORMED["plain"], "people-1.csv")
    written(tmp_path, "age,work\n41.99887,Private\n", "people-2.csv")
    message = refusal(tmp_path / "people-*.csv")
    assert "people-2.csv has no column 'income'" in message
    assert "No file matches the pattern" in refusal(tmp_path / "nobody-*.csv")


def test_another_delimiter(tmp_path: Path) -> None:
    for delimiter in ";\t| ":
        path = written(tmp_path, WELL_FORMED["plain"].replace(",", delimiter))
        assert read(path, delimiter=delimiter) == ONE


def test_parquet_with_lists_in_columns_that_nobody_reads(tmp_path: Path) -> None:
    table = pa.table({"age": [42], "work": ["Private"], "income": ["high"], "list": [[1, 2]], "age.of": [7]})
    pq.write_table(table, tmp_path / "people.parquet")
    assert read(tmp_path / "people.parquet") == ONE
    assert read(table) == ONE


@given(names=st.lists(column_names(), unique=True, min_size=1, max_size=4), end=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60)
@example(names=["a", "a.b", "A"], end="\n")
def test_odd_column_names_are_found_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], end: str
) -> None:
    folder = tmp_path_factory.getbasetemp()
    table = pa.table([pa.array([str(place)]) for place in range(len(names))], names=names)
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path = written(folder, f"{quoted}{end}{','.join(map(str, range(len(names))))}{end}", "odd.csv")
    pq.write_table(table, folder / "odd.parquet")
    for data in (path, folder / "odd.parquet", table, table.to_pandas(), pl.from_arrow(table)):
        assert open_source(data, dialect=Dialect(delimiter=",")).columns() == tuple(names)


def test_names_of_sources(tmp_path: Path) -> None:
    for name in ("people.csv", "people.csv.gz", "people.parquet"):
        (tmp_path / name).write_bytes(b"")
        assert open_source(str(tmp_path / name)).name == "people"
    assert open_source(pd.DataFrame({"a": [1]})).name == "frame"


def test_progress_is_reported_in_bytes_or_rows(tmp_path: Path) -> None:
    progress: list[tuple[int, int | None]] = []
    path = written(tmp_path, WELL_FORMED["plain"])
    list(open_source(path).batches(SCHEMA.columns, lambda done, total: progress.append((done, total))))
    assert progress[-1] == (path.stat().st_size, path.stat().st_size)
    pq.write_table(pa.table({"age": [1, 2], "work": ["", ""], "income": ["", ""]}), tmp_path / "people.parquet")
    list(
        open_source(tmp_path / "people.parquet").batches(
            SCHEMA.columns, lambda done, total: progress.append((done, total))
        )
    )
    assert progress[-1] == (2, 2)


# Invalid input-------------------------------------------------------------------------------------------------------


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "absent.csv does not exist" in refusal(tmp_path / "absent.csv")
    assert f"is a folder. Give a CSV or Parquet file, or a pattern of such files: '{tmp_path}/*.parquet'" in refusal(
        tmp_path
    )
    (tmp_path / "data.parquet").mkdir()
    assert "is a folder" in refusal(str(tmp_path / "data.parquet"))


@pytest.mark.parametrize(("delimiter", "shown"), [(";", "';'"), ("\t", "'tab'"), ("|", "'|'")])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_the_right_delimiter_is_suggested(tmp_path: Path, delimiter: str, shown: str, name: str) -> None:
    path = written(tmp_path, WELL_FORMED["plain"].replace(",", delimiter), name)
    assert f"--delimiter {shown}" in refusal(path, delimiter=",")
    assert read(path) == ONE
    message = refusal(written(tmp_path, WELL_FORMED["plain"], name), delimiter=delimiter)
    assert "--delimiter ','" in message


@pytest.mark.parametrize("delimiter", ["", ";;", "é", '"', "'", "\n", "\r"])
def test_what_is_no_delimiter(tmp_path: Path, delimiter: str) -> None:
    assert "not one ASCII character" in refusal(written(tmp_path, WELL_FORMED["plain"]), delimiter=delimiter)


def test_an_unknown_column_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "name,years,work,earnings\nZaphod,41.99887,Private,high\n")
    message = refusal(path)
    assert "no column 'age', 'income'" in message
    assert "years" not in message and "earnings" not in message


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("age,work,income,age", "the column 'age' occurs twice"),
        ("age,work,income,x,x", "a column occurs twice"),
        ('age,work,income,"age"', "the column 'age' occurs twice"),
    ],
)
def test_a_column_name_that_occurs_twice(tmp_path: Path, header: str, said: str) -> None:
    assert said in refusal(written(tmp_path, f"{header}\n{SECRET},5\n"))


def test_a_column_name_that_occurs_twice_in_a_frame() -> None:
    columns = ["age", "work", "income", "age"]
    arrow = pa.table([[42], ["Private"], ["high"], [42]], names=columns)
    for frame in (arrow, pd.DataFrame([[42, "Private", "high", 42]], columns=columns), ArrowSource(table=arrow)):
        source = frame if isinstance(frame, ArrowSource) else None
        with pytest.raises(InputError, match="twice"):
            check_columns(source or open_source(frame), SCHEMA.columns)


@pytest.mark.parametrize("content", [f"{SECRET}\n", SECRET, f"{SECRET}\n{SECRET}\n", f"\n{HEADER}\n{SECRET}\n", ""])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_without_a_header_the_first_line_stays_secret(tmp_path: Path, content: str, name: str) -> None:
    message = refusal(written(tmp_path, content, name))
    assert "its first line has none of the schema's columns. Does the file have a header?" in message
    assert not any(value in message for value in ("Private", "high"))


FIRST_LINES: dict[str, bytes] = {
    "not UTF-8": b"Zaph\xf6d Beeblebrox,42\n",
    "a carriage return inside": b"Zaphod\r41.99887,Beeblebrox\r1,2\r",
    "endless": b"Zaphod" * 200_000,
    "a quote that is not closed": f'"{SECRET}\n"{SECRET}\n'.encode(),
    "binary": bytes(range(256)) * 10,
}


@pytest.mark.parametrize("case", FIRST_LINES)
def test_a_first_line_that_cannot_be_read(tmp_path: Path, case: str) -> None:
    message = refusal(written(tmp_path, FIRST_LINES[case]))
    assert str(tmp_path / "people.csv") in message or "its first line" in message


DROPPING, CLAMPING = (
    parse_schema(
        f"""
scumble: schema/1
target: income
attributes:
  age: {{numeric: {{low: 0, high: 100, step: 10}}, outside: {outside}}}
  work: {{taxonomy: {{Any: {{Private: , Gov: }}}}, outside: {outside}}}
  income: {{classes: [low, high], outside: {outside}}}
"""
    )
    for outside in ("drop", "clamp")
)
MALFORMED: dict[str, bytes] = {
    "one field too many": f"{SECRET},Beeblebrox".encode(),
    "one field too few": b"Zaphod,41.99887",
    "a quote that is never closed": b'Zaphod,41.99887,"Private,high',
    "a quoted line break": b'Zaphod,41.99887,"Pri\nvate",high',
    "a cell of 20 MB": b"Z" * (20 << 20) + b",41.99887,Private,high",
    "a quoted cell of 20 MB": b'"' + b"Z\r" * (10 << 20) + b'",41.99887,Private,high',
    "a carriage return": b"Zap\rhod,41.99887,Private,high",
    "zero bytes": b"\x00" * 100,
    "Latin-1": b"Zaphod,4\xbd,Private,high",
}


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_a_malformed_line_is_outside_the_domain_and_changes_no_other_record(
    tmp_path: Path, case: str, name: str
) -> None:
    """As each of its values is: the rule `outside` of the schema decides."""
    content = f"{HEADER}\n{SECRET}\n".encode() + MALFORMED[case] + f"\n{SECRET}\n".encode()
    assert read(written(tmp_path, content, name), DROPPING) == ONE * 2
    lines = MALFORMED[case].count(b"\n") + 1
    assert len(read(tmp_path / name, CLAMPING)) == 2 + lines
    source = open_source(tmp_path / name)
    assert isinstance(source, CSVSource)
    assert source.malformed() == (0 if case == "Latin-1" else lines)


def test_the_last_line_may_be_malformed(tmp_path: Path) -> None:
    for end in ("", "\n", "\r\n", "\r"):
        assert read(written(tmp_path, f"{HEADER}\n{SECRET}\nZaphod,41{end}"), DROPPING) == ONE
        assert read(written(tmp_path, f'{HEADER}\n{SECRET}\n"Zaphod,41.99887,Private,high{end}'), DROPPING) == ONE


def test_values_with_line_breaks(tmp_path: Path) -> None:
    """By declaration only: a quote that is never closed then makes all that follows one malformed record."""
    path = written(tmp_path, f'{HEADER}\n"Zaphod\n""the, first""\r\n",41.99887,Private,high\n{SECRET}\n')
    assert read(path, DROPPING, multiline=True) == ONE * 2
    assert len(read(path, CLAMPING)) == 4
    path = written(tmp_path, f'{HEADER}\n{SECRET}\n"Zaphod,41.99887,Private,high\n{SECRET}\n{SECRET}\n')
    assert read(path, DROPPING, multiline=True) == ONE
    assert read(path, DROPPING) == ONE * 3


def test_gzip_that_is_none_or_cut_short(tmp_path: Path) -> None:
    (tmp_path / "plain.csv.gz").write_bytes(f"{HEADER}\n{SECRET}\n".encode())
    assert "cannot be read" in refusal(tmp_path / "plain.csv.gz")
    # Rows that hardly compress, so that the header is readable and the file is cut far behind it.
    noise = "".join(f"{number * number * 7919 % 1_000_003},{number % 89},Private,high\n" for number in range(20_000))
    whole = gzip.compress(f"{HEADER}\n{noise}".encode())
    (tmp_path / "short.csv.gz").write_bytes(whole[: len(whole) // 2])
    assert "short.csv.gz cannot be read: it is not a complete gzip file" in refusal(tmp_path / "short.csv.gz")
    (tmp_path / "bad.csv.gz").write_bytes(whole[:20] + bytes(byte ^ 0xFF for byte in whole[20:60]) + whole[60:])
    assert "bad.csv.gz" in refusal(tmp_path / "bad.csv.gz")


def test_what_is_no_parquet(tmp_path: Path) -> None:
    for content in (b"", f"{HEADER}\n{SECRET}\n".encode(), b"PAR1" + b"Zaphod" * 50 + b"PAR1"):
        path = tmp_path / "people.parquet"
        path.write_bytes(content)
        assert refusal(path).startswith(f"{path} is not a Parquet file")


def test_parquet_that_is_damaged_behind_its_header(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    table = pa.table({"age": [42] * 1000, "work": ["Private"] * 1000, "income": ["high"] * 1000})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    raw = path.read_bytes()
    path.write_bytes(raw[:4] + b"\xff" * 60 + raw[64:])
    assert refusal(path).startswith(f"{path} is a damaged Parquet file")


@pytest.mark.parametrize("column", [[[1], [2]], [{"a": 1}, {"a": 2}]])
def test_lists_and_records_are_no_values(tmp_path: Path, column: list[Any]) -> None:
    table = pa.table({"age": column, "work": ["Private"] * 2, "income": ["high"] * 2})
    pq.write_table(table, tmp_path / "people.parquet")
    for data in (table, tmp_path / "people.parquet"):
        assert "the column 'age' contains lists or records" in refusal(data)


@pytest.mark.parametrize(
    "thing", [{"age": [42]}, 7, None, np.zeros(3), pd.Series([1]), pa.array([1]), io.StringIO("age\n1\n")]
)
def test_what_is_no_table(thing: Any) -> None:
    assert f"A {type(thing).__name__} is not a table" in refusal(thing)


MIXED: dict[str, Callable[[], pd.DataFrame]] = {
    "numbers and text": lambda: pd.DataFrame({"age": [42, "old", None, 42.5]}, dtype=object),
    "text and numbers": lambda: pd.DataFrame({"age": ["old", 42, float("nan"), 42.5]}, dtype=object),
    "categories of both": lambda: pd.DataFrame({"age": pd.Categorical([42, "old", None, 42.5])}),
    "pandas' own null": lambda: pd.DataFrame({"age": [42, "old", pd.NA, 42.5]}, dtype=object),
    "lists among them": lambda: pd.DataFrame({"age": [42, [1, 2], None, 42.5]}, dtype=object),
}


@pytest.mark.parametrize("case", MIXED)
def test_a_column_of_pandas_that_mixes_types_is_read_as_text(case: str) -> None:
    """A value that Arrow cannot convert must neither stop a run nor appear in a message."""
    schema = parse_schema("scumble: schema/1\nattributes: {age: {numeric: {low: 0, high: 100, step: 1}, missing: '?'}}")
    assert sorted(read(MIXED[case](), schema)) == [(42,), (42,), (100,), (100,)]


def test_the_index_and_odd_names_of_a_pandas_frame_do_not_matter() -> None:
    frame = pd.DataFrame({"age": [42], "work": ["Private"], "income": ["high"], 7: [1]}, index=["Zaphod"])
    assert read(frame) == ONE


def test_hints_for_names_with_spaces_around_them(tmp_path: Path) -> None:
    path = written(tmp_path, "name; age; work; income\nZaphod; 41.99887; Private; high\n")
    source = open_source(path)
    assert isinstance(source, CSVSource)
    assert "--delimiter ';'" in refusal(path, delimiter=",")
    assert re.search("no column 'work', 'income'|none of", refusal(path, delimiter=";"))
