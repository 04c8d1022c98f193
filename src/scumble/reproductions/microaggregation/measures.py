"""How much a microaggregated release keeps, and what it gives away: for the custodian, who has the private rows."""

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from scumble.methods.mdav.mdav import within_group_squares
from scumble.model.counts import Integers

Numbers = npt.NDArray[np.float64]


def il1s(original: Numbers, published: Numbers) -> float:
    """IL1s of Yancey et al. 2002: the mean over records and attributes of |x - x'| / (sqrt 2 S_j), S_j the deviation.

    S_j is the sample standard deviation of the original. A constant attribute has none and is left out.
    """
    deviation = original.std(axis=0, ddof=1)
    varies = deviation > 0
    if not varies.any():
        return 0.0
    change = np.abs(original - published)[:, varies] / (np.sqrt(2) * deviation[varies])
    return float(change.mean())


def sse_over_sst(standardized: Numbers, labels: Integers) -> float:
    """Within-group over total sum of squares, in percent: the literature's information loss of a grouping."""
    total = float(((standardized - standardized.mean(axis=0)) ** 2).sum())
    return 100 * within_group_squares(standardized, labels) / total if total > 0 else 0.0


def linkage_risk(original: Numbers, centres: Numbers, labels: Integers) -> float:
    """Distance-based record linkage: the share of records that an intruder who knows them links to their own.

    The intruder takes the published record nearest to the known one, attributes standardized. All records of a group
    are published alike, so the right group is a right guess once in its size.
    """
    deviation = original.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    _, nearest = cKDTree(centres / deviation).query(original / deviation)
    sizes = np.bincount(labels, minlength=len(centres))
    # Groups with the same centre are one to the intruder.
    same = (centres[nearest] == centres[labels]).all(axis=1)
    _, kind = np.unique(centres, axis=0, return_inverse=True)
    alike = np.bincount(kind.ravel(), sizes)[kind.ravel()]
    return float((same / alike[labels]).mean())


def margins_distance(original: Numbers, centres: Numbers, sizes: Integers) -> float:
    """How far the release's own distribution is from the rows', margin by margin: in units of IL1s, without its flaw.

    IL1s maps each record to the centre of the box that contains it, which a fine partition makes small without having
    learnt anything of the rows. This compares what a receiver has: the centres, as often as their sizes say, sorted,
    against the sorted rows (the Wasserstein distance of each margin), at as many ranks as there are rows.
    """
    if not sizes.sum() or not len(original):
        return float("nan")
    ranks = (np.arange(len(original)) + 0.5) / len(original) * sizes.sum()
    columns = []
    for column in centres.T:
        order = np.argsort(column, kind="stable")
        columns.append(column[order][np.searchsorted(np.cumsum(sizes[order]), ranks, side="right")])
    return il1s_sorted(original, np.stack(columns, axis=1))


def il1s_sorted(original: Numbers, published: Numbers) -> float:
    """IL1s of the sorted columns."""
    return il1s(np.sort(original, axis=0), np.sort(published, axis=0))
