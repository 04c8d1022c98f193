"""Advice on values that do not fit a schema: each common mistake is named, with what to do about it."""

from decimal import Decimal
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
    assert "Each looks like a number with a thousands separator: add `numbers:" in said


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
