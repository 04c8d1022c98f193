"""Proposals for a schema: with them all rows fit, and everything that changed is marked unconfirmed."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import schemas, tables

import scumble
from scumble.files.schema_file import parse_schema
from scumble.flows.row_advice import SENTINELS
from scumble.flows.row_proposals import PROPOSAL_HEADING, propose
from scumble.model.dates import DateNotation
from scumble.model.grid import Grid
from scumble.model.notation import BooleanNotation, NumberNotation
from scumble.model.raw_value import canonical
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

TOWN = Attribute(name="town", domain=Tree.flat(["Köln", "Bonn"]), outside=Outside.DROP, public_because="a list")
JOB = Attribute(name="job", domain=Tree.nested({"Any": {"Blue": {"Dancer": None}}}), outside=Outside.DROP)
PAY = Attribute(
    name="pay", domain=Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10)), outside=Outside.CLAMP
)
INCOME = Attribute(name="income", domain=Grid(edges=(Decimal(0), Decimal(100), Decimal(500))), outside=Outside.DROP)


def proposed(attribute: Attribute, values: list[Any], kind: pa.DataType | None = None) -> tuple[Attribute, str]:
    schema = Schema(attributes=(attribute,))
    table = pa.table({attribute.name: pa.array(values, kind)})
    made = propose(schema, scumble.check_rows(schema, table))
    assert made is not None
    assert parse_schema(made.text(PROPOSAL_HEADING)) == made.schema
    return made.schema[attribute.name], made.comments[attribute.name]


@given(st.data())
@settings(max_examples=150)
def test_only_what_does_not_fit_is_changed_and_marked(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    checked = scumble.check_rows(schema, data.draw(tables(schema)))
    made = propose(schema, checked)
    if made is None:
        return
    for before, after, found in zip(schema.attributes, made.schema.attributes, checked.attributes, strict=True):
        if after.name not in made.comments:
            assert after == before
        else:
            assert after.unconfirmed
            assert after.public_because is None
            assert found.missing or found.off_domain
            assert made.comments[after.name].startswith("Proposal: ")
    assert parse_schema(made.text(PROPOSAL_HEADING)) == made.schema


NUMBERS = st.one_of(st.floats(-1e299, 1e299), st.integers(-(10**6), 10**6).map(float)).filter(
    lambda number: SENTINELS.fullmatch(canonical(number)[1]) is None
)


@given(numbers=st.lists(st.none() | NUMBERS, min_size=1), attribute=st.sampled_from([PAY, INCOME]))
@settings(max_examples=300)
def test_with_the_proposal_every_number_fits(numbers: list[float | None], attribute: Attribute) -> None:
    check_that_all_fit(attribute, pa.array(numbers, pa.float64()))


@given(
    values=st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=4)), min_size=1, max_size=50)
)
@settings(max_examples=300)
def test_with_the_proposal_every_category_fits(values: list[str | None]) -> None:
    check_that_all_fit(TOWN, pa.array(values, pa.string()))


def check_that_all_fit(attribute: Attribute, column: pa.Array) -> None:
    schema, table = Schema(attributes=(attribute,)), pa.table({attribute.name: column})
    made = propose(schema, scumble.check_rows(schema, table))
    (found,) = scumble.check_rows(schema if made is None else made.schema, table).attributes
    assert found.dropped == found.off_domain == 0


def test_further_categories_are_proposed_with_their_likely_spelling() -> None:
    town, comment = proposed(TOWN, ["Köln", "Koeln", "Trier", None])
    assert town.domain == Tree.flat(["Köln", "Bonn", "?", "Koeln", "Trier"])
    assert town.missing == "?"
    assert (town.unconfirmed, town.public_because) == (True, None)
    assert "2 further values of the rows" in comment
    assert "Perhaps other spellings: 'Koeln' for 'Köln'." in comment


def test_a_text_for_missing_categories_is_recognised() -> None:
    town, comment = proposed(TOWN, ["Köln", "NA", "NA", ""])
    assert town.missing == "NA"
    assert "'NA' seems to stand for missing values." in comment


def test_a_branch_is_not_proposed_as_a_leaf() -> None:
    job, _ = proposed(JOB, ["Blue", "Writer"])
    assert job.domain == Tree.nested({"Any": {"Blue": {"Dancer": None}, "Writer": None}})


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([5, -12, 130], Grid.regular(low=Decimal(-30), high=Decimal(150), step=Decimal(10))),
        ([5, 10**7], Grid.regular(low=Decimal(0), high=Decimal(10_100_000), step=Decimal(100_000))),
        ([5, None], Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10), missing="?")),
        ([5, -999, -999], Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(10), missing="-999")),
    ],
)
def test_ranges_and_missing_labels_of_numbers(values: list[int | None], domain: Grid) -> None:
    pay, _ = proposed(PAY, values, pa.int64())
    assert pay.domain == domain
    assert pay.outside is Outside.CLAMP


def test_irregular_edges_get_one_more() -> None:
    income, comment = proposed(INCOME, [-20, 83211], pa.int64())
    assert income.domain == Grid(edges=(Decimal(-1000), Decimal(0), Decimal(100), Decimal(500), Decimal(84000)))
    assert "the range was [0, 500), and rows lie outside" in comment


BORN = parse_schema("scumble: schema/1\nattributes: {born: {date: {from: 1990-01-01, to: 2000-01-01, step: year}}}")[
    "born"
]
PAIN = parse_schema("scumble: schema/1\nattributes: {pain: {ordered: [none, mild, severe]}}")["pain"]


@pytest.mark.parametrize(("attribute", "value"), [(BORN, "1995-05-01"), (PAIN, "mild")])
def test_other_kinds_get_a_label_of_missing_values(attribute: Attribute, value: str) -> None:
    made, comment = proposed(attribute, [value, "", None])
    assert (made.missing, made.notation) == ("?", attribute.notation)
    assert made.domain.labels == (*attribute.domain.labels, "?")
    assert comment == "Proposal: '?' is the value of empty cells."


def test_another_notation_of_numbers_is_proposed() -> None:
    pay, comment = proposed(PAY, ["31,288.61", "1,234.50", "NA"])
    assert pay.numbers == NumberNotation(decimal=".", thousands=",")
    assert pay.missing == "NA"
    assert "written in another notation" in comment


def test_other_notations_of_dates_and_booleans_are_proposed() -> None:
    born, comment = proposed(BORN, ["27.09.1995", "01.02.1991", ""])
    assert isinstance(born.notation, DateNotation)
    assert (born.notation.format, born.missing) == ("%d.%m.%Y", "?")
    assert 'hence `format: "%d.%m.%Y"`' in comment
    smokes = parse_schema("scumble: schema/1\nattributes: {smokes: {boolean: true}}")["smokes"]
    assert proposed(smokes, ["ja", "nein"])[0].notation == BooleanNotation(false=("nein",), true=("ja",))


def test_nothing_is_proposed_for_rows_that_fit() -> None:
    schema = Schema(attributes=(TOWN,))
    assert propose(schema, scumble.check_rows(schema, pa.table({"town": ["Bonn"]}))) is None
