"""Generated tables of people who are asked many things: applicants, patients of a study, a questionnaire.

Two of them have few records, and two have missing values, which are informative in the questionnaire.
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
    rounded,
    schema_of,
    set_for,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# Applicants for a loan: few records, many attributes, and seven in ten are good.

APPLICANT_CATEGORIES = {
    "purpose": (0.23, 0.1, 0.18, 0.28, 0.05, 0.1, 0.06),
    "status": (0.31, 0.55, 0.09, 0.05),
    "debtors": (0.9, 0.05, 0.05),
    "plans": (0.14, 0.05, 0.81),
    "telephone": (0.6, 0.4),
    "foreign": (0.04, 0.96),
}
"""Attributes that depend on nothing else, with the shares of their categories."""


def _applicants(draw: Simulation, rows: int) -> list[Integers]:
    wealth, size = draw.normal(size=(2, rows))
    months = rounded(draw, cells(tied(draw, size, 0.8), 60, 20, 11) + 4, 6, 0.8)
    amount = amounts(tied(draw, size, 0.85), 200, 23, 0.75)
    age = cells(tied(draw, wealth, 0.4), 60, 16, 11)
    return [
        categories(tied(draw, wealth, 0.6), 0.27, 0.27, 0.06, 0.4),
        np.minimum(months, 71),
        categories(tied(draw, wealth, 0.5), 0.04, 0.05, 0.53, 0.09, 0.29),
        amount,
        categories(tied(draw, wealth, 0.5), 0.6, 0.1, 0.06, 0.05, 0.19),
        categories(tied(draw, wealth, 0.4), 0.06, 0.17, 0.34, 0.17, 0.26),
        categories(tied(draw, -size, 0.4), 0.14, 0.23, 0.16, 0.47),
        categories(tied(draw, age / 11.0 - 1.5, 0.3), 0.13, 0.31, 0.15, 0.41),
        categories(tied(draw, wealth, 0.3), 0.15, 0.33, 0.23, 0.29),
        age,
        categories(tied(draw, age / 11.0 - 1.5, 0.4), 0.18, 0.71, 0.11),
        categories(tied(draw, age / 11.0 - 1.5, 0.2), 0.63, 0.33, 0.03, 0.01),
        categories(tied(draw, wealth, 0.3), 0.02, 0.2, 0.63, 0.15),
        categories(draw.normal(size=rows), 0.84, 0.16),
        *(draw.choice(len(shares), rows, p=shares) for shares in APPLICANT_CATEGORIES.values()),
    ]


def _repaid(codes: Sequence[Integers]) -> Floats:
    account, months, history, amount, savings, employed, rate, _, property_, age, home, *_ = codes
    purpose, _, debtors, plans, _, _ = codes[-6:]
    money = np.array([-1.0, -0.5, 0.3, 1.1])[account] + np.array([-1.0, -0.9, 0.0, 0.1, 0.8])[history]
    money = money + np.array([-0.3, -0.1, 0.2, 0.7, 0.5])[savings] - 0.04 * (months - 20) - 0.008 * (amount - 23)
    person = 0.15 * (employed - 2) + 0.15 * (rate - 2) - 0.1 * property_ + 0.012 * (age - 16) + 0.3 * (home == 1)
    loan = fixed_effects(7, 0.5, 140)[purpose] + np.array([0.0, -0.5, 0.7])[debtors] + 0.4 * (plans == 2)
    return two_classes(0.8 * (money + person + loan) + 0.55)


# Patients of a small study: 500 records, laboratory values that are missing for some.

LABORATORY = 6


def _study(draw: Simulation, rows: int) -> list[Integers]:
    illness, age_factor = draw.normal(size=(2, rows))
    values = [cells(tied(draw, illness, strength), 100, 45, 16) for strength in (0.75, 0.6, 0.45, 0.3, 0.15, 0.0)]
    missing = (0.05, 0.1, 0.25, 0.1, 0.05, 0.3)
    return [
        cells(tied(draw, age_factor, 0.95), 90, 58, 13),
        categories(draw.normal(size=rows), 0.52, 0.48),
        *(set_for(draw, value, 100, share) for value, share in zip(values, missing, strict=True)),
        categories(tied(draw, illness + 0.4 * age_factor, 0.5), 0.45, 0.3, 0.15, 0.1),
        categories(tied(draw, age_factor, 0.3), 0.5, 0.35, 0.15),
    ]


def _relapse(codes: Sequence[Integers]) -> Floats:
    age, sex, *rest = codes
    values, stage, smoker = rest[:LABORATORY], rest[-2], rest[-1]
    measured = [np.where(value == 100, 0.0, (value - 45) / 16) for value in values]
    score = 0.9 * measured[0] + 0.7 * measured[1] + 0.4 * measured[2] + 0.9 * stage + 0.3 * smoker + 0.3 * sex
    return two_classes(score + 0.02 * (age - 58) - 1.95)


# A questionnaire with answers left out: more often by those for whom the answer would be high.


def _answers(draw: Simulation, rows: int) -> list[Integers]:
    strain, reserve = draw.normal(size=(2, rows))
    left_out = 1 / (1 + np.exp(1.4 - 1.2 * reserve - 0.6 * strain))
    grids = [cells(tied(draw, strain, strength), 100, 40, 20) for strength in (0.7, 0.6, 0.5, 0.3, 0.0)]
    income = amounts(tied(draw, -strain, 0.3), 3_000, 280, 0.8)
    return [
        *(set_for(draw, values, 100, left_out * share) for values, share in zip(grids, (1, 0.8, 1, 1, 1), strict=True)),
        set_for(draw, income, 3_000, np.minimum(1.6 * left_out, 1.0)),
        set_for(draw, cells(draw.normal(size=rows), 80, 42, 15), 80, 0.1),
        set_for(draw, categories(tied(draw, strain, 0.4), 0.3, 0.3, 0.2, 0.2), 4, left_out),
        categories(tied(draw, reserve, 0.3), 0.5, 0.5),
        draw.choice(16, rows, p=np.arange(16, 0, -1) / 136),
    ]


def _leaves(codes: Sequence[Integers]) -> Floats:
    *answers, income, age, satisfaction, _, region = codes
    high = sum(
        weight * np.where(answer == 100, 0.35, (answer - 40) / 20.0)
        for answer, weight in zip(answers, (0.8, 0.6, 0.4, 0.3, 0.0), strict=True)
    )
    work = np.where(income == 3_000, 0.5, -0.4 * np.log(np.maximum(income, 20) / 280.0))
    rest = np.array([0.0, 0.2, 0.5, 0.9, 0.7])[satisfaction] - 0.5 * (age > 55) * (age < 80)
    return two_classes(high + work + rest + fixed_effects(16, 0.25, 180)[region] - 1.35)


PEOPLE: tuple[Recipe, ...] = (
    Recipe(
        name="applicants",
        settles=False,
        summary="1,000 records of 20 attributes; two classes, 30 : 70",
        rows=1_000,
        schema_text=schema_of(
            {
                "account": numbered("a", 4),
                "months": grid(72),
                "history": numbered("h", 5),
                "amount": grid(20_000, 100),
                "savings": numbered("s", 5),
                "employed": numbered("e", 5),
                "rate": grid(4),
                "resident": grid(4),
                "property": numbered("p", 4),
                "age": grid(60),
                "home": flat("rented", "owned", "free"),
                "credits": grid(4),
                "job": numbered("j", 4),
                "dependants": grid(2),
                **{name: numbered(name[:2], len(shares)) for name, shares in APPLICANT_CATEGORIES.items()},
            },
            ("bad", "good"),
        ),
        predictors=_applicants,
        probabilities=_repaid,
    ),
    Recipe(
        name="study",
        settles=True,
        summary="500 records; six laboratory values, each missing for 5 to 30 %; two classes",
        rows=500,
        schema_text=schema_of(
            {
                "age": grid(90),
                "sex": flat("m", "f"),
                **{f"value{number}": grid_with_missing(100) for number in range(LABORATORY)},
                "stage": numbered("s", 4),
                "smoker": flat("never", "former", "smoker"),
            },
            YES_NO,
        ),
        predictors=_study,
        probabilities=_relapse,
    ),
    Recipe(
        name="questionnaire",
        settles=False,
        summary="grids of which 10 to 40 % are missing, more often where the value would be high; two classes",
        rows=15_000,
        schema_text=schema_of(
            {
                **{f"answer{number}": grid_with_missing(100) for number in range(5)},
                "income": grid_with_missing(30_000, 10),
                "age": grid_with_missing(80),
                "satisfaction": flat("very", "rather", "hardly", "not", "unknown"),
                "sex": flat("m", "f"),
                "region": numbered("r", 16),
            },
            YES_NO,
        ),
        predictors=_answers,
        probabilities=_leaves,
    ),
)
