"""Shrinkage: moves noisy class probabilities toward a prior estimate, by more the noisier they are.

Cells are shrunk toward sums of cells, a class table toward what the cells already imply for its values, and the table
of one group toward all groups together. So noise alone changes little, and evidence from the cells is not counted
twice.
"""

from collections.abc import Sequence

import numpy as np

from scumble.methods.diffgen.detail.groups import SMALLEST_PROBABILITY, LogOdds, to_log_odds
from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project

USUAL_VARIANCE, USUAL_VARIANCE_IN_A_GROUP = 0.1, 0.005
"""The usual variance of true differences between class probabilities, as a fraction of p (1 - p): between two values of
an attribute (a standard deviation of about a third of that of the class) and, for one value, between one group and all
groups (about a fourteenth)."""


def log_odds_of_cells(measured: Integers, deviation: float, shape: Sequence[int], order: Sequence[int]) -> LogOdds:
    """The log-odds of each cell, from noisy counts (cells, classes) of a cut of this shape.

    Sums over all cells that share the value of one attribute are shrunk toward the whole table, sums over cells that
    share the values of two attributes toward those, and so on. `order` is the order in which attributes were split,
    because the most informative attributes are usually split first.
    """
    table = measured.reshape(*(shape[place] for place in sorted(order)), measured.shape[1])
    axes = [sorted(order).index(place) for place in order]
    totals = np.maximum(measured.sum(axis=0), 1)
    probabilities = totals / totals.sum()
    for number in range(len(axes)):
        sums = table.sum(axis=tuple(axes[number + 1 :]), keepdims=True)
        noise = deviation * (table.size / sums.size) ** 0.5
        probabilities = shrunk(sums, probabilities, noise, usual_variance=USUAL_VARIANCE)
    return to_log_odds(probabilities.reshape(measured.shape))


def consistent(table: Integers) -> Floats:
    """A noisy table (groups, bins, classes) without negative entries. For each group and class it keeps the sum over
    bins, or 1 if that is smaller."""
    totals = np.maximum(table.sum(axis=1), 1)
    made = np.empty(table.shape)
    for group, label in np.ndindex(totals.shape):
        made[group, :, label] = project(table[group, :, label], int(totals[group, label]))
    return made


def log_odds_shifts(table: Integers, prior: Floats, deviation: float) -> LogOdds:
    """What a noisy table (groups, bins, classes) adds to log-odds whose class probabilities are `prior`, of that shape.

    Two steps. First, the effect of each value is estimated from all groups together and shrunk toward the prior.
    Second, its effect in each group is shrunk toward the first estimate. Effects rarely differ between groups, so the
    second step uses only the usual variance and not the observed difference.
    """
    sizes = np.maximum(table, 0).sum(axis=2) + 1e-9
    of_bins = np.einsum("gv,gvc->vc", sizes, prior) / sizes.sum(axis=0)[:, np.newaxis]
    found = shrunk(table.sum(axis=0), of_bins, deviation * len(table) ** 0.5, usual_variance=USUAL_VARIANCE)
    posterior = _normalized(prior * found / of_bins)
    if len(table) > 1:
        posterior = shrunk(table, posterior, deviation, usual_variance=USUAL_VARIANCE_IN_A_GROUP, observed_weight=0)
    return to_log_odds(posterior) - to_log_odds(prior)


def shrunk(
    counts: Integers | Floats, prior: Floats, deviation: float, *, usual_variance: float, observed_weight: float = 1
) -> Floats:
    """Class probabilities from noisy counts by class, shrunk toward a prior.

    A difference to the prior keeps the fraction s / (s + n), as in linear regression with a prior. n is the variance
    that noise and sampling error give it. s is the variance of true differences: the usual variance, plus
    `observed_weight` times the squared observed difference, because a few values change the probabilities by far more
    than is usual.
    """
    counts = np.maximum(counts, 0).astype(np.float64)
    size = counts.sum(axis=-1, keepdims=True)
    difference = counts - size * prior
    vary = (prior * (1 - prior)).sum(axis=-1, keepdims=True)
    of_noise = (np.square(1 - prior) + (prior.shape[-1] - 1) * np.square(prior)).sum(axis=-1, keepdims=True)
    noise = deviation**2 * of_noise + size * vary + 1e-9
    observed = np.square(difference).sum(axis=-1, keepdims=True)
    signal = np.square(size) * usual_variance * vary + observed_weight * observed
    kept = signal / (signal + noise) / np.maximum(size, 1)
    return _normalized(np.maximum(prior + kept * difference, SMALLEST_PROBABILITY))


def _normalized(weights: Floats) -> Floats:
    return weights / weights.sum(axis=-1, keepdims=True)
