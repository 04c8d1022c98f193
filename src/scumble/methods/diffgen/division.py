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
from math import exp, log, sqrt

import numpy as np

SIGNAL = 0.12
"""The attribute that says most about the class explains so much of its variance, the i-th one SIGNAL / i."""
NOISE_OF_A_TABLE, NOISE_OF_FEW_VALUES = 3.5, 4.0
"""A table with information x, counted in the best number of bins, has an error of 3.5 / x: from its noise, and because
values share bins. If an attribute has only v values, none of them has to share a bin, and noise alone gives
4 (v / x)^2: the noise of a count has the variance 2 / epsilon^2, a probability is a quotient by records / v, and the
variance of the class is at most 1/4."""
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
    attributes = len(values)
    signals = SIGNAL / np.arange(1, attributes + 1)
    if not shares.tables:
        return float(signals.sum())
    counted, missed = signals[: shares.tables], signals[shares.tables :]
    noise = _noise_of_a_table(information * shares.rest / shares.tables, values)
    error = float((counted * noise / (counted + noise)).sum() + missed.sum())
    if shares.tables < attributes:
        seen = information * classes / 2 * shares.choice
        unseen = NOISE_OF_A_CHOICE * shares.tables * log(attributes) / seen / EFFECT
        error += sum(signal * (1 - exp(-(unseen**2) / signal)) for signal in counted)
    miscalibrated = MISCALIBRATED * min(1.0, 0.5 + shares.tables / 20)
    if shares.calibration:
        noise = CALIBRATION_NOISE / (information * shares.calibration) ** 2
        error += miscalibrated * noise / (miscalibrated + noise)
    else:
        error += miscalibrated
    if not shares.fit:
        return error + OVERLAP + sum(INTERACTIONS.values())
    noise = (OVERLAP_INFORMATION / (information * shares.fit)) ** 2
    error += OVERLAP * noise / (1 + noise)
    candidates = max(attributes * (attributes - 1) / 2, 1) + 1
    noise = 2 * log(candidates) / (information * classes / 2 * shares.combination)
    return error + sum(cost * noise**2 / (effect**2 + noise**2) for effect, cost in INTERACTIONS.items())


def _noise_of_a_table(information: float, values: tuple[int, ...]) -> float:
    """The mean error of a table with this information."""
    binned = NOISE_OF_A_TABLE / information
    return sum(min(binned, NOISE_OF_FEW_VALUES * (each / information) ** 2) for each in values) / len(values)


CHOICES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
CALIBRATIONS = (0.0, 0.03, 0.06, 0.12)
FITS = (0.0, 0.05, 0.1, 0.15)
COMBINATIONS = (0.02, 0.04, 0.08)
MOST_TABLES = 40


@lru_cache(maxsize=256)
def best_division(information: float, values: tuple[int, ...], classes: int = 2) -> EpsilonShares:
    """The division with the least expected error. `values` lists the number of values of each attribute."""
    attributes = len(values)
    best, least = EpsilonShares(tables=0), expected_error(information, values, EpsilonShares(tables=0))
    for tables in _numbers(attributes):
        for calibration in CALIBRATIONS:
            for fit in FITS:
                for combination in COMBINATIONS if fit else (0.0,):
                    for choice in CHOICES if tables < attributes else (0.0,):
                        shares = EpsilonShares(
                            tables=tables, choice=choice, calibration=calibration, combination=combination, fit=fit
                        )
                        error = expected_error(information, values, shares, classes) if shares.rest > 0 else least
                        if error < least:
                            best, least = shares, error
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
