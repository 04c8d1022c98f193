"""Drafted schemas: every domain is unconfirmed and covers all rows of the table."""

import datetime
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labels

from scumble import datasets
from scumble.engines.coding import code_blocks
from scumble.errors import InputError
from scumble.files.schema_draft import DRAFT_HEADING, MOST_CATEGORIES, draft, draft_schema
from scumble.files.schema_file import parse_schema, schema_text
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Outside
from scumble.model.taxonomy import Tree
from scumble.sources import check_columns, open_source

CELLS = st.sampled_from(
    [
        (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
        (pa.int64(), st.integers(-5, 500)),
        (pa.uint64(), st.integers(0, 2**64 - 1)),
        (pa.float64(), st.floats(-1e290, 1e290)),
        (pa.float64(), st.floats(-10, 10)),
        (pa.float64(), st.sampled_from([1.7e9, 1.7e9 + 10, 1.7e9 + 11, 5e-324, 0.0])),
        (pa.float64(), st.sampled_from([1e20, 1e20 + 2**14, 0.1, 0.3])),
        (pa.float32(), st.integers(-8000, 8000).map(lambda eighths: eighths / 8)),
        (pa.decimal128(20, 4), st.decimals(-1000, 1000, places=4)),
        (pa.string(), labels().filter(bool)),
        (pa.dictionary(pa.int32(), pa.string()), labels().filter(bool)),
        (pa.bool_(), st.booleans()),
        (pa.date32(), st.dates(datetime.date(1900, 1, 1))),
    ]
)


@st.composite
def columns(draw: st.DrawFn, rows: int) -> pa.Array:
    kind, cell = draw(CELLS)
    return pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), kind)


@given(st.data())
@settings(max_examples=80)
def test_every_row_lies_inside_the_draft(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 8))
    table = pa.table({name: data.draw(columns(rows)) for name in ("a", "b")})
    target = data.draw(st.sampled_from(["a", None]))
    schema = draft_schema(table, target)
    assert parse_schema(schema_text(schema, heading=DRAFT_HEADING)) == schema
    assert parse_schema(draft(table, target).text()) == schema
    assert all(attribute.unconfirmed for attribute in schema.attributes)
    assert target is None or isinstance(schema[target].domain, Tree)
    for attribute in schema.attributes:
        assert attribute.domain.size <= 130
        assert attribute.outside is (Outside.CLAMP if isinstance(attribute.domain, Grid) else Outside.DROP)
    strict = replace(schema, attributes=tuple(replace(a, outside=Outside.DROP) for a in schema.attributes))
    assert sum(len(block[0]) for block in code_blocks(table.to_batches(), strict)) == rows


def test_what_a_draft_makes_of_columns() -> None:
    many = MOST_CATEGORIES + 1
    table = pa.table(
        {
            "name": [f"person {number}" for number in range(many)],
            "age": [17 + number % 60 for number in range(many)],
            "share": [number / 1000 for number in range(many)],
            "price": pa.array([Decimal(number).scaleb(-2) for number in range(many)], pa.decimal128(9, 2)),
            "smokes": [number % 2 == 0 for number in range(many)],
            "nothing": pa.nulls(many, pa.float64()),
            "constant": [3] * many,
        }
    )
    schema = draft_schema(table, "smokes")
    assert schema.identifiers == ("name", "nothing")
    assert schema.classes == ("false", "true")
    numbers = {a.name: a.domain.root.label for a in schema.attributes if isinstance(a.domain, Grid)}
    assert numbers == {"age": "[17,77)", "share": "[0,0.101)", "price": "[0,1.01)", "constant": "[3,4)"}


def test_nulls_and_infinities_do_not_widen_a_draft() -> None:
    table = pa.table(
        {"x": [1.0, None, float("inf"), float("nan"), -float("inf"), 2.0], "y": ["a", None, "b", "", "a", "a"]}
    )
    schema = draft_schema(table)
    grid = schema["x"].domain
    assert isinstance(grid, Grid)
    assert (grid.edges[0], grid.step) == (Decimal(1), Decimal("0.01"))
    assert grid.edges[-1] <= Decimal("2.01")


def drafted(*values: object) -> tuple[str, str]:
    """What a draft makes of a column beside another: its part of the file, and the comment above it."""
    made = draft(pa.table({"other": ["x"] * len(values), "here": list(values)}))
    return schema_text(made.schema).partition("  here:")[2], made.comments["here"]


MANY = range(MOST_CATEGORIES + 20)


@pytest.mark.parametrize(
    ("values", "comment"),
    [
        ([f"2024-{1 + day // 28:02}-{1 + day % 28:02}" for day in MANY], "look like dates"),
        ([f"{1 + day % 28}.{1 + day // 28}.2024" for day in MANY], "look like dates"),
        ([f"1,{number:03}.50" for number in MANY], "thousands separators"),
        ([f"{number},25" for number in MANY], "decimal comma"),
        ([f"K{number:05}-X" for number in MANY], "look like codes"),
        ([f"0{number:04}" for number in MANY], "leading zeros"),
        ([f"Ms {chr(97 + number % 26)} {'o' * number} Doe" for number in MANY], "names or free text"),
        (list(MANY), "look like a key"),
        ([str(number) for number in MANY], "look like a key"),
    ],
)
def test_what_is_left_out_says_why_and_what_to_do(values: list[object], comment: str) -> None:
    text, said = drafted(*values)
    assert text.split("\n")[1].strip() == "identifier: true"
    assert said.startswith("Left out: ")
    assert comment in said


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([170, 180, None, 180], "?"),
        ([1.5, float("nan"), 2.5], "?"),
        (["170", "", "180"], "?"),
        (["170", "NA", "180", "NA", ""], "NA"),
    ],
)
def test_numbers_with_empty_cells_get_a_missing_value(values: list[object], label: str) -> None:
    text, said = drafted(*values)
    assert "numeric:" in text
    assert f"missing: '{label}'" in text or f"missing: {label}\n" in text
    assert "hence `missing:`" in said


def test_every_guess_has_its_comment_above_it() -> None:
    made = draft(pa.table({"job": ["a", "b"], "no": [1, 2], "name with: signs": ["x", "y"]}))
    lines = made.text().splitlines()
    for name in ("job", "'no'", "'name with: signs'"):
        place = next(place for place, line in enumerate(lines) if line == f"  {name}:")
        assert lines[place - 1].startswith("  # Guess: "), lines


def test_a_draft_of_identifiers_alone_is_refused() -> None:
    with pytest.raises(InputError, match="no attribute to publish"):
        draft_schema(pa.table({"name": [f"person {number}" for number in range(MOST_CATEGORIES + 1)]}))
    with pytest.raises(InputError, match="'income' is not an attribute"):
        draft_schema(pa.table({"x": [1]}), "income")


def test_data_sets_are_found_where_the_setting_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)
    with pytest.raises(InputError, match="SCUMBLE_DATA is not set"):
        datasets.load("adult")
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="Unknown data set 'zoo'"):
        datasets.load("zoo")
    with pytest.raises(InputError, match="does not contain adult"):
        datasets.load("adult")
    (tmp_path / "adult.csv").write_text("age\n5\n", encoding="utf-8")
    with pytest.raises(InputError, match="does not exist"):
        datasets.load("adult")
    (tmp_path / "adult.schema.yaml").write_text(
        "scumble: schema/1\nattributes: {age: {numeric: {low: 0, high: 9, step: 1}}}", encoding="utf-8"
    )
    found = datasets.load("adult")
    assert (found.path, found.schema.predictors[0].name) == (tmp_path / "adult.csv", "age")


@pytest.mark.parametrize("name", datasets.NAMES)
def test_the_reference_data_sets_fit_their_schemas(data_folder: Path, name: str) -> None:
    """The drafts of real data sets cover every row: none is dropped or clamped."""
    found = datasets.load(name)
    source = open_source(found.path)
    check_columns(source, found.schema.columns)
    strict = tuple(replace(attribute, outside=Outside.DROP) for attribute in found.schema.attributes)
    schema = replace(found.schema, attributes=strict, unit=Unit.ADD_REMOVE)
    kept = sum(len(block[0]) for block in code_blocks(source.batches(schema.columns), schema))
    with found.path.open(encoding="utf-8") as file:
        assert kept == sum(1 for line in file if line.strip()) - 1
