"""The check of rows agrees with what a release keeps, counts every flaw as the codec names it, and charges nothing."""

from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import schemas, tables

import scumble
from scumble.engines.coding import code_blocks
from scumble.flows import check_rows as module
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.sources import open_source

TOWN = Attribute(name="town", domain=Tree.flat(["Köln", "Bonn"]), outside=Outside.DROP)


def test_malformed_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text("scumble: schema/1\nattributes: {x: {taxonomy: {Any: {a: , b: }}}}")
    (tmp_path / "rows.csv").write_text('x,y\na,1\n"b,2\na,3\nb,"4\n5"\n')
    checked = scumble.check_rows(tmp_path / "schema.yaml", tmp_path / "rows.csv")
    assert (checked.rows, checked.kept, checked.malformed) == (5, 2, 3)
    assert any("3 records of the CSV file are malformed" in line and "--multiline" in line for line in checked.advice)
    assert checked.attributes[0].unknown == checked.attributes[0].malformed == 3
    assert checked.attributes[0].commonest == ()
    assert not any("off the domain 3" in line or "UTF-8" in line for line in checked.advice)
    (tmp_path / "rows.csv").write_bytes(b'x,y\na,1\n"b,2\n\xff,3\n')
    (value,) = scumble.check_rows(tmp_path / "schema.yaml", tmp_path / "rows.csv").attributes[0].commonest
    assert (value.text, value.times, value.undecoded) == (r"\xff", 1, True)
    (tmp_path / "rows.csv").write_text('x,y\na,1\nb,2\na,3\nb,"4\n5"\n')
    checked = scumble.check_rows(tmp_path / "schema.yaml", tmp_path / "rows.csv", multiline=True)
    assert (checked.rows, checked.kept, checked.malformed) == (4, 4, 0)
    assert checked.to_json()["malformed"] == 0


def schema_of(*attributes: Attribute, **more: Any) -> Schema:
    return Schema(attributes=attributes, **more)


@given(st.data())
@settings(max_examples=150)
def test_the_rows_kept_are_those_that_coding_keeps(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema))
    checked = scumble.check_rows(schema, table)
    blocks = list(code_blocks(open_source(table).batches(schema.columns), schema))
    assert checked.kept == sum(len(block[0]) for block in blocks)
    assert checked.rows == len(table)
    for attribute, found in zip(schema.attributes, checked.attributes, strict=True):
        assert (found.dropped if attribute.outside is Outside.CLAMP else found.clamped) == 0
        fitting = 0 if attribute.missing is None else found.missing
        assert found.dropped + found.clamped == found.missing + found.off_domain - fitting
        assert sum(each.times for each in found.commonest) <= found.off_domain


@given(st.lists(st.sampled_from(["Köln", "Bonn", "Koeln", "Trier", "", None]), min_size=1))
def test_flaws_are_counted(towns: list[str | None]) -> None:
    (found,) = scumble.check_rows(schema_of(TOWN), pa.table({"town": pa.array(towns, pa.string())})).attributes
    counted = Counter(towns)
    assert found.missing == counted[""] + counted[None]
    assert found.unknown == found.off_domain == counted["Koeln"] + counted["Trier"]
    assert {each.text: each.times for each in found.commonest} == {
        town: counted[town] for town in ("Koeln", "Trier") if counted[town]
    }


def test_columns_that_the_schema_does_not_name_are_listed() -> None:
    frame = pd.DataFrame({"town": ["Bonn"], "name": ["Ada"], "id": [1]})
    assert scumble.check_rows(schema_of(TOWN, identifiers=("id",)), frame).unused_columns == ("name",)


def test_memory_stays_bounded_whatever_the_rows_hold() -> None:
    with mock.patch.object(module, "MOST_DISTINCT", 10):
        towns = [*(f"town {number}" for number in range(500)), *["Koeln"] * 100]
        parts = [pa.table({"town": towns[start : start + 50]}) for start in range(0, len(towns), 50)]
        (found,) = scumble.check_rows(schema_of(TOWN), pa.concat_tables(parts)).attributes
    assert found.unknown == 600
    assert not found.exact
    assert (found.commonest[0].text, found.commonest[0].times) == ("Koeln", 100)


def test_nothing_is_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    scumble.check_rows(schema_of(TOWN), pa.table({"town": ["Bonn"]}))
    assert list(tmp_path.iterdir()) == []
