"""Advice on values that do not fit a schema: each common mistake is named, with what to do about it."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import scumble
from scumble.files.schema_file import parse_schema
from scumble.flows.row_advice import AttributeRows, advice_of
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

TOWN = Attribute(name="town", domain=Tree.flat(["Köln", "Bonn"]), outside=Outside.DROP)
PAY = Attribute(
    name="pay", domain=Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10)), outside=Outside.CLAMP
)


def advice(attribute: Attribute, values: list[Any], kind: pa.DataType | None = None) -> str:
    table = pa.table({attribute.name: pa.array(values, kind)})
    return "\n".join(scumble.check_rows(Schema(attributes=(attribute,)), table).advice)


def test_a_misspelt_town_is_named_with_its_likely_spelling() -> None:
    said = advice(TOWN, ["Köln"] * 160 + ["Koeln"] * 40)
    assert "40 of 200 rows (20.0 %) would be dropped." in said
    assert "town: 'Koeln' is off the domain 40 times: the schema has 'Köln'." in said
    assert "accept the loss of these rows" in said


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("31,288.61", "thousands separator"),
        ("3,5", "decimal comma"),
        ("2024-05-01", "a date"),
        ("5 %", "percentage"),
        ("$5.00", "currency"),
        ("n/a", "If it means missing"),
    ],
)
def test_a_text_in_place_of_a_number_is_explained(text: str, looks: str) -> None:
    said = advice(PAY, [text, "5"])
    assert f"pay: {text!r}" in said
    assert looks in said


def test_missing_numbers_without_a_code_are_announced() -> None:
    said = advice(PAY, [None] * 8 + [5] * 92, pa.int64())
    assert "pay: 8 % missing, and the schema has no `missing:`: they are all coded as the lowest value, 0" in said


def test_a_number_that_means_missing_is_recognised() -> None:
    assert "'-999' occurs 3 times outside the range: if it means missing, write `missing: -999`" in advice(
        PAY, [-999, -999, -999, 5]
    )


def test_booleans_in_another_case_are_named() -> None:
    smokes = Attribute(name="smokes", domain=Tree.flat(["true", "false"]), outside=Outside.DROP)
    assert "'True' is off the domain 2 times: the schema has 'true'." in advice(smokes, ["True", "True", "false"])


def test_a_branch_is_not_a_leaf() -> None:
    job = Attribute(name="job", domain=Tree.nested({"Any": {"Blue": {"Dancer": None}}}), outside=Outside.DROP)
    assert "'Blue' is off the domain once: it is a branch of the taxonomy" in advice(job, ["Blue"])


def test_values_that_all_fit_need_no_advice() -> None:
    nothing = dict.fromkeys(("missing", "unknown", "unreadable", "outside", "dropped", "clamped"), 0)
    assert list(advice_of(PAY, AttributeRows(name="pay", rows=5, **nothing, commonest=(), exact=True))) == []


def test_values_with_the_same_problem_share_one_line() -> None:
    said = advice(PAY, [*["1,234.50"] * 3, "2,000.00", "3,000.00", "4,000.00", "5"])
    assert said.count("\n") == 0
    assert "pay: '1,234.50', '2,000.00', '3,000.00', '4,000.00' are not read as numbers (6 times)." in said
    assert "Each of these looks like a number with a thousands separator: add `numbers:" in said


def test_categories_with_the_same_problem_share_one_line() -> None:
    lines = advice(TOWN, ["Koeln", "KÖLN", "BONN", "Trier", "{x}"]).splitlines()
    assert "town: 'Koeln' (for 'Köln'), 'KÖLN' (for 'Köln'), 'BONN' (for 'Bonn') are off the domain 3 times" in lines[1]
    assert "town: 'Trier', '{x}' are off the domain 2 times: add them to the schema" in lines[2]
    assert len(lines) == 3


def test_dates_are_called_dates() -> None:
    born = parse_schema(
        "scumble: schema/1\nattributes: {born: {date: {from: 1990-01-01, to: 2000-01-01, step: year}}}"
    )["born"]
    lines = advice(born, ["1995-05-01", "1850-01-01", "May 1995", "June 1995"]).splitlines()
    assert (
        "born: 'May 1995', 'June 1995' are not dates (2 times): they are all coded as the lowest value, 1990"
        in lines[0]
    )
    assert "born: 1 dates lie outside 1990/1999: they count in the first or last cell." in lines[1]


def test_the_count_is_that_of_all_values_not_of_the_commonest() -> None:
    said = advice(PAY, [f"{number},5" for number in range(1234)])
    assert "pay: 1,234 values are not read as numbers (for example '0,5', '1,5'," in said
    assert "Each of these looks like a number with a decimal comma" in said
    said = advice(TOWN, ["Koeln"] * 9 + [f"town {number}" for number in range(200)])
    assert "town: 'Koeln' is off the domain 9 times" in said
    assert "town: 209 values in all are not in the domain. Only the commonest are named here." in said
    said = advice(TOWN, [f"{number}" for number in range(200)])
    assert "town: 200 values are off the domain (for example '0', '1', '2', '3', '4'): add them to the schema" in said


def test_bytes_that_are_not_utf_8_are_called_so(tmp_path: Path) -> None:
    sex = Attribute(name="sex", domain=Tree.flat(["männlich", "weiblich"]), outside=Outside.DROP)
    (tmp_path / "rows.csv").write_bytes("sex,age\nmännlich,1\nmännlich,2\n".encode("latin-1"))
    said = "\n".join(scumble.check_rows(Schema(attributes=(sex,)), tmp_path / "rows.csv").advice)
    assert r"sex: 'm\\xe4nnlich' is not UTF-8 text (2 times). For a CSV file, pass --encoding latin-1" in said
    assert "Spell both" not in said


VISIT = parse_schema("scumble: schema/1\nattributes: {day: {date: {from: 2020-01-01, to: 2021-01-01, step: month}}}")[
    "day"
]
SMOKES = parse_schema("scumble: schema/1\nattributes: {smokes: {boolean: true}}")["smokes"]


def test_dates_in_another_format_get_a_format() -> None:
    said = advice(VISIT, ["27.09.2020", "01.10.2020", "soon"])
    assert "day: '27.09.2020', '01.10.2020' are not read (2 times): declare `format: \"%d.%m.%Y\"`." in said
    assert "day: 'soon' is not a date (once)" in said
    assert "Day and month could also be the other way round." in advice(VISIT, ["01/10/2020"])


def test_other_texts_for_booleans_are_listed() -> None:
    said = advice(SMOKES, ["ja", "nein", "Nein", "true"])
    assert '(3 times): declare `boolean: {"false": ["Nein", "nein"], "true": ["ja"]}`.' in said
