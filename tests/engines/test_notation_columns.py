"""Finders settle the common values of a column, so that single values are the exception."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from scumble.engines.notation_columns import UNSETTLED, found_places
from scumble.model.dates import DateNotation, DateStep
from scumble.model.notation import BooleanNotation, IntervalNotation, NumberNotation
from scumble.model.schema import Attribute, Outside

MONTHS = DateNotation(first=date(2024, 1, 1), end=date(2025, 1, 1), step=DateStep.MONTH)
AGES, TREE = IntervalNotation.nested({"[0,9)": {"[0,5)": None, "[5,9)": None}}, NumberNotation(decimal=","))
BORN = Attribute(name="born", domain=MONTHS.tree, outside=Outside.CLAMP, notation=MONTHS)
AGE = Attribute(name="age", domain=TREE, outside=Outside.CLAMP, notation=AGES)


@pytest.mark.parametrize(
    ("attribute", "column", "places"),
    [
        (BORN, pa.array([date(2024, 3, 31), None, date(2030, 1, 1)]), [2, UNSETTLED, UNSETTLED]),
        (BORN, pa.array([date(2024, 3, 31)], pa.date64()), [2]),
        (BORN, pa.array([datetime(2024, 12, 31, 23, 59)], pa.timestamp("ns")), [11]),
        (BORN, pa.array(["2024-02-29", " 2024-02-01T10:00Z", "2024-02-30", "x", None]), [1, 1, *[UNSETTLED] * 3]),
        (BORN, pa.array([2024]), [UNSETTLED]),
        (AGE, pa.array([4.9, 5.0, -1.0]), [0, 1, UNSETTLED]),
        (AGE, pa.array(["4,9", "5", "4.9"]), [0, 1, UNSETTLED]),
        (AGE, pa.array([Decimal("4.9")]), [0]),
        (AGE, pa.array([True]), [UNSETTLED]),
    ],
)
def test_places_of_a_column(attribute: Attribute, column: pa.Array, places: list[int]) -> None:
    assert found_places(attribute, column).tolist() == places


def test_a_notation_without_a_finder_settles_nothing() -> None:
    booleans = BooleanNotation()
    here = Attribute(name="x", domain=booleans.tree, outside=Outside.DROP, notation=booleans)
    assert found_places(here, pa.array([True, None])).tolist() == [UNSETTLED] * 2
