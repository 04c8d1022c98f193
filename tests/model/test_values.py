"""The value codec by hand-written examples of its documented rules, and value -> code -> text -> code as a law."""

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import attributes, cuts, grids, schemas, trees

from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import (
    Flaw,
    code_of,
    codes_within,
    published_values,
    read_value,
    recoding,
    text_of,
    texts_of,
)

CLAMP, DROP = Outside.CLAMP, Outside.DROP
TENS = tuple(Decimal(edge) for edge in (0, 10, 20, 30))


def number(missing: str | None = None, outside: Outside = CLAMP) -> Attribute:
    """Cells [0, 10), [10, 20), [20, 30); a missing value has code 3."""
    return Attribute(name="n", domain=Grid(edges=TENS, missing=missing), outside=outside, missing=missing)


def category(*labels: str, missing: str | None = None, outside: Outside = DROP) -> Attribute:
    return Attribute(name="c", domain=Tree.flat(labels), outside=outside, missing=missing)


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        # Numbers and the spellings of numbers.
        *((number(), value, 1) for value in (10, 10.0, "10", "+10", " 10 ", "1e1", "10.", "1E+1", Decimal("10.00"))),
        *((number(), value, 0) for value in ("0", "-0.0", ".5", "9.999", 5e-324)),
        *((number(), value, 2) for value in ("20", 29.999999, "00029")),
        # Texts that Python reads as numbers and the table path does not.
        *((number("?"), value, 3) for value in ("1_0", "٣", "nan", "1 0", "0x1", "ten", "1,5", True, NAN)),
        *((number(None, DROP), value, None) for value in ("1_0", "ten", NAN, True)),
        # The range: high is exclusive.
        *((number(), value, 0) for value in (-1, "-1e400", -INFINITE, -(10**400))),
        *((number(), value, 2) for value in (30, 1e300, INFINITE, "Infinity", 10**400)),
        *((number(None, DROP), value, None) for value in (-1, 30, INFINITE, "-inf")),
        # Missing numbers: nothing, the label, or an equal number.
        *((number("?"), value, 3) for value in (None, "", "  ", "?", " ? ")),
        *((number("?", DROP), value, 3) for value in (None, "", "?", NAN, Decimal("NaN"), Decimal("sNaN"))),
        *((number("?", DROP), value, None) for value in ("x", [], b"\xff", "\ud800", date(2024, 1, 31), True)),
        *((number("-999"), value, 3) for value in (-999, -999.0, "-999", "-999.0", "-9.99e2", Decimal("-999.000"))),
        *((number(" -999 "), value, 3) for value in (-999, "-999.0")),
        *((number("0"), value, 3) for value in (0, "0", "-0.0", "0e5")),
        *((number("NaN", DROP), value, 3) for value in (NAN, "NaN")),
        # Without a missing code, an empty cell is unreadable: the first cell, or no row.
        *((number(), value, 0) for value in (None, "", "x", NAN)),
        *((number(None, DROP), value, None) for value in (None, "")),
        # Categories: exactly as written.
        (category("a", "b"), "b", 1),
        *((category("a", "b"), value, None) for value in (" b", "b ", "B", "", None, "Any")),
        *((category("a", "b", outside=CLAMP), value, 0) for value in (" b", "", None)),
        *((category("a", "b", missing="b"), value, 1) for value in ("", None, "b")),
        (category("a", "b", missing="b"), "c", None),
        (category("a", "b", missing="b", outside=CLAMP), "c", 1),
        (category("a", ""), "", 1),
        (category("a", ""), None, 1),
        (category("a", "", missing="a"), "", 0),
        # Other values as categories: their canonical text.
        *((category("a", "1"), value, 1) for value in (1, 1.0, "1", Decimal(1))),
        (category("a", "1"), "1.0", None),
        (category("a", "true"), True, 1),
        *((category("a", "10000000000"), value, 1) for value in (1e10, 10**10, Decimal("1E+10"), "10000000000")),
        *((category("a", "1e+10"), value, None) for value in (1e10, 10**10)),
        *((category("a", "nan"), value, None) for value in (NAN, Decimal("NaN"))),
        *((category("a", "TRUE"), value, 1) for value in (True, np.True_, "TRUE")),
        *((category("a", "TRUE"), value, None) for value in ("true", 1, 1.0, False)),
        (category("True", "true"), True, 1),
        # Beyond 2^53, by the nearest double.
        *((category("a", "9007199254740993"), value, 1) for value in (2**53 + 1, float(2**53), "9007199254740993")),
        *((category("a", "9007199254740993"), value, None) for value in (2**53 + 2, 2**53 + 4, "9007199254740992")),
    ],
)
def test_a_value_is_read_by_the_documented_rules(attribute: Attribute, value: Any, code: int | None) -> None:
    assert code_of(attribute, value) == code


@pytest.mark.parametrize(
    ("attribute", "value", "flaw"),
    [
        (number(), "5", None),
        (number(), None, Flaw.MISSING),
        (number(), "x", Flaw.UNREADABLE),
        (number(), 31, Flaw.OUTSIDE),
        (category("a"), "b", Flaw.UNKNOWN),
        (category("a"), "", Flaw.MISSING),
    ],
)
def test_a_reading_names_what_is_wrong(attribute: Attribute, value: Any, flaw: Flaw | None) -> None:
    assert read_value(attribute, value).flaw is flaw


@pytest.mark.parametrize(
    ("domain", "texts"),
    [
        (Tree.flat(["x", "[0,1)"]), ["x", "[0,1)"]),
        (Grid.regular(low=Decimal("-1.50"), high=Decimal(1), step=Decimal("0.5")), ["-1.5", "-1", "-0.5", "0", "0.5"]),
        (Grid.regular(low=Decimal(0), high=Decimal("2E+2"), step=Decimal(100), missing="?"), ["0", "100", "?"]),
        (Grid(edges=TENS, missing="?"), ["[0,10)", "[10,20)", "[20,30)", "?"]),
        (Grid(edges=TENS, missing="?", joined=True), ["[0,10)", "[10,20)", "[20,30)|?"]),
    ],
)
def test_a_code_is_written_as_documented(domain: Domain, texts: list[str]) -> None:
    assert texts_of(domain) == texts == [text_of(domain, code) for code in range(domain.size)]


def test_an_edge_with_many_digits_is_written_exactly() -> None:
    low = Decimal("0.1234567890123456789012345678901234567891")
    high = Decimal(str(low).replace("0.", "1.", 1))
    assert text_of(Grid.regular(low=low, high=high, step=Decimal(1)), 0) == str(low)


@given(attribute=st.sampled_from(Unit).flatmap(lambda unit: attributes("here", unit=unit)))
def test_a_published_value_reads_back_as_its_code(attribute: Attribute) -> None:
    domain = attribute.domain
    codes = np.arange(domain.size)
    values = published_values(domain, codes)
    assert codes_within(domain, values).tolist() == codes.tolist()
    for code, value in zip(codes.tolist(), values.tolist(), strict=True):
        missing = isinstance(value, float) and np.isnan(value)
        empty = value == "" and attribute.missing is not None  # an empty text is always missing
        assert code_of(attribute, None if missing else value) == (attribute.missing_code if empty else code)


@given(domain=grids() | trees())
def test_a_published_text_reads_back_as_its_code(domain: Domain) -> None:
    """Texts are unique, and where they are numbers or categories, the raw reader finds their code again."""
    texts = texts_of(domain)
    if not isinstance(domain, Grid) or domain.missing not in texts[:-1]:
        assert len(set(texts)) == domain.size
    if isinstance(domain, Grid) and domain.step is None:
        return  # intervals are labels of a table of perturbed records, not raw values
    missing = domain.missing if isinstance(domain, Grid) else None
    attribute = Attribute(name="here", domain=domain, outside=DROP, missing=missing)
    without = [code for code, text in enumerate(texts) if code_of(attribute, text) != code]
    starts_with_missing = [code for code in without if code_of(attribute, texts[code]) == attribute.missing_code]
    assert without == starts_with_missing, "only the cell that starts with the missing number reads as missing"


@given(data=st.data(), schema=schemas())
def test_a_generalized_value_has_the_code_of_its_cut(data: st.DataObject, schema: Schema) -> None:
    """Reading with the published domain is reading with the public one and then recoding."""
    published = data.draw(cuts(schema)).published_schema()
    for attribute in published.predictors:
        fine = schema[attribute.name].domain
        codes = recoding(fine, attribute.domain)
        assert codes.tolist() == codes_within(attribute.domain, published_values(fine, np.arange(fine.size))).tolist()
