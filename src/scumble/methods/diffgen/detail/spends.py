"""The spends of the detail: labels, and how a part of epsilon is divided among them."""

from fractions import Fraction
from itertools import accumulate, pairwise
from math import isqrt

from scumble.methods.diffgen.detail.binning import MOST_BINS, value_count
from scumble.methods.diffgen.settings import DetailSettings
from scumble.model.plan import Spend
from scumble.model.schema import Schema

COUNT_VALUES = "count the values"
CHOOSE_TABLE = "choose a table"
COUNT_TABLE = "count a table"
CALIBRATE = "count the groups"
CHOOSE_COMBINATION = "choose a combination"
CHOOSE_FURTHER = "choose a further combination"
FIT = "combinations and weights"
SLOPES = "weigh the tables: slopes"
OVERLAPS = "weigh the tables: overlaps"

MOST_COMBINATIONS = 3


def count_label(attribute: str) -> str:
    return f"count {attribute} by class"


def detail_spends(schema: Schema, epsilon: Fraction, settings: DetailSettings) -> tuple[Spend, ...]:
    """The spends of the detail. Chosen tables share their budget equally; otherwise one with more bins gets more."""
    spends = []
    if settings.values_share:
        spends.append(
            Spend(
                label=COUNT_VALUES,
                epsilon=epsilon * settings.values_share,
                purpose="discrete Laplace noise on the number of records with each value of an attribute",
            )
        )
    counting, purpose = epsilon * settings.table_share, "discrete Laplace noise"
    if settings.choice_share:
        spends += [
            Spend(
                label=CHOOSE_TABLE,
                epsilon=epsilon * settings.choice_share / settings.tables,
                times=settings.tables,
                purpose="one private selection of the attribute that adds most to what is known about the class",
            ),
            Spend(label=COUNT_TABLE, epsilon=counting / settings.tables, times=settings.tables, purpose=purpose),
        ]
    elif settings.tables:
        spends += [
            Spend(label=count_label(name), epsilon=counting * share, purpose=purpose)
            for name, share in table_shares(schema, settings.bins).items()
        ]
    if settings.calibration_share:
        spends.append(
            Spend(
                label=CALIBRATE,
                epsilon=epsilon * settings.calibration_share / 2,
                times=2,
                purpose="discrete Laplace noise on the class counts of groups of records with similar log-odds",
            )
        )
    if settings.fit_share:
        spends += [
            Spend(
                label=CHOOSE_COMBINATION,
                epsilon=epsilon * settings.combination_share / 2,
                purpose="a private selection of a combination of attributes, or none, to be counted by class",
            ),
            Spend(
                label=CHOOSE_FURTHER,
                epsilon=epsilon * settings.combination_share / 2 / (MOST_COMBINATIONS - 1),
                times=MOST_COMBINATIONS - 1,
                purpose="the same again, if one was selected",
            ),
            Spend(
                label=FIT,
                epsilon=epsilon * settings.fit_share,
                purpose="counts of the chosen combinations, and weights of all tables; the choice decides the division",
            ),
        ]
    return tuple(spends)


def combination_spends(epsilon: Fraction, number: int) -> tuple[Spend, ...]:
    """How `FIT`, or what is left of it, is divided if a combination was chosen: a third of it for its residuals."""
    return (
        Spend(
            label=combination_label(number),
            epsilon=epsilon / 3,
            purpose="discrete Laplace noise on what a combination of attributes adds, by class",
        ),
        Spend(
            label=fit_label(number + 1),
            epsilon=epsilon * 2 / 3,
            purpose="further combinations, and weights of all tables",
        ),
    )


def combination_label(number: int) -> str:
    return f"count combination {number + 1}"


def fit_label(number: int) -> str:
    """The label of what is left for the weights after so many combinations."""
    return FIT if not number else f"weights after combination {number}"


def weight_spends(epsilon: Fraction) -> tuple[Spend, ...]:
    """How what is left of `FIT` is divided."""
    return (
        Spend(label=SLOPES, epsilon=epsilon / 2, purpose="discrete Laplace noise on the gradient of the fit"),
        Spend(label=OVERLAPS, epsilon=epsilon / 2, purpose="discrete Laplace noise on how alike the tables are"),
    )


def table_shares(schema: Schema, bins: int) -> dict[str, Fraction]:
    """Each attribute's share of the tables' epsilon, if all have a table: by the square root of its number of bins.

    With n records spread evenly over b bins, noise at a price e changes the probability of a class in a bin by about
    b / (n e). The sum of squares over all attributes is least for prices proportional to b^(2/3). The square root is
    more cautious, because the records of many attributes lie in few of their bins.
    """
    most = min(max(bins, 1), MOST_BINS)
    roots = [isqrt(10_000 * min(value_count(each.domain), 2 * most)) for each in schema.predictors]
    # Thousandths, or smaller parts if an attribute would get none of them.
    parts = max(1000, -(-sum(roots) // min(roots)))
    ends = [parts * end // sum(roots) for end in accumulate(roots, initial=0)]
    names = [each.name for each in schema.predictors]
    return {name: Fraction(high - low, parts) for name, (low, high) in zip(names, pairwise(ends), strict=True)}
