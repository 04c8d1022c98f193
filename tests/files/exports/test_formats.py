"""Exports read back by the libraries of their formats: values, labels, missing values, and what the file says."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from scumble.errors import InputError
from scumble.files.exports.formats import FORMATS, format_named
from scumble.files.exports.tables import ExportTable

VALUES = {"x": [1.5, None, 0.1], "word": ["a,b", "", 'say "ü"'], "text": ["t0", "t2", "t1"]}
FACTS = {"title": "a title", "guarantee": "a sentence", "method": "made up"}


def table(*blocks: pa.Table) -> ExportTable:
    names = blocks[0].column_names
    return ExportTable(
        name="table", attributes={}, meanings={name: f"The {name}." for name in names}, blocks=iter(blocks)
    )


def block(numbers: list[float | None], labels: list[int], places: list[int]) -> pa.Table:
    words = pa.DictionaryArray.from_arrays(pa.array(labels, pa.int32()), pa.array(["a,b", 'say "ü"', ""]))
    return pa.table(
        {
            "x": pa.array(numbers, pa.float64()),
            "word": words,
            "n": pa.array(places, pa.int64()),
            "text": pa.array([f"t{label}" for label in labels], pa.string()),
        }
    )


def test_parquet_has_categories_nulls_and_the_guarantee(tmp_path: Path) -> None:
    blocks = block([1.5, None], [0, 2], [1, 2**60]), block([0.1], [1], [3])
    FORMATS["parquet"].write(table(*blocks), tmp_path / "t.parquet", FACTS)
    read = pq.read_table(tmp_path / "t.parquet")
    assert read.to_pydict() == VALUES | {"n": [1, 2**60, 3]}
    assert all(pa.types.is_dictionary(read.schema.field(name).type) for name in ("word", "text"))
    assert read.schema.metadata[b"scumble.guarantee"] == b"a sentence"
    assert read.schema.field("x").metadata[b"description"] == b"The x."


def test_parquet_of_no_rows_keeps_its_types(tmp_path: Path) -> None:
    FORMATS["parquet"].write(table(block([], [], [])), tmp_path / "t.parquet", FACTS)
    read = pq.read_table(tmp_path / "t.parquet")
    assert read.num_rows == 0
    assert read.schema.field("x").type == pa.float64()


def test_csv_has_one_header_and_empty_fields_for_missing_numbers(tmp_path: Path) -> None:
    blocks = block([1.5, None], [0, 2], [1, 2]), block([0.1], [1], [3])
    FORMATS["csv"].write(table(*blocks), tmp_path / "t.csv", FACTS)
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == '"x","word","n","text"'
    read = pacsv.read_csv(tmp_path / "t.csv", convert_options=pacsv.ConvertOptions(strings_can_be_null=False))
    assert read.to_pydict() == VALUES | {"n": [1, 2, 3]}


@pytest.mark.parametrize(
    ("given", "out", "found"),
    [
        (None, "t.parquet", "parquet"),
        (None, "t.DTA", "stata"),
        ("spss", "t.zsav", "spss"),
        ("csv", "t.csv", "csv"),
    ],
)
def test_the_ending_decides_the_format(given: str | None, out: str, found: str) -> None:
    assert format_named(given, Path(out)) == found


@pytest.mark.parametrize(
    ("given", "out", "message"),
    [
        ("excel", "t.xlsx", "Unknown format 'excel'. Available: parquet, stata, spss, csv"),
        ("stata", "t.csv", "does not end with .dta"),
        (None, "t", "does not end with .parquet, .dta, .sav, .zsav, .csv"),
    ],
)
def test_a_file_whose_ending_misleads_is_refused(given: str | None, out: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        format_named(given, Path(out))
    assert message in str(refused.value)


def test_every_format_is_described(tmp_path: Path) -> None:
    known: dict[str, Any] = {name: each.endings for name, each in FORMATS.items()}
    assert all(ending.startswith(".") for endings in known.values() for ending in endings)
    assert len({ending for endings in known.values() for ending in endings}) == sum(map(len, known.values()))
