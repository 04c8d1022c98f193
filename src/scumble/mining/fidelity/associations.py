"""How strongly attributes depend on each other: Cramer's V of every pair, in a table of bins.

V is the square root of chi-square over the number of records, divided by the smaller number of values that occur, less
one: 0 if two attributes are independent, 1 if one determines the other. In a table of few records, independent
attributes have a positive V by sampling error alone, so it is corrected for the expected one (Bergsma 2013).
"""

from collections.abc import Sequence

import numpy as np

from scumble.mining.fidelity.margins import BinnedTable
from scumble.model.counts import Floats


def cramers_v(margin: Floats, records: float) -> float:
    """Cramer's V of a two-way margin of so many records, corrected for their number.

    It is 0 if an attribute has only one value, and without records.

    >>> round(cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]]), 1000), 3), cramers_v(np.full((2, 2), 0.25), 1000)
    (1.0, 0.0)
    """
    used = margin[margin.sum(axis=1) > 0][:, margin.sum(axis=0) > 0]
    if min(used.shape) < 2 or records <= 1:
        return 0.0
    independent = np.outer(used.sum(axis=1), used.sum(axis=0))
    square = float(((used - independent) ** 2 / independent).sum())
    rows, columns = (size - (size - 1) ** 2 / (records - 1) for size in used.shape)
    expected = (used.shape[0] - 1) * (used.shape[1] - 1) / (records - 1)
    largest = min(rows, columns) - 1
    return min(1.0, float(np.sqrt(max(0.0, square - expected) / largest))) if largest > 0 else 0.0


def associations(table: BinnedTable, names: Sequence[str]) -> Floats:
    """Cramer's V of all pairs of attributes, as a symmetric matrix with ones on its diagonal."""
    found = np.eye(len(names))
    for one in range(len(names)):
        for other in range(one):
            margin = table.margin((names[one], names[other]))
            found[one, other] = found[other, one] = cramers_v(margin, table.total)
    return found


def association_error(true: BinnedTable, released: BinnedTable, names: Sequence[str]) -> float:
    """The mean absolute difference of Cramer's V over all pairs of attributes; 0 if there is no pair."""
    pairs = np.tril_indices(len(names), -1)
    differences = np.abs(associations(released, names) - associations(true, names))[pairs]
    return float(differences.mean()) if len(differences) else 0.0
