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
        groups = np.zeros(len(log_odds), dtype=np.int64)
        _assign(log_odds, self.edges, groups)
        return groups


def _kind_and_lead(log_odds: LogOdds) -> tuple[Integers, LogOdds]:
    if log_odds.shape[1] == 2:
        return np.zeros(len(log_odds), dtype=np.int64), log_odds[:, 1] - log_odds[:, 0]
    ranked = np.sort(log_odds, axis=1)
    return log_odds.argmax(axis=1), ranked[:, -1] - ranked[:, -2]


@compiled
def _assign(log_odds: Any, edges: Any, groups: Any) -> None:
    kinds, cuts = edges.shape
    for row in range(len(log_odds)):
        kind = 0
        if kinds == 1:
            lead = log_odds[row, 1] - log_odds[row, 0]
        else:
            second = log_odds[row, 1]
            if log_odds[row, 1] > log_odds[row, 0]:
                kind, second = 1, log_odds[row, 0]
            for label in range(2, kinds):
                if log_odds[row, label] > log_odds[row, kind]:
                    kind, second = label, log_odds[row, kind]
                elif log_odds[row, label] > second:
                    second = log_odds[row, label]
            lead = log_odds[row, kind] - second
        level = 0
        for cut in range(cuts):  # no early exit: an unpredictable branch would cost more
            level += lead > edges[kind, cut]
        groups[row] = kind * (cuts + 1) + level
