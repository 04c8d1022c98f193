"""The recipes of the generated tables.

They cover what Adult lacks: many categories, more than two classes, a rare class, attributes that matter only in
combination, many attributes, and long grids.
"""

import json
from collections.abc import Mapping, Sequence
from math import log

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.errors import InputError
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation, simulation


def _two_classes(log_odds: Floats) -> Floats:
    """Probabilities of the classes (no, yes) from the log-odds of yes."""
    yes = 1 / (1 + np.exp(-log_odds))
    return np.stack([1 - yes, yes], axis=1)


def _softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _skewed(draw: Simulation, rows: int, size: int) -> Integers:
    """Codes whose frequency falls with the code, roughly like the sizes of towns."""
    weights = 1 / np.arange(3, size + 3)
    return draw.choice(size, rows, p=weights / weights.sum())


def _bell(draw: Simulation, rows: int, size: int, middle: float, width: float) -> Integers:
    return np.clip(draw.normal(middle, width, rows), 0, size - 1).astype(np.int64)


def _fixed(size: int, width: float, seed: int) -> Floats:
    """Effects that are part of the distribution, not of a sample: fixed by a constant seed."""
    return simulation(seed).normal(0, width, size)


# Many categories: each branch of the taxonomy has an effect, and each leaf a smaller additional one.

BRANCHES, LEAVES = 12, 12


def _taxonomy(prefix: str) -> str:
    branches = (
        f"{prefix}{branch}: {{{', '.join(f'{prefix}{branch}-{leaf}: ' for leaf in range(LEAVES))}}}"
        for branch in range(BRANCHES)
    )
    return f"{{taxonomy: {{Any: {{{', '.join(branches)}}}}}}}"


def _category_effects(column: Integers, seed: int) -> Floats:
    return (np.repeat(_fixed(BRANCHES, 1.3, seed), LEAVES) + _fixed(BRANCHES * LEAVES, 0.5, seed + 1))[column]


def _many_categories(codes: Sequence[Integers]) -> Floats:
    town, trade, product, age = codes
    return _two_classes(
        _category_effects(town, 10) + _category_effects(trade, 20) + 0.5 * _category_effects(product, 30) - age / 40
    )


# Five classes, determined by two linear combinations of attributes.

FIVE = ("a", "b", "c", "d", "e")


def _five_classes(codes: Sequence[Integers]) -> Floats:
    height, weight, grip, colour, _ = codes
    first, second = (height - 50) / 15 + (colour == 2), (weight + grip / 2 - 45) / 18 - (colour == 3)
    middles = np.array([[-1.5, -1.2], [-1.2, 1.4], [0.2, 0.0], [1.4, 1.2], [1.6, -1.3]])
    distance = (first[:, np.newaxis] - middles[:, 0]) ** 2 + (second[:, np.newaxis] - middles[:, 1]) ** 2
    return _softmax(-1.6 * distance)


# One record in twenty belongs to the class of interest.


def _rare_class(codes: Sequence[Integers]) -> Floats:
    age, dose, marker, ward, earlier, _ = codes
    risk = 4.6 * ((dose > 60) & (marker > 65)) + 3.4 * (earlier >= 3) + 1.2 * np.isin(ward, [2, 5]) + (age - 50) / 30
    return _two_classes(risk - 5.2)


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
    return _two_classes(1.5 * (score + 1.2 * (numbers[4] > 10) * (categories[0] > 1) - 1.5))


# Long grids of skewed amounts: choosing the split positions is the difficult part.

LONG = 5_000


def _amounts(draw: Simulation, rows: int) -> list[Integers]:
    spread = (0.9, 1.1, 0.7, 1.3)
    middles = (400, 150, 900, 60)
    drawn = [draw.lognormal(log(middle), width, rows) for middle, width in zip(middles, spread, strict=True)]
    return [np.clip(amount, 0, LONG - 1).astype(np.int64) for amount in drawn]


def _long_grids(codes: Sequence[Integers]) -> Floats:
    income, debt, wealth, fees = codes
    return _two_classes(2.5 * (income > 520) + 1.8 * (debt < 90) - 1.6 * (wealth < 600) + 1.2 * (fees > 130) - 1.4)


def _schema(attributes: Mapping[str, str], classes: Sequence[str]) -> str:
    lines = [f"  {name}: {domain}" for name, domain in attributes.items()]
    return "\n".join(
        [
            "scumble: schema/1",
            "target: outcome",
            "attributes:",
            *lines,
            f"  outcome: {{classes: {json.dumps(classes)}}}",
        ]
    )


def _grid(high: int, step: int = 1) -> str:
    return f"{{numeric: {{low: 0, high: {high}, step: {step}}}}}"


def _flat(*labels: str) -> str:
    return f"{{taxonomy: {{Any: {{{', '.join(f'{label}: ' for label in labels)}}}}}}}"


_COLOURS = _flat("red", "green", "blue", "white", "black", "grey")

RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="many-categories",
            summary="three attributes of 144 categories in 12 branches each, skewed; two classes",
            schema_text=_schema(
                {"town": _taxonomy("t"), "trade": _taxonomy("w"), "product": _taxonomy("p"), "age": _grid(90)},
                ["no", "yes"],
            ),
            predictors=lambda draw, rows: [
                *(_skewed(draw, rows, BRANCHES * LEAVES) for _ in range(3)),
                _bell(draw, rows, 90, 45, 18),
            ],
            probabilities=_many_categories,
        ),
        Recipe(
            name="five-classes",
            summary="five classes of 12 to 28 % each, determined by two linear combinations of attributes",
            schema_text=_schema(
                {"height": _grid(100), "weight": _grid(100), "grip": _grid(60), "colour": _COLOURS, "day": _grid(31)},
                FIVE,
            ),
            predictors=lambda draw, rows: [
                _bell(draw, rows, 100, 50, 20),
                _bell(draw, rows, 100, 35, 22),
                _bell(draw, rows, 60, 20, 12),
                draw.choice(6, rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1]),
                draw.integers(0, 31, rows),
            ],
            probabilities=_five_classes,
        ),
        Recipe(
            name="rare-class",
            summary="two classes, one of 5 %, partly determined by an interaction",
            schema_text=_schema(
                {
                    "age": _grid(100),
                    "dose": _grid(100),
                    "marker": _grid(100),
                    "ward": _flat("w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"),
                    "earlier": _grid(10),
                    "weekday": _flat("mo", "tu", "we", "th", "fr", "sa", "su"),
                },
                ["well", "ill"],
            ),
            predictors=lambda draw, rows: [
                _bell(draw, rows, 100, 50, 20),
                draw.integers(0, 100, rows),
                _bell(draw, rows, 100, 50, 22),
                draw.choice(8, rows, p=[0.2, 0.2, 0.1, 0.1, 0.1, 0.05, 0.15, 0.1]),
                np.minimum(draw.poisson(0.7, rows), 9),
                draw.integers(0, 7, rows),
            ],
            probabilities=_rare_class,
        ),
        Recipe(
            name="xor",
            summary="exclusive or of two attributes, inverted in a corner of two numbers; 10 % noise",
            schema_text=_schema(
                {
                    "left": _flat("l0", "l1"),
                    "right": _flat("r0", "r1"),
                    "level": _grid(20),
                    "depth": _grid(20),
                    **{f"other{number}": _flat(*(f"o{value}" for value in range(4))) for number in range(4)},
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
            summary="25 numbers and 25 categorical attributes, eight of which matter; two classes",
            schema_text=_schema(
                {f"n{number:02}": _grid(20) for number in range(NUMBERS)}
                | {f"c{number:02}": _flat(*(f"v{value}" for value in range(5))) for number in range(CATEGORIES)},
                ["no", "yes"],
            ),
            predictors=lambda draw, rows: [
                *(_bell(draw, rows, 20, 10, 5) for _ in range(NUMBERS)),
                *(draw.choice(5, rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]) for _ in range(CATEGORIES)),
            ],
            probabilities=_fifty,
        ),
        Recipe(
            name="long-grids",
            summary="four skewed amounts on grids of 5,000 cells; two classes",
            schema_text=_schema(dict.fromkeys(("income", "debt", "wealth", "fees"), _grid(LONG)), ["no", "yes"]),
            predictors=_amounts,
            probabilities=_long_grids,
        ),
    )
}


def recipe_named(name: str) -> Recipe:
    if name not in RECIPES:
        raise InputError(f"Unknown generated table {name!r}. Available: {', '.join(RECIPES)}.")
    return RECIPES[name]
