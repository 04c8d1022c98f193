"""Information loss and disclosure risk of a microaggregated release. They are computed from the private rows."""

import numpy as np
from scipy.spatial import cKDTree

from scumble.methods.mdav.mdav import within_group_squares
from scumble.model.counts import Floats, Integers


def il1s(original: Floats, published: Floats) -> float:
    """IL1s of Yancey et al. (2002): the mean over records and attributes j of |x - x'| / (sqrt 2 S_j).

    S_j is the sample standard deviation of attribute j in the original. Constant attributes are left out.
    """
    deviation = original.std(axis=0, ddof=1)
    varies = deviation > 0
    if not varies.any():
        return 0.0
    change = np.abs(original - published)[:, varies] / (np.sqrt(2) * deviation[varies])
    return float(change.mean())


def sse_over_sst(standardized: Floats, labels: Integers) -> float:
    """Within-group over total sum of squares, in percent: the usual information loss of a grouping."""
    total = float(((standardized - standardized.mean(axis=0)) ** 2).sum())
    return 100 * within_group_squares(standardized, labels) / total if total > 0 else 0.0


def linkage_risk(original: Floats, centres: Floats, labels: Integers) -> float:
    """Distance-based record linkage: the expected share of known records that an adversary links correctly.

    The adversary links a known record to the nearest published one, with standardized attributes. All records of a
    group are published with the same values, so within the right group of size n the guess is right with
    probability 1/n.
    """
    deviation = original.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    _, nearest = cKDTree(centres / deviation).query(original / deviation)
    sizes = np.bincount(labels, minlength=len(centres))
    # The adversary cannot distinguish groups with the same centre.
    same = (centres[nearest] == centres[labels]).all(axis=1)
    _, kind = np.unique(centres, axis=0, return_inverse=True)
    alike = np.bincount(kind.ravel(), sizes)[kind.ravel()]
    return float((same / alike[labels]).mean())


def margins_distance(original: Floats, centres: Floats, sizes: Integers) -> float:
    """The distance between the marginals of the release and those of the rows, in units of IL1s.

    IL1s replaces each record by the centre of its box, so any fine partition makes it small, even one that learned
    nothing from the rows. This measure only uses what is published: each centre repeated by its group size. It is the
    Wasserstein distance of each marginal, evaluated at as many ranks as there are rows.
    """
    if not sizes.sum() or not len(original):
        return float("nan")
    ranks = (np.arange(len(original)) + 0.5) / len(original) * sizes.sum()
    columns = []
    for column in centres.T:
        order = np.argsort(column, kind="stable")
        columns.append(column[order][np.searchsorted(np.cumsum(sizes[order]), ranks, side="right")])
    return il1s_sorted(original, np.stack(columns, axis=1))


def il1s_sorted(original: Floats, published: Floats) -> float:
    """IL1s of the sorted columns."""
    return il1s(np.sort(original, axis=0), np.sort(published, axis=0))
