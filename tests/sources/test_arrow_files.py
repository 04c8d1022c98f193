"""Feather, Arrow and ORC files: their declared types, damaged files, and what is refused before the charge."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, orc

from scumble.errors import InputError
from scumble.sources import arrow_files, check_columns, open_source

TABLE = pa.table(
    {
        "number": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "short": pa.array([0.7, None], pa.float32()),
        "a.b": ["x", None],
    }
)


def write_file(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def write_stream(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "people.feather": feather.write_feather,
    "people.arrow": write_file,
    "people.ipc": write_stream,
    "people.orc": orc.write_table,
}


@pytest.mark.parametrize("name", WRITERS)
def test_declared_types_are_kept_and_columns_come_in_the_order_that_is_wanted(tmp_path: Path, name: str) -> None:
    WRITERS[name](TABLE, tmp_path / name)
    source = open_source(tmp_path / name)
    assert source.name == "people"
    kinds = source.kinds()
    assert kinds is not None and kinds.types == TABLE.schema.types
    wanted = ["a.b", "number"]
    found = pa.Table.from_batches(source.batches(wanted))
    assert found.schema.names == wanted
    assert found.to_pydict() == TABLE.select(wanted).to_pydict()


@pytest.mark.parametrize("name", WRITERS)
def test_long_batches_are_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(arrow_files, "BATCH_ROWS", 3)
    WRITERS[name](pa.table({"x": range(7)}), tmp_path / name)
    seen: list[int] = []
    batches = list(open_source(tmp_path / name).batches(["x"], lambda done, total: seen.append(done)))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert seen == [1]


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_refused_without_its_content(tmp_path: Path, name: str) -> None:
    WRITERS[name](pa.table({"x": ["Zaphod"] * 5000}), tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for content in (b"", b"Zaphod", whole[: len(whole) // 2]):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=r"is not a(n| complete) ") as caught:
            list(open_source(tmp_path / name).batches(["x"]))
        assert "Zaphod" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_timestamps_of_orc_are_refused_before_the_charge(tmp_path: Path) -> None:
    """Arrow fails for a whole stripe if one of them has no nanoseconds in 64 bits, so one record would end the run."""
    moments = pa.array([datetime(2024, 1, 31), datetime(9999, 1, 1)], pa.timestamp("us"))
    orc.write_table(pa.table({"x": moments, "y": [1, 2]}), tmp_path / "people.orc")
    source = open_source(tmp_path / "people.orc")
    with pytest.raises(InputError, match="'x' contains timestamps"):
        check_columns(source, ["x", "y"])
    check_columns(source, ["y"])
    assert [batch.to_pydict() for batch in source.batches(["y"])] == [{"y": [1, 2]}]
