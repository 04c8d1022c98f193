"""Guesses the domain of a column from its values, for a draft that the data owner edits.

A guess is an entry of `schema.yaml` with a comment, or only a comment that says why the column is left out. Guesses
are tried from the strictest to the loosest: numbers, dates, numbers in another notation, booleans, codes with
prefixes, categories. Each covers all values that it was made from.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.files.schema_kinds import grid_data
from scumble.flows.row_advice import MISSING_TEXTS
from scumble.flows.text_shapes import (
    PLAIN_NUMBER,
    DateShape,
    boolean_texts,
    code_shape,
    date_shape,
    look_of,
    number_notation,
)
from scumble.model.grid import Grid
from scumble.model.notation import PLAIN, NumberNotation
from scumble.model.raw_value import ValueKind

MOST_CATEGORIES = 100
FEWEST_KEYS = 30
"""Whole numbers and texts that are all different are taken for a key from this number of rows on."""
FEWEST_CODES = 20
"""Codes of one shape get prefixes from this number of different codes on; fewer are categories."""
LARGEST = 1e300
"""Larger numbers do not widen the grid; they are clamped like all numbers outside it."""
MISSING_LABELS = ("?", "missing", "unknown", "not stated")
"""Labels for missing values. The first one is used that is not a value of the column."""


class Guess(NamedTuple):
    """An entry of the schema file, None to leave the column out; and why."""

    entry: dict[str, Any] | None
    comment: str


@dataclass(frozen=True, kw_only=True)
class ColumnTexts:
    """The values of a column by their canonical text, with frequencies."""

    texts: Counter[str]
    """Without empty texts."""
    missing: int
    """How many values are missing or empty."""
    off: int = 0
    """How many values have no text, such as bytes that are not UTF-8."""

    @property
    def unique(self) -> bool:
        """Whether there are many values, all different."""
        return len(self.texts) >= FEWEST_KEYS and self.texts.total() == len(self.texts)


def guess_numbers(numbers: npt.NDArray[np.float64], *, integers: bool, unique: bool, missing: int) -> Guess:
    """A guess for a column of typed numbers, given without the missing ones.

    `integers`: they are declared so. `unique`: they are all different. Whole numbers among which one is missing are
    floats in many programs, so whole floats can be keys, too.
    """
    finite = numbers[np.abs(numbers) < LARGEST]
    key = unique and len(numbers) >= FEWEST_KEYS and bool((finite == np.floor(finite)).all())
    return _numbers(finite, whole=integers, key=key, label=MISSING_LABELS[0] if missing else None)


def guess_texts(column: ColumnTexts) -> Guess:
    """A guess for a column of texts and other values that are not typed numbers."""
    if not column.texts:
        return Guess(None, "Left out: the column has no values.")
    guess = next(each for each in _guesses(column) if each is not None)
    if guess.entry is None or not column.off:
        return guess
    return Guess(
        guess.entry,
        f"{guess.comment} Some values are not text and have no place in the domain: lines may be malformed, or the "
        "file may need --encoding.",
    )


def guess_classes(column: ColumnTexts) -> Guess:
    """A guess for the class to predict: every value is a label."""
    if not column.texts:
        return Guess(None, "Left out: the column has no values.")
    return Guess(_categories(column), f"Guess: the {len(column.texts)} classes in the rows.")


def _guesses(column: ColumnTexts) -> Iterator[Guess | None]:
    """All guesses in order. The last one always applies."""
    stripped = Counter[str]()
    for text, times in column.texts.items():
        stripped[text.strip()] += times
    blank = stripped.pop("", 0)
    markers = [text for text in stripped if text in MISSING_TEXTS]
    known = [text for text in stripped if text not in MISSING_TEXTS]
    label = markers[0] if markers else MISSING_LABELS[0] if blank or column.missing or column.off else None
    if known and len(markers) <= 1:
        coded = any(_leading_zero(text) for text in known)
        yield None if coded else _plain_numbers(column, known, label)
        yield _dates(known, label)
        yield None if coded else _styled_numbers(column, known, label)
    yield _booleans(column)
    if column.unique:
        yield Guess(None, f"Left out: every row has another value; they look like keys, or {look_of(column.texts)}")
    yield _codes(column)
    if len(column.texts) > MOST_CATEGORIES:
        count = len(column.texts)
        yield Guess(None, f"Left out: {count:,} different values that look like {look_of(column.texts)}")
    look = look_of(column.texts, only_warn=True)
    hint = f" They look like {look}" if look else ""
    yield Guess(
        _categories(column),
        f"Guess: the {len(column.texts)} values in the rows, without groups.{_about_missing(column)}{hint}",
    )


def _plain_numbers(column: ColumnTexts, known: list[str], label: str | None) -> Guess | None:
    plain = all(PLAIN_NUMBER.fullmatch(text) for text in known)
    return _text_numbers(column, known, label, PLAIN) if plain else None


def _styled_numbers(column: ColumnTexts, known: list[str], label: str | None) -> Guess | None:
    notation = number_notation(known)
    return None if notation is None else _text_numbers(column, known, label, notation)


def _text_numbers(column: ColumnTexts, known: list[str], label: str | None, notation: NumberNotation) -> Guess | None:
    found = np.array([notation.number(ValueKind.TEXT, text) for text in known], dtype=np.float64)
    if not (np.abs(found) < LARGEST).all():
        return None
    whole = bool((found == np.floor(found)).all()) and not any(notation.decimal in text for text in known)
    guess = _numbers(found, whole=whole, key=whole and column.unique, label=label)
    if guess.entry is None or notation == PLAIN:
        return guess
    style = {"decimal": notation.decimal}
    written = f"a decimal {'comma' if notation.decimal == ',' else 'point'}"
    if notation.thousands is not None:
        style["thousands"] = notation.thousands
        written += f" and {notation.thousands!r} between thousands"
    return Guess({**guess.entry, "numbers": style}, f"{guess.comment} Read with {written}: check this.")


def _numbers(numbers: npt.NDArray[np.float64], *, whole: bool, key: bool, label: str | None) -> Guess:
    if len(numbers) == 0:
        return Guess(None, "Left out: the column has no finite number.")
    if key:
        return Guess(
            None,
            "Left out: whole numbers that are all different look like a key. If they are a quantity, use `numeric:`.",
        )
    empty = {} if label is None else {"missing": label}
    noted = " Some cells are empty or say that the value is missing, hence `missing:`." if empty else ""
    if whole and set(numbers.tolist()) == {0.0, 1.0}:
        return Guess(
            {"boolean": {"false": ["0"], "true": ["1"]}, **empty},
            f"Guess: 0 means false and 1 means true. If they are numbers, use `numeric:`.{noted}",
        )
    grid = covering_grid(float(numbers.min()), float(numbers.max()), whole=whole)
    comment = f"Guess: the range of the rows in about a hundred cells.{noted}"
    if whole and numbers.min() >= 1000 and len({len(str(int(number))) for number in numbers}) == 1:
        comment += " If they are codes, such as postal codes, use `prefix:`."
    return Guess({"numeric": grid_data(grid), **empty}, comment)


def _dates(known: list[str], label: str | None) -> Guess | None:
    shape = date_shape(known)
    if shape is None:
        return None
    if shape.missing is not None:
        label = shape.missing if label in (None, *MISSING_LABELS) else label
    noted = "" if label is None else " Some cells are empty or say that the value is missing, hence `missing:`."
    comment = f"Guess: the dates of the rows, in steps of a {shape.step.value}.{_about_format(shape)}{noted}"
    return Guess({"date": shape.entry, **({} if label is None else {"missing": label})}, comment)


def _about_format(shape: DateShape) -> str:
    if shape.format is None:
        return ""
    doubt = " Day and month could also be the other way round." if shape.ambiguous else ""
    return f" Read as {shape.format}: check this.{doubt}"


def _booleans(column: ColumnTexts) -> Guess | None:
    label = _label(column)
    found = boolean_texts([text for text in column.texts if text != label])
    if found is None:
        return None
    texts: Any = {"false": found.false, "true": found.true} if found.false or found.true else True
    empty = {} if label is None else {"missing": label}
    return Guess({"boolean": texts, **empty}, f"Guess: yes or no, published as true and false.{_about_missing(column)}")


def _codes(column: ColumnTexts) -> Guess | None:
    label = _label(column)
    codes = [text for text in column.texts if text != label]
    likely = len(codes) >= FEWEST_CODES and not look_of(codes, only_warn=True)
    shape = code_shape(codes) if likely else None
    if shape is None:
        return None
    entry: dict[str, Any] = {"levels": list(shape.levels), "pattern": shape.pattern}
    if shape.ignore:
        entry["ignore"] = shape.ignore
    return Guess(
        {"prefix": entry, **({} if label is None else {"missing": label})},
        f"Guess: codes of one shape, published by their first {shape.levels[-1]} characters. If the list of codes is "
        f"public, give it as `codes:` or `csv:`.{_about_missing(column)}",
    )


def _categories(column: ColumnTexts) -> dict[str, Any]:
    label = _label(column)
    values = sorted(text for text in column.texts if text != label)
    return {"classes": [*values, *(() if label is None else (label,))], **({} if label is None else {"missing": label})}


def _label(column: ColumnTexts) -> str | None:
    """The label of missing categories: a value that says so, or a further one where cells are empty."""
    marker = next((text for text in column.texts if text in MISSING_TEXTS), None)
    if marker is not None and len(column.texts) > 1:
        return marker
    return next((each for each in MISSING_LABELS if each not in column.texts), None) if column.missing else None


def _about_missing(column: ColumnTexts) -> str:
    label = _label(column)
    return "" if label is None else f" {label!r} stands for missing values, hence `missing:`."


def _leading_zero(text: str) -> bool:
    """Whether a text has digits that a number would not keep, as codes have."""
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


def covering_grid(low: float, high: float, *, whole: bool = False) -> Grid:
    """A regular grid of about a hundred cells of a round width that covers both numbers; whole cells for whole numbers.

    >>> covering_grid(0.3, 83.2).edges
    (Decimal('0'), Decimal('84'))
    """
    width = (high - low) / 100 or 1e-6 * max(1.0, abs(low))  # a constant column gets one narrow cell
    width = max(width, 4 * math.ulp(max(abs(low), abs(high))), 1.0 if whole else 0.0)
    step = Decimal(10) ** int(np.ceil(np.log10(width)))
    for part in (Decimal("0.2"), Decimal("0.5")):
        if width <= step * part and not (whole and step * part < 1):
            step = step * part
            break
    first = (Decimal(repr(low)) // step) * step
    first = first - step if first > Decimal(repr(low)) else first
    cells = int((Decimal(repr(high)) - first) // step) + 1
    if float(first + cells * step) <= high:  # above in exact decimals, but equal as doubles
        cells += 1
    return Grid.regular(low=first, high=first + cells * step, step=step)
