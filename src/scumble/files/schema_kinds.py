"""The kinds of attributes in `schema.yaml`: the keys of each kind, and the domain and notation that they describe."""

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from scumble.errors import InputError
from scumble.files.hierarchy_file import read_hierarchy
from scumble.foreign.files import below, read_text
from scumble.model.dates import DateNotation, DateStep
from scumble.model.grid import Grid
from scumble.model.notation import PLAIN, BooleanNotation, IntervalNotation, NumberNotation
from scumble.model.prefixes import PrefixNotation
from scumble.model.taxonomy import Nested, Tree


class EntryPart(BaseModel):
    """A part of the file. Unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class NumericPart(EntryPart):
    """Regular cells [low, low + step), ... up to high, which is excluded; irregular cells between edges; or a tree of
    nested intervals."""

    low: Decimal | None = None
    high: Decimal | None = None
    step: Decimal | None = None
    edges: list[Decimal] | None = None
    tree: Annotated[
        dict[str, Any] | None,
        Field(description="Nested intervals `[low,high)`, each with the intervals that tile it; a leaf has none."),
    ] = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = {name for name in ("low", "high", "step", "edges", "tree") if getattr(self, name) is not None}
        if given not in ({"low", "high", "step"}, {"edges"}, {"tree"}):
            raise ValueError("give either low, high and step, or edges, or a tree of intervals")
        return self

    def grid(self, *, missing: str | None, joined: bool) -> Grid:
        """The grid of cells."""
        if self.edges is not None:
            return Grid(edges=tuple(self.edges), missing=missing, joined=joined)
        assert self.low is not None and self.high is not None and self.step is not None
        grid = Grid.regular(low=self.low, high=self.high, step=self.step)
        return Grid(edges=grid.edges, step=grid.step, missing=missing, joined=joined)


class NumbersPart(EntryPart):
    """How numbers are written as text: the decimal sign and the separator of groups of three digits."""

    decimal: str = "."
    thousands: str | None = None

    def notation(self) -> NumberNotation:
        """The notation, which refuses other signs."""
        return NumberNotation(decimal=self.decimal, thousands=self.thousands)


class BooleanPart(EntryPart):
    """Further texts that mean false and true, exactly as in the table."""

    false: list[str] = Field(default_factory=list)
    true: list[str] = Field(default_factory=list)

    def notation(self) -> BooleanNotation:
        """The notation, which refuses a text that means both."""
        return BooleanNotation(false=tuple(self.false), true=tuple(self.true))


class DatePart(EntryPart):
    """Dates from `from` on and before `to`, in steps; `format` is that of dates as text, if they are not ISO."""

    first: Annotated[str, Field(alias="from")]
    to: str
    step: DateStep
    format: str | None = None

    def notation(self) -> DateNotation:
        """The notation, which refuses a range that is not made of whole steps."""
        return DateNotation(first=_day(self.first), end=_day(self.to), step=self.step, format=self.format)


class PrefixPart(EntryPart):
    """Codes by their first characters: the lengths of the levels, and the codes, a file of them or their pattern."""

    levels: list[int]
    codes: list[str] | None = None
    csv: Annotated[str | None, Field(description="A text file with one code a line.")] = None
    pattern: Annotated[str | None, Field(description="Literal characters and classes, such as [A-Z][0-9]{2}.")] = None
    ignore: Annotated[str, Field(description="Characters that do not count, such as dots and spaces.")] = ""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(each is not None for each in (self.codes, self.csv, self.pattern)) != 1:
            raise ValueError("give exactly one of codes, csv, pattern")
        return self

    def notation(self, folder: Path | None) -> PrefixNotation:
        """The notation. The path of a file is relative to `folder`."""
        codes = self.codes if self.csv is None else _lines(_named(self.csv, folder))
        return PrefixNotation(
            levels=tuple(self.levels),
            codes=None if codes is None else tuple(codes),
            pattern=self.pattern,
            ignore=self.ignore,
        )


def _day(text: str) -> date:
    """A date of the schema, which is ISO."""
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"{text!r} is not a date. Write year, month and day, such as 2024-01-31.")


def _named(name: str, folder: Path | None) -> Path:
    """The path of a file that a schema names. Only a schema in a file of its own may name others, in its folder."""
    if folder is None:
        raise InputError(f"It names the file {name!r}, but this schema must be complete. Write the values into it.")
    return below(folder, name)


def _lines(path: Path) -> list[str]:
    """The codes of a file: the first field of every line that is not empty."""
    try:
        lines = read_text(path, encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The list of codes {path} cannot be read: {error}. Give a UTF-8 text file.") from error
    fields = (re.split("[,;\t]", line, maxsplit=1)[0].strip().strip('"') for line in lines)
    return [field for field in fields if field]


def date_data(dates: DateNotation) -> dict[str, Any]:
    """The inverse of `DatePart`."""
    data = {"from": dates.first.isoformat(), "to": dates.end.isoformat(), "step": dates.step.value}
    return data if dates.format is None else {**data, "format": dates.format}


def prefix_data(prefixes: PrefixNotation) -> dict[str, Any]:
    """The inverse of `PrefixPart`, with the codes of a file in full."""
    data: dict[str, Any] = {"levels": list(prefixes.levels)}
    data |= {"codes": list(prefixes.codes)} if prefixes.codes is not None else {"pattern": prefixes.pattern}
    return {**data, "ignore": prefixes.ignore} if prefixes.ignore else data


def numbers_data(numbers: NumberNotation) -> dict[str, Any]:
    """The inverse of `NumbersPart`."""
    data = {"decimal": numbers.decimal}
    return data if numbers.thousands is None else {**data, "thousands": numbers.thousands}


def grid_data(grid: Grid) -> dict[str, Any]:
    """The inverse of `NumericPart.grid`."""
    if grid.step is None:
        return {"edges": [_number(edge) for edge in grid.edges]}
    low, high = grid.edges
    return {"low": _number(low), "high": _number(high), "step": _number(grid.step)}


def booleans_data(booleans: BooleanNotation) -> Any:
    """The inverse of `BooleanPart`: `true`, or the texts."""
    data = {"false": list(booleans.false), "true": list(booleans.true)}
    return data if booleans.false or booleans.true else True


def intervals_of(tree: Mapping[str, Any], numbers: NumberNotation = PLAIN) -> tuple[IntervalNotation, Tree]:
    """The notation and the taxonomy of nested intervals."""
    return IntervalNotation.nested(nested(tree), numbers)


def taxonomy_of(taxonomy: Mapping[str, Any], folder: Path | None) -> Tree:
    """A taxonomy from nested mappings, or from the hierarchy file that it names."""
    if list(taxonomy) == ["csv"] and isinstance(taxonomy["csv"], str) and taxonomy["csv"]:
        return read_hierarchy(_named(taxonomy["csv"], folder))
    return Tree.nested(nested(taxonomy))


def nested(taxonomy: Any) -> Nested:
    """Nested mappings whose leaves are None. Raises `InputError` for anything else."""
    if not isinstance(taxonomy, Mapping):
        raise InputError(
            f"A taxonomy contains only mappings, not {taxonomy!r}. Write a leaf as `{taxonomy}:`, with no value."
        )
    return {label: nested(below) if below else None for label, below in taxonomy.items()}


def without(taxonomy: Nested, leaf: str | None) -> Nested:
    """The taxonomy without a leaf directly below its root."""
    ((root, below),) = taxonomy.items()
    return {root: {label: further for label, further in (below or {}).items() if label != leaf} or None}


def _number(value: Decimal) -> int | float | str:
    """A decimal as a YAML scalar that is read back as the same decimal."""
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
