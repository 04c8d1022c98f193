"""Generated tables of customers: visits of a shop, and a telephone campaign.

The most predictive attribute of each is a long grid with most records in its first cells. The class of interest is in
the minority.
"""

from collections.abc import Sequence

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import (
    YES_NO,
    amounts,
    categories,
    cells,
    fixed_effects,
    flat,
    grid,
    grid_with_missing,
    numbered,
    schema_of,
    set_for,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

# Visits of a shop. The value of the pages seen is zero for nine visits in ten, and is the best predictor of a purchase.

PAGE_VALUES = 4_000
_MONTH_SHARES = (0.02, 0.02, 0.15, 0.03, 0.27, 0.03, 0.04, 0.04, 0.04, 0.05, 0.22, 0.09)


def _visits(draw: Simulation, rows: int) -> list[Integers]:
    interest, patience = draw.normal(size=(2, rows))
    pages = amounts(tied(draw, interest, 0.8), 700, 18, 1.1)
    seconds = amounts(tied(draw, interest, 0.8) + 0.3 * patience, 6_000, 60, 1.5)
    account = amounts(tied(draw, patience, 0.7), 28, 1.5, 1.0)
    help_pages = set_for(draw, amounts(tied(draw, patience, 0.6), 24, 1.4, 0.8), 0, 0.75)
    bounces = set_for(draw, amounts(tied(draw, -interest, 0.7), 200, 12, 1.3), 0, 0.4)
    exits = np.clip(bounces + amounts(tied(draw, -interest, 0.5), 200, 18, 0.8), 0, 199)
    valued = tied(draw, interest, 0.5) > 1.23
    value = np.where(valued, 1 + amounts(tied(draw, interest, 0.3), PAGE_VALUES - 1, 120, 1.1), 0)
    month = draw.choice(12, rows, p=_MONTH_SHARES)
    source = np.minimum(draw.geometric(0.28, rows) - 1, 19)
    visitor = categories(tied(draw, interest, 0.3), 0.14, 0.855, 0.005)
    near_feast = np.where(np.isin(month, [1, 4]), draw.choice(6, rows, p=[0.6, 0.05, 0.1, 0.1, 0.1, 0.05]), 0)
    system = draw.choice(8, rows, p=[0.21, 0.53, 0.205, 0.04, 0.003, 0.004, 0.003, 0.005])
    browser = np.where(draw.random(rows) < 0.7, np.minimum(system, 12), draw.integers(0, 13, rows))
    region = np.minimum(draw.geometric(0.3, rows) - 1, 8)
    weekend = (draw.random(rows) < 0.23).astype(np.int64)
    return [
        account,
        help_pages,
        pages,
        seconds,
        bounces,
        exits,
        value,
        near_feast,
        month,
        system,
        browser,
        region,
        source,
        visitor,
        weekend,
    ]


def _bought(codes: Sequence[Integers]) -> Floats:
    _, _, pages, _, _, exits, value, near_feast, month, _, _, _, source, visitor, weekend = codes
    season = np.array([-0.4, -1.4, -0.2, 0.0, -0.3, -0.2, 0.2, 0.2, 0.3, 0.3, 0.8, 0.0])[month]
    worth = np.select([value == 0, value < 20, value < 60, value < 150], [0.0, 0.8, 2.0, 3.1], 4.0)
    habits = 0.35 * np.log1p(pages / 10) - 0.025 * exits - 0.25 * near_feast + 0.5 * (visitor == 0) + 0.15 * weekend
    return two_classes(1.3 * (worth + season + habits + 0.4 * np.isin(source, [1, 7])) - 2.9)


# A telephone campaign: the length of the call is the best predictor; most persons were never called before.

CALL_SECONDS, BALANCE_CELLS, DAYS = 5_000, 10_000, 900


def _calls(draw: Simulation, rows: int) -> list[Integers]:
    wealth, interest = draw.normal(size=(2, rows))
    age = cells(tied(draw, wealth, 0.2), 80, 23, 10.6)
    job = draw.choice(12, rows, p=[0.215, 0.21, 0.168, 0.114, 0.092, 0.05, 0.035, 0.033, 0.029, 0.027, 0.02, 0.007])
    married = categories(tied(draw, (23 - age) / 10.6, 0.4), 0.12, 0.6, 0.28)
    schooling = categories(tied(draw, wealth + 0.2 * (job < 3), 0.4), 0.15, 0.51, 0.295, 0.045)
    balance = np.clip(30 + amounts(tied(draw, wealth, 0.8), BALANCE_CELLS, 45, 1.5) - 15 * (wealth < -1), 0, 9_999)
    housing = (tied(draw, age / 10.6 - 2.2, 0.25) < 0.14).astype(np.int64)
    loan = (tied(draw, -wealth, 0.2) > 1.0).astype(np.int64)
    behind = (tied(draw, -wealth, 0.4) > 2.1).astype(np.int64)
    telephone = draw.choice(3, rows, p=[0.65, 0.06, 0.29])
    month = draw.choice(
        12, rows, p=[0.031, 0.059, 0.011, 0.065, 0.304, 0.118, 0.153, 0.138, 0.013, 0.016, 0.087, 0.005]
    )
    seconds = amounts(tied(draw, interest, 0.35), CALL_SECONDS, 180, 0.9)
    attempts = np.minimum(draw.geometric(0.37, rows) - 1, 62)
    earlier = tied(draw, interest, 0.25) > 0.9
    days = np.where(earlier, np.minimum(draw.choice([92, 182, 340], rows) + draw.integers(-8, 9, rows), DAYS - 1), DAYS)
    contacts = np.where(earlier, np.minimum(draw.geometric(0.35, rows), 40), 0)
    result = np.where(earlier, draw.choice(3, rows, p=[0.6, 0.22, 0.18]), 3)
    day = draw.integers(0, 31, rows)
    return [
        age,
        job,
        married,
        schooling,
        behind,
        balance,
        housing,
        loan,
        telephone,
        day,
        month,
        seconds,
        attempts,
        days,
        contacts,
        result,
    ]


def _subscribed(codes: Sequence[Integers]) -> Floats:
    age, job, married, schooling, _, balance, housing, loan, telephone, _, month, seconds, attempts, _, _, result = (
        codes
    )
    season = np.array([-0.9, 0.1, 1.6, 0.2, -0.5, 0.3, -0.6, -0.4, 1.3, 1.3, -0.6, 1.2])[month]
    person = (
        fixed_effects(12, 0.25, 120)[job] + 0.15 * (married == 2) + 0.15 * schooling + 0.5 * (np.abs(age - 25) > 22)
    )
    length = 1.55 * np.log1p(seconds / 60) + 0.8 * (seconds > 540)
    bank = 0.08 * np.log1p(balance) - 0.6 * housing - 0.4 * loan - 1.1 * (telephone == 2) - 0.08 * attempts
    return two_classes(1.4 * (length + season + person + bank + np.array([0.1, 0.4, 2.3, 0.0])[result]) - 6.15)


CUSTOMERS: tuple[Recipe, ...] = (
    Recipe(
        name="shoppers",
        settles=True,
        summary="the most predictive attribute is a grid of 4,000 cells with nine tenths of all records in the first; "
        "two classes, one of 14 %",
        rows=12_000,
        schema_text=schema_of(
            {
                "account": grid(28),
                "help": grid(24),
                "pages": grid(700),
                "seconds": grid(60_000, 10),
                "bounces": grid(200),
                "exits": grid(200),
                "value": grid(PAGE_VALUES),
                "near": grid(6),
                "month": flat(*MONTHS),
                "system": numbered("s", 8),
                "browser": numbered("b", 13),
                "region": numbered("r", 9),
                "source": numbered("t", 20),
                "visitor": flat("new", "returning", "other"),
                "weekend": flat("week", "end"),
            },
            YES_NO,
        ),
        predictors=_visits,
        probabilities=_bought,
    ),
    Recipe(
        name="campaign",
        settles=False,
        summary="the most predictive attribute is a skewed grid of 5,000 cells, another is missing for four records in "
        "five; 16 attributes; two classes, one of 12 %",
        rows=45_000,
        schema_text=schema_of(
            {
                "age": grid(80),
                "job": numbered("j", 12),
                "married": flat("divorced", "married", "single"),
                "schooling": flat("primary", "secondary", "tertiary", "unknown"),
                "behind": flat("not-behind", "behind"),
                "balance": grid(10 * BALANCE_CELLS, 10),
                "housing": flat("no-mortgage", "mortgage"),
                "loan": flat("no-loan", "loan"),
                "telephone": flat("mobile", "landline", "unknown-telephone"),
                "day": grid(31),
                "month": flat(*MONTHS),
                "seconds": grid(CALL_SECONDS),
                "attempts": grid(63),
                "days": grid_with_missing(DAYS, label="never"),
                "contacts": grid(41),
                "result": flat("failure", "other-result", "success", "none"),
            },
            YES_NO,
        ),
        predictors=_calls,
        probabilities=_subscribed,
    ),
)
