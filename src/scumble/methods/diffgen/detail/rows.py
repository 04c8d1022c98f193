"""Rows drawn finely inside their cells: post-processing of paid answers, pure and repeatable.

Every row lies in the box of its cell. An attribute that was measured is drawn by what its table says of rows in the
same group; the class comes last, as the evidence of all the row's values tells. Classes are dealt out evenly rather
than by lot (systematic sampling within each cell): the rows have the chances that were measured, with less luck on top.
"""

from collections.abc import Sequence

import numpy as np

from scumble.methods.diffgen.detail.calibration import Calibration
from scumble.methods.diffgen.detail.groups import Evidence, Odds, Stage, advance, chances, means
from scumble.model.counts import Floats, Integers, digits_of
from scumble.privacy.noise import Simulation


class Rows:
    """Rows in the making: a cell and a provisional class each, from the published counts."""

    def __init__(self, evidence: Evidence, count: Integers, generator: Simulation) -> None:
        places = np.repeat(np.arange(count.size), count.ravel())
        self.cells, self.provisional = np.divmod(places, count.shape[1])
        self._cut = evidence.cut
        self._bins = evidence.bins
        self._digits = digits_of(self.cells, evidence.cut.shape)
        self._generator = generator
        self.codes: list[Integers] = [np.zeros(0, dtype=np.int64)] * len(evidence.cut.nodes)
        self.odds: Odds = evidence.cells[self.cells]
        self.groups = evidence.first.sort(self.odds)

    @property
    def rows(self) -> int:
        return len(self.cells)

    def told(self, groups: int, place: int) -> Floats:
        """The mean chances of the classes in each group and bin of an attribute, of shape (groups, bins, classes).

        Bins differ as far as the cut tells the attribute's values apart: what the cells have said of them is known, and
        a table must not say it again.
        """
        chance = chances(self.odds)
        everywhere = chance.mean(axis=0) if len(chance) else np.full(chance.shape[1], 1 / chance.shape[1])
        by_group = means(chance, self.groups, np.tile(everywhere, (groups, 1)))
        values, name = self._cut.shape[place], list(self._cut.nodes)[place]
        keys = self.groups * values + self._digits[place]
        by_value = means(chance, keys, np.repeat(by_group, values, axis=0)).reshape(groups, values, -1)
        bins = self._bins(place)
        shares = np.zeros((bins[-1] + 1, values))
        np.add.at(shares, (bins, self._cut.digits(name)), 1.0)
        return np.einsum("bv,gvc->gbc", shares / shares.sum(axis=1, keepdims=True), by_value)

    def draw(self, place: int, table: Floats) -> None:
        """Values of one attribute for all rows, by a table of weights (groups, bins, classes)."""
        self._fill(place, table.transpose(0, 2, 1).reshape(-1, table.shape[1]), len(table), self.groups)

    def draw_by_margin(self, place: int, margin: Floats) -> None:
        """The same by a histogram alone."""
        classes = self.odds.shape[1]
        self._fill(place, np.repeat(margin[np.newaxis], classes, axis=0), 1, np.zeros_like(self.groups))

    def advance(self, stage: Stage) -> None:
        self.groups = advance(stage, list(self.codes), self.odds, self.groups)

    def calibrate(self, calibration: Calibration) -> None:
        self.odds = calibration.apply(self.odds)

    def _fill(self, place: int, weights: Floats, groups: int, group: Integers) -> None:
        nodes, bins = list(self._cut.nodes.values())[place], self._bins(place)
        per_code = weights[:, bins] / np.bincount(bins)[bins]
        context = group * (len(weights) // groups) + self.provisional
        uniform = self._generator.random(self.rows)
        codes = np.empty(self.rows, dtype=np.int64)
        for digit, node in enumerate(nodes):
            here = np.flatnonzero(self._digits[place] == digit)
            # A box that the table has nothing in is filled evenly.
            inside = per_code[:, node.low : node.high] + 1e-9
            climb = np.cumsum(inside, axis=1)
            climb /= climb[:, -1:]
            climb[:, -1] = 1.0
            line = np.arange(len(climb))[:, np.newaxis] + climb
            found = np.searchsorted(line.ravel(), context[here] + uniform[here], side="right")
            codes[here] = node.low + np.minimum(found - context[here] * inside.shape[1], inside.shape[1] - 1)
        self.codes[place] = codes

    def deal(self) -> Integers:
        """The class of each row, dealt out within cells in the order of the odds."""
        return deal(chances(self.odds), [self.cells, self.odds[:, -1] - self.odds[:, 0]], self._generator)


def deal(chance: Floats, order: Sequence[Integers], generator: Simulation) -> Integers:
    """Classes by systematic sampling: along the order, each comes up as often as its chances add up to, within one.

    Class by class: the first against the others, then the second among the rows that are left, and so on.
    """
    labels = np.full(len(chance), chance.shape[1] - 1, dtype=np.int64)
    left = np.lexsort(tuple(reversed(order)))
    rest = np.ones(len(chance))
    for label in range(chance.shape[1] - 1):
        share = chance[left, label] / np.maximum(rest[left], 1e-12)
        climb = np.cumsum(np.minimum(share, 1.0)) + generator.random()
        chosen = np.diff(np.floor(climb), prepend=np.floor(climb[0] - share[0]) if len(climb) else 0.0) > 0
        labels[left[chosen]] = label
        rest = rest - chance[:, label]
        left = left[~chosen]
    return labels
