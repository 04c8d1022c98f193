"""Notations by hand-written examples of their documented rules."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.notation import BooleanNotation, IntervalNotation, Notation, NumberNotation
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import Flaw, read_value

CLAMP, DROP = Outside.CLAMP, Outside.DROP
GERMAN, ENGLISH, COMMA = (
    NumberNotation(decimal=",", thousands="."),
    NumberNotation(thousands=","),
    NumberNotation(decimal=","),
)
TREE = {"[0,100)": {"[0,50)": {"[0,25)": None, "[25,50)": None}, "[50,100)": None}}


def money(numbers: NumberNotation, missing: str | None = None) -> Attribute:
    grid = Grid.regular(low=Decimal(0), high=Decimal(100_000), step=Decimal("0.01"), missing=missing)
    return Attribute(name="pay", domain=grid, outside=DROP, missing=missing, notation=numbers)


@pytest.mark.parametrize(
    ("numbers", "value", "number"),
    [
        *(
            (GERMAN, text, "31288.61")
            for text in ("31.288,61", "31288,61", " +31.288,61 ", 31288.61, Decimal("31288.61"))
        ),
        *((ENGLISH, text, "31288.61") for text in ("31,288.61", "31288.61", 31288.61)),
        *((GERMAN, text, "1000") for text in ("1.000", "1000", "1.000,", "1e3", 1000, "0001000")),
        *((GERMAN, text, None) for text in ("31288.61", "1.00", "1.0000", ".000", "1..000", "1,000,0", "31,288.61")),
        *((ENGLISH, text, None) for text in ("31.288,61", "1,00", "1,0000", ",000", "1,,000")),
        *((COMMA, text, "0.5") for text in ("0,5", ",5", "5e-1", 0.5)),
        *((COMMA, text, None) for text in ("0.5", "1.000,5")),
        (NumberNotation(thousands="'"), "12'345.5", "12345.5"),
        (NumberNotation(decimal=",", thousands="\u202f"), "12\u202f345,5", "12345.5"),
    ],
)
def test_numbers_as_they_are_declared(numbers: NumberNotation, value: Any, number: str | None) -> None:
    expected = None if number is None else int(Decimal(number) * 100)
    assert read_value(money(numbers), value).code == expected


@pytest.mark.parametrize("value", ["-999", "-999,0", "-999,00", -999, None, "", " "])
def test_the_label_of_missing_numbers_is_in_plain_notation(value: Any) -> None:
    attribute = money(GERMAN, "-999.0")
    assert read_value(attribute, value).code == attribute.missing_code


def boolean(*, missing: str | None = None, **texts: tuple[str, ...]) -> Attribute:
    notation = BooleanNotation(**texts)
    tree = notation.tree if missing is None else notation.tree.with_leaf(missing)
    return Attribute(name="smokes", domain=tree, outside=DROP, missing=missing, notation=notation)


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        *((boolean(), value, 1) for value in (True, np.True_, "true", "TRUE", "True")),
        *((boolean(), value, 0) for value in (False, "false", "FALSE")),
        *((boolean(), value, None) for value in (1, 0, "1", "yes", " true", "", None, [])),
        *((boolean(true=("1", "j"), false=("0",)), value, 1) for value in (1, 1.0, "1", "j", True, "tRUE")),
        *((boolean(true=("1", "j"), false=("0",)), value, 0) for value in (0, -0.0, "0", Decimal(0))),
        *((boolean(true=("1", "j"), false=("0",)), value, None) for value in ("J", "1.0", 2)),
        *((boolean(missing="?"), value, 2) for value in (None, "", "?")),
    ],
)
def test_booleans(attribute: Attribute, value: Any, code: int | None) -> None:
    assert read_value(attribute, value).code == code


def interval(value: Any, *, missing: str | None = None, numbers: NumberNotation | None = None, cut: Any = None) -> Any:
    notation, tree = IntervalNotation.nested(TREE, numbers or NumberNotation())
    tree = tree if missing is None else tree.with_leaf(missing)
    domain = tree if cut is None else tree.truncate([tree.node(label) for label in cut])
    attribute = Attribute(name="age", domain=domain, outside=CLAMP, missing=missing, notation=notation)
    reading = read_value(attribute, value)
    return reading.code, reading.flaw


def test_numbers_in_nested_intervals() -> None:
    assert [interval(value) for value in (0, "24.9", 25.0, Decimal(50), "9e1")] == [
        *[(0, None)] * 2,
        (1, None),
        *[(2, None)] * 2,
    ]
    assert [interval(value) for value in (-1, 100, "1e400", "x", None)] == [
        (0, Flaw.OUTSIDE),
        *[(2, Flaw.OUTSIDE)] * 2,
        (0, Flaw.UNREADABLE),
        (0, Flaw.MISSING),
    ]
    assert [interval(value, missing="-999")[0] for value in (-999, "-999.0", " -999 ", "", "x")] == [3] * 5
    assert interval("-999.0", missing="-999")[1] is Flaw.MISSING
    assert interval("24,9", numbers=COMMA) == (0, None)
    assert interval("[25,50)") == (1, None), "the label of a leaf is that leaf"
    assert [interval(value, cut=["[0,50)", "[50,100)"])[0] for value in (1, 26, 51, 500)] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "tree",
    [
        {"[0,100)": {"[0,50)": None, "[60,100)": None}},
        {"[0,100)": {"[50,100)": None, "[0,50)": None}},
        {"[0,100)": {"[0,50)": None, "[50,99)": None}},
        {"[0,100)": {"young": None, "old": None}},
        {"[100,0)": None},
        {"[0,1)": None, "[1,2)": None},
        {"(0,1)": None},
    ],
)
def test_intervals_that_do_not_tile_are_refused(tree: Any) -> None:
    with pytest.raises(InputError):
        IntervalNotation.nested(tree)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NumberNotation(decimal="'"),
        lambda: NumberNotation(thousands="_"),
        lambda: NumberNotation(decimal=",", thousands=","),
        lambda: NumberNotation(decimal=".", thousands="."),
        lambda: BooleanNotation(false=("x",), true=("x",)),
        lambda: BooleanNotation(false=("True",)),
        lambda: Ordered.of([]),
        lambda: Ordered.of(["a", "a"]),
        lambda: Ordered.of(["a..b"]),
        lambda: Ordered.of(["a", ""]),
        lambda: Ordered.of(["a", "b."]),
        lambda: Ordered.of(["a|?", "b"], missing="?"),
        lambda: Attribute(name="x", domain=Tree.flat(["a"]), outside=DROP, notation=NumberNotation()),
        lambda: Attribute(
            name="x", domain=Grid(edges=(Decimal(0), Decimal(1))), outside=DROP, notation=BooleanNotation()
        ),
        lambda: Attribute(name="x", domain=Tree.flat(["a"]), outside=DROP, notation=BooleanNotation()),
    ],
)
def test_contradictions_are_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_a_notation_names_its_values() -> None:
    notations: list[Notation] = [BooleanNotation(), IntervalNotation.nested(TREE)[0]]
    assert [notation.size for notation in notations] == [2, 3]
    assert [notation.on_a_line for notation in notations] == [False, True]
