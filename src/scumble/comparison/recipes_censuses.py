"""Generated tables of populations: a census that states facts in several codings, and half a million households."""

from collections.abc import Sequence

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import (
    YES_NO,
    amounts,
    categories,
    cells,
    fixed_effects,
    grid,
    numbered,
    schema_of,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# A census that states age three times and income three times: as a grid, as a coarser one and as categories.


def _census(draw: Simulation, rows: int) -> list[Integers]:
    career = draw.normal(size=rows)
    age = cells(draw.normal(size=rows), 100, 46, 17)
    born = np.clip(110 - age - draw.integers(0, 2, rows), 0, 119)
    band = np.minimum(age // 15, 6)
    money = amounts(tied(draw, career, 0.8), 2_000, 260, 0.7)
    dollars = np.clip(money * 11 // 10 // 5, 0, 439)
    bracket = np.searchsorted([120, 180, 240, 330, 500], money, side="right")
    schooling = categories(tied(draw, career, 0.6), 0.12, 0.34, 0.3, 0.16, 0.08)
    years = np.array([8, 11, 13, 16, 19])[schooling]
    region = draw.choice(9, rows, p=[0.2, 0.17, 0.14, 0.12, 0.1, 0.09, 0.08, 0.06, 0.04])
    household = np.minimum(draw.poisson(1.6, rows), 9)
    return [age, born, band, money, dollars, bracket, schooling, years, region, household]


def _owner(codes: Sequence[Integers]) -> Floats:
    age, _, _, money, _, _, schooling, _, region, household = codes
    score = 1.6 * np.tanh((age - 38) / 14) + 1.3 * np.log(np.maximum(money, 20) / 260) + 0.25 * (schooling - 1)
    return two_classes(1.2 * (score + fixed_effects(9, 0.5, 160)[region] + 0.25 * (household - 1.6)) + 0.1)


# Households: half a million records of few attributes.


def _households(draw: Simulation, rows: int) -> list[Integers]:
    wealth = draw.normal(size=rows)
    persons = np.minimum(draw.geometric(0.42, rows), 12) - 1
    rooms = cells(tied(draw, wealth + 0.3 * (persons - 1.4), 0.6), 15, 4.2, 1.8)
    rent = amounts(tied(draw, wealth, 0.7) + 0.15 * (rooms - 4), 400, 70, 0.5)
    built = cells(tied(draw, wealth, 0.2), 150, 95, 32)
    heating = draw.choice(6, rows, p=[0.48, 0.22, 0.14, 0.09, 0.05, 0.02])
    county = draw.choice(60, rows, p=np.arange(60, 0, -1) / 1830)
    vehicles = categories(tied(draw, wealth + 0.2 * persons, 0.5), 0.2, 0.45, 0.25, 0.07, 0.03)
    moved = amounts(tied(draw, -wealth, 0.2), 60, 7, 1.0)
    return [persons, rooms, rent, built, heating, county, vehicles, moved]


def _insulated(codes: Sequence[Integers]) -> Floats:
    persons, rooms, rent, built, heating, county, vehicles, moved = codes
    house = 0.9 * (built > 120) - 0.8 * (built < 70) + np.array([0.2, -0.7, 0.6, -0.4, 0.3, 0.9])[heating]
    people = 0.6 * np.log(np.maximum(rent, 8) / 70) + 0.12 * (rooms - 4) * (persons > 1) - 0.5 * (moved < 3)
    return two_classes(1.3 * (house + people + fixed_effects(60, 0.4, 170)[county] + 0.15 * vehicles - 0.3))


CENSUSES: tuple[Recipe, ...] = (
    Recipe(
        name="census",
        settles=True,
        summary="age and income three times each, as two grids and as categories, and schooling twice; two classes",
        rows=20_000,
        schema_text=schema_of(
            {
                "age": grid(100),
                "born": grid(120),
                "band": numbered("b", 7),
                "money": grid(20_000, 10),
                "dollars": grid(440),
                "bracket": numbered("m", 6),
                "schooling": numbered("s", 5),
                "years": grid(20),
                "region": numbered("r", 9),
                "household": grid(10),
            },
            YES_NO,
        ),
        predictors=_census,
        probabilities=_owner,
    ),
    Recipe(
        name="households",
        settles=False,
        summary="500,000 records of eight attributes; two classes",
        rows=500_000,
        schema_text=schema_of(
            {
                "persons": grid(12),
                "rooms": grid(15),
                "rent": grid(4_000, 10),
                "built": grid(150),
                "heating": numbered("h", 6),
                "county": numbered("c", 60),
                "vehicles": grid(5),
                "moved": grid(60),
            },
            YES_NO,
        ),
        predictors=_households,
        probabilities=_insulated,
    ),
)
