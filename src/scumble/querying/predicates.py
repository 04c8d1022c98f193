"""A condition interpreted over the values of a release: true or false for every combination of values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from scumble.querying.expressions import Both, Condition, Either, Expression, Not, conditions, expression_text
from scumble.querying.parser import ExpressionError
from scumble.querying.values import Mask, UnknownValue, Values, nearest_names

ValuePlaces: TypeAlias = Mapping[str, npt.NDArray[np.integer[Any]]]
"""For each attribute, places of its values: of rows, or of the combinations of several attributes by broadcasting."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OneAttribute:
    """The values of one attribute that satisfy a condition."""

    attribute: str
    mask: Mask

    @property
    def masks(self) -> "tuple[OneAttribute, ...]":
        return (self,)

    def truth(self, places: ValuePlaces) -> Mask:
        return self.mask[places[self.attribute]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Opposite:
    """The records that do not satisfy a predicate."""

    part: "Predicate"

    @property
    def masks(self) -> tuple[OneAttribute, ...]:
        return self.part.masks

    def truth(self, places: ValuePlaces) -> Mask:
        return ~self.part.truth(places)


@dataclass(frozen=True, kw_only=True, eq=False)
class Combined:
    """All of several predicates, or any of them."""

    parts: tuple["Predicate", ...]
    every: bool = True

    @property
    def masks(self) -> tuple[OneAttribute, ...]:
        return tuple(mask for part in self.parts for mask in part.masks)

    def truth(self, places: ValuePlaces) -> Mask:
        join = np.logical_and if self.every else np.logical_or
        found: Mask = np.array(self.every)
        for part in self.parts:
            found = join(found, part.truth(places))
        return found


Predicate: TypeAlias = OneAttribute | Opposite | Combined

ALL = Combined(parts=())
"""What every record satisfies."""


def attributes_of(predicate: Predicate) -> frozenset[str]:
    """The attributes that a predicate refers to."""
    return frozenset(mask.attribute for mask in predicate.masks)


def both(*parts: Predicate) -> Predicate:
    """What satisfies all the parts."""
    return Combined(parts=parts)


def interpret(expression: Expression, values: Mapping[str, Values], text: str, notes: list[str]) -> Predicate:
    """The predicate of a condition. `notes` receives what its reader should know.

    Raises `ExpressionError`, which points into `text`, at an unknown value.
    """
    match expression:
        case Not(part=part):
            return Opposite(part=interpret(part, values, text, notes))
        case Both(parts=parts):
            return Combined(parts=tuple(interpret(part, values, text, notes) for part in parts))
        case Either(parts=parts):
            return Combined(parts=tuple(interpret(part, values, text, notes) for part in parts), every=False)
        case condition:
            try:
                mask = values[condition.attribute].mask(condition, notes)
            except UnknownValue as error:
                raise unknown_value(error, condition, text) from None
            return OneAttribute(attribute=condition.attribute, mask=mask)


def unknown_value(error: UnknownValue, condition: Condition, text: str) -> ExpressionError:
    """The error of a question with a value that an attribute does not have."""
    return ExpressionError(error.problem, text, condition.span if error.value is None else error.value.span)


def check_names(expression: Expression, names: tuple[str, ...], text: str) -> None:
    """Raise `ExpressionError` if a condition names an attribute that the release does not publish."""
    for condition in conditions(expression):
        if condition.attribute not in names:
            near = nearest_names(condition.attribute, names)
            proposal = f"Did you mean {' or '.join(repr(each) for each in near)}?" if near else available(names)
            problem = f"The release has no attribute {condition.attribute!r}. {proposal}"
            raise ExpressionError(problem, text or expression_text(expression), condition.span)


def available(names: tuple[str, ...]) -> str:
    """The names to choose from, as a sentence."""
    return f"Available: {', '.join(names)}."
