"""The nearest non-negative table to noisy coefficients: the linear programme of Barak et al. (2007). Post-processing.

Among all non-negative tables with the measured number of records, one whose coefficients differ least from the noisy
ones, by the largest difference. (The paper does not fix the number of records.) A vertex of the programme has no more
cells above zero than there are coefficients, so rounding cells to whole numbers moves a marginal by less than one
record for each of these cells. All marginals of one table are consistent.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from scumble.methods.barak.queries import MarginalCoefficients
from scumble.methods.cell_rows import whole_counts
from scumble.model.counts import Floats, Integers, digits_of


@dataclass(frozen=True, kw_only=True)
class NearestTable:
    """Whole numbers of records, none negative, with an axis for each attribute."""

    counts: Integers
    solved: bool
    """Whether the programme was solved. If its numbers are beyond the solver, the estimates of all cells were projected
    to the nearest non-negative ones instead."""


def nearest_table(query: MarginalCoefficients, measured: Integers) -> NearestTable:
    """The rounded solution of the linear programme. It depends on the noisy coefficients only."""
    shape = [each.values for each in query.walsh]
    signs = coefficient_signs(query)
    largest = max(float(np.abs(measured).max()), 1.0)
    solution = _solve(signs, measured / largest)
    solved = solution is not None
    codes = prod(each.coefficients for each in query.walsh)
    estimates = signs.T @ (measured / codes) if solution is None else solution * largest
    counts = whole_counts(estimates.reshape(shape))
    return NearestTable(counts=counts, solved=solved)


def coefficient_signs(query: MarginalCoefficients) -> Floats:
    """The matrix of coefficients by cells: 1 or -1, by the parity of the bits that a cell has in common."""
    cells = digits_of(np.arange(query.cells), [each.values for each in query.walsh])
    chosen = digits_of(query.coefficients, [each.coefficients for each in query.walsh])
    pairs = zip(chosen, cells, strict=True)
    common = sum(np.bitwise_count(bits[:, np.newaxis] & values).astype(np.int64) for bits, values in pairs)
    return np.where(np.asarray(common) % 2, -1.0, 1.0)


def _solve(signs: Floats, measured: Floats) -> Floats | None:
    """Minimize b subject to |signs w - measured| <= b, w >= 0 and the measured sum of w, over w and b. The first
    coefficient, that of no bits, is the number of records."""
    from scipy.optimize import linprog  # imported late: it is slow

    number, cells = signs.shape
    bound = -np.ones((number, 1))
    found = linprog(
        np.append(np.zeros(cells), 1.0),
        A_ub=np.block([[signs, bound], [-signs, bound]]),
        b_ub=np.concatenate([measured, -measured]),
        A_eq=np.append(np.ones(cells), 0.0)[np.newaxis],
        b_eq=[max(float(measured[0]), 0.0)],
        bounds=(0, None),
        method="highs-ds",
    )
    return None if found.x is None or not np.isfinite(found.x).all() else np.maximum(found.x[:cells], 0.0)
