"""The synthetic people of Agrawal, Ghosh, Imielinski, Iyer & Swami (VLDB 1992): nine attributes, and the five of their
classification functions that Agrawal & Srikant (2000) use.

Two details of the paper need interpretation. Table 3 prints `75K <= salary >= 125K` in Function 2, a misprint for
`<= 125K`. In Table 2 the value of a house depends on the zip code through k in 0 .. 9, which is ten numbers for nine
zip codes; we use k = 9 - zipcode, that is 1 .. 9, as later generators do.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import Simulation, simulation

RANGES: dict[str, tuple[int, int, int]] = {
    "salary": (20_000, 150_000, 100),
    "commission": (0, 75_000, 100),
    "age": (20, 80, 1),
    "elevel": (0, 5, 1),
    "car": (1, 21, 1),
    "zipcode": (0, 9, 1),
    "hvalue": (50_000, 1_350_000, 1_000),
    "hyears": (1, 31, 1),
    "loan": (0, 500_000, 500),
}
"""The public range of each attribute (upper end excluded) and its step."""
CLASSES = ("A", "B")
BLOCK = 2**16

People = dict[str, Integers]
Labels = npt.NDArray[np.bool_]


def agrawal_schema() -> Schema:
    """The nine attributes, all numeric as in the paper, and the class."""
    numbers = tuple(
        Attribute(
            name=name,
            domain=Grid.regular(low=Decimal(low), high=Decimal(high), step=Decimal(step)),
            outside=Outside.CLAMP,
        )
        for name, (low, high, step) in RANGES.items()
    )
    group = Attribute(name="group", domain=Tree.flat(CLASSES), outside=Outside.DROP)
    return Schema(attributes=(*numbers, group), target="group")


def draw_people(rows: int, draw: Simulation) -> People:
    """Draw people as described in Table 2, in whole numbers."""
    salary = draw.integers(20_000, 150_000, rows)
    commission = np.where(salary >= 75_000, 0, draw.integers(10_000, 75_000, rows))
    zipcode = draw.integers(0, 9, rows)
    factor = 9 - zipcode
    return {
        "salary": salary,
        "commission": commission,
        "age": draw.integers(20, 80, rows),
        "elevel": draw.integers(0, 5, rows),
        "car": draw.integers(1, 21, rows),
        "zipcode": zipcode,
        "hvalue": draw.integers(factor * 50_000, factor * 150_000),
        "hyears": draw.integers(1, 31, rows),
        "loan": draw.integers(0, 500_000, rows),
    }


def _between(values: Integers, low: int, high: int) -> Labels:
    return (values >= low) & (values <= high)


def _by_age(age: Integers, young: Labels, middle: Labels, old: Labels) -> Labels:
    return np.where(age < 40, young, np.where(age < 60, middle, old))


def _function_1(people: People) -> Labels:
    return (people["age"] < 40) | (people["age"] >= 60)


def _function_2(people: People) -> Labels:
    salary = people["salary"]
    return _by_age(
        people["age"],
        _between(salary, 50_000, 100_000),
        _between(salary, 75_000, 125_000),
        _between(salary, 25_000, 75_000),
    )


def _function_3(people: People) -> Labels:
    salary, level = people["salary"], people["elevel"]
    low, middle, high = (_between(salary, start, start + 50_000) for start in (25_000, 50_000, 75_000))
    return _by_age(
        people["age"],
        (_between(level, 0, 1) & low) | (_between(level, 2, 3) & middle),
        (_between(level, 1, 3) & middle) | ((level == 4) & high),
        (_between(level, 2, 4) & middle) | ((level == 1) & low),
    )


def _disposable(people: People) -> Integers:
    """The disposable income of Functions 4 and 5 in hundredths, so that the comparison uses integers only."""
    return 67 * (people["salary"] + people["commission"]) - 20 * people["loan"] - 1_000_000


def _function_4(people: People) -> Labels:
    return _disposable(people) > 0


def _function_5(people: People) -> Labels:
    equity_tenths = people["hvalue"] * np.maximum(people["hyears"] - 20, 0)
    return _disposable(people) + 2 * equity_tenths > 0


FUNCTIONS: dict[int, Callable[[People], Labels]] = {
    1: _function_1,
    2: _function_2,
    3: _function_3,
    4: _function_4,
    5: _function_5,
}


def people_in_blocks(function: int, rows: int, *, seed: int | None = None) -> Iterator[tuple[People, Integers]]:
    """Yield `rows` people in blocks with their class (0 for group A), half of each class.

    People are drawn until both classes have enough; surplus people are discarded. This does not change the distribution
    within a class. The rows of a block are in random order.
    """
    if function not in FUNCTIONS:
        raise InputError(f"Unknown function {function}. Available: 1 to 5.")
    draw = simulation(seed)
    for start in range(0, rows, BLOCK):
        size = min(BLOCK, rows - start)
        yield _balanced(FUNCTIONS[function], size // 2, size - size // 2, draw)


def _balanced(decide: Callable[[People], Labels], in_a: int, in_b: int, draw: Simulation) -> tuple[People, Integers]:
    kept: list[People] = []
    labels: list[Integers] = []
    wanted = [in_a, in_b]
    while any(wanted):
        people = draw_people(2 * sum(wanted) + 64, draw)
        label = np.where(decide(people), 0, 1)
        for place in (0, 1):
            rows = np.flatnonzero(label == place)[: wanted[place]]
            wanted[place] -= len(rows)
            kept.append({name: column[rows] for name, column in people.items()})
            labels.append(np.full(len(rows), place))
    order = draw.permutation(in_a + in_b)
    columns = {name: np.concatenate([part[name] for part in kept])[order] for name in RANGES}
    return columns, np.concatenate(labels)[order]


def generate(function: int, rows: int, *, seed: int | None = None) -> tuple[People, Integers]:
    """All of `people_in_blocks` as one table."""
    blocks = list(people_in_blocks(function, rows, seed=seed))
    columns = {name: np.concatenate([people[name] for people, _ in blocks]) for name in RANGES}
    return columns, np.concatenate([label for _, label in blocks])


def codes(people: People) -> People:
    """The code of each value in the schema's grids."""
    return {name: (people[name] - low) // step for name, (low, _, step) in RANGES.items()}
