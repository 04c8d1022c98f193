"""Generated tables whose class is a rule or depends on attributes in combination, and one without any relation."""

from collections.abc import Sequence
from math import prod

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import (
    categories,
    cells,
    fixed_effects,
    flat,
    grid,
    numbered,
    schema_of,
    softmax,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# Admissions: every combination of eight categories once, and a class that a committee's rules determine.

ADMISSION_SIZES = (3, 5, 4, 4, 3, 2, 3, 3)
COMBINATIONS = prod(ADMISSION_SIZES)


def _every_combination(draw: Simulation, rows: int) -> list[Integers]:
    """The first rows of the combinations in random order, again and again if there are more rows than combinations."""
    number = draw.permutation(COMBINATIONS)[np.arange(rows) % COMBINATIONS]
    return list(np.unravel_index(number, ADMISSION_SIZES))


def _admitted(codes: Sequence[Integers]) -> Floats:
    """Rejected for bad health; else the need of the family counts, and the best of the needy are preferred."""
    parents, care, form, children, housing, finance, social, health = codes
    work = parents + np.array([0, 0, 0, 2, 3])[care]
    home = np.maximum(np.maximum(form - 1, children - 1), housing) + finance
    need = work + home + social + (health == 1)
    place = np.select([health == 2, need <= 1, need == 2, need <= 5], [0, 1, 2, 3], default=4)
    return np.eye(5)[place]


# Three attributes together: a machine fails where an odd number of three states is critical.


def _machines(draw: Simulation, rows: int) -> list[Integers]:
    wear, climate = draw.normal(size=(2, rows))
    return [
        categories(tied(draw, wear, 0.3), 0.3, 0.25, 0.45),
        categories(tied(draw, climate, 0.3), 0.55, 0.45),
        cells(tied(draw, climate, 0.3), 40, 20, 9),
        cells(tied(draw, wear, 0.7), 60, 30, 13),
        categories(tied(draw, wear, 0.5), 0.4, 0.3, 0.2, 0.1),
        cells(tied(draw, climate, 0.8), 50, 25, 10),
        *(draw.integers(0, 6, rows) for _ in range(3)),
    ]


def _fails(codes: Sequence[Integers]) -> Floats:
    model, site, heat, age, *_ = codes
    odd = (model == 2) ^ (site == 1) ^ (heat >= 21)
    return two_classes(3.4 * odd + 0.04 * (age - 30) - 1.7)


# Ten classes, whose records lie around ten places in sixteen measurements that are correlated.

PLACES, MEASUREMENTS = 10, 16


def _strokes(draw: Simulation, rows: int) -> list[Integers]:
    group = draw.choice(PLACES, rows, p=[0.14, 0.13, 0.12, 0.11, 0.1, 0.1, 0.09, 0.08, 0.07, 0.06])
    slant = draw.normal(size=rows)
    places = fixed_effects(PLACES * MEASUREMENTS, 14.0, 190).reshape(PLACES, MEASUREMENTS)
    return [cells(tied(draw, slant, 0.4), 100, 50 + places[group, number], 15) for number in range(MEASUREMENTS)]


def _digit(codes: Sequence[Integers]) -> Floats:
    """Bayes' rule for independent measurements around each place, a little flattened."""
    places = 50 + fixed_effects(PLACES * MEASUREMENTS, 14.0, 190).reshape(PLACES, MEASUREMENTS)
    table = np.stack(codes, axis=1).astype(float)
    distance = ((table**2).sum(axis=1)[:, np.newaxis] - 2 * table @ places.T + (places**2).sum(axis=1)) / (2 * 15**2)
    return softmax(-0.6 * distance)


# Twelve measurements of which each predicts the class weakly.


def _measurements(draw: Simulation, rows: int) -> list[Integers]:
    first, second = draw.normal(size=(2, rows))
    ties = (0.7, 0.5, 0.6, 0.3, 0.4, 0.6, 0.2, 0.5, 0.3, 0.0, 0.4)
    factors = [first if number % 2 else second for number in range(len(ties))]
    numbers = [cells(tied(draw, factor, tie), 80, 40, 15) for factor, tie in zip(factors, ties, strict=True)]
    return [*numbers, categories(tied(draw, first, 0.5), 0.75, 0.25)]


def _liked(codes: Sequence[Integers]) -> Floats:
    *numbers, colour = codes
    weights = (0.25, -0.2, 0.2, 0.15, -0.15, 0.1, 0.25, -0.1, 0.05, 0.3, 0.35)
    score = sum(weight * (number - 40) / 15.0 for number, weight in zip(numbers, weights, strict=True))
    return two_classes(1.6 * score + 0.25 * (colour == 1) - 0.3 * np.abs(numbers[0] - 40) / 15.0 + 0.8)


# Nothing to learn: the class depends on no attribute.


def _unrelated(draw: Simulation, rows: int) -> list[Integers]:
    factor = draw.normal(size=rows)
    grids = [cells(tied(draw, factor, 0.5), 50, 25, 9) for _ in range(4)]
    return [*grids, *(categories(tied(draw, factor, 0.5), 0.4, 0.3, 0.2, 0.1) for _ in range(4))]


def _by_lot(codes: Sequence[Integers]) -> Floats:
    return np.tile([0.65, 0.35], (len(codes[0]), 1))


RULES: tuple[Recipe, ...] = (
    Recipe(
        name="admissions",
        settles=True,
        summary="every combination of eight categories once; the class is a rule, and two of five classes are rare",
        rows=COMBINATIONS,
        schema_text=schema_of(
            {
                "parents": flat("usual", "demanding", "very-demanding"),
                "care": flat("proper", "less-proper", "improper", "critical", "very-critical"),
                "form": flat("complete", "completed", "incomplete", "foster"),
                "children": flat("one", "two", "three", "more"),
                "housing": flat("good", "less-good", "poor"),
                "finance": flat("enough", "short"),
                "social": flat("no-problem", "slight", "problem"),
                "health": flat("healthy", "fair", "ill"),
            },
            ("rejected", "preferred", "recommended", "priority", "urgent"),
        ),
        predictors=_every_combination,
        probabilities=_admitted,
    ),
    Recipe(
        name="three-together",
        settles=False,
        summary="an interaction of three attributes, of which any two predict little; two classes",
        rows=25_000,
        schema_text=schema_of(
            {
                "model": numbered("m", 3),
                "site": flat("indoors", "outdoors"),
                "heat": grid(40),
                "age": grid(60),
                "service": numbered("s", 4),
                "damp": grid(50),
                **{f"other{number}": numbered("o", 6) for number in range(3)},
            },
            ("works", "fails"),
        ),
        predictors=_machines,
        probabilities=_fails,
    ),
    Recipe(
        name="ten-classes",
        settles=True,
        summary="ten classes of 7 to 13 % around ten places in 16 correlated measurements",
        rows=8_000,
        schema_text=schema_of(
            {f"m{number:02}": grid(100) for number in range(MEASUREMENTS)}, [f"d{place}" for place in range(PLACES)]
        ),
        predictors=_strokes,
        probabilities=_digit,
    ),
    Recipe(
        name="weak-signals",
        settles=True,
        summary="6,000 records of 12 attributes, each a weak predictor; two classes",
        rows=6_000,
        schema_text=schema_of(
            {**{f"m{number:02}": grid(80) for number in range(11)}, "colour": flat("white", "red")},
            ("poor", "good"),
        ),
        predictors=_measurements,
        probabilities=_liked,
    ),
    Recipe(
        name="no-relation",
        settles=False,
        summary="nothing to learn: two classes, 65 : 35, that depend on no attribute",
        rows=10_000,
        schema_text=schema_of(
            {
                **{f"n{number}": grid(50) for number in range(4)},
                **{f"c{number}": numbered(f"c{number}-", 4) for number in range(4)},
            },
            ("heads", "tails"),
        ),
        predictors=_unrelated,
        probabilities=_by_lot,
    ),
)
