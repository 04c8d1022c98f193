"""What a noisy table adds to the odds: nothing that noise could have made, and nothing that was told before.

Every estimate here is drawn towards one that is better known, by as many records as the noise is worth.
"""

import numpy as np

from scumble.methods.diffgen.evidence import Floats, Odds, to_odds
from scumble.model.counts import Integers
from scumble.model.rounding import project


def odds_of_cells(count: Integers, deviation: float) -> Odds:
    """Each cell's own odds, drawn towards the whole table's as far as the noise could have made the difference."""
    total = np.maximum(count.sum(axis=0), 1)
    return to_odds(_drawn(count.astype(np.float64), total / total.sum(), deviation))


def consistent(table: Integers) -> Floats:
    """A noisy table (groups, bins, classes) with the negative entries gone and the sum over bins kept."""
    totals = np.maximum(table.sum(axis=1), 1)
    made = np.empty(table.shape)
    for group, label in np.ndindex(totals.shape):
        made[group, :, label] = project(table[group, :, label], int(totals[group, label]))
    return made


def shifts_of(table: Integers, told: Floats, deviation: float) -> Odds:
    """What a noisy table (groups, bins, classes) adds to the log-odds of records, of whose group and bin the chances
    `told`, of the same shape, are known already.

    Three questions, each drawn towards the answer before it as far as noise reaches: is a group's chance what was told
    of it; what does a value change, the same in all groups; and what does it change in one group alone.
    """
    groups, bins, _ = table.shape
    made = consistent(table)
    sizes = made.sum(axis=2) + 1e-9
    of_groups = np.einsum("gv,gvc->gc", sizes, told) / sizes.sum(axis=1)[:, np.newaxis]
    totals = np.maximum(table.sum(axis=1), 1).astype(np.float64)
    correction = _drawn(totals, of_groups, 2 * deviation * np.sqrt(bins)) / of_groups
    chance = _as_chances(told * correction[:, np.newaxis, :])
    of_bins = np.einsum("gv,gvc->vc", sizes, chance) / sizes.sum(axis=0)[:, np.newaxis]
    chance = _as_chances(chance * by_halves(table.sum(axis=0), of_bins, deviation * np.sqrt(groups)))
    if groups > 1:
        chance = _drawn(made, chance, 2 * deviation)
    return to_odds(chance) - to_odds(told)


def by_halves(table: Integers, expected: Floats, deviation: float) -> Floats:
    """By what factor each bin changes the chances that are expected there, from noisy counts (bins, classes).

    First for all bins together, then for each half of them, and so on down to single bins, which noise drowns first:
    each is drawn towards what was found for the bins around it.
    """
    weights = np.maximum(table, 0).sum(axis=1) + 1e-9
    factors = np.ones(expected.shape)
    waiting = [(0, len(table))]
    while waiting:
        low, high = waiting.pop()
        here = expected[low:high]
        of_all = weights[low:high] @ here / weights[low:high].sum()
        prior = _as_chances(of_all * factors[low])
        counts = np.maximum(table[low:high].sum(axis=0), 0).astype(np.float64)
        factors[low:high] = _drawn(counts, prior, deviation * np.sqrt(high - low)) / of_all
        if high - low > 1:
            middle = (low + high) // 2
            waiting += [(low, middle), (middle, high)]
    return factors


def _as_chances(weights: Floats) -> Floats:
    return weights / weights.sum(axis=-1, keepdims=True)


def _drawn(counts: Floats, prior: Floats, weight: float) -> Floats:
    """Chances from counts by class, with a prior that counts as much as `weight` records."""
    return (counts + weight * prior) / (counts.sum(axis=-1, keepdims=True) + weight)
