"""Groups of records with similar log-odds, in which attributes are counted by class, and classes for calibration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Integers

LogOdds = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class LogOddsGroups:
    """Groups of records with similar log-odds.

    With two classes, a record's group depends on the log-odds of the second class minus those of the first. With more
    classes, it depends on the most probable class and its lead over the next one. `edges` has shape
    (kinds, levels - 1); there is one kind for two classes, and one for each class otherwise.
    """

    edges: LogOdds

    @classmethod
    def by_quantiles(cls, log_odds: LogOdds, groups: int) -> "LogOddsGroups":
        """About as many groups as wanted, each with about the same number of the given records."""
        kinds = 1 if log_odds.shape[1] == 2 else log_odds.shape[1]
        levels = max(groups // kinds, 1 if groups < 2 else 2)
        kind, lead = _kind_and_lead(log_odds)
        edges = np.zeros((kinds, levels - 1), dtype=np.int32)
        for number in range(kinds):
            here = lead[kind == number]
            if len(here) and levels > 1:
                edges[number] = np.quantile(here, np.arange(1, levels) / levels, method="lower")
        return cls(edges=edges)

    def __len__(self) -> int:
        return len(self.edges) * (self.edges.shape[1] + 1)

    def assign(self, log_odds: LogOdds) -> Integers:
        """The group of each record."""
        return self.assign_relative(np.subtract(log_odds[:, 1:].T, log_odds[:, 0], dtype=np.int64, order="C"))

    def assign_relative(self, relative: Integers) -> Integers:
        """The group of each record, by log-odds relative to those of the first class (classes - 1, records)."""
        groups = np.zeros(relative.shape[1], dtype=np.int32)
        add_groups(relative, self.edges, len(groups), 1, groups)
        return groups.astype(np.int64)


def _kind_and_lead(log_odds: LogOdds) -> tuple[Integers, LogOdds]:
    if log_odds.shape[1] == 2:
        return np.zeros(len(log_odds), dtype=np.int64), log_odds[:, 1] - log_odds[:, 0]
    ranked = np.sort(log_odds, axis=1)
    return log_odds.argmax(axis=1), ranked[:, -1] - ranked[:, -2]


@compiled
def add_groups(relative: Any, edges: Any, rows: Any, factor: Any, keys: Any) -> None:
    """Add `factor` times the group to the key of each row.

    `relative`, of shape (classes - 1, rows), are the log-odds of each further class minus those of the first.
    """
    kinds, cuts = edges.shape
    step = np.int32(factor)
    if kinds == 1:
        lead = relative[0]
        for cut in range(cuts):
            edge = edges[0, cut]
            for row in range(rows):
                keys[row] += step * (lead[row] > edge)
        return
    for row in range(rows):
        kind, largest, second = 0, 0, relative[0, row]
        if second > 0:
            kind, largest, second = 1, second, 0
        for label in range(2, kinds):
            value = relative[label - 1, row]
            if value > largest:
                kind, largest, second = label, value, largest
            elif value > second:
                second = value
        level = 0
        for cut in range(cuts):  # no early exit: an unpredictable branch would cost more
            level += largest - second > edges[kind, cut]
        keys[row] += step * (kind * (cuts + 1) + level)
