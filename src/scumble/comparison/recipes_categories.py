"""Generated tables of many categories, in deep taxonomies and in flat ones, which say nothing about similarity."""

from collections.abc import Sequence
from functools import cache
from math import prod

import numpy as np

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes_parts import (
    YES_NO,
    categories,
    cells,
    fixed_effects,
    flat,
    grid,
    numbered,
    schema_of,
    tied,
    two_classes,
)
from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation

# Diagnoses, drugs and places: taxonomies of four levels below the root, with an effect at every level.

DIAGNOSIS, DRUG, PLACE = (6, 4, 4, 3), (5, 3, 3, 3), (4, 3, 3, 4)
"""How many children a node has, level by level."""


def _deep(prefix: str, branching: Sequence[int]) -> str:
    def below(name: str, levels: Sequence[int]) -> str:
        if not levels:
            return f"{name}: "
        parts = (below(f"{name}.{part}", levels[1:]) for part in range(levels[0]))
        return f"{name}: {{{', '.join(parts)}}}"

    return f"{{taxonomy: {{{below(prefix, branching)}}}}}"


@cache
def _leaf_effects(branching: tuple[int, ...], widths: tuple[float, ...], seed: int) -> Floats:
    """The sum of a fixed effect of the leaf and of each node above it."""
    leaves = prod(branching)
    total = np.zeros(leaves)
    for level, width in enumerate(widths, start=1):
        nodes = prod(branching[:level])
        total += np.repeat(fixed_effects(nodes, width, seed + level), leaves // nodes)
    return total


def _towards(draw: Simulation, factor: Floats, size: int) -> Integers:
    """Skewed categories in a fixed order of frequency that is scattered over the codes, tied to a factor."""
    order = np.argsort(fixed_effects(size, 1.0, size))
    weights = 1 / np.arange(2, size + 2)
    return order[categories(tied(draw, factor, 0.3), *(weights / weights.sum()))]


def _stays(draw: Simulation, rows: int) -> list[Integers]:
    frailty = draw.normal(size=rows)
    return [
        _towards(draw, frailty, prod(DIAGNOSIS)),
        _towards(draw, frailty, prod(DRUG)),
        _towards(draw, draw.normal(size=rows), prod(PLACE)),
        cells(tied(draw, frailty, 0.6), 100, 55, 20),
        np.minimum(draw.poisson(np.exp(0.8 + 0.5 * frailty)), 59),
        categories(draw.normal(size=rows), 0.5, 0.5),
    ]


def _died(codes: Sequence[Integers]) -> Floats:
    diagnosis, drug, place, age, days, _ = codes
    widths = (0.9, 0.6, 0.4, 0.3)
    score = _leaf_effects(DIAGNOSIS, widths, 200)[diagnosis] + 0.6 * _leaf_effects(DRUG, widths, 210)[drug]
    score = score + 0.3 * _leaf_effects(PLACE, widths, 220)[place] + 0.035 * (age - 55) + 0.12 * np.minimum(days, 20)
    return two_classes(2.2 * score - 8.35)


# Advertisements: flat lists of 150 to 300 categories, and a class that depends mostly on them.

FLAT_SIZES = {"site": 300, "campaign": 150, "device": 200}


def _clicks(draw: Simulation, rows: int) -> list[Integers]:
    taste = draw.normal(size=rows)
    return [
        *(_towards(draw, taste, size) for size in FLAT_SIZES.values()),
        cells(draw.normal(size=rows), 24, 14, 5),
        categories(tied(draw, taste, 0.2), 0.6, 0.3, 0.1),
        draw.integers(0, 7, rows),
    ]


def _clicked(codes: Sequence[Integers]) -> Floats:
    *many, hour, kind, _ = codes
    score = sum(
        fixed_effects(size, 0.9, 230 + size)[column] for size, column in zip(FLAT_SIZES.values(), many, strict=True)
    )
    return two_classes(score + 0.05 * (hour - 14) + np.array([0.0, 0.4, 0.8])[kind] - 0.9)


CATEGORIES: tuple[Recipe, ...] = (
    Recipe(
        name="diagnoses",
        settles=True,
        summary="taxonomies of four levels with 135 to 288 leaves; two classes, one of 3 %",
        rows=40_000,
        schema_text=schema_of(
            {
                "diagnosis": _deep("D", DIAGNOSIS),
                "drug": _deep("A", DRUG),
                "place": _deep("P", PLACE),
                "age": grid(100),
                "days": grid(60),
                "sex": flat("m", "f"),
            },
            ("alive", "died"),
        ),
        predictors=_stays,
        probabilities=_died,
    ),
    Recipe(
        name="flat-categories",
        settles=False,
        summary="three flat lists of 150 to 300 categories that predict the class; two classes",
        rows=20_000,
        schema_text=schema_of(
            {
                **{name: numbered(name[0], size) for name, size in FLAT_SIZES.items()},
                "hour": grid(24),
                "kind": flat("banner", "text", "film"),
                "weekday": numbered("w", 7),
            },
            YES_NO,
        ),
        predictors=_clicks,
        probabilities=_clicked,
    ),
)
