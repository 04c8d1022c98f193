"""The canonical reading of one raw value: its kind and its text, by a rule that looks at that value alone.

Every source and engine reads values by `canonical`, so the same value has the same code through a CSV file, a Parquet
file, a frame and a database, and no record can change how another record is read.

| value | kind | text |
|---|---|---|
| None, NaN, NaT, `pandas.NA`, the NaN of a Decimal | missing | empty |
| text, and bytes that are UTF-8 | text | exactly as written |
| a whole number | number | its digits: `10000000001` |
| a float | number | the shortest plain decimal that reads back as it: `1`, `0.5`, `0.0000001` |
| a complex number without an imaginary part | number | that of its real part |
| a Decimal | number | a plain decimal without trailing zeros: `1.5` |
| a boolean | boolean | `true`, `false` |
| a date | text | `2024-01-31` |
| a timestamp, any `numpy.datetime64` | text | `2024-01-31T09:30:00.5`; with a zone, in UTC: `2024-01-31T08:30:00.5Z` |
| a time of day | text | `09:30:00` |
| anything else: lists, bytes that are not UTF-8, text with a lone surrogate | off the domain | empty |

Numbers are exact below 2^53. A larger number is read as the nearest double, whatever its type: pandas turns whole
numbers into doubles as soon as one value of the column is missing. Zero has no sign.
"""

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np

Value = str | bytes | int | float | Decimal | date | time | None
"""One raw value of a record. `canonical` reads any other object too, as a value off the domain."""

EXACT = 2**53
"""Whole numbers up to here are doubles."""
_PANDAS_MISSING = {"NAType", "NaTType"}
"""The types of pandas' own missing values, which need no import of pandas."""
_LEAST_EXPONENT = -400
"""Decimals closer to zero are read as the nearest double, which is zero: their plain text could fill the memory."""
_LONGEST_ID = 400
"""Numbers with more digits cannot be ids: their plain text could fill the memory."""
_EPOCH = datetime(1970, 1, 1)
_FIRST_SECOND = (datetime.min - _EPOCH) // timedelta(seconds=1)
_LAST_SECOND = (datetime.max - _EPOCH) // timedelta(seconds=1)
_MONTHS = {"Y": 12, "M": 1}
_SECONDS = {"W": 7 * 24 * 60 * 60, "D": 24 * 60 * 60, "h": 60 * 60, "m": 60}
"""Long units of numpy's timestamps. A day of numpy is a timestamp at midnight, as it is in a frame of pandas."""
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class ValueKind(Enum):
    """What sort of value it is, which decides what its text is compared with."""

    MISSING = "missing"
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    OFF = "off the domain"


Canonical = tuple[ValueKind, str]
_MISSING: Canonical = (ValueKind.MISSING, "")
_OFF: Canonical = (ValueKind.OFF, "")


def canonical(value: object) -> Canonical:
    """The kind and the text of one value. Raises for no value.

    >>> [canonical(value)[1] for value in ("a ", 7, 1.0, 1e-7, 10000000001.0, Decimal("1.500"), True)]
    ['a ', '7', '1', '0.0000001', '10000000001', '1.5', 'true']
    >>> [canonical(value)[0].value for value in (float("nan"), b"K\\xf6ln", [1])]
    ['missing', 'off the domain', 'off the domain']
    """
    match value:
        case None:
            return _MISSING
        case str():
            return _text(value)
        case bool() | np.bool_():
            return ValueKind.BOOLEAN, "true" if value else "false"
        case np.timedelta64():  # a whole number to numpy
            return _OFF
        case int() | np.integer():
            return ValueKind.NUMBER, _whole_text(int(value))
        case float():
            return _MISSING if math.isnan(value) else (ValueKind.NUMBER, _float_text(float(value)))
        case np.floating():
            return _MISSING if np.isnan(value) else (ValueKind.NUMBER, _short_float_text(value))
        case complex() | np.complexfloating() if (
            value.imag == 0
        ):  # what pandas makes of a float beside a complex number
            return canonical(float(value.real))
        case Decimal():
            return _MISSING if value.is_nan() else (ValueKind.NUMBER, _decimal_text(value))
        case bytes() | bytearray() | memoryview():
            return _bytes_text(value)
        case _ if type(value).__name__ in _PANDAS_MISSING:
            return _MISSING
    return _time_reading(value)


def id_text(value: object, *, inferred: bool = False) -> str:
    """The text by which persons are compared; empty for an id that is missing, empty or cannot be read.

    It is the canonical text, except that whole numbers and Decimals keep all their digits. A float of 2^53 or more is
    not exact enough for an id, so it is empty. `inferred` says that the type of the column was chosen by its values, as
    pandas does: there every number of 2^53 or more is empty, because one missing id would turn all ids into floats.

    >>> [id_text(value) for value in ("7", 7, 7.0, 2**53 + 1, float(2**53), None, b"\\xff")]
    ['7', '7', '7', '9007199254740993', '', '', '']
    >>> id_text(2**53 + 1, inferred=True)
    ''
    """
    kind, text = canonical(value)
    if kind is not ValueKind.NUMBER:
        return text
    if abs(float(text)) < EXACT:
        return text
    if math.isinf(float(text)):  # also of whole numbers, whose digits would take minutes to write
        return ""
    exact = (
        value if isinstance(value, Decimal) else Decimal(int(value)) if isinstance(value, int | np.integer) else None
    )
    if inferred or exact is None or not exact.is_finite() or exact.adjusted() > _LONGEST_ID:
        return ""
    text = f"{exact:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _time_reading(value: object) -> Canonical:
    match value:
        case datetime():
            return _of(_datetime_text(value))
        case date():
            return ValueKind.TEXT, value.isoformat()
        case time() if value.tzinfo is None:
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return _of(time_text(seconds * 10**6 + value.microsecond, "us"))
        case np.datetime64():
            return _MISSING if np.isnat(value) else _of(_numpy_text(value))
    return _OFF


def _of(text: str | None) -> Canonical:
    return _OFF if text is None else (ValueKind.TEXT, text)


def _text(value: str) -> Canonical:
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no file of text can hold
        return _OFF
    return ValueKind.TEXT, str.__str__(value)  # of a subclass such as an Enum, its characters, as Arrow reads them


def _bytes_text(value: bytes | bytearray | memoryview) -> Canonical:
    try:
        return ValueKind.TEXT, bytes(value).decode()
    except ValueError:  # not UTF-8, or a view that was released
        return _OFF


def _whole_text(value: int) -> str:
    if -EXACT <= value <= EXACT:
        return str(value)
    try:
        return _float_text(float(value))
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def _float_text(value: float) -> str:
    if value.is_integer() and -EXACT <= value <= EXACT:
        return str(int(value))
    text = repr(value)
    return f"{Decimal(text):f}" if "e" in text else text.removesuffix(".0")


def _short_float_text(value: "np.floating[Any]") -> str:
    """The shortest decimal in the precision of the value: 0.1 in single precision is "0.1"."""
    double = float(value)
    if not math.isfinite(double) or abs(double) >= EXACT or double.is_integer():
        return _float_text(double)
    return np.format_float_positional(value, trim="-")


def _decimal_text(value: Decimal) -> str:
    if not value:
        return "0"
    if not value.is_finite() or not _LEAST_EXPONENT <= value.adjusted() < 16 or not -EXACT <= value <= EXACT:
        return _float_text(float(value))
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _datetime_text(value: datetime) -> str | None:
    nanoseconds = getattr(value, "nanosecond", 0)  # of a pandas.Timestamp
    try:
        zoned = value.utcoffset() is not None
        naive = value.astimezone(UTC).replace(tzinfo=None) if zoned else value.replace(tzinfo=None)
    except (OverflowError, ValueError, NotImplementedError):  # in UTC before the year 1 or after 9999
        return None
    if not 1 <= naive.year <= 9999:
        return None
    if type(naive) is datetime:  # the same text as below, faster
        text = naive.isoformat()
        return (text.rstrip("0") if naive.microsecond else text) + ("Z" if zoned else "")
    plain = datetime(naive.year, naive.month, naive.day, naive.hour, naive.minute, naive.second)
    seconds = (plain - _EPOCH) // timedelta(seconds=1)
    return moment_text((seconds * 10**6 + naive.microsecond) * 1000 + nanoseconds, "ns", zoned=zoned)


def _numpy_text(value: np.datetime64) -> str | None:
    unit, step = np.datetime_data(value.dtype)
    count = int(value.astype(np.int64)) * step
    if unit in _MONTHS:
        years, month = divmod(count * _MONTHS[unit], 12)
        unit, count = "s", _first_of_month(1970 + years, 1 + month)
    elif unit in _SECONDS:
        unit, count = "s", count * _SECONDS[unit]
    return moment_text(count, unit, zoned=False) if unit in _UNITS else None


def _first_of_month(year: int, month: int) -> int:
    """The seconds from 1970 to the start of a month; those of no date if there is no such year."""
    known = 1 <= year <= 9999
    return (datetime(year, month, 1) - _EPOCH) // timedelta(seconds=1) if known else _LAST_SECOND + 1


def date_text(days: int) -> str | None:
    """The date so many days after 1970-01-01, None before the year 1 and after 9999."""
    ordinal = days + date(1970, 1, 1).toordinal()
    return date.fromordinal(ordinal).isoformat() if 1 <= ordinal <= date.max.toordinal() else None


def moment_text(count: int, unit: str, *, zoned: bool) -> str | None:
    """The timestamp so many units after 1970, None before the year 1 and after 9999.

    >>> moment_text(1_500, "ms", zoned=True)
    '1970-01-01T00:00:01.5Z'
    """
    seconds, rest = divmod(count, _UNITS[unit])
    if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
        return None
    text = (_EPOCH + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    return text + _fraction(rest, unit) + ("Z" if zoned else "")


def time_text(count: int, unit: str) -> str | None:
    """The time of day so many units after midnight, None where a day has no such time."""
    seconds, rest = divmod(count, _UNITS[unit])
    if not 0 <= seconds < 24 * 60 * 60:
        return None
    return (_EPOCH + timedelta(seconds=seconds)).time().isoformat(timespec="seconds") + _fraction(rest, unit)


def _fraction(rest: int, unit: str) -> str:
    return f".{rest:0{len(str(_UNITS[unit])) - 1}d}".rstrip("0") if rest else ""
