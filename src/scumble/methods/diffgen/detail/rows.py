"""Fine rows: drawn from the class tables. Post-processing of paid answers, repeatable.

Values are drawn from the class tables, given a provisional class. Then rows are drawn again so that their log-odds are
distributed as those of the records. The class is drawn last, from the log-odds that all values of the row give, by
systematic sampling: classes occur as often as their probabilities add up to, with less sampling error than independent
draws would add.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.methods.diffgen.detail.drawing import drawn, raked
from scumble.methods.diffgen.detail.groups import LogOdds
from scumble.methods.diffgen.detail.terms import LogOddsModel, class_probabilities, to_log_odds
from scumble.model.coded_columns import SmallCodes, code_array
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

MATCHING_ROUNDS = 8
RAKING_ROUNDS = 5
MOST_LEADS = 1 << 17
"""Leads of the second of two classes are listed from the lowest to the highest, if those are at most so many."""


class RowSampler:
    """Draws rows attribute by attribute. Each row starts with a provisional class."""

    def __init__(self, attributes: int, count: Integers, generator: Simulation) -> None:
        """`count` lists how many rows each class has provisionally."""
        self.provisional = np.repeat(np.arange(len(count)), count)
        self._generator = generator
        self.codes: list[SmallCodes] = [np.zeros(0, dtype=np.uint8)] * attributes

    @property
    def rows(self) -> int:
        return len(self.provisional)

    def draw(self, place: int, weights: Floats, groups: Integers | None = None) -> None:
        """Draw an attribute of all rows from weights (groups, classes, codes), given the group of each row."""
        context = self.provisional if groups is None else groups * weights.shape[1] + self.provisional
        climb = np.cumsum(weights.reshape(-1, weights.shape[2]) + 1e-9, axis=1)
        climb /= climb[:, -1:]
        climb[:, -1] = 1.0
        self.codes[place] = drawn(climb, context, self._generator.random(self.rows))

    def resample(self, wanted: Sequence[tuple[npt.NDArray[Any], Floats]]) -> None:
        """Draw as many of the rows again, with replacement, so that groups of rows get wanted shares.

        Each element of `wanted` lists the group of every row and the share of every group. Rows are weighted by
        iterative proportional fitting (raking), which changes their distribution as little as possible; the last
        groups get their shares exactly.
        """
        if not self.rows:
            return
        chosen = systematic_rows(raked(self.rows, wanted, RAKING_ROUNDS), self._generator)
        for place, column in enumerate(self.codes):  # one after the other, for the sake of memory
            self.codes[place] = column[chosen]
        self.provisional = self.provisional[chosen]

    def draw_classes(self, model: LogOddsModel, shares: Floats) -> Integers:
        """The class of each row, by systematic sampling along the rows in the order of their log-odds.

        The classes of all rows together occur in the given shares.
        """
        log_odds = model.log_odds(self.codes)
        if len(shares) == 2 and len(log_odds):
            return self._draw_of_two(log_odds[:, 1] - log_odds[:, 0], shares)
        log_odds = match_classes(log_odds, shares)
        order = log_odds[:, -1] - log_odds[:, 0]
        return systematic_classes(class_probabilities(log_odds), order, self._generator)

    def _draw_of_two(self, lead: LogOdds, shares: Floats) -> Integers:
        """The same for two classes: many rows have the same lead of the second class, so each lead is done once."""
        low, high = int(lead.min()), int(lead.max())
        line: npt.NDArray[Any]
        if high - low < MOST_LEADS:
            leads, line = np.arange(low, high + 1, dtype=np.int32), code_array(lead - low, high - low + 1)
        else:
            leads, line = np.unique(lead, return_inverse=True)
        lines = np.stack([np.zeros_like(leads), leads], axis=1)
        matched = match_classes(lines, shares, np.bincount(line, minlength=len(leads)))
        return systematic_classes(class_probabilities(matched)[line], line, self._generator)


def systematic_rows(weights: Floats, generator: Simulation) -> Integers:
    """As many rows as there are weights, drawn by systematic sampling in proportion to these, with replacement."""
    climb = np.cumsum(weights)
    steps = (np.arange(len(weights)) + generator.random()) * (climb[-1] / len(weights))
    return np.minimum(np.searchsorted(climb, steps, side="right"), len(weights) - 1)


def match_classes(log_odds: LogOdds, shares: Floats, times: Integers | None = None) -> LogOdds:
    """Shift the log-odds of each class, so that the classes of all rows are expected in these shares.

    `times` says how often each row occurs, if not once.
    """
    for _ in range(MATCHING_ROUNDS if len(log_odds) else 0):
        found = np.average(class_probabilities(log_odds), axis=0, weights=times)
        log_odds = log_odds + (to_log_odds(shares) - to_log_odds(found))
    return log_odds


def systematic_classes(probabilities: Floats, order: npt.NDArray[Any], generator: Simulation) -> Integers:
    """Draw classes by systematic sampling, one class after the other.

    The first class is drawn against all others, the second among the rows that are left, and so on. Along the order,
    the first class occurs as often as its probabilities add up to, within one.
    """
    labels = np.full(len(probabilities), probabilities.shape[1] - 1, dtype=np.int64)
    left = np.argsort(order, kind="stable")
    rest = np.ones(len(probabilities))
    for label in range(probabilities.shape[1] - 1):
        share = probabilities[left, label] / np.maximum(rest[left], 1e-12)
        climb = np.cumsum(np.minimum(share, 1.0)) + generator.random()
        chosen = np.diff(np.floor(climb), prepend=np.floor(climb[0] - share[0]) if len(climb) else 0.0) > 0
        labels[left[chosen]] = label
        rest = rest - probabilities[:, label]
        left = left[~chosen]
    return labels
