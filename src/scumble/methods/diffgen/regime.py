"""What can be learned from a release with detail: a regime, and 95 % bands for class shares and class probabilities.

The regime follows from the information x = 2 epsilon records / classes and from the division of epsilon that has the
least expected error for it (`scumble.methods.diffgen.division`). When planning, both depend on public facts only. In a
release, the number of records is the noisy one that was paid for.

The bands follow from the noise scales of the planned spends. They do not include sampling error.

- A class total is estimated from every measurement that counts classes, weighted by precision. If the i-th has noise
  with the standard deviation s_i in each entry, and b_i entries add up to a class total, the standard deviation of the
  estimate is s = 1 / sqrt(sum_i 1 / (b_i s_i^2)). A class share is known to within 1.96 s f / records.
- A tenth of the records in one bin of a class table with g groups, each entry with noise of standard deviation t: the
  probability of a class there is known to within 1.96 t sqrt(g) f / (records / 10). t is that of the average price.
- f = sqrt(max(1, k / 4)) for k classes. The error of a share p is that of its total minus p times that of all totals,
  divided by the number of records. Its variance is ((1 - p)^2 + (k - 1) p^2) s^2 / records^2. For p up to a half, and
  for two classes for any p, this is at most f^2 s^2 / records^2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from math import log, sqrt

from scumble.methods.diffgen.detail.binning import most_bins
from scumble.methods.diffgen.detail.class_totals import LEAST_VARIANCE
from scumble.methods.diffgen.detail.measure import CALIBRATION_GROUPS, LEAST_INFORMATION
from scumble.methods.diffgen.detail.spends import CALIBRATE, COUNT_TABLE, count_label
from scumble.methods.diffgen.division import INTERACTIONS
from scumble.methods.diffgen.settings import DetailSettings, detail_settings, information
from scumble.model.guarantee import Unit
from scumble.model.plan import WARNING, Spend
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.privacy.noise import laplace_variance

DEVIATIONS_95 = 1.96
STATED_RECORDS = (1_000, 10_000, 100_000)
"""The numbers of records for which a plan states the regime, if their number is not public."""
FEW_RECORDS = 1_000
"""A plan warns of smaller tables if they would have the lowest regime."""
LEAST_TO_LEARN = 150.0
"""With less information, attributes cannot be learned, even if a table is counted: one that gets two fifths of epsilon
gives a class probability in a tenth of the records to within 46 points, and in half of them to within 9 points."""
BANDS = "bands contain 95 % of the noise"


class Regime(IntEnum):
    """What can be learned, from least to most."""

    CLASS_SHARES = 0
    FEW_ATTRIBUTES = 1
    MOST_ATTRIBUTES = 2
    ALL_ATTRIBUTES = 3

    @property
    def words(self) -> str:
        return (
            "nothing but the class shares",
            "the strongest few attributes",
            "most attributes, coarsely",
            "all attributes, and strong interactions",
        )[self]


@dataclass(frozen=True, kw_only=True)
class ClassCounts:
    """A measurement that counts classes: its price, and how many of its entries add up to a class total."""

    price: Fraction
    entries: int


@dataclass(frozen=True, kw_only=True)
class Learnable:
    """What can be learned from a number of records. Errors are half the widths of 95 % bands, at most 1."""

    regime: Regime
    records: int
    share_error: float
    """Of a class share."""
    probability_error: float | None
    """Of the probability of a class in a tenth of the records; None if no attribute is counted by class."""

    @property
    def words(self) -> str:
        """
        >>> some = Learnable(regime=Regime.FEW_ATTRIBUTES, records=10_000, share_error=0.01234, probability_error=0.22)
        >>> some.words.partition(" (")[2]
        'class shares ± 1.2 points, class probability in a tenth of the records ± 22 points)'
        """
        bands = f"class shares ± {_points(self.share_error)} points"
        if self.probability_error is not None:
            bands += f", class probability in a tenth of the records ± {_points(self.probability_error)} points"
        return f"{self.regime.words} ({bands})"

    def added_to(self, release: CellRelease) -> CellRelease:
        """The release with a line of its story, and with plain data in detail.json."""
        line = f"what can be learned from about {self.records:,} counted records (noisy): {self.words}; {BANDS}"
        learned = {
            "regime": self.regime.words,
            "class shares only": self.regime is Regime.CLASS_SHARES,
            "sentence": f"{line[0].upper()}{line[1:]}.",
            "records": self.records,
            "class shares within": round(self.share_error, 5),
            "class probabilities within": None if self.probability_error is None else round(self.probability_error, 5),
        }
        detail = {**release.documents["detail"], "learned": learned}
        return replace(release, story=(*release.story, line), documents={**release.documents, "detail": detail})


def regime_of(schema: Schema, settings: DetailSettings, known: float) -> Regime:
    """The regime of a division, with the information `known`.

    Interactions can be learned if one with the smallest effect of `division.INTERACTIONS` is found at least half of the
    time (`division.expected_error`).
    """
    attributes = len(schema.predictors)
    if not settings.tables or known < LEAST_TO_LEARN:
        return Regime.CLASS_SHARES
    if 2 * settings.tables < attributes:
        return Regime.FEW_ATTRIBUTES
    candidates = max(attributes * (attributes - 1) / 2, 1) + 1
    choosing = known * len(schema.classes) / 2 * float(settings.combination_share)
    seen = choosing * min(INTERACTIONS) >= 2 * log(candidates)
    every = settings.tables == attributes and settings.fit_share > 0
    return Regime.ALL_ATTRIBUTES if every and seen else Regime.MOST_ATTRIBUTES


def learnable(
    schema: Schema,
    epsilon: Fraction,
    settings: DetailSettings,
    spends: Sequence[Spend],
    *,
    records: int,
    counted: Sequence[ClassCounts],
) -> Learnable:
    """What can be learned from `records` records, if detail is measured by `settings` at the prices of `spends`.

    `counted` are the measurements besides the detail. If the settings were chosen for another number of records, the
    lower of both regimes is stated.
    """
    known = information(schema, epsilon, records)
    found = min(regime_of(schema, each, known) for each in (settings, detail_settings(schema, epsilon, records)))
    tables = _tables(schema, settings, {spend.label: spend.epsilon for spend in spends})
    calibrations = [
        ClassCounts(price=spend.epsilon, entries=CALIBRATION_GROUPS)
        for spend in spends
        if spend.label == CALIBRATE
        for _ in range(spend.times)
    ]
    precision = sum(1 / (each.entries * _variance(schema, each.price)) for each in (*counted, *tables, *calibrations))
    factor = DEVIATIONS_95 * sqrt(max(1.0, len(schema.classes) / 4)) / max(records, 1)
    average = sum((each.price for each in tables), Fraction(0)) / len(tables) if tables else None
    return Learnable(
        regime=found,
        records=records,
        share_error=min(factor / sqrt(precision), 1.0),
        probability_error=(
            None if average is None else min(10 * factor * sqrt(_groups(settings) * _variance(schema, average)), 1.0)
        ),
    )


def planned_notes(stated: Sequence[Learnable], *, public: bool, enough: int) -> tuple[str, ...]:
    """What a plan says: for the public number of records, or for several numbers if it is not public.

    `enough` is about the least number of records from which an attribute can be learned.
    """
    enough_text = f"Attributes can be learned from about {enough:,} records on, or with a larger epsilon."
    parts = [f"from {each.records:,} records: {each.words}" for each in stated]
    learned = f"What can be learned {'; '.join(parts)}; {BANDS}."
    if public:
        lowest = stated[0].regime is Regime.CLASS_SHARES
        return (f"{WARNING}{learned[0].lower()}{learned[1:]} {enough_text}" if lowest else learned,)
    if enough <= FEW_RECORDS:
        return (learned,)
    fewer = f"from fewer than about {enough:,} records, {Regime.CLASS_SHARES.words} can be learned at this epsilon."
    return (learned, WARNING + fewer)


def _tables(schema: Schema, settings: DetailSettings, prices: Mapping[str, Fraction]) -> list[ClassCounts]:
    """The class tables, each with the most bins that it can have."""
    most = {each.name: most_bins(each.domain, settings.bins) * _groups(settings) for each in schema.predictors}
    if settings.choice_share:
        return [ClassCounts(price=prices[COUNT_TABLE], entries=max(most.values()))] * settings.tables
    names = most if settings.tables else ()
    return [ClassCounts(price=prices[count_label(name)], entries=most[name]) for name in names]


def _groups(settings: DetailSettings) -> int:
    """The most groups by log-odds that a class table is counted in."""
    return 2 if settings.information >= LEAST_INFORMATION else 1


def _variance(schema: Schema, price: Fraction) -> float:
    variance = laplace_variance(sensitivity=1 if schema.unit is Unit.ADD_REMOVE else 2, epsilon=price)
    return max(variance, LEAST_VARIANCE)


def _points(share: float) -> str:
    """
    >>> [_points(share) for share in (0.00023, 0.0123, 0.5, 1.0)]
    ['0.023', '1.2', '50', '100']
    """
    points = 100 * share
    return f"{points:.2g}" if points < 9.95 else f"{points:.0f}"
