"""The first six generated tables, of independent attributes.

They cover what Adult lacks: many categories, more than two classes, a rare class, attributes that matter only in
combination, many attributes, and long grids.
"""

from collections.abc import Sequence
from math import log

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import bell, fixed_effects, flat, grid, schema_of, skewed, softmax, two_classes
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# Many categories: each branch of the taxonomy has an effect, and each leaf a smaller additional one.

BRANCHES, LEAVES = 12, 12


def _taxonomy(prefix: str) -> str:
    branches = (
        f"{prefix}{branch}: {{{', '.join(f'{prefix}{branch}-{leaf}: ' for leaf in range(LEAVES))}}}"
        for branch in range(BRANCHES)
    )
    return f"{{taxonomy: {{Any: {{{', '.join(branches)}}}}}}}"


def _category_effects(column: Integers, seed: int) -> Floats:
    return (np.repeat(fixed_effects(BRANCHES, 1.3, seed), LEAVES) + fixed_effects(BRANCHES * LEAVES, 0.5, seed + 1))[
        column
    ]


def _many_categories(codes: Sequence[Integers]) -> Floats:
    town, trade, product, age = codes
    return two_classes(
        _category_effects(town, 10) + _category_effects(trade, 20) + 0.5 * _category_effects(product, 30) - age / 40
    )


# Five classes, determined by two linear combinations of attributes.

FIVE = ("a", "b", "c", "d", "e")


def _five_classes(codes: Sequence[Integers]) -> Floats:
    height, weight, grip, colour, _ = codes
    first, second = (height - 50) / 15 + (colour == 2), (weight + grip / 2 - 45) / 18 - (colour == 3)
    middles = np.array([[-1.5, -1.2], [-1.2, 1.4], [0.2, 0.0], [1.4, 1.2], [1.6, -1.3]])
    distance = (first[:, np.newaxis] - middles[:, 0]) ** 2 + (second[:, np.newaxis] - middles[:, 1]) ** 2
    return softmax(-1.6 * distance)


# One record in twenty belongs to the class of interest.


def _rare_class(codes: Sequence[Integers]) -> Floats:
    age, dose, marker, ward, earlier, _ = codes
    risk = 4.6 * ((dose > 60) & (marker > 65)) + 3.4 * (earlier >= 3) + 1.2 * np.isin(ward, [2, 5]) + (age - 50) / 30
    return two_classes(risk - 5.2)


# A nested exclusive or: each attribute by itself says little about the class.

XOR_NOISE = 0.1


def _xor(codes: Sequence[Integers]) -> Floats:
    left, right, level, depth, *_ = codes
    differ = (left ^ right) ^ ((level >= 12) & (depth < 8))
    return np.where(differ[:, np.newaxis] == 1, [XOR_NOISE, 1 - XOR_NOISE], [1 - XOR_NOISE, XOR_NOISE])


# Fifty attributes, eight of which matter.

NUMBERS, CATEGORIES = 25, 25


def _fifty(codes: Sequence[Integers]) -> Floats:
    numbers, categories = codes[:NUMBERS], codes[NUMBERS:]
    score = 1.4 * (numbers[0] > 11) + 1.1 * (numbers[1] > 14) - 0.9 * (numbers[2] < 5) + 0.8 * (numbers[3] > 9)
    score = score + 1.2 * (categories[0] <= 1) - 1.1 * (categories[1] == 0) + 0.8 * (categories[2] >= 3)
    return two_classes(1.5 * (score + 1.2 * (numbers[4] > 10) * (categories[0] > 1) - 1.5))


# Long grids of skewed amounts: choosing the split positions is the difficult part.

LONG = 5_000


def _amounts(draw: Simulation, rows: int) -> list[Integers]:
    spread = (0.9, 1.1, 0.7, 1.3)
    middles = (400, 150, 900, 60)
    drawn = [draw.lognormal(log(middle), width, rows) for middle, width in zip(middles, spread, strict=True)]
    return [np.clip(amount, 0, LONG - 1).astype(np.int64) for amount in drawn]


def _long_grids(codes: Sequence[Integers]) -> Floats:
    income, debt, wealth, fees = codes
    return two_classes(2.5 * (income > 520) + 1.8 * (debt < 90) - 1.6 * (wealth < 600) + 1.2 * (fees > 130) - 1.4)


_COLOURS = flat("red", "green", "blue", "white", "black", "grey")

BASIC: tuple[Recipe, ...] = (
    Recipe(
        name="many-categories",
        settles=False,
        summary="three attributes of 144 categories in 12 branches each, skewed; two classes",
        schema_text=schema_of(
            {"town": _taxonomy("t"), "trade": _taxonomy("w"), "product": _taxonomy("p"), "age": grid(90)},
            ["no", "yes"],
        ),
        predictors=lambda draw, rows: [
            *(skewed(draw, rows, BRANCHES * LEAVES) for _ in range(3)),
            bell(draw, rows, 90, 45, 18),
        ],
        probabilities=_many_categories,
    ),
    Recipe(
        name="five-classes",
        settles=False,
        summary="five classes of 12 to 28 % each, determined by two linear combinations of attributes",
        schema_text=schema_of(
            {"height": grid(100), "weight": grid(100), "grip": grid(60), "colour": _COLOURS, "day": grid(31)},
            FIVE,
        ),
        predictors=lambda draw, rows: [
            bell(draw, rows, 100, 50, 20),
            bell(draw, rows, 100, 35, 22),
            bell(draw, rows, 60, 20, 12),
            draw.choice(6, rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
            draw.integers(0, 31, rows),
        ],
        probabilities=_five_classes,
    ),
    Recipe(
        name="rare-class",
        settles=False,
        summary="two classes, one of 5 %, partly determined by an interaction",
        schema_text=schema_of(
            {
                "age": grid(100),
                "dose": grid(100),
                "marker": grid(100),
                "ward": flat("w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"),
                "earlier": grid(10),
                "weekday": flat("mo", "tu", "we", "th", "fr", "sa", "su"),
            },
            ["well", "ill"],
        ),
        predictors=lambda draw, rows: [
            bell(draw, rows, 100, 50, 20),
            draw.integers(0, 100, rows),
            bell(draw, rows, 100, 50, 22),
            draw.choice(8, rows, p=[0.2, 0.2, 0.1, 0.1, 0.1, 0.05, 0.15, 0.1]),
            np.minimum(draw.poisson(0.7, rows), 9),
            draw.integers(0, 7, rows),
        ],
        probabilities=_rare_class,
    ),
    Recipe(
        name="xor",
        settles=True,
        summary="exclusive or of two attributes, inverted in a corner of two numbers; 10 % noise",
        schema_text=schema_of(
            {
                "left": flat("l0", "l1"),
                "right": flat("r0", "r1"),
                "level": grid(20),
                "depth": grid(20),
                **{f"other{number}": flat(*(f"o{value}" for value in range(4))) for number in range(4)},
            },
            ["same", "differ"],
        ),
        predictors=lambda draw, rows: [
            (draw.random(rows) < 0.6).astype(np.int64),
            (draw.random(rows) < 0.42).astype(np.int64),
            draw.integers(0, 20, rows),
            draw.integers(0, 20, rows),
            *(draw.integers(0, 4, rows) for _ in range(4)),
        ],
        probabilities=_xor,
    ),
    Recipe(
        name="fifty-attributes",
        settles=True,
        summary="25 numbers and 25 categorical attributes, eight of which matter; two classes",
        schema_text=schema_of(
            {f"n{number:02}": grid(20) for number in range(NUMBERS)}
            | {f"c{number:02}": flat(*(f"v{value}" for value in range(5))) for number in range(CATEGORIES)},
            ["no", "yes"],
        ),
        predictors=lambda draw, rows: [
            *(bell(draw, rows, 20, 10, 5) for _ in range(NUMBERS)),
            *(draw.choice(5, rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]) for _ in range(CATEGORIES)),
        ],
        probabilities=_fifty,
    ),
    Recipe(
        name="long-grids",
        settles=True,
        summary="four skewed amounts on grids of 5,000 cells; two classes",
        schema_text=schema_of(dict.fromkeys(("income", "debt", "wealth", "fees"), grid(LONG)), ["no", "yes"]),
        predictors=_amounts,
        probabilities=_long_grids,
    ),
)
