"""What noisy counts change in the odds: nothing that noise could have made, and nothing that was told before.

Every estimate here is drawn towards one that is better known, as far as noise and luck reach.
"""

from collections.abc import Sequence

import numpy as np

from scumble.methods.diffgen.detail.groups import LEAST_CHANCE, Odds, to_odds
from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project

USUAL, USUAL_IN_A_GROUP = 0.1, 0.005
"""How much chances usually change: the variance of a change, in parts of p (1 - p). By a third of a standard deviation
from one value to another, and by a fourteenth from all records with a value to one group of them."""


def odds_of_cells(measured: Integers, deviation: float, shape: Sequence[int], order: Sequence[int]) -> Odds:
    """Each cell's odds, from noisy counts (cells, classes) of a cut of this shape.

    The sums over all cells that share the value of one attribute are drawn towards the whole table, those that share
    the values of two towards these, and so on: in the order in which attributes were split, the most telling first.
    """
    table = measured.reshape(*(shape[place] for place in sorted(order)), measured.shape[1])
    axes = [sorted(order).index(place) for place in order]
    totals = np.maximum(measured.sum(axis=0), 1)
    chance = totals / totals.sum()
    for number in range(len(axes)):
        sums = table.sum(axis=tuple(axes[number + 1 :]), keepdims=True)
        chance = drawn(sums, chance, deviation * (table.size / sums.size) ** 0.5, usual=USUAL)
    return to_odds(chance.reshape(measured.shape))


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

    Two questions, the second drawn towards the answer of the first: what does a value change, the same in all groups;
    and what does it change in one group alone. Few attributes change more than that, so what was seen in one group has
    to stand out from noise by what is usual.
    """
    sizes = np.maximum(table, 0).sum(axis=2) + 1e-9
    of_bins = np.einsum("gv,gvc->vc", sizes, told) / sizes.sum(axis=0)[:, np.newaxis]
    found = drawn(table.sum(axis=0), of_bins, deviation * len(table) ** 0.5, usual=USUAL)
    chance = _as_chances(told * found / of_bins)
    if len(table) > 1:
        chance = drawn(table, chance, deviation, usual=USUAL_IN_A_GROUP, seen=0)
    return to_odds(chance) - to_odds(told)


def drawn(counts: Integers | Floats, prior: Floats, deviation: float, *, usual: float, seen: float = 1) -> Floats:
    """Chances from noisy counts by class, drawn towards a prior as far as noise and luck could have made a difference.

    As in linear regression towards a prior, a difference keeps the part s / (s + n). n is the variance that noise and
    the luck of so many records give it. s is how large it may really be: what is usual among so many records, and the
    square of what was `seen`, for the few values that change chances far more than is usual.
    """
    counts = np.maximum(counts, 0).astype(np.float64)
    size = counts.sum(axis=-1, keepdims=True)
    difference = counts - size * prior
    vary = (prior * (1 - prior)).sum(axis=-1, keepdims=True)
    of_noise = (np.square(1 - prior) + (prior.shape[-1] - 1) * np.square(prior)).sum(axis=-1, keepdims=True)
    noise = deviation**2 * of_noise + size * vary + 1e-9
    signal = np.square(size) * usual * vary + seen * np.square(difference).sum(axis=-1, keepdims=True)
    kept = signal / (signal + noise) / np.maximum(size, 1)
    return _as_chances(np.maximum(prior + kept * difference, LEAST_CHANCE))


def _as_chances(weights: Floats) -> Floats:
    return weights / weights.sum(axis=-1, keepdims=True)
