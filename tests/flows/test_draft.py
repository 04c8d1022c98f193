"""Drafted schemas: every domain is unconfirmed and covers all rows of the table."""

import datetime
import json
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import labels

import scumble
from scumble import datasets
from scumble.engines.coding import code_blocks
from scumble.errors import InputError
from scumble.files.schema_draft import DRAFT_HEADING
from scumble.files.schema_file import parse_schema, parse_yaml, schema_text
from scumble.flows.column_guesses import FEWEST_KEYS, MOST_CATEGORIES
from scumble.flows.draft import NEVER_PUBLISHED, draft, draft_of, draft_schema
from scumble.flows.schema_roles import ColumnRoles
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
        (pa.string(), st.dates(datetime.date(1920, 1, 1), datetime.date(2040, 12, 31)).map(date.isoformat)),
        (pa.string(), st.dates(datetime.date(1920, 1, 1), datetime.date(2040, 12, 31)).map("{:%d.%m.%Y}".format)),
        (pa.string(), st.sampled_from(["1.234,5", "3,25", "-7,0", "NA", " 1.000.000,00 "])),
        (pa.string(), st.sampled_from(["1,234.5", "3.25", "-7", "?", "1,000"])),
        (pa.string(), st.sampled_from(["yes", "no", "Yes", "NO", "N/A"])),
        (pa.string(), st.from_regex("[A-E][0-9]{2}([.][0-9])?", fullmatch=True)),
        (pa.date32(), st.dates(datetime.date(1920, 1, 1), datetime.date(2040, 12, 31))),
    ]
)


@st.composite
def columns(draw: st.DrawFn, rows: int) -> pa.Array:
    kind, cell = draw(CELLS)
    return pa.array(draw(st.lists(cell, min_size=rows, max_size=rows)), kind)


@given(st.data())
@settings(max_examples=80)
def test_every_row_lies_inside_the_draft(data: st.DataObject) -> None:
    rows = data.draw(st.sampled_from([*range(1, 9), FEWEST_KEYS + 5]))
    table = pa.table({**{name: data.draw(columns(rows)) for name in ("a", "b")}, "c": ["x"] * rows})
    target = data.draw(st.sampled_from(["a", None]))
    schema = draft_schema(table, target)
    assert parse_schema(schema_text(schema, heading=DRAFT_HEADING)) == schema
    assert parse_schema(draft(table, target).text()) == schema
    assert all(attribute.unconfirmed for attribute in schema.attributes)
    assert target is None or isinstance(schema[target].domain, Tree)
    for attribute in schema.attributes:
        assert attribute.domain.size <= 130 or attribute.kind == "code"
        assert attribute.outside is (Outside.CLAMP if attribute.on_a_line else Outside.DROP)
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
        ([f"{1 + day % 28}.{1 + day // 28}.24" for day in MANY], "dates with years of two digits"),
        (
            [f"{1 + day % 28}{'./'[day % 2]}{1 + day // 28}{'./'[day % 2]}2024" for day in MANY] * 2,
            "dates in several formats",
        ),
        ([f"{number} %" for number in MANY], "percentages"),
        ([f"$ {number}.50" for number in MANY] * 2, "a currency"),
        ([f"K{number:05}-X" for number in MANY], "look like keys, or codes"),
        ([f"0{number:04}" for number in MANY], "look like keys, or codes"),
        ([f"{'K' * (number % 7)}{number}" for number in MANY] * 2, "look like codes"),
        ([f"Ms {chr(97 + number % 26)} {'o' * number} Doe" for number in MANY] * 2, "names or free text"),
        ([f"person {number}" for number in range(40)], "look like keys, or names or free text"),
        ([float(number) for number in MANY] + [None], "look like a key"),
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


DAYS = [date(2023, 11, 3) + timedelta(days=day) for day in range(0, 800, 7)]


@pytest.mark.parametrize(
    ("values", "entry", "comment"),
    [
        (DAYS, {"from": "2023-01-01", "to": "2027-01-01", "step": "month"}, "the dates of the rows"),
        ([day.isoformat() for day in DAYS], {"from": "2023-01-01", "to": "2027-01-01", "step": "month"}, "dates"),
        ([f"{day}T12:30:00Z" for day in DAYS[:4]], {"from": "2023-11-01", "to": "2023-12-01", "step": "day"}, "a day"),
        (
            [f"{day:%d.%m.%Y}" for day in DAYS],
            {"from": "2023-01-01", "to": "2027-01-01", "step": "month", "format": "%d.%m.%Y"},
            "Read as %d.%m.%Y: check this.",
        ),
        (
            ["1/2/1950", "3/12/2001"],
            {"from": "1950-01-01", "to": "2002-01-01", "step": "year", "format": "%-d/%-m/%Y"},
            "Day and month could also be the other way round.",
        ),
        (
            ["01/31/1950 10:00", "03/12/2001 09:30"],
            {"from": "1950-01-01", "to": "2002-01-01", "step": "year", "format": "%m/%d/%Y %H:%M"},
            "Read as %m/%d/%Y %H:%M: check this.",
        ),
    ],
)
def test_dates_are_drafted_as_dates_however_few(values: list[object], entry: dict[str, str], comment: str) -> None:
    said = check_entry(values, {"date": entry})
    assert comment in said


def test_few_dates_that_cannot_be_read_are_commented() -> None:
    made = draft(pa.table({"here": ["1.2.24", "3.4.24"]}))
    assert made.schema["here"].domain.labels == ("1.2.24", "3.4.24")
    assert "They look like dates with years of two digits, which are not read." in made.comments["here"]


def test_the_last_date_of_the_calendar_means_missing() -> None:
    check_entry(
        ["2001-05-01", "2003-05-01", "9999-12-31"],
        {"date": {"from": "2001-01-01", "to": "2004-01-01", "step": "month"}, "missing": "9999-12-31"},
    )


@pytest.mark.parametrize(
    ("values", "style"),
    [
        (["1,234.50", "999.25"], {"decimal": ".", "thousands": ","}),
        (["1,234", "12,500"], {"decimal": ".", "thousands": ","}),
        (["3,5", "12,25"], {"decimal": ","}),
        (["31.288,61", "7,5"], {"decimal": ",", "thousands": "."}),
        (["31 288,61", "7,5"], {"decimal": ",", "thousands": " "}),
        (["31'288.61", "7.5"], {"decimal": ".", "thousands": "'"}),
    ],
)
def test_numbers_in_other_notations_are_drafted_as_numbers(values: list[object], style: dict[str, str]) -> None:
    entry, said = entry_of(values)
    assert entry["numbers"] == style
    assert "numeric" in entry
    assert "check this" in said


@pytest.mark.parametrize(
    ("values", "entry"),
    [
        ([True, False, None], {"boolean": True, "missing": "?"}),
        (["True", "FALSE", "true"], {"boolean": True}),
        (["yes", "No", "no", "Yes"], {"boolean": {"false": ["No", "no"], "true": ["Yes", "yes"]}}),
        (["j", "n", "NA", ""], {"boolean": {"false": ["n"], "true": ["j"]}, "missing": "NA"}),
        ([0, 1, 1, 0], {"boolean": {"false": ["0"], "true": ["1"]}}),
        (["0", "1", "?"], {"boolean": {"false": ["0"], "true": ["1"]}, "missing": "?"}),
    ],
)
def test_booleans_are_drafted_as_booleans(values: list[object], entry: dict[str, object]) -> None:
    check_entry(values, entry)


@pytest.mark.parametrize(
    ("values", "entry"),
    [
        (
            [f"{chr(65 + n % 5)}{n % 40:02}.{n % 3}" for n in range(200)],
            {"levels": [1, 3], "pattern": "[A-Z][0-9][0-9]", "ignore": "."},
        ),
        ([f"{n % 90 * 111:05}" for n in range(200)], {"levels": [1, 2, 3], "pattern": "[0-9][0-9][0-9]"}),
    ],
)
def test_codes_of_one_shape_are_drafted_by_their_prefixes(values: list[object], entry: dict[str, object]) -> None:
    check_entry(values, {"prefix": entry})
    check_entry([*values, None, ""], {"prefix": entry, "missing": "?"})


@pytest.mark.parametrize(
    ("values", "classes", "label"),
    [
        (["b", "a", None, ""], ["a", "b", "?"], "?"),
        (["b", "?", "a"], ["a", "b", "?"], "?"),
        (["b", "N/A", None], ["b", "N/A"], "N/A"),
        (["b", "a"], ["a", "b"], None),
    ],
)
def test_categories_with_empty_cells_get_a_missing_value(
    values: list[object], classes: list[str], label: str | None
) -> None:
    made = draft(pa.table({"here": values}))
    here = made.schema["here"]
    assert (list(here.domain.labels), here.missing) == (classes, label)
    assert ("hence `missing:`" in made.comments["here"]) == (label is not None)


def entry_of(values: list[object]) -> tuple[dict[str, Any], str]:
    """The entry of a column as it is read back, without `unconfirmed`, and its comment. No row is lost with it."""
    table = pa.table({"other": ["x", "y"] * len(values), "here": [*values, *values]})
    made = draft(table)
    read = parse_yaml(made.text(), "the draft")["attributes"]["here"]
    assert read.pop("unconfirmed") == "true"
    checked = scumble.check_rows(made.schema, table)
    assert (checked.kept, checked.attributes[-1].off_domain) == (len(table), 0)
    return read, made.comments["here"]


def check_entry(values: list[object], entry: dict[str, Any]) -> str:
    found, said = entry_of(values)
    assert found == json.loads(json.dumps(entry), parse_int=str, parse_constant=str) | (
        {"boolean": "true"} if entry.get("boolean") is True else {}
    )
    assert said.startswith("Guess: ")
    return said


def test_columns_with_names_that_releases_add_are_published_under_others() -> None:
    made = draft(pa.table({"count": ["a", "b"], "count_": [1, 2], "variance": [3, 4]}), target="count")
    assert made.schema.names == ("count__", "count_", "variance_")
    assert made.schema.columns == ("count", "count_", "variance")
    assert made.schema.target == "count__"
    assert "Every release adds a column 'count'" in made.comments["count__"]
    assert parse_schema(made.text()) == made.schema


def test_values_that_are_not_text_do_not_end_a_draft(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(b"town,age\nK\xf6ln,5\nBonn,6\nBonn,\xff\n")
    made = draft_of(open_source(tmp_path / "rows.csv"))
    assert made.schema["town"].domain.labels == ("Bonn",)
    assert "Some values are not text" in made.comments["town"]
    assert made.schema["age"].missing == "?"


def test_nested_columns_are_left_out() -> None:
    made = draft_of(open_source(pa.table({"towns": [["Bonn"], []], "age": [5, 6]})))
    assert made.schema.identifiers == ("towns",)
    assert "lists or records" in made.comments["towns"]


def test_stated_roles_are_in_the_draft() -> None:
    rows = pa.table({"id": ["a", "a", "b"], "age": [5, 6, 7], "ill": ["no", "yes", "no"], "street": ["x", "y", "z"]})
    stated = ColumnRoles(target="ill", identifiers=["street"], person="id", rows_each_at_most=2, rows_at_most=10)
    made = draft_of(open_source(rows), roles=stated)
    schema = made.schema
    assert (schema.names, schema.target, schema.identifiers) == (("age", "ill"), "ill", ("street",))
    assert (schema.person, schema.rows_each_at_most, schema.rows_at_most) == ("id", 2, 10)
    assert made.comments["street"] == NEVER_PUBLISHED
    assert parse_schema(made.text()) == schema
    replaced = draft_of(
        open_source(rows), roles=ColumnRoles(identifiers=["street", "id"], unit=Unit.REPLACE, rows=3)
    ).schema
    assert (replaced.unit, replaced.rows, replaced.identifiers) == (Unit.REPLACE, 3, ("street", "id"))
    with pytest.raises(InputError, match="no column 'town'"):
        draft_of(open_source(rows), roles=ColumnRoles(identifiers=["town"]))


def test_objects_of_several_types_are_drafted_by_their_texts() -> None:
    made = draft_of(open_source(pd.DataFrame({"here": [True, "unknown", 5, None]}, dtype=object)))
    assert made.schema["here"].domain.labels == ("5", "true", "unknown", "?")


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
