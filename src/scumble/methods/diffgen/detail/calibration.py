"""Calibration of log-odds that were added up from overlapping class tables.

Tables of related attributes count the same evidence more than once, so their sum is overconfident. One slope for all
log-odds and one offset for each class are fitted to noisy class counts in groups of similar log-odds. These few numbers
are reliable even where the counts of single groups drown in noise. The slope is positive, so for two classes the order
of records does not change.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

import numpy as np

from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.groups import LogOdds
from scumble.methods.diffgen.detail.terms import LogOddsModel, class_probabilities
from scumble.model.counts import Floats, Integers

SLOPE_SPREAD, OFFSET_SPREAD = 0.4, 0.35
"""The prior: the slope is as expected within a factor of about e^0.4; offsets are about 0, within about 0.35 each.
Counts without noise outweigh the prior by far."""
LEAST_SLOPE, OVERLAP = 0.6, 0.05
"""Each further table overlaps with the earlier ones: it lowers the expected slope by 0.05, to no less than 0.6."""
STEPS, LONGEST_STEP, SMALLEST_STEP = 30, 0.5, 1e-7
"""The fit ends after so many steps, or with a step that is far below the unit of log-odds."""
MOST_SPREADS = 10
"""Estimates stay within this many spreads of the prior, so that the slope stays positive and log-odds stay finite."""
ROWS = 5_000
"""The number of draft rows on which a slope and offsets are evaluated."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Multiplies log-odds by `slope` / 1024 and adds an offset for each class, in units of 1/1024."""

    slope: int
    offsets: LogOdds

    def apply(self, model: LogOddsModel) -> LogOddsModel:
        """The calibrated model."""
        terms = tuple(replace(term, shifts=self._scaled(term.shifts)) for term in model.terms)
        start = model.base if model.start is None else model.start
        return replace(model, base=self._scaled(model.base) + self.offsets, terms=terms, start=start)

    def _scaled(self, log_odds: LogOdds) -> LogOdds:
        return np.rint(log_odds * (self.slope / LOG_ODDS_UNIT)).astype(np.int32)


def expected_slope(tables: int) -> float:
    """The slope to expect for log-odds that were added up from so many tables."""
    return max(LEAST_SLOPE, 1 - OVERLAP * (tables - 1))


class GroupedRows:
    """Log-odds of rows, in the order of their groups."""

    def __init__(self, log_odds: Floats, groups: Integers, number: int) -> None:
        order = np.argsort(groups, kind="stable")
        self.log_odds = log_odds[order]
        self.ends = np.searchsorted(groups[order], np.arange(number + 1))

    def predicted(self, estimate: Floats) -> tuple[Floats, Floats]:
        """The class probabilities (groups, classes) under the log of a slope and offsets, and their derivatives by each
        of these numbers (groups, classes, numbers). A group without rows is predicted as all rows together are."""
        scaled = np.exp(estimate[0]) * self.log_odds
        of_rows = class_probabilities(scaled + estimate[1:], unit=1)
        by_slope = of_rows * (scaled - (of_rows * scaled).sum(axis=1, keepdims=True))
        overall = _means(of_rows, by_slope)
        parts = [slice(start, end) for start, end in pairwise(self.ends)]
        found = [_means(of_rows[part], by_slope[part]) if part.start < part.stop else overall for part in parts]
        return np.stack([means for means, _ in found]), np.stack([derivatives for _, derivatives in found])


def _means(of_rows: Floats, by_slope: Floats) -> tuple[Floats, Floats]:
    """The mean class probabilities of rows, and their derivatives by the log of the slope and by each offset."""
    rows, classes = of_rows.shape
    if not rows:
        return np.full(classes, 1 / classes), np.zeros((classes, classes + 1))
    means = of_rows.mean(axis=0)
    by_offsets = np.diag(means) - of_rows.T @ of_rows / rows
    return means, np.column_stack([by_slope.mean(axis=0), by_offsets])


def calibrate(table: Integers, log_odds: LogOdds, groups: Integers, deviation: float, slope: float) -> Calibration:
    """Fit slope and offsets so that rows with these log-odds and groups predict a noisy table (groups, classes).

    Weighted least squares by the Gauss-Newton method. The prior enters as one more observation of each number.
    """
    every = max(len(log_odds) // ROWS, 1)
    rows = GroupedRows(log_odds[::every] / LOG_ODDS_UNIT, groups[::every], len(table))
    classes = table.shape[1]
    sizes = table.sum(axis=1, keepdims=True)
    expected = np.array([log(slope), *[0.0] * classes])
    spread = np.array([SLOPE_SPREAD, *[OFFSET_SPREAD] * classes])
    estimate = expected
    for _ in range(STEPS):
        probabilities, derivatives = rows.predicted(estimate)
        of_noise = deviation**2 * (np.square(1 - probabilities) + (classes - 1) * np.square(probabilities))
        variance = of_noise + np.maximum(sizes, 0) * probabilities * (1 - probabilities) + 1
        # The residuals of a group's classes add up to zero, so one of them carries no information.
        weight = np.sqrt((1 - 1 / classes) / variance)
        residuals = (weight * (table - sizes * probabilities)).ravel()
        jacobian = ((weight * sizes)[..., np.newaxis] * derivatives).reshape(-1, len(estimate))
        toward = jacobian.T @ residuals - (estimate - expected) / spread**2
        step = np.linalg.solve(jacobian.T @ jacobian + np.diag(1 / spread**2), toward)
        before = estimate
        estimate = before + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        estimate = np.clip(estimate, expected - MOST_SPREADS * spread, expected + MOST_SPREADS * spread)
        if np.abs(estimate - before).max() < SMALLEST_STEP:
            break
    return Calibration(
        slope=int(np.rint(np.exp(estimate[0]) * LOG_ODDS_UNIT)),
        offsets=np.rint(estimate[1:] * LOG_ODDS_UNIT).astype(np.int32),
    )
