"""Compiled loops for drawing many rows: inverse sampling with a guide table, and raking.

They give exactly what `numpy.searchsorted`, `numpy.bincount` and indexing would, in less time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.coded_columns import SmallCodes
from scumble.model.counts import Floats, Integers

GUIDES = 1 << 8
"""Entries of the guide table for each context. A power of two, so that products with it are exact."""


def drawn(climbs: Floats, contexts: Integers, uniform: Floats) -> SmallCodes:
    """The place of each row's uniform number in the cumulative probabilities (contexts, values) of its context.

    Places are those of `np.searchsorted(line, contexts + uniform, side="right")`, where the line consists of all
    cumulative probabilities, those of context i raised by i.
    """
    line = (np.arange(len(climbs))[:, np.newaxis] + climbs).ravel()
    guide = np.searchsorted(line, np.arange(len(climbs) * GUIDES + 1) / GUIDES, side="right")
    found = np.empty(len(uniform), dtype=np.min_scalar_type(climbs.shape[1] - 1))
    _search(line, guide, contexts, uniform, climbs.shape[1], found)
    return found


def raked(rows: int, wanted: Sequence[tuple[npt.NDArray[Any], Floats]], rounds: int) -> Floats:
    """Weights of rows, by iterative proportional fitting: the groups of each element get their shares in turn."""
    weights = np.ones(rows)
    for _ in range(rounds):
        for groups, shares in wanted:
            found = np.zeros(len(shares))
            _sum(groups, weights, found)
            _scale(groups, rows * shares / np.maximum(found, 1e-9), weights)
    return weights


@compiled
def _search(line: Any, guide: Any, contexts: Any, uniform: Any, values: Any, found: Any) -> None:
    for row in range(len(uniform)):
        wanted = contexts[row] + uniform[row]
        place = guide[np.uint64(wanted * GUIDES)]
        while place < len(line) and line[place] <= wanted:
            place += 1
        found[row] = min(place - contexts[row] * values, values - 1)


@compiled
def _sum(groups: Any, weights: Any, found: Any) -> None:
    for row in range(len(groups)):
        found[np.uint64(groups[row])] += weights[row]


@compiled
def _scale(groups: Any, factors: Any, weights: Any) -> None:
    for row in range(len(groups)):
        weights[row] *= factors[np.uint64(groups[row])]
