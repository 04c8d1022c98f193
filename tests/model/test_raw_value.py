"""The canonical reading of one value, by examples of every row of its table."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.engines.arrow_values import python_values
from scumble.model.raw_value import ValueKind, canonical, date_text, id_text, moment_text, time_text
from scumble.sources import open_source

TEXT, NUMBER = ValueKind.TEXT, ValueKind.NUMBER
MOMENT = datetime(2024, 1, 31, 9, 30)
ZONE = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        *((value, ValueKind.MISSING, "") for value in (None, float("nan"), np.float32("nan"), pd.NaT, pd.NA)),
        *((value, ValueKind.MISSING, "") for value in (Decimal("NaN"), Decimal("sNaN"), np.datetime64("NaT"))),
        *((value, TEXT, "1.50 ") for value in ("1.50 ", b"1.50 ", bytearray(b"1.50 "), np.str_("1.50 "))),
        *((value, NUMBER, "1") for value in (1, 1.0, np.int8(1), np.float16(1), Decimal("1.000"), Decimal("1"))),
        *((value, NUMBER, "1.5") for value in (1.5 + 0j, np.complex128(1.5), np.complex64(1.5))),
        *((value, NUMBER, "0") for value in (0, 0.0, -0.0, np.float32(-0.0), Decimal("-0.00"), Decimal("0E+999999"))),
        *((value, NUMBER, "10000000001") for value in (10_000_000_001, 10_000_000_001.0, Decimal(10_000_000_001))),
        *((value, NUMBER, "0.0000001") for value in (1e-7, Decimal("1E-7"), np.float32(1e-7))),
        *((value, NUMBER, "9007199254740992") for value in (2**53, 2**53 + 1, 2.0**53, Decimal(2**53 + 1))),
        *((value, NUMBER, "100000000000000000000000") for value in (1e23, 10**23, Decimal("1E+23"))),
        *((value, NUMBER, "inf") for value in (float("inf"), Decimal("Infinity"), 10**400, Decimal("1E+999999"))),
        (Decimal("1E-999999"), NUMBER, "0"),
        (Decimal("0.12345678901234567890123456789012345"), NUMBER, "0.12345678901234567890123456789012345"),
        *((value, ValueKind.BOOLEAN, "true") for value in (True, np.True_)),
        (date(2024, 1, 31), TEXT, "2024-01-31"),
        *((value, TEXT, "2024-01-01T00:00:00") for value in map(np.datetime64, ("2024", "2024-01", "2024-01-01"))),
        *(
            (value, TEXT, "2024-01-31T09:00:00")
            for value in (np.datetime64("2024-01-31T09"), pd.Timestamp(2024, 1, 31, 9))
        ),
        *(
            (value, TEXT, "2024-01-31T09:30:00")
            for value in (datetime(2024, 1, 31, 9, 30), pd.Timestamp(2024, 1, 31, 9, 30))
        ),
        (datetime(2024, 1, 31, 9, 30, tzinfo=ZONE), TEXT, "2024-01-31T08:30:00Z"),
        (datetime(2024, 1, 31, 9, 30, 0, 500_000, tzinfo=UTC), TEXT, "2024-01-31T09:30:00.5Z"),
        (pd.Timestamp("2024-01-31 09:30:00.000000001"), TEXT, "2024-01-31T09:30:00.000000001"),
        (np.datetime64("2024-01-31T09:30", "s"), TEXT, "2024-01-31T09:30:00"),
        (time(9, 30, 0, 250_000), TEXT, "09:30:00.25"),
        *((value, ValueKind.OFF, "") for value in (b"\xff", "\ud800", [], [1], {}, object(), 1j, timedelta(1))),
        *((value, ValueKind.OFF, "") for value in (np.timedelta64(1, "s"), np.datetime64(2**62, "s"))),
        *((value, ValueKind.OFF, "") for value in (np.datetime64("-0044"), datetime.min.replace(tzinfo=ZONE))),
    ],
)
def test_every_value_has_one_reading(value: object, kind: ValueKind, text: str) -> None:
    assert canonical(value) == (kind, text)


def test_dates_and_times_that_python_does_not_have() -> None:
    assert date_text(-719_162) == "0001-01-01" and date_text(2_932_896) == "9999-12-31"
    assert date_text(-719_163) is None and date_text(2_932_897) is None
    assert moment_text(-(2**63), "s", zoned=False) is None and moment_text(2**63 - 1, "us", zoned=True) is None
    assert time_text(86_400, "s") is None and time_text(-1, "us") is None and time_text(86_399, "s") == "23:59:59"


@given(st.datetimes(timezones=st.none() | st.sampled_from([UTC, ZONE])))
def test_a_datetime_reads_as_the_timestamp_of_pandas(value: datetime) -> None:
    """The two are read by different code."""
    assert canonical(value) == canonical(pd.Timestamp(value))


class Colour(str, Enum):  # noqa: UP042 - a StrEnum prints its value, which would hide the fault
    """Text with a name, as enumerations of Python programs have it."""

    RED = "red"


def test_text_of_a_subclass_is_its_characters_as_in_a_column_of_text() -> None:
    assert canonical(Colour.RED) == (ValueKind.TEXT, "red")
    frame = pd.DataFrame({"x": [Colour.RED, 1]}, dtype=object)
    (batch,) = open_source(frame).batches(["x"])
    assert [canonical(value)[1] for value in python_values(batch.column(0))] == ["red", "1"]


def test_an_id_of_a_million_digits_is_none() -> None:
    assert id_text(1 << 3_000_000) == id_text(-(1 << 3_000_000)) == ""
