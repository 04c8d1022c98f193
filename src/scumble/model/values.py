"""The value codec: raw value -> code -> published text or number, by the rules of the schema.

`read_value` states the rules for one value. `scumble.engines.coding` applies the same rules to whole Arrow columns, and
one property test compares the two. `text_of` writes a published code as text; `published_values` and `codes_within`
convert between codes and columns of published values; `recoding` maps the codes of a domain to those of a coarser one.

Rules of reading. `scumble.model.raw_value` gives the canonical text of a value of any type; on it:

- A category is compared exactly, spaces included. A boolean also matches a leaf that is spelled true or false in any
  case: `true` first, then the first such leaf. A number above 2^53 matches the first leaf with the same nearest double.
- A value that is no leaf's label is read by the attribute's notation, if it has one: `scumble.model.notation`.
- A number is read from its text after surrounding spaces are removed, by `NumberNotation`. Booleans and dates
  are not numbers.
- None, NaN, an empty text and the `missing` label are missing values. For a numeric attribute an equal number is one,
  too: with `missing: "-999"`, -999.0 is missing.
- A missing value takes the missing code. Without one, it is treated as unreadable.
- `outside: drop` leaves the row out for an unknown category, an unreadable number and a number outside the range.
  `outside: clamp` takes the nearest cell for a number or date outside the range, else the missing code, else the first.
"""

from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.notation import PLAIN, NumberNotation
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import LARGE_DIGITS, Tree

Column = npt.NDArray[np.int64] | npt.NDArray[np.float64] | npt.NDArray[np.str_] | npt.NDArray[np.object_]
"""A column of published values."""

NOWHERE = -1
"""Instead of a code: the value lies outside the domain."""


class Flaw(Enum):
    """What is wrong with a raw value."""

    MISSING = "missing"
    UNKNOWN = "unknown category"
    UNREADABLE = "not a number"
    """Or not a date, where the attribute has dates."""
    OUTSIDE = "outside the range"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The code of a raw value, None where its row is left out, and what is wrong with the value, if anything."""

    code: int | None
    flaw: Flaw | None = None


def read_value(attribute: Attribute, value: object) -> Reading:
    """Read one raw value by the rules above."""
    flaw, code = _look_up(attribute, value)
    if flaw is None:
        return Reading(code=code)
    missing, clamp = attribute.missing_code, attribute.outside is Outside.CLAMP
    if flaw is Flaw.MISSING and missing is not None:
        return Reading(code=missing, flaw=flaw)
    if flaw is not Flaw.OUTSIDE:
        code = missing or 0
    return Reading(code=code if clamp else None, flaw=flaw)


def code_of(attribute: Attribute, value: object) -> int | None:
    """The code of one raw value, None where its row is left out.

    >>> from decimal import Decimal
    >>> age = Grid(edges=(Decimal(0), Decimal(30), Decimal(60)), missing="-999")
    >>> column = Attribute(name="age", domain=age, outside=Outside.CLAMP, missing="-999")
    >>> [code_of(column, value) for value in (30, " 1e1 ", -7.5, 60, -999.0, "1_0", None)]
    [1, 0, 0, 1, 2, 2, 2]
    """
    return read_value(attribute, value).code


def _look_up(attribute: Attribute, value: object) -> tuple[Flaw | None, int]:
    """The flaw of a value and, for a number, the cell that holds it or is nearest."""
    domain = attribute.domain
    kind, text = canonical(value)
    if isinstance(domain, Tree):
        return _look_up_leaf(attribute, domain, kind, text)
    if attribute.numbers.is_missing(kind, text, attribute.missing):
        return Flaw.MISSING, 0
    number = attribute.numbers.number(kind, text)
    if number is None:
        return Flaw.UNREADABLE, 0
    edges = domain.edge_floats
    if not edges[0] <= number < edges[-1]:
        return Flaw.OUTSIDE, 0 if number < edges[0] else domain.cells - 1
    return None, int(np.searchsorted(edges, number, side="right")) - 1


def _look_up_leaf(attribute: Attribute, tree: Tree, kind: ValueKind, text: str) -> tuple[Flaw | None, int]:
    notation = attribute.notation
    unreadable = Flaw.UNREADABLE if attribute.on_a_line else Flaw.UNKNOWN
    if kind is ValueKind.OFF:
        return unreadable, 0
    if text == "" and (attribute.missing is not None or "" not in tree.codes):
        return Flaw.MISSING, 0
    code = category_code(tree, kind, text)
    if code is not None:
        return None, code
    if notation is None:
        return unreadable, 0
    if notation.is_missing(kind, text, attribute.missing):
        return Flaw.MISSING, 0
    place = notation.place(kind, text)
    if place is None:
        return unreadable, 0
    inside = min(max(place, 0), notation.size - 1)
    return None if inside == place else Flaw.OUTSIDE, tree.codes_of_finest[inside]


def category_code(tree: Tree, kind: ValueKind, text: str) -> int | None:
    """The code of the leaf that a canonical value means, None where there is none."""
    if kind is ValueKind.OFF:
        return None
    code = tree.codes.get(text)
    if code is None and kind is ValueKind.BOOLEAN:
        return next((each for label, each in tree.codes.items() if label.lower() == text), None)
    if code is None and kind is ValueKind.NUMBER and len(text) >= LARGE_DIGITS:
        return tree.large_numbers.get(text)
    return code


def number_of(value: object, numbers: NumberNotation = PLAIN) -> float | None:
    """A raw value as the nearest double, None where it is not a number.

    >>> from decimal import Decimal
    >>> [number_of(value) for value in (" +5 ", "1e400", Decimal("0.7"), "1_0", "nan", True)]
    [5.0, inf, 0.7, None, None, None]
    """
    return numbers.number(*canonical(value))


def is_missing_number(value: object, label: str | None, numbers: NumberNotation = PLAIN) -> bool:
    """Whether a value of a numeric attribute is empty, or says by the label of missing values that it is missing."""
    return numbers.is_missing(*canonical(value), label)


def category_text(value: object) -> str:
    """A raw value as the text that categories are compared with, "" where it is missing or no text at all."""
    return canonical(value)[1]


def text_of(domain: Domain, code: int) -> str:
    """A published code as it is written in a table of perturbed records: the lower edge of a cell of a regular grid,
    else the label of a category or interval.

    >>> from decimal import Decimal
    >>> text_of(Grid.regular(low=Decimal("0.50"), high=Decimal(2), step=Decimal("0.5")), 1)
    '1'
    """
    if isinstance(domain, Tree) or domain.step is None or code >= domain.cells:
        return domain.labels[code]
    return domain.interval(code, code + 1).label[1:].split(",")[0]


def texts_of(domain: Domain) -> list[str]:
    """The texts of all codes of a published domain."""
    return [text_of(domain, code) for code in range(domain.size)]


def published_values(domain: Domain, codes: npt.NDArray[np.integer[Any]]) -> Column:
    """The codes as values of a published table: a label, or the lower edge of the grid cell, which lies in the cell.

    A missing number is NaN. The values are whole numbers where all edges are and none can be missing. Where a number
    such as 0 or -999 means `missing`, the cell that starts with it is represented by its middle.
    """
    if isinstance(domain, Tree):
        return np.array(domain.labels, dtype=np.object_)[codes]
    edges = domain.edge_floats
    lower = edges[:-1]
    if domain.missing is None:
        whole = np.array_equal(lower, np.rint(lower)) and np.abs(lower).max() < 2**53
        return lower.astype(np.int64)[codes] if whole else lower[codes]
    number = number_of(domain.missing)
    values = lower if number is None else np.where(lower == number, (lower + edges[1:]) / 2, lower)
    return (values if domain.joined else np.append(values, np.nan))[codes]


def codes_within(domain: Domain, values: Column, *, clamp: bool = False) -> Integers:
    """The code of every published value in a domain or a generalization of it, `NOWHERE` where it has none.

    With `clamp`, a number outside the grid gets the nearest cell, a missing one without a code the last cell, and an
    unknown label the first code.

    >>> from decimal import Decimal
    >>> age = Grid(edges=(Decimal(0), Decimal(30), Decimal(60)), missing="?")
    >>> codes_within(age, np.array([29.0, 30.0, np.nan, 60.0])).tolist()
    [0, 1, 2, -1]
    """
    if isinstance(domain, Grid):
        numbers = values.astype(np.float64)
        edges = domain.edge_floats
        places = np.searchsorted(edges, numbers, side="right") - 1
        inside = (numbers >= edges[0]) & (numbers < edges[-1])
        places = np.where(inside, places, places.clip(0, domain.cells - 1) if clamp else NOWHERE)
        missing = domain.missing_code
        places[np.isnan(numbers)] = missing if missing is not None else domain.cells - 1 if clamp else NOWHERE
        return places.astype(np.int64)
    tree = domain.finest
    known = {each: code for code, label in enumerate(domain.labels) for each in tree.labels_below(label)}
    unknown = 0 if clamp else NOWHERE
    return np.fromiter(map(known.get, values.tolist(), repeat(unknown)), dtype=np.int64, count=len(values))


def recoding(fine: Domain, published: Domain) -> Integers:
    """For every code of a domain, the code under which a coarser version of the domain publishes it.

    A value that the published domain does not cover gets the nearest cell, or the first category.

    >>> from decimal import Decimal
    >>> grid = Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal(1))
    >>> recoding(grid, Grid(edges=(Decimal(0), Decimal(3), Decimal(4)))).tolist()
    [0, 0, 0, 1]
    """
    if isinstance(fine, Tree) and isinstance(published, Tree):
        return np.array([published.codes.get(label, 0) for label in fine.labels], dtype=np.int64)
    assert isinstance(fine, Grid) and isinstance(published, Grid)
    cells = np.searchsorted(published.edge_floats, fine.edge_floats[:-1], side="right") - 1
    extra = [] if fine.size == fine.cells else [published.size - 1]
    return np.concatenate([cells.clip(0, published.cells - 1), extra]).astype(np.int64)
