"""What was measured of the detail so far, and everything that follows from it at no price.

Post-processing only: bins, weights of values, class shares, the model before any table, and rows that stand for the
records. `measure.py` pays for the answers.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scumble.methods.diffgen.detail.binning import Binning, by_records, each_its_own, is_binned, merged
from scumble.methods.diffgen.detail.class_totals import NoisyTable, class_totals
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.groups import LogOddsGroups
from scumble.methods.diffgen.detail.residuals import CERTAIN
from scumble.methods.diffgen.detail.shrinkage import consistent
from scumble.methods.diffgen.detail.terms import LogOddsModel, to_log_odds
from scumble.methods.diffgen.settings import DetailSettings
from scumble.model.coded_columns import SmallCodes, code_array
from scumble.model.counts import Floats, Integers
from scumble.model.cut import Cut
from scumble.model.row_limit import scaled
from scumble.model.schema import Schema
from scumble.privacy.noise import Simulation, simulation

if TYPE_CHECKING:
    from scumble.methods.diffgen.detail.rows import RowSampler

DRAFT_ROWS = 30_000


@dataclass(frozen=True, kw_only=True)
class MeasuredCells:
    """The cells that detail is measured in, with their noisy counts."""

    cut: Cut
    split: tuple[str, ...]
    """The attributes that the cut splits, in the order in which they were chosen."""
    measured: Integers
    """The noisy counts, of shape (cells, classes)."""
    variance: float
    """The variance of their noise."""
    count: Integers
    """The published counts, of the same shape: whole and not negative."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A noisy class table (groups, bins, classes) of one attribute."""

    counts: Integers
    deviation: float
    groups: LogOddsGroups | None


class Measured:
    """The noisy tables, and the model that follows from them."""

    def __init__(self, cells: MeasuredCells, settings: DetailSettings) -> None:
        self.cells, self.settings = cells, settings
        self.schema: Schema = cells.cut.schema
        self.names = [attribute.name for attribute in self.schema.predictors]
        self.domains = [attribute.domain for attribute in self.schema.predictors]
        self.shares: dict[int, Floats] = {}
        self.tables: dict[int, Table] = {}
        self.totals: list[NoisyTable] = [(cells.measured, cells.variance**0.5)]
        self.model = self.base()
        self.grouped: tuple[LogOddsModel, LogOddsGroups, Floats] | None = None

    def binning(self, place: int) -> Binning:
        """The bins in which an attribute is counted by class."""
        domain = self.domains[place]
        if place not in self.shares or not is_binned(domain, self.settings.bins):
            return each_its_own(domain)
        return by_records(domain, self.settings.bins, self.shares[place])

    def alone(self, place: int, most: int) -> Combination:
        """An attribute in few bins."""
        shares = self.shares.get(place)
        if shares is None and place in self.tables:
            shares = self.marginal(place)
        return Combination(places=(place,), bins=(merged(self.domains[place], most, shares),))

    def marginal(self, place: int) -> Floats:
        weights = self.weights(place).sum(axis=(0, 1))
        return np.asarray(weights / weights.sum())

    def weights(self, place: int) -> Floats:
        """The weights (groups, classes, codes) by which values of an attribute are drawn."""
        if place not in self.tables:
            return np.tile(self.shares[place], (1, len(self.schema.classes), 1))
        binning = self.binning(place)
        return consistent(self.tables[place].counts).transpose(0, 2, 1)[:, :, binning.bins] * binning.shares

    def class_shares(self) -> Floats:
        totals = class_totals(self.totals)
        return totals / totals.sum()

    def base(self) -> LogOddsModel:
        return LogOddsModel(schema=self.schema, base=to_log_odds(self.class_shares()))

    def sampling_error(self, combination: Combination) -> int:
        """The residuals of a combination that adds nothing, in units of 1/1024: the expected sum of their errors."""
        shares = self.class_shares()
        records = max(float(class_totals(self.totals).sum()), 1.0)
        each = np.sqrt(2 / np.pi * records * len(combination) * shares * (1 - shares))
        return int(CERTAIN * each.sum())

    def draft(self) -> "RowSampler":
        return self.rows(most=DRAFT_ROWS, each=1)

    def rows(self, *, most: int, each: int) -> "RowSampler":
        from scumble.methods.diffgen.detail.rows import RowSampler  # imported late, because plans do not draw rows

        count = scaled(np.rint(class_totals(self.totals)).astype(np.int64), most=most, each=each)
        rows = RowSampler(len(self.names), count, self._generator(count))
        start = self.model.base if self.model.start is None else self.model.start
        relative = np.repeat(np.subtract(start[1:], start[0], dtype=np.int64)[:, np.newaxis], rows.rows, axis=1)
        grouped = [number for number, table in enumerate(self.tables.values()) if table.groups is not None]
        for number, (place, table) in enumerate(self.tables.items()):
            groups = None if table.groups is None else table.groups.assign_relative(relative)
            rows.draw(place, self.weights(place), groups)
            if any(later > number for later in grouped):
                term = self.model.terms[number]
                keys = term.combination.keys(rows.codes)
                keys += 0 if groups is None else len(term.combination) * groups
                for other in range(len(relative)):
                    relative[other] += (term.measured[:, other + 1] - term.measured[:, 0])[keys]
        for place in range(len(self.names)):
            if place not in self.tables and place in self.shares:
                rows.draw(place, self.weights(place))
        return rows

    def wanted(self, rows: "RowSampler") -> list[tuple[SmallCodes, Floats]]:
        """Groups of rows, and the shares that they should have: by cell, by log-odds, and by value.

        The values of a row are drawn independently given its class. Those of a record depend on each other, so records
        have larger log-odds than rows, on either side, and are distributed differently over the cells.
        """
        wanted: list[tuple[SmallCodes, Floats]] = []
        if self.cells.split:
            cells = self._cells()
            keys = cells.keys(rows.codes)
            found = np.bincount(keys, minlength=len(cells)) / max(rows.rows, 1)
            wanted.append((code_array(keys, len(cells)), self._cell_shares(found)))
        if self.grouped is not None:
            model, groups, sizes = self.grouped
            assigned = code_array(groups.assign(model.log_odds(rows.codes)), len(groups))
            wanted.append((assigned, (sizes + 1) / (sizes + 1).sum()))
        for place, table in self.tables.items():
            sizes = consistent(table.counts).sum(axis=(0, 2))
            bins = code_array(self.binning(place).bins, len(sizes))
            wanted.append((bins[rows.codes[place]], sizes / sizes.sum()))
        return wanted

    def _cells(self) -> Combination:
        split = [place for place, name in enumerate(self.names) if name in self.cells.split]
        digits = tuple(self.cells.cut.digits(self.names[place]) for place in split)
        return Combination(places=tuple(split), bins=digits)

    def _cell_shares(self, found: Floats) -> Floats:
        """The share of each cell: as measured, shrunk toward what the rows have now (James and Stein 1961)."""
        sizes = self.cells.measured.sum(axis=1)
        total = class_totals(self.totals).sum()
        difference = sizes - total * found
        noise = self.cells.measured.shape[1] * self.cells.variance * max(len(sizes) - 2, 0)
        kept = max(1 - noise / max(float(difference @ difference), 1e-9), 0.0)
        shares = np.maximum(total * found + kept * difference, 0.0) + 1e-9
        return shares / shares.sum()

    def _generator(self, count: Integers) -> Simulation:
        digest = hashlib.sha256(np.ascontiguousarray(count, dtype="<i8").tobytes()).digest()
        return simulation(int.from_bytes(digest, "big"))
