"""Generated tables of credit cards: debtors who do not pay, and fraudulent payments.

They have amounts of money with heavy tails, spikes at zero and at round numbers, attributes that repeat from month to
month, and a class of interest in the minority.
"""

from collections.abc import Sequence

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import (
    YES_NO,
    amounts,
    categories,
    cells,
    flat,
    grid,
    numbered,
    rounded,
    schema_of,
    set_for,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# Credit cards, six months back: states of payment, bills and payments of each month, all in one factor of trouble.

BILL_CELLS, PAYMENT_CELLS, PAYMENT_STATES = 10_000, 5_000, 10


def _cards(draw: Simulation, rows: int) -> list[Integers]:
    trouble, wealth = draw.normal(size=(2, rows))
    limit = amounts(tied(draw, wealth, 0.8), 100, 14, 0.8) + 1
    limit = np.minimum(np.where(draw.random(rows) < 0.4, np.maximum(limit // 5 * 5, 1), limit), 99)
    schooling = categories(tied(draw, -wealth, 0.4), 0.36, 0.46, 0.16, 0.02)
    age = cells(tied(draw, wealth, 0.3), 60, 15, 9)
    marriage = categories(tied(draw, (age - 15) / 9.0, 0.5), 0.53, 0.455, 0.015)
    states, bills, payments = [], [], []
    state = tied(draw, trouble, 0.75)
    use = tied(draw, trouble, 0.4)
    for _ in range(6):
        state = tied(draw, state, 0.9)
        states.append(categories(state, 0.12, 0.2, 0.48, 0.1, 0.07, 0.015, 0.006, 0.004, 0.003, 0.002))
        use = tied(draw, use, 0.93)
        bill = np.clip(limit * 100 * np.exp(np.minimum(1.3 * use - 1.2, 0.1)), 0, BILL_CELLS - 1).astype(np.int64)
        bills.append(set_for(draw, bill, 0, 0.09))
        paid = amounts(tied(draw, 0.6 * wealth - 0.6 * state, 0.7), PAYMENT_CELLS, 22, 1.35)
        payments.append(rounded(draw, set_for(draw, paid, 0, 0.19), 10, 0.5))
    sex = (draw.random(rows) < 0.6).astype(np.int64)
    return [limit, sex, schooling, marriage, age, *states, *bills, *payments]


def _unpaid(codes: Sequence[Integers]) -> Floats:
    limit, sex, _, marriage, age, *months = codes
    states, bills, payments = months[:6], months[6:12], months[12:]
    late = np.select([states[5] >= 5, states[5] == 4, states[5] == 3], [2.4, 2.1, 1.0], 0.0)
    earlier = 0.35 * sum((state >= 4).astype(float) for state in states[:5])
    money = -0.25 * np.log1p(payments[5] / 10) - 0.2 * np.log1p(payments[4] / 10) - 0.18 * np.log1p(limit)
    rest = 0.15 * (sex == 0) + 0.15 * (marriage == 0) + 0.008 * (age - 15) - 0.00004 * bills[5]
    return two_classes(late + earlier + money + rest - 1.18)


# Card payments, one in a hundred of them fraudulent: at night, far away, or of an unusual amount for the shop.

PENCE = 20_000


def _payments(draw: Simulation, rows: int) -> list[Integers]:
    wealth, travel = draw.normal(size=(2, rows))
    shop = np.minimum(draw.geometric(0.12, rows) - 1, 39)
    amount = rounded(draw, amounts(tied(draw, wealth, 0.5) + 0.03 * shop, PENCE, 250, 1.2), 100, 0.3)
    hour = cells(draw.normal(size=rows), 24, 14.5, 4.5)
    hour = set_for(draw, hour, 3, 0.02)
    distance = amounts(tied(draw, travel, 0.8), 5_000, 12, 1.6)
    abroad = (tied(draw, travel, 0.7) > 1.7).astype(np.int64)
    last_day = np.minimum(draw.poisson(np.exp(0.4 + 0.5 * travel)), 49)
    years = amounts(tied(draw, wealth, 0.3), 30, 4, 0.8)
    chip = draw.choice(3, rows, p=[0.7, 0.22, 0.08])
    refused = np.minimum(draw.poisson(0.05, rows), 5)
    return [amount, shop, hour, distance, abroad, last_day, years, chip, refused]


def _fraud(codes: Sequence[Integers]) -> Floats:
    amount, shop, hour, distance, abroad, last_day, years, chip, refused = codes
    unusual = 1.5 * (amount > 1_000) * np.isin(shop, [1, 4, 9, 11]) + 1.1 * (amount < 15) * (chip == 2)
    place = 1.6 * (hour < 5) + 0.9 * (distance > 120) + 1.1 * abroad * (chip != 0) + 0.25 * np.minimum(last_day, 10)
    return two_classes(2 * (unusual + place + 2.2 * np.minimum(refused, 2) + 1.1 * (chip == 2) - 0.05 * years) - 8.5)


def _card_attributes() -> dict[str, str]:
    months = range(1, 7)
    return {
        "limit": grid(100),
        "sex": flat("m", "f"),
        "schooling": flat("graduate", "university", "school", "other-schooling"),
        "marriage": flat("married", "single", "other-status"),
        "age": grid(60),
        **{f"state{month}": grid(PAYMENT_STATES) for month in months},
        **{f"bill{month}": grid(100 * BILL_CELLS, 100) for month in months},
        **{f"paid{month}": grid(100 * PAYMENT_CELLS, 100) for month in months},
    }


MONEY: tuple[Recipe, ...] = (
    Recipe(
        name="credit",
        settles=False,
        summary="twelve amounts of money with heavy tails and spikes at zero and round numbers, six repeated states; "
        "23 attributes; two classes, one of 22 %",
        schema_text=schema_of(_card_attributes(), YES_NO),
        predictors=_cards,
        probabilities=_unpaid,
    ),
    Recipe(
        name="fraud",
        settles=True,
        summary="card payments with heavy tails and spikes at round numbers; two classes, one of 1 %",
        rows=60_000,
        schema_text=schema_of(
            {
                "amount": grid(PENCE),
                "shop": numbered("s", 40),
                "hour": grid(24),
                "distance": grid(5_000),
                "abroad": flat("here", "abroad"),
                "last": grid(50),
                "years": grid(30),
                "chip": flat("chip", "stripe", "remote"),
                "refused": grid(6),
            },
            ("genuine", "fraud"),
        ),
        predictors=_payments,
        probabilities=_fraud,
    ),
)
