"""Fine rows: drawn inside their cells from the measured tables. Post-processing of paid answers, repeatable.

Every row stays in the box of its cell. The value of a measured attribute is drawn from the table of the row's group.
The class is drawn last, from the log-odds that all values of the row give, by systematic sampling within each cell:
classes occur as often as their probabilities add up to, with less sampling error than independent draws would add.
"""

from collections.abc import Sequence

import numpy as np

from scumble.methods.diffgen.detail.calibration import Calibration
from scumble.methods.diffgen.detail.groups import (
    LogOdds,
    LogOddsModel,
    Stage,
    apply_stage,
    class_probabilities,
    means_by_key,
)
from scumble.model.counts import Floats, Integers, digits_of
from scumble.privacy.noise import Simulation


class RowSampler:
    """Draws rows attribute by attribute. Each row starts with a cell and a provisional class from the counts."""

    def __init__(self, model: LogOddsModel, count: Integers, generator: Simulation) -> None:
        places = np.repeat(np.arange(count.size), count.ravel())
        self.cells, self.provisional = np.divmod(places, count.shape[1])
        self._cut = model.cut
        self._bins = model.bins
        self._digits = digits_of(self.cells, model.cut.shape)
        self._generator = generator
        self.codes: list[Integers] = [np.zeros(0, dtype=np.int64)] * len(model.cut.nodes)
        self.log_odds: LogOdds = model.cell_log_odds[self.cells]
        self.groups = model.first_groups.assign(self.log_odds)

    @property
    def rows(self) -> int:
        return len(self.cells)

    def prior_probabilities(self, groups: int, place: int) -> Floats:
        """The class probabilities that are known before an attribute is counted, of shape (groups, bins, classes).

        They are means over the drawn rows. Bins differ only where the cut distinguishes values of the attribute: a
        table is shrunk toward what the cells imply for its values, so that it does not count that evidence again.
        """
        probabilities = class_probabilities(self.log_odds)
        overall = (
            probabilities.mean(axis=0)
            if len(probabilities)
            else np.full(probabilities.shape[1], 1 / probabilities.shape[1])
        )
        by_group = means_by_key(probabilities, self.groups, np.tile(overall, (groups, 1)))
        values, name = self._cut.shape[place], list(self._cut.nodes)[place]
        keys = self.groups * values + self._digits[place]
        by_value = means_by_key(probabilities, keys, np.repeat(by_group, values, axis=0)).reshape(groups, values, -1)
        bins = self._bins(place)
        shares = np.zeros((bins[-1] + 1, values))
        np.add.at(shares, (bins, self._cut.digits(name)), 1.0)
        return np.einsum("bv,gvc->gbc", shares / shares.sum(axis=1, keepdims=True), by_value)

    def draw(self, place: int, table: Floats) -> None:
        """Draw one attribute of all rows from a table of weights (groups, bins, classes)."""
        self._fill(place, table.transpose(0, 2, 1).reshape(-1, table.shape[1]), len(table), self.groups)

    def draw_by_marginal(self, place: int, marginal: Floats) -> None:
        """Draw one attribute of all rows from its marginal, independently of group and class."""
        classes = self.log_odds.shape[1]
        self._fill(place, np.repeat(marginal[np.newaxis], classes, axis=0), 1, np.zeros_like(self.groups))

    def apply_stage(self, stage: Stage) -> None:
        self.groups = apply_stage(stage, list(self.codes), self.log_odds, self.groups)

    def calibrate(self, calibration: Calibration) -> None:
        self.log_odds = calibration.apply(self.log_odds)

    def _fill(self, place: int, weights: Floats, groups: int, group: Integers) -> None:
        nodes, bins = list(self._cut.nodes.values())[place], self._bins(place)
        per_code = weights[:, bins] / np.bincount(bins)[bins]
        context = group * (len(weights) // groups) + self.provisional
        uniform = self._generator.random(self.rows)
        codes = np.empty(self.rows, dtype=np.int64)
        for digit, node in enumerate(nodes):
            here = np.flatnonzero(self._digits[place] == digit)
            # If the table counts nothing inside the node, its codes are drawn uniformly.
            inside = per_code[:, node.low : node.high] + 1e-9
            climb = np.cumsum(inside, axis=1)
            climb /= climb[:, -1:]
            climb[:, -1] = 1.0
            line = np.arange(len(climb))[:, np.newaxis] + climb
            found = np.searchsorted(line.ravel(), context[here] + uniform[here], side="right")
            codes[here] = node.low + np.minimum(found - context[here] * inside.shape[1], inside.shape[1] - 1)
        self.codes[place] = codes

    def draw_classes(self) -> Integers:
        """The class of each row, by systematic sampling along the rows of a cell in the order of their log-odds."""
        return systematic_classes(
            class_probabilities(self.log_odds),
            [self.cells, self.log_odds[:, -1] - self.log_odds[:, 0]],
            self._generator,
        )


def systematic_classes(probabilities: Floats, order: Sequence[Integers], generator: Simulation) -> Integers:
    """Draw classes by systematic sampling, one class after the other.

    The first class is drawn against all others, the second among the rows that are left, and so on. Along the order,
    the first class occurs as often as its probabilities add up to, within one.
    """
    labels = np.full(len(probabilities), probabilities.shape[1] - 1, dtype=np.int64)
    left = np.lexsort(tuple(reversed(order)))
    rest = np.ones(len(probabilities))
    for label in range(probabilities.shape[1] - 1):
        share = probabilities[left, label] / np.maximum(rest[left], 1e-12)
        climb = np.cumsum(np.minimum(share, 1.0)) + generator.random()
        chosen = np.diff(np.floor(climb), prepend=np.floor(climb[0] - share[0]) if len(climb) else 0.0) > 0
        labels[left[chosen]] = label
        rest = rest - probabilities[:, label]
        left = left[~chosen]
    return labels
