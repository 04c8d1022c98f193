"""The distributions of a perturbed table, for all rows and for each class: perturbed, reconstructed, and original.

The original distribution is included if the true rows are given.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.mining.reconstruction.iteration import IntervalPartition, interval_partition, number_of_intervals
from scumble.mining.reconstruction.smoothing import Rule, reconstruct_by_rule
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.local.channel import transition
from scumble.model.local.noise_model import NoiseModel
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import Truthful
from scumble.model.schema import Attribute

MOST_CATEGORIES = 200
LARGEST_KERNEL = 4_000_000
"""Largest kernel for which values and perturbed classes are reconstructed jointly."""

Blocks = Iterable[Mapping[str, npt.NDArray[np.integer]]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """Shares over intervals of numbers or over categories. They sum to one, or to zero if there are no values."""

    shares: Floats
    edges: Floats | None = None
    names: tuple[str, ...] = ()

    def lines(self) -> Iterator[dict[str, Any]]:
        for place, share in enumerate(self.shares.tolist()):
            if self.edges is None:
                yield {"low": "", "high": "", "value": self.names[place], "share": share}
            else:
                yield {
                    "low": float(self.edges[place]),
                    "high": float(self.edges[place + 1]),
                    "value": "",
                    "share": share,
                }

    def distance(self, other: "Histogram") -> float:
        """The total variation distance, if values are uniform within each interval."""
        if self.edges is None or other.edges is None:
            return float(np.abs(self.shares - other.shares).sum() / 2)
        edges = np.union1d(self.edges, other.edges)
        mine, theirs = (
            np.diff(np.interp(edges, each.edges, np.concatenate([[0.0], np.cumsum(each.shares)])))  # type: ignore[arg-type]
            for each in (self, other)
        )
        return float(np.abs(mine - theirs).sum() / 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution:
    """The distribution of an attribute among all rows, or among those of one class (`group`).

    `rows` is their number; it is estimated if the class was perturbed.
    """

    attribute: str
    group: str | None
    rows: float
    randomized: Histogram
    reconstructed: Histogram
    original: Histogram | None = None

    @property
    def histograms(self) -> dict[str, Histogram]:
        known = {"original": self.original} if self.original is not None else {}
        return {**known, "randomized": self.randomized, "reconstructed": self.reconstructed}

    def distances(self) -> dict[str, float]:
        """The distances to the original distribution, if it is known."""
        if self.original is None:
            return {}
        return {name: self.original.distance(each) for name, each in self.histograms.items() if name != "original"}

    def summary(self) -> dict[str, Any]:
        """What the distribution is of, the number of rows and the distances, as plain data."""
        return {"attribute": self.attribute, "class": self.group, "rows": self.rows, "distance": self.distances()}


def distributions(
    noise: NoiseModel, randomized: Blocks, true: Blocks | None = None, rule: Rule = Rule.SMOOTHED
) -> list[Distribution]:
    """Every reported attribute among all rows, and every predictor in each class if there is a class."""
    observed = _tables(randomized, noise.published.attributes, noise.published.target, noise)
    original = None
    if true is not None:
        attributes = tuple(noise.schema[name] for name in noise.reported)
        original = _tables(true, attributes, noise.published.target, noise)
    return [
        each
        for name in noise.reported
        for each in _of_attribute(noise, name, observed[name], None if original is None else original[name], rule)
    ]


def _tables(
    blocks: Blocks, attributes: tuple[Attribute, ...], target: str | None, noise: NoiseModel
) -> dict[str, Integers]:
    """The number of rows by class and code: shape (classes, codes)."""
    classes = len(noise.published.classes)
    sizes = {attribute.name: attribute.domain.size for attribute in attributes}
    tables = {name: np.zeros(classes * size, dtype=np.int64) for name, size in sizes.items()}
    for block in blocks:
        for name, size in sizes.items():
            codes = block[name].astype(np.int64)
            labels = block[target].astype(np.int64) if target is not None else np.zeros_like(codes)
            tables[name] += np.bincount(labels * size + codes, minlength=classes * size)
    return {name: table.reshape(classes, -1) for name, table in tables.items()}


def _of_attribute(
    noise: NoiseModel, name: str, observed: Integers, original: Integers | None, rule: Rule
) -> Iterator[Distribution]:
    randomized, target = noise[name], noise.published.target
    part, missing = _partition(randomized, int(observed.sum()))
    bins = _joined(observed, part.bins)
    tables = np.vstack([bins.sum(axis=0), bins])
    found, rows = _reconstructed(part, tables, None if target is None else noise[target], rule)
    true = None if original is None else _joined(original, part.intervals)
    groups: list[str | None] = [None]
    if target is not None and name != target and len(found) > 1:
        groups += noise.published.classes
    for place, group in enumerate(groups):
        seen = bins.sum(axis=0) if group is None else bins[place - 1]
        was = None if true is None else true.sum(axis=0) if group is None else true[place - 1]
        yield Distribution(
            attribute=name,
            group=group,
            rows=float(rows[place]),
            randomized=_histogram(randomized.published, part.bins, seen, missing),
            reconstructed=_histogram(randomized.attribute, part.intervals, found[place], missing),
            original=None if was is None else _histogram(randomized.attribute, part.intervals, was, missing),
        )


def _partition(randomized: RandomizedAttribute, rows: int) -> tuple[IntervalPartition, bool]:
    """The paper's number of intervals, or one per category; and whether the last one is for missing numbers."""
    domain, inputs = randomized.attribute.domain, randomized.channel.inputs
    if not isinstance(domain, Grid):
        wanted = inputs if inputs <= MOST_CATEGORIES else number_of_intervals(rows)
        return interval_partition(randomized, np.unique(np.arange(wanted + 1) * inputs // wanted)), False
    number = number_of_intervals(rows)
    places = np.unique(np.append(np.arange(number + 1) * domain.cells // number, inputs))
    return interval_partition(randomized, places), inputs > domain.cells


def _joined(table: Integers, edges: Integers) -> Integers:
    """Counts summed between the edges. Codes beyond the last edge are missing values and left out."""
    return np.add.reduceat(table[:, : int(edges[-1])], edges[:-1], axis=1)


def _reconstructed(
    part: IntervalPartition, tables: Integers, target: RandomizedAttribute | None, rule: Rule
) -> tuple[Floats, Floats]:
    """Reconstructed shares of all rows and of each class, and their numbers of rows.

    If the joint kernel would be too large, of all rows only.
    """
    if target is None or isinstance(target.randomizer, Truthful):
        return np.stack([reconstruct_by_rule(table, part, rule) for table in tables]), tables.sum(axis=1).astype(
            np.float64
        )
    every = reconstruct_by_rule(tables[0], part, rule)[np.newaxis]
    classes = len(tables) - 1
    if part.kernel.size * classes**2 > LARGEST_KERNEL:
        return every, tables[:1].sum(axis=1).astype(np.float64)
    edges = np.arange(classes + 1)
    kernel: Floats = np.kron(part.kernel, transition(target.channel, edges, edges)).astype(np.float64)
    joint = reconstruct_by_rule(tables[1:].T.ravel(), part, rule, kernel).reshape(part.size, classes).T
    totals = joint.sum(axis=1, keepdims=True)
    by_class = np.divide(joint, totals, out=np.zeros_like(joint), where=totals > 0)
    return np.vstack([every, by_class]), tables[0].sum() * np.concatenate([[1.0], totals[:, 0]])


def _histogram(attribute: Attribute, edges: Integers, amounts: npt.NDArray[np.number], missing: bool) -> Histogram:
    domain = attribute.domain
    if isinstance(domain, Grid) and missing:
        edges, amounts = edges[:-1], amounts[:-1]
    total = float(amounts.sum())
    shares = np.asarray(amounts, dtype=np.float64) / (total or 1.0)
    if isinstance(domain, Grid):
        return Histogram(shares=shares, edges=domain.edge_floats[edges])
    labels = domain.labels
    pairs = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return Histogram(
        shares=shares,
        names=tuple(labels[low] if high == low + 1 else f"{labels[low]} to {labels[high - 1]}" for low, high in pairs),
    )
