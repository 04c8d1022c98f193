"""How sure all tables together may be: tables that overlap say the same thing twice, and their sum is too sure.

The classes were counted in groups of like odds. One slope for all odds and an offset for each class are fitted to these
counts: few numbers, so that they hold where single groups drown in noise, and records keep their order.
"""

from dataclasses import dataclass
from math import log

import numpy as np

from scumble.methods.diffgen.detail.groups import ODDS_UNIT, Odds, chances, means
from scumble.model.counts import Floats, Integers

LIKELY_SLOPE, SLOPE_SPREAD, OFFSET_SPREAD = 0.6, 0.4, 0.35
"""What is expected before anything was counted: tables overlap somewhat, within a factor of e^0.4 or so; classes are
about right, within 0.35 of log-odds each. Counts without noise outweigh it by far."""
STEPS, LONGEST_STEP, SMALL = 30, 0.5, 1e-4
FURTHEST = 10
"""No answer lies further from what is expected, in spreads: no slope is nothing, and odds stay whole numbers."""
ROWS = 5_000
"""So many rows of the draft tell what a slope and offsets would mean in every group."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Log-odds times `slope` / 1024, plus an offset for each class, in whole units of log-odds."""

    slope: int
    offsets: Odds

    def apply(self, odds: Odds) -> Odds:
        return (odds.astype(np.int64) * self.slope // ODDS_UNIT + self.offsets).astype(np.int32)


def calibrate(table: Integers, odds: Odds, groups: Integers, deviation: float) -> Calibration:
    """The calibration by which rows of these odds and groups have the classes that a noisy table (groups, classes)
    counts, as far as its noise allows: least squares by Gauss and Newton's steps, with the expectation above as one
    more observation of each number."""
    every = max(len(odds) // ROWS, 1)
    sample, groups = odds[::every] / ODDS_UNIT, groups[::every]
    classes = table.shape[1]
    sizes = table.sum(axis=1, keepdims=True)
    expected = np.array([log(LIKELY_SLOPE), *[0.0] * classes])
    spread = np.array([SLOPE_SPREAD, *[OFFSET_SPREAD] * classes])

    def told(answer: Floats) -> Floats:
        chance = chances(np.exp(answer[0]) * sample + answer[1:], unit=1)
        everywhere = chance.mean(axis=0) if len(chance) else np.full(classes, 1 / classes)
        return means(chance, groups, np.tile(everywhere, (len(table), 1)))

    answer = expected
    for _ in range(STEPS):
        chance = told(answer)
        of_noise = deviation**2 * (np.square(1 - chance) + (classes - 1) * np.square(chance))
        variance = of_noise + np.maximum(sizes, 0) * chance * (1 - chance) + 1
        # The classes of a group miss by amounts that add up to nothing: one of them is no news.
        weight = np.sqrt((1 - 1 / classes) / variance)

        def missed(answer: Floats, weight: Floats = weight) -> Floats:
            return np.concatenate([(weight * (table - sizes * told(answer))).ravel(), (answer - expected) / spread])

        here = missed(answer)
        slopes = np.stack([(missed(answer + step) - here) / SMALL for step in SMALL * np.eye(len(answer))], axis=1)
        step = np.linalg.lstsq(slopes, -here, rcond=None)[0]
        answer = answer + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        answer = np.clip(answer, expected - FURTHEST * spread, expected + FURTHEST * spread)
    return Calibration(
        slope=int(np.rint(np.exp(answer[0]) * ODDS_UNIT)),
        offsets=np.rint(answer[1:] * ODDS_UNIT).astype(np.int32),
    )
