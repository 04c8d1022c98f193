"""The values of a categorical attribute: the leaves of its finest taxonomy, in the order of their codes.

A condition may name a leaf or any node above it, which means all leaves below. Other texts are read by the attribute's
notation, as in a table: dates, booleans, codes by their prefix, numbers in nested intervals.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.dates import DateNotation
from scumble.model.measured_tables import AttributeBins
from scumble.model.prefixes import STAR, PrefixNotation
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.model.values import NOWHERE, Column, codes_within, read_value
from scumble.querying.expressions import Literal
from scumble.querying.values import Range, UnknownValue, Values, proposal


@dataclass(frozen=True, kw_only=True, eq=False)
class LeafValues(Values):
    """The leaves of the finest taxonomy of a categorical attribute."""

    attribute: Attribute

    @cached_property
    def tree(self) -> Tree:
        """The finest taxonomy."""
        domain = self.attribute.domain
        assert isinstance(domain, Tree)
        return domain.finest

    @property
    def size(self) -> int:
        return self.tree.size

    @property
    def missing(self) -> int | None:
        label = self.attribute.missing
        return None if label is None else self.tree.codes.get(label)

    @property
    def in_order(self) -> bool:
        return self.attribute.in_order

    def range_of(self, value: Literal) -> Range:
        for text in self._spellings(value):
            try:
                node = self.tree.node(text)
            except InputError:
                continue
            return Range(low=node.low, high=node.high, below=node.low, upto=node.high)
        return self._by_notation(value)

    def _spellings(self, value: Literal) -> list[str]:
        """The labels that a written value may be: as it is, a number in another notation, a prefix without its star."""
        found = [value.text]
        if value.number:
            found.append(canonical(_number(value))[1])
        notation = self.attribute.notation
        if isinstance(notation, PrefixNotation):
            found.append(notation.plain(value.text.removesuffix(STAR)) + STAR)
        return found

    def _by_notation(self, value: Literal) -> Range:
        name, notation = self.attribute.name, self.attribute.notation
        fine = replace(self.attribute, domain=self.tree, outside=Outside.DROP)
        raw = _number(value) if value.number else value.text
        if notation is not None and notation.on_a_line:
            place = notation.place(*canonical(raw))
            if place is None and not value.number:
                place = notation.place(ValueKind.TEXT, value.text)
            if place is not None and not 0 <= place < notation.size:
                end = 0 if place < 0 else notation.size
                return Range(low=end, high=end, below=end, upto=end)
        code = read_value(fine, raw).code
        if code is None:
            raise UnknownValue(f"{name!r} has no value {value.text!r}.{proposal(value.text, self._names)}", value)
        inside = self._inside(value, code)
        note = f"{value.text} lies inside {self.tree.labels[code]!r} of {name!r}, which counts as a whole."
        return Range(
            low=code,
            high=code + 1,
            below=code + inside,
            upto=code + 1,
            inexact=note if inside else "",
        )

    def _inside(self, value: Literal, code: int) -> bool:
        """Whether a date or number lies after the beginning of its leaf."""
        notation = self.attribute.notation
        if isinstance(notation, DateNotation):
            day = notation.date_of(value.text)
            return day is not None and day.toordinal() > int(notation.starts[code])
        edges = getattr(notation, "edge_floats", None)
        return edges is not None and value.number and float(value.text) > float(edges[code])

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([*(node.label for node in self.tree.root.walk()), *self.tree.labels]))

    def bins(self, bins: AttributeBins) -> Integers:
        assert bins.of_leaf is not None
        return bins.of_leaf

    def places(self, column: Column) -> Integers:
        found = codes_within(self.tree, column)
        if (found == NOWHERE).any():
            raise InputError(
                f"The rows have a value of {self.attribute.name!r} that the schema lacks. Verify the release."
            )
        return found


def _number(value: Literal) -> int | float:
    number = float(value.text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
