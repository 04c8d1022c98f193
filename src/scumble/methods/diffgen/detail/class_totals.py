"""The number of records of each class, estimated from every table that was measured.

The class counts of a table add up to the class totals, with the noise of all its entries. Weighting the sums of all
tables by their precision gives totals that are more precise than any table's. Post-processing, at no price.
"""

from collections.abc import Sequence

import numpy as np

from scumble.model.counts import Floats, Integers

LEAST_VARIANCE = 1e-9
"""The variance of noise with an epsilon of hundreds is rounded to zero, by which nothing can be weighted."""
NoisyTable = tuple[Integers, float]
"""Noisy counts whose last axis lists the classes, and the standard deviation of the noise of each."""


def class_totals(tables: Sequence[NoisyTable]) -> Floats:
    """The estimated records of each class, at least one each."""
    sums = np.array([table.reshape(-1, table.shape[-1]).sum(axis=0) for table, _ in tables], dtype=np.float64)
    variances = [table.size / table.shape[-1] * max(deviation**2, LEAST_VARIANCE) for table, deviation in tables]
    precision = 1 / np.array(variances)
    return np.maximum(precision @ sums / precision.sum(), 1.0)
