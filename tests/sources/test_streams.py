"""Streams are read once, and say so; dictionaries have the columns of the schema."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from scumble import InputError, perturb, release
from scumble.engines.arrow_values import read_texts
from scumble.files.schema_file import parse_schema
from scumble.flows.check_rows import check_rows
from scumble.sources import check_columns, open_source, streams

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes: {age: {numeric: {low: 0, high: 100, step: 10}, missing: "?"}, ill: {classes: ["no", "yes"]}}
"""
)
ROWS = [{"age": age, "ill": "yes" if age > 50 else "no", "name": "Zaphod"} for age in range(100)]
TABLE = pa.Table.from_pylist(ROWS)


def texts(data: Any, name: str) -> list[str]:
    return [text for batch in open_source(data).batches([name]) for text in read_texts(batch.column(name))]


def generator() -> Iterator[dict[str, Any]]:
    yield from ROWS


ONCE: dict[str, Callable[[], Any]] = {
    "reader": TABLE.to_reader,
    "generator": generator,
    "iterator": lambda: iter(ROWS),
    "map": lambda: map(dict, ROWS),
}


@pytest.mark.parametrize("kind", ONCE)
def test_a_stream_is_read_once(kind: str) -> None:
    stream = ONCE[kind]()
    source = open_source(stream)
    check_columns(source, SCHEMA.columns)
    assert sum(len(batch) for batch in source.batches(["age", "ill"])) == 100
    with pytest.raises(InputError, match="already read, and it can be read only once"):
        list(source.batches(["age"]))
    with pytest.raises(InputError, match="already read"):
        open_source(stream)


@pytest.mark.parametrize("kind", ONCE)
def test_a_second_release_from_a_stream_is_refused_before_the_charge(kind: str, tmp_path: Path) -> None:
    stream = ONCE[kind]()
    release(stream, schema=SCHEMA, out=tmp_path / "first", ledger=tmp_path / "first.db", epsilon="1")
    with pytest.raises(InputError, match="already read"):
        release(stream, schema=SCHEMA, out=tmp_path / "second", ledger=tmp_path / "second.db", epsilon="1")
    assert not (tmp_path / "second.db").exists()


def test_a_generator_that_is_at_its_end_is_refused() -> None:
    rows = generator()
    list(rows)
    with pytest.raises(InputError, match="already read"):
        open_source(rows)


def test_dictionaries_have_the_columns_of_the_schema(tmp_path: Path) -> None:
    source = open_source(ROWS)
    check_columns(source, ["age", "anything"])
    assert (source.name, source.columns(), source.kinds()) == ("frame", (), None)
    assert check_rows(SCHEMA, ROWS).kept == 100
    made = release(ROWS, schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "ledger.db", epsilon="1")
    assert made.folder.exists()
    perturb(ROWS, schema=SCHEMA, out=tmp_path / "perturbed", epsilon="1", secret=b"0" * 32, entity="name")


def test_a_record_is_read_on_its_own_whatever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "BATCH_ROWS", 2)
    rows = [{"x": 1.50}, {}, {"x": None}, {"x": "a", 7: "b"}, 7, None, ["x"], {"x": np.float32(0.5)}, {"x": [1]}]
    assert texts(rows, "x") == ["1.5", "", "", "a", "", "", "", "0.5", ""]
    assert len(list(open_source(rows).batches(["x"]))) == 5


def test_an_exported_stream_that_fails_says_nothing_of_the_rows() -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise OSError("Zaphod")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, failing())
    with pytest.raises(InputError, match="ended with an error") as caught:
        list(open_source(reader).batches(["age"]))
    assert "Zaphod" not in str(caught.value)


def test_nested_types_of_a_stream_are_refused_before_it_is_read() -> None:
    reader = pa.table({"x": [[1]]}).to_reader()
    with pytest.raises(InputError, match="contains lists"):
        check_columns(open_source(reader), ["x"])
    assert texts(pa.table({"x": ["a"]}).to_reader(), "x") == ["a"]
    assert reader.read_all().num_rows == 1
