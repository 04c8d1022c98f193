"""Answers counts, shares and means: from measured tables where these are exact, otherwise from rows or cells.

Pure functions over measured tables and rows. A question is answered by every measured table whose bins it does not cut
through. Their answers are averaged by precision and calibrated to what other tables count in common. What no table
answers is answered by the published rows, or by cells with records spread evenly inside; these answers have no
interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from scumble.errors import InputError
from scumble.model.counts import Floats, Integers
from scumble.model.measured_tables import MeasuredTable
from scumble.querying.answers import AnswerSource, Estimate
from scumble.querying.calibration import CommonCounts
from scumble.querying.cover import Cover, cover
from scumble.querying.estimates import Interval, Linear, combined, ratio_interval
from scumble.querying.number_values import CellValues, NumberValues
from scumble.querying.predicates import ALL, OneAttribute, Predicate, attributes_of, both
from scumble.querying.values import Mask, Values


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedRows:
    """Rows of a release: the places of their values, and the numbers of numeric columns."""

    size: int
    places: Mapping[str, Integers]
    numbers: Mapping[str, Floats]


@dataclass(frozen=True, kw_only=True)
class Found:
    """An estimate of a number of records and its source."""

    linear: Linear
    source: AnswerSource
    tables: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """What a release offers to a question: measured tables, rows, the distinguishable values, the public row count.

    The tables must be summed over all attributes that the question does not mention.
    """

    tables: Sequence[MeasuredTable]
    values: Mapping[str, Values]
    rows: PublishedRows | None
    public_records: int | None = None
    stated_records: float | None = None
    """The number of records that the release states, for answers from rows if no table was measured."""

    @cached_property
    def calibration(self) -> CommonCounts:
        """What the tables count in common."""
        return CommonCounts(tables=self.tables, values=self.values, public_records=self.public_records)

    @cached_property
    def total(self) -> Found:
        """The number of all records."""
        return self.measured(ALL) or self._stated_total()

    def _stated_total(self) -> Found:
        if self.stated_records is None:
            raise InputError("The release states no number of records, so it cannot answer counts.")
        return Found(
            linear=Linear(tables=self.tables, weights={}, constant=self.stated_records),
            source=AnswerSource.ROWS,
            tables=(),
        )

    def measured(self, predicate: Predicate) -> Found | None:
        """The number of records that satisfy a predicate, from all tables that answer it exactly."""
        if self.public_records is not None and not attributes_of(predicate):
            constant = Linear(tables=self.tables, weights={}, constant=float(self.public_records))
            return Found(linear=constant, source=AnswerSource.PUBLIC, tables=())
        found = {
            number: each.shares for number, each in self._covers(predicate).items() if each is not None and each.exact
        }
        if not found:
            return None
        linear = combined(Linear(tables=self.tables, weights={number: shares}) for number, shares in found.items())
        names = dict.fromkeys(self.tables[number].name for number in sorted(linear.weights))
        return Found(linear=self.calibration.apply(linear), source=AnswerSource.MEASURED, tables=tuple(names))

    def _covers(self, predicate: Predicate) -> dict[int, Cover | None]:
        return {number: cover(table, predicate, self.values) for number, table in enumerate(self.tables)}

    def count(self, predicate: Predicate) -> Found:
        """The number of records that satisfy a predicate, from the best source."""
        found = self.measured(predicate)
        if found is not None:
            return found
        if self.rows is not None:
            constant = self.total.linear.value * self.share_of_rows(predicate)
            return Found(
                linear=Linear(tables=self.tables, weights={}, constant=constant), source=AnswerSource.ROWS, tables=()
            )
        covers = {n: each for n, each in self._covers(predicate).items() if each is not None}
        self._check_published(predicate)
        usable = [n for n, each in covers.items() if each.apart]
        if not usable:
            raise InputError(self._refusal(bool(covers)))
        spread = [Linear(tables=self.tables, weights={n: covers[n].shares}) for n in usable]
        best = min(spread, key=lambda each: each.variance)
        fixed = Linear(tables=self.tables, weights={}, constant=best.value)
        return Found(linear=fixed, source=AnswerSource.CELLS, tables=())

    def _check_published(self, predicate: Predicate) -> None:
        """Raise `InputError` if a predicate is about an attribute of which nothing is published."""
        for mask in predicate.masks:
            split = any(each.size > 1 for t in self.tables for each in t.bins if each.attribute == mask.attribute)
            if not split and mask.mask.any() and not mask.mask.all():
                raise InputError(
                    f"The release publishes {mask.attribute!r} as one value only, so it cannot answer this question."
                )

    def _refusal(self, covered: bool) -> str:
        if covered:
            return "The release counts missing values together with numbers, so it cannot separate them. Ask for both."
        return "No table of the release counts these attributes together, and it has no rows. Ask for fewer."

    def share_of_rows(self, predicate: Predicate) -> float:
        """The share of the published rows that satisfy a predicate."""
        assert self.rows is not None
        return float(self.truth(predicate).mean()) if self.rows.size else 0.0

    def part_in_rows(self, whole: Found, part: Predicate, where: Predicate) -> Found:
        """A part of the records that satisfy a condition, as large as it is in the rows: all parts add up to them."""
        rows = self.share_of_rows(where)
        constant = max(whole.linear.value, 0.0) * self.share_of_rows(part) / rows if rows else 0.0
        return Found(
            linear=Linear(tables=self.tables, weights={}, constant=constant), source=AnswerSource.ROWS, tables=()
        )

    def truth(self, predicate: Predicate) -> Mask:
        """For each published row, whether it satisfies a predicate."""
        assert self.rows is not None
        return np.broadcast_to(predicate.truth(self.rows.places), (self.rows.size,))


def counts_and_shares(
    evidence: Evidence, where: Predicate, group: Predicate, labels: tuple[str, ...]
) -> list[Estimate]:
    """The number of records of a group that satisfy a condition, and their share.

    It is the share of all records or, if the answer is divided into groups, of those that satisfy the condition.
    """
    found = evidence.count(both(where, group))
    whole = evidence.count(where) if attributes_of(group) else evidence.total
    if attributes_of(group) and found.source is AnswerSource.ROWS:
        found = evidence.part_in_rows(whole, both(where, group), where)
    certain = found.source in (AnswerSource.MEASURED, AnswerSource.PUBLIC)
    ends: Interval | tuple[None, None] = (None, None)
    if certain:
        ends = _clipped(found.linear.interval, 0.0, float("inf"))
    count = Estimate(
        group=labels,
        measure="count",
        value=found.linear.value,
        low=ends[0],
        high=ends[1],
        source=found.source,
        tables=found.tables,
    )
    return [count, _share(found, whole, labels)]


def _share(found: Found, whole: Found, labels: tuple[str, ...]) -> Estimate:
    ends: Interval | tuple[None, None] = (None, None)
    sources = {found.source, whole.source}
    if sources <= {AnswerSource.MEASURED, AnswerSource.PUBLIC}:
        ratio = ratio_interval(found.linear, whole.linear)
        ends = (0.0, 1.0) if ratio is None else _clipped(ratio, 0.0, 1.0)
    bottom = whole.linear.value
    inexact = sources - {AnswerSource.MEASURED, AnswerSource.PUBLIC}
    return Estimate(
        group=labels,
        measure="share",
        value=found.linear.value / bottom if bottom > 0 else None,
        low=ends[0],
        high=ends[1],
        source=next(iter(inexact)) if inexact else found.source,
        tables=found.tables,
    )


def _clipped(interval: Interval, low: float, high: float) -> Interval:
    return min(max(interval[0], low), high), min(max(interval[1], low), high)


def mean_of(evidence: Evidence, where: Predicate, labels: tuple[str, ...], attribute: str) -> Estimate:
    """The mean of a numeric attribute among the records that satisfy a condition; missing numbers are left out."""
    measure = f"mean of {attribute}"
    values = evidence.values[attribute]
    known = both(where, OneAttribute(attribute=attribute, mask=known_values(values)))
    sums, counts, names = [], [], []
    for number, table in enumerate(evidence.tables):
        found = cover(table, known, evidence.values)
        numbers = _numbers_of_bins(table, values, attribute)
        if found is not None and found.exact and numbers is not None:
            counts.append(Linear(tables=evidence.tables, weights={number: found.shares}))
            sums.append(Linear(tables=evidence.tables, weights={number: found.shares * numbers}))
            names.append(table.name)
    if sums:
        best = min(range(len(counts)), key=lambda place: counts[place].variance)
        top, bottom = (evidence.calibration.apply(each) for each in (sums[best], counts[best]))
        edges = values.starts if isinstance(values, NumberValues) else np.zeros(1)
        ratio = ratio_interval(top, bottom)
        range_ = float(edges.min()), float(edges.max())
        ends = range_ if ratio is None else _clipped(ratio, *range_)
        value = min(max(top.value / bottom.value, range_[0]), range_[1]) if bottom.value > 0 else None
        return Estimate(
            group=labels,
            measure=measure,
            value=value,
            low=ends[0],
            high=ends[1],
            source=AnswerSource.MEASURED,
            tables=(names[best],),
        )
    if evidence.rows is None:
        return Estimate(
            group=labels, measure=measure, value=_mean_of_cells(evidence, known, attribute), source=AnswerSource.CELLS
        )
    numbers = evidence.rows.numbers[attribute][evidence.truth(known)]
    return Estimate(
        group=labels,
        measure=measure,
        value=float(numbers.mean()) if len(numbers) else None,
        source=AnswerSource.ROWS,
    )


def known_values(values: Values) -> Mask:
    """All values but the missing one."""
    known = np.ones(values.size, dtype=np.bool_)
    if values.missing is not None:
        known[values.missing] = False
    return known


def _numbers_of_bins(table: MeasuredTable, values: Values, attribute: str) -> Floats | None:
    """The number of every bin of an attribute along its axis, None unless each bin is one cell of the public grid."""
    if attribute not in table.attributes:
        return None
    axis = table.attributes.index(attribute)
    bins = table.bins[axis]
    if not isinstance(values, CellValues) or bins.edges is None or len(bins.edges) != len(values.starts) + 1:
        return None
    numbers = np.zeros(bins.size)
    numbers[: len(values.starts)] = values.starts
    return numbers.reshape([-1 if place == axis else 1 for place in range(len(table.bins))])


def _mean_of_cells(evidence: Evidence, known: Predicate, attribute: str) -> float | None:
    """The mean if every number were the middle of its interval."""
    for table in evidence.tables:
        found = cover(table, known, evidence.values) if attribute in table.attributes else None
        if found is None or not found.apart:
            continue
        axis = table.attributes.index(attribute)
        edges = table.bins[axis].edges
        assert edges is not None
        middles = np.zeros(table.bins[axis].size)
        middles[: len(edges) - 1] = (edges[:-1] + edges[1:]) / 2
        wide = middles.reshape([-1 if place == axis else 1 for place in range(len(table.bins))])
        counts = found.shares * table.counts
        total = float(counts.sum())
        return float((counts * wide).sum()) / total if total > 0 else None
    raise InputError(f"The release counts missing values of {attribute!r} together with numbers, so it has no mean.")
