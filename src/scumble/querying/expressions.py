"""Conditions on records as plain data, and their text. `scumble.querying.parser` reads the text back.

Every condition on one attribute knows the place of its name and its values in the text it was read from, for errors;
the place is no part of the condition.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

KEYWORDS = frozenset({"and", "or", "not", "in", "between", "is", "missing"})
COMPARISONS = ("<=", ">=", "!=", "<>", "=", "<", ">")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
WORD = re.compile(r"[^\W\d]\w*(?:[-.]\w+)*")
"""A name without quotes: letters, digits and underscores, with single hyphens and points inside."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A place in the text of a condition: the characters from `start` up to `end`."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True, kw_only=True)
class Literal:
    """A value as it was written: a number, or a text (quoted, a bare word or a date)."""

    text: str
    number: bool = False
    span: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """An attribute compared with a value: one of = != < <= > >=."""

    attribute: str
    operator: str
    value: Literal
    span: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Membership:
    """An attribute whose value is one of several."""

    attribute: str
    values: tuple[Literal, ...]
    span: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Between:
    """An attribute from one value to another, both included."""

    attribute: str
    low: Literal
    high: Literal
    span: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Missing:
    """An attribute whose value is missing."""

    attribute: str
    span: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Not:
    """The opposite of a condition."""

    part: "Expression"


@dataclass(frozen=True, kw_only=True)
class Both:
    """Conditions that all apply. Without parts, the condition that every record satisfies."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, kw_only=True)
class Either:
    """Conditions of which at least one applies."""

    parts: tuple["Expression", ...]


Condition: TypeAlias = Compared | Membership | Between | Missing
"""A condition on one attribute."""
Expression: TypeAlias = Condition | Not | Both | Either

EVERYTHING = Both(parts=())


def conditions(expression: Expression) -> Iterator[Condition]:
    """The conditions on single attributes, from left to right."""
    match expression:
        case Not(part=part):
            yield from conditions(part)
        case Both(parts=parts) | Either(parts=parts):
            for part in parts:
                yield from conditions(part)
        case _:
            yield expression


def expression_text(expression: Expression) -> str:
    """The text of a condition, which the parser reads as the same condition.

    >>> young = Compared(attribute="hours-per-week", operator="<", value=Literal(text="40", number=True))
    >>> expression_text(Not(part=Both(parts=(young, Missing(attribute="two words")))))
    'not (hours-per-week < 40 and `two words` is missing)'
    """
    match expression:
        case Compared(attribute=attribute, operator=operator, value=value):
            return f"{name_text(attribute)} {operator} {value_text(value)}"
        case Membership(attribute=attribute, values=values):
            return f"{name_text(attribute)} in ({', '.join(value_text(value) for value in values)})"
        case Between(attribute=attribute, low=low, high=high):
            return f"{name_text(attribute)} between {value_text(low)} and {value_text(high)}"
        case Missing(attribute=attribute):
            return f"{name_text(attribute)} is missing"
        case Not(part=part):
            return f"not {_inside(part)}"
        case Both(parts=parts):
            return " and ".join(_inside(part) for part in parts)
        case Either(parts=parts):
            return " or ".join(_inside(part) for part in parts)


def _inside(part: Expression) -> str:
    return f"({expression_text(part)})" if isinstance(part, Both | Either) else expression_text(part)


def name_text(name: str) -> str:
    """A name as it is written in a condition, in backticks where it has to be quoted."""
    if WORD.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return "`" + name.replace("`", "``") + "`"


def value_text(value: Literal) -> str:
    """A value as it is written in a condition: a number as it is, a text in single quotes."""
    return value.text if value.number else "'" + value.text.replace("'", "''") + "'"
