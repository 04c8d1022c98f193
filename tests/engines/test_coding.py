"""Property of coding: tables and single records read every value as the value codec does."""

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kinds import raw_numbers, raw_texts
from strategies import MISSING_LABELS, NO_NUMBERS, NUMBERS_AS_TEXT, ODD_LABELS, attributes

from scumble.engines.coding import coder
from scumble.files.schema_attribute import numbers_of
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.notation import PLAIN
from scumble.model.raw_value import Value, canonical
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import code_of
from scumble.sources.object_column import object_column

SPELLINGS = ("1_0", " 5 ", "+5", "1e1", "-999.0", "-999", "-9.99e2", "0", "-0.0", "?", " ?", "NaN", "1\n", "\x1c5\x1c")
WHOLE_DOUBLES = 2**53
"""Integers up to this one are exact as doubles."""


@st.composite
def odd_attributes(draw: st.DrawFn) -> Attribute:
    """Random attributes, including grids whose missing label is a number in an unusual notation."""
    attribute = draw(attributes("here", unit=Unit.ADD_REMOVE))
    if not isinstance(attribute.domain, Grid):
        return attribute
    missing = draw(st.none() | st.sampled_from([*MISSING_LABELS, " -999 ", "1e1", "nan", "NaN", "inf", "1_0"]))
    grid = Grid(edges=attribute.domain.edges, step=attribute.domain.step, missing=missing)
    return Attribute(name="here", domain=grid, outside=attribute.outside, missing=missing, notation=attribute.notation)


@st.composite
def values_for(draw: st.DrawFn, attribute: Attribute) -> Value:
    domain = attribute.domain
    texts = [
        *SPELLINGS,
        *NUMBERS_AS_TEXT,
        *NO_NUMBERS,
        *ODD_LABELS,
        *([attribute.missing] if attribute.missing else []),
    ]
    odd = [math.nan, math.inf, -math.inf, -999.0, 5e-324, 1e16, 1e-7, 123456789.5]
    numbers: list[st.SearchStrategy[Any]] = [st.integers(-1001, 1001), st.floats(), st.sampled_from(odd)]
    if isinstance(domain, Grid):
        edges = [domain.edge(place) for place in range(domain.cells + 1)]
        numbers += [st.sampled_from(edges), st.sampled_from(edges).map(float), st.sampled_from(edges).map(str)]
        numbers.append(st.sampled_from(edges).map(lambda edge: math.nextafter(float(edge), -math.inf)))
    else:
        numbers += [st.sampled_from(domain.labels), st.booleans()]
    if attribute.notation is not None:
        numbers += [raw_texts(attribute.notation), raw_numbers(attribute.notation)]
    decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-2000, max_value=2000, places=3)
    value: Value = draw(st.one_of(st.none(), st.sampled_from(texts), st.text(max_size=4), decimals, *numbers))
    return value


def columns_with(value: Value, attribute: Attribute) -> list[pa.Array]:
    """Columns with this value in every type that can represent it: numbers, text, dictionaries, objects.

    The text of a number is the same value, unless the attribute declares how numbers are written as text.
    """
    columns = _columns_with(value)
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if is_number and numbers_of(attribute) == PLAIN:
        columns.append(pa.array([canonical(value)[1]], pa.string()))
    return [*columns, object_column([value])]


def _columns_with(value: Value) -> list[pa.Array]:
    match value:
        case None:
            kinds = [pa.string(), pa.int64(), pa.float64(), pa.large_string(), pa.date32(), pa.timestamp("us")]
            return [pa.array([None], kind) for kind in kinds]
        case bool():
            return [pa.array([value], pa.bool_())]
        case int():
            double = [pa.array([float(value)], pa.float64())] if abs(value) < WHOLE_DOUBLES else []
            return [pa.array([value], pa.int64()), pa.array([value], pa.int64()).dictionary_encode(), *double]
        case float():
            return [pa.array([value], pa.float64()), pa.array([value], pa.float64()).dictionary_encode()]
        case Decimal():
            return [pa.array([value])]
        case datetime():
            kinds = [pa.timestamp("s", value.tzinfo and "UTC"), pa.timestamp("us", value.tzinfo and "UTC")]
            return [pa.array([value], kind) for kind in kinds if kind.unit == "us" or not value.microsecond]
        case date():
            return [pa.array([value], pa.date32()), pa.array([value], pa.date64())]
    text = pa.array([value], pa.string())
    return [text, text.cast(pa.large_string()), text.dictionary_encode(), pa.array([value.encode()], pa.binary())]


def table_code(attribute: Attribute, column: pa.Array) -> int | None:
    coded = coder(attribute)(column)
    return None if coded.kept is not None and not coded.kept[0] else int(coded.codes[0])


NUMBER = Grid.regular(low=Decimal(-2), high=Decimal(20), step=Decimal(1), missing="-999")
WITH_A_NUMBER_FOR_MISSING = Attribute(name="here", domain=NUMBER, outside=Outside.CLAMP, missing="-999")
LABELS = Attribute(name="here", domain=Tree.flat(["a", "1"]), outside=Outside.DROP)


@given(st.data())
def test_the_table_path_reads_every_value_as_the_codec_does(data: st.DataObject) -> None:
    attribute = data.draw(odd_attributes())
    value = data.draw(values_for(attribute))
    expected = code_of(attribute, value)
    for column in columns_with(value, attribute):
        assert table_code(attribute, column) == expected, column.type


@given(st.data())
def test_a_persons_own_record_is_read_as_the_table_would_be(data: st.DataObject) -> None:
    """A value gives the same code in every column and on its owner's device; None where the table drops the row."""
    attribute = data.draw(odd_attributes())
    check_own_record(attribute, data.draw(values_for(attribute)))


@pytest.mark.parametrize("value", [-999.0, "-999.0", -999, "1_0", " 5 ", "+5", "1e1", 5.0, Decimal("7.5"), 1e300])
@pytest.mark.parametrize("attribute", [WITH_A_NUMBER_FOR_MISSING, LABELS])
def test_known_cases_of_a_persons_own_record(attribute: Attribute, value: Value) -> None:
    check_own_record(attribute, value)


def check_own_record(attribute: Attribute, value: Value) -> None:
    read = {table_code(attribute, column) for column in columns_with(value, attribute)}
    assert len(read) == 1
    assert read == {code_of(attribute, value)}


@given(value=st.floats())
@example(1e10)
@example(9999999999.0)
@example(1e-6)
@example(9.99e-7)
@example(-0.0)
@example(2.0**53)
@example(1e300)
def test_a_double_is_compared_with_categories_by_its_shortest_plain_decimal(value: float) -> None:
    text = canonical(value)[1]
    assert math.isnan(value) or (float(text) == value and "e" not in text)
    attribute = Attribute(name="here", domain=Tree.flat(["other", text or "nan"]), outside=Outside.DROP)
    expected = None if math.isnan(value) else 1
    assert code_of(attribute, value) == table_code(attribute, pa.array([value])) == expected
