"""Finds the places of whole Arrow columns among the finest values of a domain, as a notation does for one value.

A finder settles the values that it is sure of. All others are read one by one, so a finder may leave out whatever is
rare. Property tests compare every finder with its notation.
"""

from collections.abc import Callable
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.arrow_values import MILLISECONDS_OF_A_DAY, decoded_text, is_numeric, is_text
from scumble.engines.number_columns import read_numbers
from scumble.model.dates import ISO, DateNotation
from scumble.model.notation import IntervalNotation, Notation
from scumble.model.schema import Attribute

LeafPlaces = npt.NDArray[np.int64]

UNSETTLED = -1
EPOCH = date(1970, 1, 1).toordinal()
UNITS_OF_A_DAY = {"s": 86_400, "ms": MILLISECONDS_OF_A_DAY, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def found_places(attribute: Attribute, values: pa.Array) -> LeafPlaces:
    """For every value its place inside the range, or `UNSETTLED`."""
    finder = _FINDERS.get(type(attribute.notation))
    return np.full(len(values), UNSETTLED) if finder is None else finder(attribute, values)


def _interval_places(attribute: Attribute, values: pa.Array) -> LeafPlaces:
    """Numbers and their texts."""
    notation, kind = attribute.notation, values.type
    assert isinstance(notation, IntervalNotation)
    if not is_numeric(kind) and not is_text(kind):
        return np.full(len(values), UNSETTLED)
    numbers = read_numbers(values, attribute.missing, notation.numbers)
    edges = notation.edge_floats
    inside = (numbers >= edges[0]) & (numbers < edges[-1])
    return np.where(inside, np.searchsorted(edges, numbers, side="right") - 1, UNSETTLED)


def _date_places(attribute: Attribute, values: pa.Array) -> LeafPlaces:
    """Typed dates and timestamps, and ISO texts."""
    notation, kind = attribute.notation, values.type
    assert isinstance(notation, DateNotation)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        days = _typed_days(values)
    elif is_text(kind):
        days = _written_days(values)
    else:
        return np.full(len(values), UNSETTLED)
    missing = None if attribute.missing is None else notation.date_of(attribute.missing)
    settled = (days >= notation.first.toordinal()) & (days < notation.end.toordinal())
    if missing is not None:
        settled &= days != missing.toordinal()
    return np.where(settled, np.searchsorted(notation.starts, days, side="right") - 1, UNSETTLED)


def _typed_days(values: pa.Array) -> LeafPlaces:
    """Days as `date.toordinal` counts them, 0 where a value is null."""
    kind = values.type
    stored = values.view(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
    counts = stored.fill_null(0).to_numpy(zero_copy_only=False)
    a_day = 1 if pa.types.is_date32(kind) else MILLISECONDS_OF_A_DAY
    if pa.types.is_timestamp(kind):
        a_day = UNITS_OF_A_DAY[kind.unit]
    return np.where(stored.is_valid().to_numpy(zero_copy_only=False), counts // a_day + EPOCH, 0)


def _written_days(values: pa.Array) -> LeafPlaces:
    """The days of ISO texts, 0 where a text is not one."""
    text = pc.utf8_trim_whitespace(decoded_text(values)[0])
    written = pc.match_substring_regex(text, ISO).fill_null(False)
    text = pc.if_else(written, text, pa.scalar("0001-01-00", text.type))
    year, month, day = (
        pc.utf8_slice_codeunits(text, *ends).cast(pa.int64()).to_numpy() for ends in ((0, 4), (5, 7), (8, 10))
    )
    months = (year - 1970) * 12 + month - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]") + (day - 1)
    real = (
        (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1) & (days.astype("datetime64[M]").astype(int) == months)
    )
    return np.where(real, days.astype(np.int64) + EPOCH, 0)


_FINDERS: dict[type[Notation] | type[None], Callable[[Attribute, pa.Array], LeafPlaces]] = {
    IntervalNotation: _interval_places,
    DateNotation: _date_places,
}
