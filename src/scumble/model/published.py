"""What stands in a published table for the codes of an attribute."""

import numpy as np

from scumble.model.counts import Integers
from scumble.model.release import Column
from scumble.model.taxonomy import Domain, Tree


def published_values(domain: Domain, codes: Integers) -> Column:
    """What stands for the codes in a table: a label, or the lower edge of the grid cell, which lies in the cell.

    A missing number is NaN. Where all edges are whole numbers and none can be missing, so are the values. Where a
    number such as 0 or -999 means `missing`, the cell that starts with it is told by its middle.
    """
    if isinstance(domain, Tree):
        return np.array(domain.labels, dtype=np.object_)[codes]
    edges = domain.edge_floats
    lower = edges[:-1]
    if domain.missing is None:
        whole = np.array_equal(lower, np.rint(lower)) and np.abs(lower).max() < 2**53
        return lower.astype(np.int64)[codes] if whole else lower[codes]
    values = np.where(lower == _number(domain.missing), (lower + edges[1:]) / 2, lower)
    return (values if domain.joined else np.append(values, np.nan))[codes]


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return np.nan
