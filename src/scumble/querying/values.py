"""The values of an attribute that a question can distinguish, and which of them a condition means.

Values of categories are the leaves of the finest taxonomy (`scumble.querying.leaf_values`), those of numbers are the
cells of a grid (`scumble.querying.number_values`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Floats, Integers
from scumble.model.measured_tables import AttributeBins
from scumble.model.schema import Attribute
from scumble.model.values import Column
from scumble.querying.expressions import Between, Compared, Condition, Literal, Membership, Missing

Mask = npt.NDArray[np.bool_]
MOST_LISTED = 8


class UnknownValue(Exception):
    """A value that an attribute does not have. The caller knows the text of the question and raises the error."""

    def __init__(self, problem: str, value: Literal | None = None) -> None:
        super().__init__(problem)
        self.problem, self.value = problem, value


@dataclass(frozen=True, kw_only=True)
class Range:
    """Consecutive values that a written value means, and where it stands in their order.

    `low` and `high` bound the values that are equal to it; values before `below` are smaller, and those before `upto`
    are smaller or equal.
    """

    low: int
    high: int
    below: int
    upto: int
    inexact: str = ""
    """Why the values do not match the written one exactly; empty if they do."""


class Values:
    """The distinguishable values of one attribute. Subclasses: `LeafValues`, `CellValues`, `PieceValues`."""

    attribute: Attribute

    @property
    def size(self) -> int:
        """The number of distinguishable values, missing values included."""
        raise NotImplementedError

    @property
    def missing(self) -> int | None:
        """The place of missing values, or None."""
        raise NotImplementedError

    @property
    def in_order(self) -> bool:
        """Whether values can be compared by < and >."""
        raise NotImplementedError

    def range_of(self, value: Literal) -> Range:
        """The values that a written value means. Raises `UnknownValue` if there are none."""
        raise NotImplementedError

    def bins(self, bins: AttributeBins) -> Integers:
        """The bin of each value in a measured table."""
        raise NotImplementedError

    def places(self, column: Column) -> Integers:
        """The place of each value of a published column."""
        raise NotImplementedError

    @property
    def weights(self) -> Floats:
        """The share of each value inside a generalized one, up to a factor, if nothing else is known."""
        return np.ones(self.size)

    def mask(self, condition: Condition, notes: list[str]) -> Mask:
        """For each value, whether it satisfies a condition on this attribute."""
        found = np.zeros(self.size, dtype=np.bool_)
        match condition:
            case Missing():
                if self.missing is None:
                    raise UnknownValue(f"{self.attribute.name!r} has no missing values in this release.")
                found[self.missing] = True
            case Membership(values=values):
                for value in values:
                    self._equal(found, self._noted(value, notes, equal=True))
            case Between(low=low, high=high):
                self._check_order("between", low)
                found[self._noted(low, notes).below : self._noted(high, notes).upto] = True
                self._without_missing(found)
            case Compared(operator="=" | "!=" as operator, value=value):
                self._equal(found, self._noted(value, notes, equal=True))
                return found if operator == "=" else ~found
            case Compared(operator=operator, value=value):
                self._check_order(operator, value)
                place = self._noted(value, notes)
                smaller = np.arange(self.size) < (place.below if operator in ("<", ">=") else place.upto)
                found = smaller if operator in ("<", "<=") else ~smaller
                self._without_missing(found)
        return found

    def _equal(self, found: Mask, place: Range) -> None:
        found[place.low : place.high] = True

    def _without_missing(self, found: Mask) -> None:
        if self.missing is not None:
            found[self.missing] = False

    def _check_order(self, operator: str, value: Literal) -> None:
        if not self.in_order:
            raise UnknownValue(
                f"{self.attribute.name!r} has categories without an order, so `{operator}` means nothing. Use = or in.",
                value,
            )

    def _noted(self, value: Literal, notes: list[str], *, equal: bool = False) -> Range:
        place = self.range_of(value)
        if equal and place.low >= place.high:
            raise UnknownValue(f"{value.text} lies outside the domain of {self.attribute.name!r}.", value)
        if place.inexact and place.inexact not in notes:
            notes.append(place.inexact)
        return place


def nearest_names(text: str, names: Iterable[str]) -> list[str]:
    """The names that are written most like a text; case is ignored."""
    lower: dict[str, str] = {}
    for name in names:
        lower.setdefault(name.lower(), name)
    return [lower[each] for each in get_close_matches(text.lower(), list(lower), n=3, cutoff=0.5)]


def proposal(text: str, names: list[str]) -> str:
    """The names to write instead of a text, as a sentence."""
    near = nearest_names(text, names)
    if near:
        return f" Did you mean {' or '.join(repr(each) for each in near)}?"
    listed = ", ".join(repr(name) for name in names[:MOST_LISTED])
    return f" Available: {listed}{', ...' if len(names) > MOST_LISTED else ''}."
