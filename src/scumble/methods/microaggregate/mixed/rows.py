"""The records and documents of a release of a mixed table. Post-processing: it reads measured numbers only.

The seed of the draws is a hash of the measured counts, so anyone who has these can repeat the draws, and nobody can
pick a preferred outcome.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.methods.microaggregate.mixed.estimates import GroupEvidence, NoisyTables
from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.parameters import Centre
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.measured_tables import NoiseKind
from scumble.model.values import Column, number_of, published_values
from scumble.privacy.noise import Simulation, simulation

LARGE_GRID = 1 << 20
"""The values of a grid with more cells are computed one by one instead of from a table."""


def seed_of(*measured: NoisyTables | None) -> int:
    """A hash of measured counts."""
    digest = hashlib.sha256()
    for each in measured:
        for table in () if each is None else each.tables:
            digest.update(np.ascontiguousarray(table, dtype="<i8").tobytes())
    return int.from_bytes(digest.digest(), "big")


def columns_of(
    sides: Sequence[Side], counts: Sequence[Floats], rows: Integers, centre: Centre, seed: int
) -> dict[str, Column]:
    """The published columns: `rows[g]` records for group g, whose values follow from its estimated counts."""
    draw = simulation(seed)
    return {
        side.attribute.name: _column(side, table, rows, centre, draw) for side, table in zip(sides, counts, strict=True)
    }


def _column(side: Side, counts: Floats, rows: Integers, centre: Centre, draw: Simulation) -> Column:
    if centre is Centre.MEDIAN:
        return values_of(side, np.repeat(np.array([median_code(side, line) for line in counts]), rows))
    bins = [_in_proportion(line, int(number), draw) for line, number in zip(counts, rows, strict=True)]
    drawn = np.concatenate(bins) if bins else np.zeros(0, dtype=np.int64)
    if centre is Centre.SHARES or not side.numeric:
        starts, lengths = np.array(side.starts), side.lengths
        return values_of(side, starts[drawn] + np.floor(draw.random(len(drawn)) * lengths[drawn]).astype(np.int64))
    means = np.repeat(np.array([mean_amount(side, line) for line in counts]), rows)
    absent = drawn == side.missing if side.missing is not None else np.zeros(len(drawn), dtype=bool)
    if isinstance(side.attribute.domain, Grid):
        scale = side.amounts[0]
        return np.where(absent, np.nan, float(scale.low) + float(scale.unit) * means)
    return values_of(side, np.where(absent, side.size - 1, np.rint(means).astype(np.int64)))


def _in_proportion(counts: Floats, rows: int, draw: Simulation) -> Integers:
    """Bins for the records of a group, in the proportions of its counts and in random order.

    Systematic sampling: each bin gets its expected number of records, rounded up or down without bias.
    """
    shares = counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1 / len(counts))
    ends = np.floor(np.cumsum(shares) * rows + draw.random()).astype(np.int64)
    ends[-1] = rows
    ends = np.clip(ends, 0, rows)
    return draw.permutation(np.repeat(np.arange(len(counts)), ends - np.concatenate([[0], ends[:-1]])))


def median_code(side: Side, counts: Floats) -> int:
    """The code that represents a group: its median or, for categories, a leaf of the bin that is nearest to all
    records by the distance of the taxonomy. A missing value represents a group of which it is more than half."""
    if not side.attribute.in_order:
        best = int((side.nearness @ counts).argmax())
        return side.starts[best] + int(side.lengths[best] - 1) // 2
    present = _present(side, counts)
    if side.missing is not None and counts[side.missing] > present.sum():
        return side.size - 1
    half = np.cumsum(present) - present.sum() / 2
    best = int(np.argmax(half >= 0))
    inside = float(present[best] - half[best]) / present[best] if present[best] > 0 else 0.5
    return side.starts[best] + min(int(inside * side.lengths[best]), int(side.lengths[best]) - 1)


def mean_amount(side: Side, counts: Floats) -> float:
    """The average amount of the records of a group whose value is not missing; the middle of the domain if all are."""
    present, amounts = _present(side, counts), side.amounts[1]
    amounts = amounts[: len(present)]
    return float(present @ amounts / present.sum()) if present.sum() > 0 else float(amounts[len(amounts) // 2])


def _present(side: Side, counts: Floats) -> Floats:
    return counts if side.missing is None else counts[: side.missing]


def values_of(side: Side, codes: Integers) -> Column:
    """Codes as published values. A table of all values of a very long grid would not fit in memory."""
    domain = side.attribute.domain
    if not isinstance(domain, Grid) or domain.cells <= LARGE_GRID:
        return published_values(domain, codes)
    distinct, places = np.unique(codes, return_inverse=True)
    taken = None if domain.missing is None else number_of(domain.missing)
    lower = np.array([np.nan if code >= domain.cells else float(domain.edge(int(code))) for code in distinct])
    upper = np.array([float(domain.edge(min(int(code) + 1, domain.cells))) for code in distinct])
    return np.where(lower == taken, (lower + upper) / 2, lower)[places] if taken is not None else lower[places]


@dataclass(frozen=True, kw_only=True)
class MixedGroups:
    """What is published of the groups of a mixed table."""

    evidence: GroupEvidence
    counts: tuple[Floats, ...]
    noise: NoiseKind
    target: int | None
    """The place of the target among the sides, if groups are formed by class; else None."""
    records: tuple[float, float]
    """The number of records and its standard error, which is 0 if the number is public."""

    def documents(self) -> dict[str, dict[str, Any]]:
        """`groups`: each group with its box, its centre, its size and its noisy counts. `tables`: the noisy counts of
        every attribute in the whole table."""
        return {"groups": self._groups(), "tables": self._tables()}

    def _groups(self) -> dict[str, Any]:
        evidence = self.evidence
        named = [(side.attribute.name, side) for side in evidence.sides]
        lines = []
        for group, box in enumerate(evidence.partition.boxes):
            centre = {name: _plain(side, table[group]) for (name, side), table in zip(named, self.counts, strict=True)}
            words, counts = {}, {}
            for (name, side), ends, table in zip(named, box, evidence.then.tables, strict=True):
                words[name] = side.words(*ends)
                counts[name] = table[group, side.within(*ends)].tolist()
            lines.append({"centre": centre, "size": int(evidence.sizes[group]), "box": words, "counts": counts})
        return {
            "groups": lines,
            "bins": {name: list(side.starts) for name, side in named},
            "variance": evidence.then.variance,
        }

    def _tables(self) -> dict[str, Any]:
        """The noisy counts of each attribute, by class if groups are: those measured first, and those of the groups,
        added up. Their noise is independent. `variance` is that of one count, of which an entry adds up `terms`."""
        evidence, tables = self.evidence, []
        for number, side in enumerate(evidence.sides):
            for measured in (evidence.first, evidence.then):
                if measured is None:
                    continue
                parts = evidence.part_of if measured is evidence.then else np.arange(len(measured.tables[number]))
                groups = np.bincount(parts)
                if self.target is not None and groups.min() == groups.max() and number != self.target:
                    tables.append(self._by_class(number, measured, parts))
                else:
                    counts = {"counts": measured.tables[number].sum(axis=0).tolist(), "terms": len(parts)}
                    bins = {"attributes": [side.attribute.name], "bins": [list(side.starts)], "unit": 1}
                    tables.append({**bins, **counts, "variance": measured.variance})
        estimate, deviation = self.records
        return {
            "format": "tables/1",
            "noise": self.noise.value,
            "records": {"estimate": estimate, "deviation": deviation},
            "tables": tables,
        }

    def _by_class(self, number: int, measured: NoisyTables, parts: Integers) -> dict[str, Any]:
        """The counts of one side added up over the groups of each class, of which all classes have as many."""
        assert self.target is not None
        side, target = self.evidence.sides[number], self.evidence.sides[self.target]
        counts = np.zeros((target.bins, side.bins), dtype=np.int64)
        np.add.at(counts, parts, measured.tables[number])
        return {
            "attributes": [side.attribute.name, target.attribute.name],
            "bins": [list(side.starts), list(target.starts)],
            "unit": 1,
            "counts": counts.T.ravel().tolist(),
            "variance": measured.variance,
            "terms": len(parts) // target.bins,
        }


def _plain(side: Side, counts: Floats) -> float | str | None:
    """The centre of a group as plain data: a number, a label, or None for a missing number."""
    (value,) = values_of(side, np.array([median_code(side, counts)]))
    if not isinstance(side.attribute.domain, Grid):
        return str(value)
    return None if np.isnan(float(value)) else float(value)
