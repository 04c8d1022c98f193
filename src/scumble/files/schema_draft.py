"""Drafts a schema for a table, to be edited by someone who knows what is public.

The draft depends on private rows. Therefore every domain in it is marked `unconfirmed`, and `release` refuses the
schema until all marks are removed. Every guess, and every column that is left out, has a comment that says why.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.files.schema_file import schema_text
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.raw_value import canonical
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

MOST_CATEGORIES = 100
FEWEST_KEYS = 30
"""Whole numbers that are all different are taken for a key from this number of rows on."""
LARGEST = 1e300
"""Larger numbers do not widen the grid; they are clamped like all numbers outside it."""
MISSING_LABEL = "?"
MISSING_TEXTS = frozenset({"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-"})
"""Texts that stand for a missing number if all other cells of the column are numbers."""
DRAFT_HEADING = """\
A draft, derived from the private rows: it may reveal them.
For every attribute, replace the domain by one that is public knowledge. Then `scumble schema confirm FILE` replaces
`unconfirmed: true` by the reason why the domain is public.
Choose the unit of privacy, and name the class to predict as `target`."""

_FINITE = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_WHOLE = r"^[+-]?[0-9]+$"
_LEADING_ZERO = r"^[+-]?0[0-9]"
_SHAPES = (
    (
        re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}"),
        "dates. Add a column with a number, such as the year, and describe that one.",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?|[+-]?\d{1,3}(\.\d+)?"),
        "numbers with thousands separators, which are not read. Write 1234.5 for 1,234.5, then use `numeric:`.",
    ),
    (
        re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?|[+-]?\d+,\d+"),
        "numbers with a decimal comma, which are not read. Write 1234.5 for 1.234,5, then use `numeric:`.",
    ),
    (
        re.compile(r"[A-Za-z0-9._/-]*\d[A-Za-z0-9._/-]*"),
        "codes. If the list of codes is public, use `taxonomy: {csv: FILE}`; else publish a shorter prefix.",
    ),
)
_OTHER_TEXT = "names or free text. If the list of values is public, use `taxonomy: {csv: FILE}`."


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A drafted schema, and for each column why it was drafted so."""

    schema: Schema
    comments: Mapping[str, str]

    def text(self, heading: str = DRAFT_HEADING) -> str:
        return schema_text(self.schema, heading=heading, comments=self.comments)


class _Guess(NamedTuple):
    domain: Domain | None
    comment: str


def draft_schema(table: pa.Table, target: str | None = None) -> Schema:
    """A schema whose domains cover the values of the table. Columns that look like names or keys become identifiers."""
    return draft(table, target).schema


def draft(table: pa.Table, target: str | None = None) -> Draft:
    """A schema as by `draft_schema`, with a comment on every column."""
    attributes: list[Attribute] = []
    comments: dict[str, str] = {}
    identifiers: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        guess = _guess(column)
        if name == target and not isinstance(guess.domain, Tree):
            labels = _distinct(column)
            guess = _Guess(Tree.flat(labels) if labels else None, f"Guess: the {len(labels)} classes in the rows.")
        comments[name] = guess.comment
        if guess.domain is None:
            identifiers.append(name)
            continue
        grid = guess.domain if isinstance(guess.domain, Grid) else None
        attributes.append(
            Attribute(
                name=name,
                domain=guess.domain,
                outside=Outside.DROP if grid is None else Outside.CLAMP,
                missing=None if grid is None else grid.missing,
                unconfirmed=True,
            )
        )
    schema = Schema(attributes=tuple(attributes), target=target, identifiers=tuple(identifiers))
    return Draft(schema=schema, comments=comments)


def _distinct(column: pa.ChunkedArray) -> list[str]:
    """The distinct values, as the text that engines compare."""
    return sorted({canonical(value)[1] for value in column.drop_null().unique().to_pylist()})


def _guess(column: pa.ChunkedArray) -> _Guess:
    """A grid for numbers, a flat tree for at most MOST_CATEGORIES texts, None for keys and for more texts."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if column.null_count == len(column):
        return _Guess(None, "Left out: the column has no values.")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _guess_of_text(column.cast(pa.string()))
    if pa.types.is_decimal(kind):
        column = column.cast(pa.string()).cast(pa.float64())  # to the nearest double, as engines read decimals
        kind = pa.float64()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _guess_of_numbers(column, whole=pa.types.is_integer(kind), missing=MISSING_LABEL)
    return _guess_of_categories(column)


def _guess_of_text(column: pa.ChunkedArray) -> _Guess:
    """Numbers written as text, or categories."""
    trimmed = pc.utf8_trim_whitespace(column)
    texts = pc.unique(trimmed.drop_null())
    blank = pc.is_in(texts, pa.array(["", *sorted(MISSING_TEXTS)]))
    numbers = texts.filter(pc.invert(blank))
    labels = [text for text in texts.filter(blank).to_pylist() if text]
    if not len(numbers) or len(labels) > 1 or not pc.all(pc.match_substring_regex(numbers, _FINITE)).as_py():
        return _guess_of_categories(column)
    if pc.any(pc.match_substring_regex(numbers, _LEADING_ZERO)).as_py():
        guess = _guess_of_categories(column)
        return _Guess(guess.domain, f"{guess.comment} Codes with leading zeros, so not numbers.")
    missing = pc.is_in(trimmed, pa.array([None, "", *labels], pa.string()))
    values = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed).cast(pa.float64())
    whole = pc.all(pc.match_substring_regex(numbers, _WHOLE)).as_py()
    return _guess_of_numbers(values, whole=whole, missing=labels[0] if labels else MISSING_LABEL)


def _guess_of_numbers(column: pa.ChunkedArray, *, whole: bool, missing: str) -> _Guess:
    known = column.drop_null().cast(pa.float64(), safe=False)
    numbers = known.to_numpy()
    if whole and len(column) >= FEWEST_KEYS and len(pc.unique(column.drop_null())) == len(known):
        return _Guess(
            None,
            "Left out: whole numbers that are all different look like a key. If they are a quantity, use `numeric:`.",
        )
    grid = _grid(numbers[np.abs(numbers) < LARGEST], whole=whole)
    if grid is None:
        return _Guess(None, "Left out: the column has no finite number.")
    comment = "Guess: the range of the rows in about a hundred cells."
    if len(known) == len(column) and not np.isnan(numbers).any():
        return _Guess(grid, comment)
    grid = Grid(edges=grid.edges, step=grid.step, missing=missing)
    return _Guess(grid, f"{comment} Some cells are empty or say that the value is missing, hence `missing:`.")


def _guess_of_categories(column: pa.ChunkedArray) -> _Guess:
    values = _distinct(column)
    if len(values) > MOST_CATEGORIES:
        return _Guess(None, f"Left out: {len(values)} different values that look like {_looks_like(values)}")
    empty = " Empty cells are the value ''." if "" in values else ""
    absent = " Empty cells drop their row: add `missing:`." if column.null_count and not empty else ""
    return _Guess(
        Tree.flat(values),
        f"Guess: the {len(values)} values in the rows, without groups.{empty}{absent}",
    )


def _looks_like(values: list[str]) -> str:
    filled = [value.strip() for value in values if value.strip()]
    for shape, meaning in _SHAPES:
        if filled and sum(shape.fullmatch(value) is not None for value in filled) >= 0.95 * len(filled):
            return meaning
    return _OTHER_TEXT


def _grid(numbers: np.ndarray[tuple[int], np.dtype[np.float64]], *, whole: bool) -> Grid | None:
    """About a hundred cells of a round width that cover the values."""
    return covering_grid(float(numbers.min()), float(numbers.max()), whole=whole) if len(numbers) else None


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
