"""Answers from records that were perturbed one by one, corrected by the known law of their noise.

Categories, and numbers under randomized response, are corrected exactly. If f(v) is what a record with the true values
v adds to an answer, the report w adds g(w) instead, where g solves E[g(w) | v] = f(v). The sum is unbiased, and the sum
of g(w)^2 - G(w), with E[G(w) | v] = f(v)^2, is an unbiased estimate of the variance of its noise. Values that a
question does not distinguish are first joined into classes, so that g is a small table.

Numbers with added noise are reconstructed instead (Agrawal & Srikant 2000, with smoothing), jointly with categories.
The error of a smoothed reconstruction is not noise alone, so these answers have no interval.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from scumble.errors import InputError
from scumble.mining.reconstruction.iteration import IntervalPartition, interval_partition, number_of_intervals
from scumble.model.counts import Floats, Integers, places_of
from scumble.model.grid import Grid
from scumble.model.local.channel import AdditiveChannel, GroupingChannel, ReplacementChannel
from scumble.model.local.noise_law import TOTAL
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.measured_tables import AttributeBins, MeasuredTable, NoiseKind
from scumble.querying.cover import cover
from scumble.querying.noise_sums import CONFIDENCE
from scumble.querying.predicates import Predicate
from scumble.querying.values import Values

LARGEST_TABLE = 4_000_000
NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
SMOOTHED = "No interval: numbers with added noise are reconstructed with smoothing, whose error is not noise alone."
CUT = "No interval: the question cuts through reported intervals, inside which records are assumed to be spread evenly."


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportClasses:
    """One attribute: its true values in classes, its reports in classes, and the probabilities between them."""

    bins: AttributeBins
    of_report: Integers
    """The class of each report."""
    matrix: Floats
    """Pr[class of the report | class of the value]: shape (classes of reports, classes of values)."""
    part: IntervalPartition | None = None
    """How numbers with added noise are reconstructed; the last class is then that of missing numbers, if there are."""

    @property
    def reports(self) -> int:
        """The number of classes of reports."""
        return len(self.matrix)


def axis_of(
    randomized: RandomizedAttribute, values: Values, predicate: Predicate, *, rows: int, apart: bool
) -> ReportClasses:
    """The classes of one attribute that a question distinguishes; every value is one if they are kept `apart`."""
    attribute, channel = randomized.attribute, randomized.channel
    masks = [mask.mask for mask in predicate.masks if mask.attribute == attribute.name]
    with_missing = isinstance(attribute.domain, Grid) and attribute.domain.missing is not None
    numbers = values.size - with_missing
    if isinstance(attribute.domain, Grid):
        starts = _starts(masks, numbers, apart=apart)
        if isinstance(channel, AdditiveChannel):
            usual = number_of_intervals(rows)
            starts = np.union1d(starts if not apart else [0], np.arange(usual) * numbers // usual).astype(np.int64)
        classes = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, numbers)))
    else:
        classes = np.arange(numbers) if apart or not masks else _joint(masks)
    if isinstance(channel, GroupingChannel) and channel.outputs < channel.inputs:
        classes = channel.groups[:numbers]
    classes = np.append(classes, classes.max() + 1) if with_missing else classes
    bins = _bins(attribute.name, values, classes, with_missing=with_missing)
    if isinstance(channel, ReplacementChannel):
        truth, other = channel.truth / TOTAL, channel.other / TOTAL
        sizes = np.bincount(classes).astype(np.float64)
        matrix = other * sizes[:, np.newaxis] + (truth - other) * np.eye(len(sizes))
        return ReportClasses(bins=bins, of_report=classes, matrix=matrix)
    if isinstance(channel, GroupingChannel):
        firsts = np.searchsorted(channel.groups, np.arange(channel.outputs))
        of_report = classes[firsts]
        of_report = np.append(of_report, classes[-1]) if channel.inputs < len(classes) else of_report
        return ReportClasses(bins=bins, of_report=of_report, matrix=np.eye(bins.size))
    edges = np.append(np.flatnonzero(np.diff(classes[:numbers], prepend=-1)), numbers)
    part = interval_partition(randomized, edges)
    matrix, of_report = part.kernel, part.bin_of()
    if with_missing:
        matrix = np.pad(matrix, ((0, 1), (0, 1)))
        matrix[-1, -1] = 1.0
        of_report = np.append(of_report, len(matrix) - 1)
    return ReportClasses(bins=bins, of_report=of_report, matrix=matrix, part=part)


def _starts(masks: list[np.ndarray], numbers: int, *, apart: bool) -> Integers:
    """The first numbers of runs that satisfy the same conditions."""
    if apart:
        return np.arange(numbers)
    changes = [np.flatnonzero(np.diff(mask[:numbers].astype(np.int8))) + 1 for mask in masks]
    return np.unique(np.concatenate([[0], *changes])).astype(np.int64)


def _joint(masks: list[np.ndarray]) -> Integers:
    _, classes = np.unique(np.stack(masks), axis=1, return_inverse=True)
    return classes.ravel().astype(np.int64)


def _bins(name: str, values: Values, classes: Integers, *, with_missing: bool) -> AttributeBins:
    size = int(classes.max()) + 1
    domain = values.attribute.domain
    if not isinstance(domain, Grid):
        return AttributeBins(attribute=name, size=size, of_leaf=classes)
    starts = np.flatnonzero(np.diff(classes[: domain.cells], prepend=-1))
    edges = domain.edge_floats[np.append(starts, domain.cells)]
    return AttributeBins(attribute=name, size=size, edges=edges, missing=size - 1 if with_missing else None)


@dataclass(frozen=True, kw_only=True, eq=False)
class PerturbedCounts:
    """The number of reports in each combination of classes, and what it says about the true values."""

    axes: tuple[ReportClasses, ...]
    values: Mapping[str, Values]
    observed: Floats
    """With an axis for each attribute; numbers with added noise come first."""

    @property
    def records(self) -> float:
        """The number of reports, which is that of the records."""
        return float(self.observed.sum())

    @property
    def exact(self) -> bool:
        """Whether sums can be corrected without bias."""
        return all(axis.part is None for axis in self.axes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The numbers of classes of values."""
        return tuple(axis.bins.size for axis in self.axes)

    def shares_of(self, predicate: Predicate) -> tuple[Floats, bool]:
        """The share of each combination of classes that satisfies a predicate, and whether none is cut."""
        bins = tuple(axis.bins for axis in self.axes)
        table = MeasuredTable(
            name="reports", bins=bins, counts=np.zeros(self.shape), kind=NoiseKind.LAPLACE, variance=0.0
        )
        found = cover(table, predicate, self.values)
        if found is None:
            raise InputError("The question distinguishes too many combinations of values. Ask a simpler one.")
        return found.shares, found.exact

    def corrected(self, function: Floats) -> Floats:
        """g, given f: what each report adds to the answer."""
        for place, axis in enumerate(self.axes):
            inverse = np.linalg.pinv(axis.matrix)
            function = np.moveaxis(np.tensordot(inverse.T, function, axes=(1, place)), 0, place)
        return function

    def total(self, function: Floats) -> float:
        """The estimated sum of f over the true values."""
        if self.exact:
            return float((self.observed * self.corrected(function)).sum())
        return float((self.reconstructed * function).sum())

    def variance(self, function: Floats) -> float | None:
        """The estimated variance of the noise of `total`; None if the noise is not all of its error."""
        if not self.exact:
            return None
        squares = self.corrected(function) ** 2 - self.corrected(function**2)
        return max(float((self.observed * squares).sum()), 0.0)

    @cached_property
    def reconstructed(self) -> Floats:
        """The reconstructed number of records in each combination of classes, if the first axis has added noise."""
        from scumble.mining.reconstruction.smoothing import Rule, reconstruct_by_rule

        first, *others = self.axes
        part = first.part
        assert part is not None
        kernel = np.array(part.kernel, dtype=np.float64)
        for axis in others:
            kernel = np.kron(kernel, axis.matrix).astype(np.float64)
        bins = len(part.bins) - 1
        known = self.observed[:bins]
        shares = reconstruct_by_rule(known.ravel(), part, Rule.SMOOTHED, kernel)
        found = shares.reshape(part.size, *self.shape[1:]) * known.sum()
        if first.bins.missing is None:
            return found
        missing = self.observed[bins]
        for place, axis in enumerate(others):
            missing = np.moveaxis(np.tensordot(np.linalg.pinv(axis.matrix), missing, axes=(1, place)), 0, place)
        return np.concatenate([found, missing[np.newaxis]])


def count_reports(
    blocks: Iterable[Mapping[str, Integers]], axes: Iterable[ReportClasses], values: Mapping[str, Values]
) -> PerturbedCounts:
    """Count the reports block by block. Raises `InputError` if two numbers have added noise, or there is too much."""
    ordered = tuple(sorted(axes, key=lambda axis: axis.part is None))
    noisy = [axis.bins.attribute for axis in ordered if axis.part is not None]
    if len(noisy) > 1:
        raise InputError(
            f"{' and '.join(noisy)} have added noise; their joint distribution is not reconstructed. Ask about one of "
            "them at a time."
        )
    shape = tuple(axis.reports for axis in ordered)
    kernel = math.prod(axis.matrix.size for axis in ordered) if noisy else 0
    if max(math.prod(shape), kernel) > LARGEST_TABLE:
        raise InputError("The question distinguishes too many combinations of values. Ask a simpler one.")
    counts = np.zeros(math.prod(shape))
    for block in blocks:
        size = len(next(iter(block.values())))
        digits = [axis.of_report[block[axis.bins.attribute]] for axis in ordered]
        places = places_of(digits, shape) if digits else np.zeros(size, dtype=np.int64)
        counts += np.bincount(places, minlength=len(counts))
    return PerturbedCounts(axes=ordered, values=values, observed=counts.reshape(shape))
