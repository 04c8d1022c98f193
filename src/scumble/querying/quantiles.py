"""Quantiles with a band: the values at which the noisy cumulative counts may reach the wanted share.

The true quantile is the first value v with C(v) >= q N, for the cumulative counts C and the number N of records. The
band reaches from the first value where C(v) - q N may be zero or more to the last where it may be below zero just
before. Each end is missed with a probability of at most 2.5 %, because only the noise at the true quantile decides.
"""

from collections.abc import Sequence

import numpy as np

from scumble.errors import InputError
from scumble.model.counts import Floats
from scumble.querying.answering import Evidence, known_values
from scumble.querying.answers import AnswerSource, Estimate
from scumble.querying.estimates import Linear
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import NumberValues
from scumble.querying.predicates import OneAttribute, Predicate, attributes_of, both
from scumble.querying.values import Mask, Values


def quantile_of(
    evidence: Evidence, where: Predicate, labels: tuple[str, ...], attribute: str, share: float
) -> Estimate:
    """The quantile of an attribute with an order, among the records that satisfy a condition."""
    values = evidence.values[attribute]
    known = both(where, OneAttribute(attribute=attribute, mask=known_values(values)))
    measure = f"quantile {share:g} of {attribute}"
    ends = _ends(evidence, attributes_of(where) | {attribute}, values, attribute)
    measured = _measured(evidence, known, values, attribute, share, ends)
    if measured is not None:
        value, low, high, names = measured
        return Estimate(
            group=labels, measure=measure, value=value, low=low, high=high, source=AnswerSource.MEASURED, tables=names
        )
    if evidence.rows is None:
        raise InputError(f"No table of the release counts {attribute!r} as the question needs it. Ask for counts.")
    places = np.sort(evidence.rows.places[attribute][evidence.truth(known)])
    if not len(places):
        return Estimate(group=labels, measure=measure, value=None, source=AnswerSource.ROWS)
    if isinstance(values, NumberValues):
        numbers = np.sort(evidence.rows.numbers[attribute][evidence.truth(known)])
        found: float | str = float(numbers[_rank(share, len(numbers))])
    else:
        found = label_of(values, int(places[_rank(share, len(places))]))
    return Estimate(group=labels, measure=measure, value=found, source=AnswerSource.ROWS)


def _rank(share: float, size: int) -> int:
    return min(max(int(np.ceil(share * size - 1e-9)) - 1, 0), size - 1)


def _ends(evidence: Evidence, needed: frozenset[str], values: Values, attribute: str) -> list[int]:
    """The places after which some table can count exactly, ascending; the last is the end of all known values."""
    last = values.size if values.missing is None else values.missing
    found: set[int] = set()
    for table in evidence.tables:
        if needed <= set(table.attributes):
            bins = values.bins(table.bins[table.attributes.index(attribute)])[:last]
            found |= {int(place) + 1 for place in np.flatnonzero(np.diff(bins, append=-1))}
    return sorted(found)


def _measured(
    evidence: Evidence, known: Predicate, values: Values, attribute: str, share: float, ends: Sequence[int]
) -> tuple[float | str | None, float | str, float | str, tuple[str, ...]] | None:
    total = evidence.measured(known)
    if total is None or not ends:
        return None
    excess: list[tuple[int, Linear]] = []
    names = dict.fromkeys(total.tables)
    for end in ends:
        below = OneAttribute(attribute=attribute, mask=np.arange(values.size) < end)
        found = evidence.measured(both(known, below)) if end != ends[-1] else total
        if found is not None:
            excess.append((end, found.linear.plus(total.linear, -share)))
            names |= dict.fromkeys(found.tables)
    estimates = np.array([each.value for _, each in excess])
    widths = np.array([each.half_width for _, each in excess])
    first_possible, reached, last_possible, rising = band(estimates, widths)
    bounds = [0, *(end for end, _ in excess)]
    middle = (
        None if total.linear.value <= 0 else _middle(values, bounds, [-share * total.linear.value, *rising], reached)
    )
    low = _low_end(values, bounds[first_possible])
    high = _high_end(values, bounds[last_possible], bounds[last_possible + 1])
    return middle, low, high, tuple(names)


def band(estimates: Floats, widths: Floats) -> tuple[int, int, int, Floats]:
    """Of C(v) - q N at ascending ends: the first that may be reached, the first that is, the last that may be needed.

    Also returns the estimates made to rise. The last end is certain to be reached, whatever its noise: all records lie
    below it.
    """
    rising = (np.maximum.accumulate(estimates) + np.minimum.accumulate(estimates[::-1])[::-1]) / 2
    last = len(estimates) - 1
    open_ends = np.flatnonzero(estimates[:-1] - widths[:-1] < 0)
    last_possible = int(open_ends[-1]) + 1 if len(open_ends) else 0
    return _first(estimates + widths >= 0, last), _first(rising >= 0, last), last_possible, rising


def _first(flags: Mask, otherwise: int) -> int:
    places = np.flatnonzero(flags)
    return int(places[0]) if len(places) else otherwise


def _low_end(values: Values, place: int) -> float | str:
    return float(values.starts[place]) if isinstance(values, NumberValues) else label_of(values, place)


def _high_end(values: Values, place: int, end: int) -> float | str:
    """The upper end of a bin: its only value, or the upper edge of the interval."""
    if not isinstance(values, NumberValues):
        return label_of(values, end - 1)
    if values.single and end == place + 1:
        return float(values.starts[place])
    return float(values.starts[end]) if end < len(values.starts) else float(values.grid.edge_floats[-1])


def _middle(values: Values, bounds: list[int], rising: list[float], place: int) -> float | str:
    """The value at which the cumulative counts reach the share; interpolated inside a bin of several numbers."""
    low, end = bounds[place], bounds[place + 1]
    if not isinstance(values, NumberValues):
        return label_of(values, end - 1)
    if values.single and end == low + 1:
        return float(values.starts[low])
    left, right = float(values.starts[low]), float(_high_end(values, low, end))
    before, after = float(rising[place]), float(rising[place + 1])
    return left + (right - left) * (min(max(-before / (after - before), 0.0), 1.0) if after > before else 0.5)


def label_of(values: Values, place: int) -> str:
    """The label of a category by its place."""
    assert isinstance(values, LeafValues)
    return values.tree.labels[place]
