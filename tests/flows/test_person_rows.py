"""How many rows a bound would leave out is what engines leave out, and it is marked as private."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from command_line import scumble
from hypothesis import given, settings
from hypothesis import strategies as st

import scumble as api
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.flows.person_rows import BOUNDS, PersonTally
from scumble.model.persons import Persons
from scumble.sources import open_source

TEXT = """scumble: schema/1
person: patient
rows_each_at_most: 4
attributes:
  job: {taxonomy: {Any: {a: , b: }}}
"""
SCHEMA = parse_schema(TEXT)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["p", "q", "r", "", None]), max_size=30))
def test_the_rows_left_out_are_those_of_an_engine(ids: list[str | None]) -> None:
    table = pa.table({"patient": pa.array(ids, pa.string()), "job": pa.array(["a"] * len(ids), pa.string())})
    found = api.check_rows(SCHEMA, table).persons
    assert found is not None
    counted = Counter(each or "" for each in ids)
    without_id = counted.pop("", 0)
    assert (found.persons, found.rows, found.rows_without_id) == (len(counted), len(ids), without_id)
    assert found.most_rows == max(counted.values(), default=0)
    assert sorted(found.left_out) == sorted({*BOUNDS, 4})
    for bound in (1, 4, 10):
        schema = replace(SCHEMA, rows_each_at_most=bound)
        engine = MemoryEngine.open(open_source(table).batches(schema.columns_read), schema)
        assert found.left_out[bound] == len(ids) - engine.rows


def test_batches_are_added_up() -> None:
    tally = PersonTally(Persons(column="patient", rows_each_at_most=2))
    for ids in (["p", "p", "q"], ["q", "p"]):
        tally.add(pa.record_batch({"patient": ids}))
    found = tally.result()
    assert (found.persons, found.rows, found.most_rows) == (2, 5, 3)
    assert (found.left_out[1], found.left_out[2], found.left_out[3]) == (3, 1, 0)
    assert found.advice == ("`rows_each_at_most: 2` leaves out 1 of 5 rows (20.0 %).",)


def test_the_command_prints_what_bounds_cost(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(TEXT)
    (tmp_path / "visits.csv").write_text("patient,job\n" + "p,a\n" * 7 + "q,b\n" * 2 + ",a\n")
    ended = scumble("schema", "check", tmp_path / "schema.yaml", tmp_path / "visits.csv", "--rows")
    words = " ".join(ended.out.split())
    assert "PRIVATE" in words
    assert "person 'patient', at most 4 rows each" in words
    assert "10 rows; 7 would remain" in words
    assert "2 persons by 'patient', with up to 7 rows each; 1 without an id" in words
    assert "4 (the schema's)" in words
    assert "`rows_each_at_most: 4` leaves out 3 of 10 rows (30.0 %)." in words
    data = scumble("schema", "check", tmp_path / "schema.yaml", tmp_path / "visits.csv", "--rows", "--json").json
    assert data["rows"]["persons"]["left_out"]["1"] == 7
    assert data["rows"]["unused_columns"] == []


def test_rows_without_an_id_are_reported_apart(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(TEXT)
    (tmp_path / "visits.csv").write_text("patient,job\n" + "p,a\n" * 2 + ",a\n" * 33 + "q,c\n")
    words = " ".join(
        scumble("schema", "check", tmp_path / "schema.yaml", tmp_path / "visits.csv", "--rows").out.split()
    )
    assert "36 rows; 35 would remain before `rows_each_at_most: 4`" in words
    assert "with up to 2 rows each; 33 without an id" in words
    assert "33 rows have no readable id in 'patient'. They count as one person, so 29 of them are left out." in words


def test_the_check_of_a_schema_states_the_persons(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(TEXT)
    assert "person 'patient', at most 4 rows each" in " ".join(
        scumble("schema", "check", tmp_path / "schema.yaml").out.split()
    )
    data = scumble("schema", "check", tmp_path / "schema.yaml", "--json").json
    assert (data["person"], data["rows_each_at_most"]) == ("patient", 4)


def test_the_header_check_wants_the_column_of_persons(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(TEXT)
    (tmp_path / "visits.csv").write_text("job\na\n")
    for more in ([], ["--rows"]):
        refused = scumble("schema", "check", tmp_path / "schema.yaml", tmp_path / "visits.csv", *more)
        assert "no column 'patient'" in refused.error


def test_a_release_warns_that_the_bound_may_leave_out_rows(tmp_path: Path) -> None:
    (tmp_path / "schema.yaml").write_text(
        TEXT.replace("attributes", "target: ill\nattributes") + "  ill: {classes: [x, y]}\n"
    )
    rows = "".join(f"p,{'ab'[row % 2]},{'xy'[row % 2]}\n" for row in range(400))
    (tmp_path / "visits.csv").write_text(f"patient,job,ill\n{rows}")
    common = {"out": tmp_path / "out", "ledger": tmp_path / "ledger.db", "epsilon": "50"}
    made = api.release(tmp_path / "visits.csv", schema=tmp_path / "schema.yaml", records=400, detail="no", **common)
    (warning,) = made.warnings
    assert "or `rows_each_at_most: 4` leaves out many rows" in warning
