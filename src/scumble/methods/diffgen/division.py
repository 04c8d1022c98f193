"""How epsilon is divided: the division with the least expected error, from public facts and the counted records.

The information in a table is x = 2 epsilon records / classes: with two classes, epsilon times the number of records.
Every ingredient of a release has an expected error that falls with x times its share of epsilon. `expected_error` adds
them up, in units of the variance of the class, and `best_division` takes the division with the least sum among some
thousand. For every division the expected error falls as x grows, so the least one does, too: more epsilon or more
records are never expected to do worse.

The formulas follow from the noise; the constants say how informative attributes usually are. They were settled on
generated tables (docs/detail.md).
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import log, sqrt

import numpy as np

from scumble.model.counts import Floats

SIGNAL = 0.12
"""The attribute that says most about the class explains so much of its variance, the i-th one SIGNAL / i if there are
two classes. With k classes there are k - 1 differences between them to explain, and attributes that explain different
ones take nothing from each other: the i-th attribute explains SIGNAL / (1 + (i - 1) / (k - 1))."""
NOISE_OF_A_TABLE, NOISE_OF_FEW_VALUES = 3.5, 4.0
"""A table with information x, counted in the best number of bins, has an error of 3.5 / x: from its noise, and because
values share bins. If an attribute has only v values, none of them has to share a bin, and noise alone gives
4 (v / x)^2: the noise of a count has the variance 2 / epsilon^2, a probability is a quotient by records / v, and the
variance of the class is at most 1/4."""
POWER_OF_TWO_CLASSES, POWER_OF_MORE_CLASSES = 1, 2
"""Shrinkage keeps s / (s + n) of a signal s that has noise n. With more than two classes it has a threshold, below
which nothing is kept, so the fraction that is kept falls faster with the noise: s^2 / (s^2 + n^2)."""
NOISE_OF_A_CHOICE = 0.7
"""A private selection among d attributes with information x may miss an effect (a mean difference of probabilities) of
0.7 ln(d) / x."""
EFFECT = 0.35
"""An attribute that explains the fraction s of the variance has an effect of 0.35 sqrt(s)."""
MISCALIBRATED = 0.03
CALIBRATION_NOISE = 130.0
"""Without calibration the error is 0.03, or half of that if there is a single table, which overlaps with no other; with
information x, its noise gives 130 / x^2."""
OVERLAP, OVERLAP_INFORMATION = 0.02, 840.0
"""Tables of related attributes that have no weights cost 0.02; weights with information 840 halve this."""
INTERACTIONS = {0.05: 0.012, 0.3: 0.006}
"""What interactions cost that are not found, by their effect: weak ones, and rare strong ones, as in a class that is a
rule. One is found half of the time if the noise of the selection is as large as its effect."""
CELLS, VALUES, VALUES_IF_CHOSEN, VALUES_ALONE = 0.03, 0.05, 0.15, 0.5
"""The shares for the cells, and for the counts of values: if every attribute has a class table; if some have none, so
that their values are known from these counts alone; and if none has one."""


@dataclass(frozen=True, kw_only=True)
class EpsilonShares:
    """A division: the number of class tables, and shares of epsilon beside the fixed ones. The tables get the rest."""

    tables: int
    choice: float = 0.0
    calibration: float = 0.0
    combination: float = 0.0
    fit: float = 0.0

    @property
    def values(self) -> float:
        if not self.tables:
            return VALUES_ALONE
        return VALUES_IF_CHOSEN if self.choice else VALUES

    @property
    def rest(self) -> float:
        return 1 - CELLS - self.values - self.choice - self.calibration - self.combination - self.fit


def expected_error(information: float, values: tuple[int, ...], shares: EpsilonShares, classes: int = 2) -> float:
    """The expected error of a division: signal that is missed, and noise that is taken for signal.

    `values` lists the number of values of each attribute.
    """
    if not shares.tables:
        return float(_signals(len(values), classes).sum())
    return (
        float(_of_tables(information, values, shares.tables, np.array([shares.rest]), classes)[0])
        + _of_choices(information, len(values), shares.tables, shares.choice, classes)
        + _of_calibration(information, shares.tables, shares.calibration)
        + _of_fit(information, len(values), shares.fit, shares.combination, classes)
    )


def _signals(attributes: int, classes: int) -> Floats:
    return SIGNAL / (1 + np.arange(attributes) / (classes - 1))


def _of_tables(information: float, values: tuple[int, ...], tables: int, rest: Floats, classes: int) -> Floats:
    """The signal of attributes without a table, and the noise of tables that share each of these parts of epsilon."""
    signals = _signals(len(values), classes)
    known = (information * rest / tables)[:, np.newaxis]
    of_few_values = NOISE_OF_FEW_VALUES * np.square(np.array(values) / known)
    noise = np.minimum(NOISE_OF_A_TABLE / known, of_few_values).mean(axis=1)[:, np.newaxis]
    counted = signals[:tables]
    power = POWER_OF_TWO_CLASSES if classes == 2 else POWER_OF_MORE_CLASSES
    lost = 1 / (1 + (counted / noise) ** power)
    return (counted * lost).sum(axis=1) + float(signals[tables:].sum())


def _of_choices(information: float, attributes: int, tables: int, choice: float, classes: int) -> float:
    """The signal of attributes that should have been chosen. The noise does not depend on the number of classes."""
    if tables == attributes:
        return 0.0
    unseen = NOISE_OF_A_CHOICE * tables * log(attributes) / (information * classes / 2 * choice) / EFFECT
    counted = _signals(attributes, classes)[:tables]
    return float((counted * (1 - np.exp(-(unseen**2) / counted))).sum())


def _of_calibration(information: float, tables: int, calibration: float) -> float:
    miscalibrated = MISCALIBRATED * min(1.0, 0.5 + tables / 20)
    if not calibration:
        return miscalibrated
    noise = CALIBRATION_NOISE / (information * calibration) ** 2
    return miscalibrated * noise / (miscalibrated + noise)


def _of_fit(information: float, attributes: int, fit: float, combination: float, classes: int) -> float:
    """What overlaps of tables and interactions cost."""
    if not fit:
        return OVERLAP + sum(INTERACTIONS.values())
    noise = (OVERLAP_INFORMATION / (information * fit)) ** 2
    candidates = max(attributes * (attributes - 1) / 2, 1) + 1
    of_choice = 2 * log(candidates) / (information * classes / 2 * combination)
    missed = sum(cost * of_choice**2 / (effect**2 + of_choice**2) for effect, cost in INTERACTIONS.items())
    return OVERLAP * noise / (1 + noise) + missed


CHOICES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
CALIBRATIONS = (0.0, 0.03, 0.06, 0.12)
FITS = (0.0, 0.05, 0.1, 0.15)
COMBINATIONS = (0.02, 0.04, 0.08)
MOST_TABLES = 40


@lru_cache(maxsize=256)
def best_division(information: float, values: tuple[int, ...], classes: int = 2) -> EpsilonShares:
    """The division with the least expected error. `values` lists the number of values of each attribute."""
    attributes = len(values)
    best = EpsilonShares(tables=0)
    least = expected_error(information, values, best, classes)
    fits = [(0.0, 0.0), *product(FITS[1:], COMBINATIONS)]
    of_fits = [_of_fit(information, attributes, *fit, classes) for fit in fits]
    for tables in _numbers(attributes):
        choices = CHOICES if tables < attributes else (0.0,)
        of_choices = [_of_choices(information, attributes, tables, choice, classes) for choice in choices]
        of_calibrations = [_of_calibration(information, tables, calibration) for calibration in CALIBRATIONS]
        divisions = [
            EpsilonShares(tables=tables, choice=choice, calibration=calibration, combination=combination, fit=fit)
            for calibration, (fit, combination), choice in product(CALIBRATIONS, fits, choices)
        ]
        rest = np.array([shares.rest for shares in divisions])
        beside = np.array([sum(parts) for parts in product(of_calibrations, of_fits, of_choices)])
        errors = _of_tables(information, values, tables, np.maximum(rest, 1e-9), classes) + beside
        errors[rest <= 0] = np.inf
        if errors.min() < least:
            best, least = divisions[int(errors.argmin())], float(errors.min())
    return best


def _numbers(attributes: int) -> list[int]:
    """The numbers of tables to consider: all up to 12, then ever fewer, and all attributes."""
    some = list(range(1, min(attributes, 13)))
    some += [number for number in (16, 20, 26, 32, MOST_TABLES) if number < attributes]
    return [*some, attributes]


def best_bins(information: float, shares: EpsilonShares) -> int:
    """About how many bins a table should have: noise grows with the square of their number, and values that share a bin
    cost its inverse, which is balanced where the number is the square root of a table's information."""
    return int(sqrt(max(information * shares.rest / max(shares.tables, 1), 0.0)))
