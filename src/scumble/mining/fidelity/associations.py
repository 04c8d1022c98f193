"""How strongly attributes depend on each other: Cramer's V of every pair, in a table of bins.

V is the square root of chi-square over the number of records, divided by the smaller number of values that occur, less
one: 0 if two attributes are independent, 1 if one determines the other. It is that of the table as it is: nothing is
corrected for few records.
"""

from collections.abc import Sequence

import numpy as np

from scumble.mining.fidelity.margins import BinnedTable
from scumble.model.counts import Floats


def cramers_v(margin: Floats) -> float:
    """Cramer's V of a two-way margin; 0 if an attribute has only one value, or without records.

    >>> cramers_v(np.array([[0.5, 0.0], [0.0, 0.5]])), cramers_v(np.array([[0.25, 0.25], [0.25, 0.25]]))
    (1.0, 0.0)
    """
    used = margin[margin.sum(axis=1) > 0][:, margin.sum(axis=0) > 0]
    if min(used.shape) < 2:
        return 0.0
    independent = np.outer(used.sum(axis=1), used.sum(axis=0))
    chi_square = float(((used - independent) ** 2 / independent).sum())
    return min(1.0, float(np.sqrt(chi_square / (min(used.shape) - 1))))


def associations(table: BinnedTable, names: Sequence[str]) -> Floats:
    """Cramer's V of all pairs of attributes, as a symmetric matrix with ones on its diagonal."""
    found = np.eye(len(names))
    for one in range(len(names)):
        for other in range(one):
            found[one, other] = found[other, one] = cramers_v(table.margin((names[one], names[other])))
    return found
