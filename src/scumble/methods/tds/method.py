"""The method `tds`: top-down specialization for k-anonymity and classification (Fung, Wang, Yu 2007).

It is a baseline of DiffGen (KDD 2011), which specializes in the same way with private choices: PROOF.md states what it
promises and what not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from scumble.errors import InputError
from scumble.methods.method import Characteristics, Params, require_target
from scumble.methods.public_cut import AttributeNames
from scumble.methods.quasi_identifier import (
    all_columns,
    anonymity_plan,
    class_labels,
    generalized_lines,
    generalized_release,
    numbered,
    quasi_attributes,
)
from scumble.methods.tds.specialize import specialize
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import KAnonymity, Unit
from scumble.model.plan import Plan
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Attribute, Schema
from scumble.privacy.holder import Holder
from scumble.privacy.query import RowMeasurement, Sensitivity


class TDS(Params):
    """Parameters of `tds`: one cut of all taxonomies, chosen for the class, with at least k records in each group.

    `k` is the size of the smallest group, `quasi` the names of the quasi-identifier (default: all but the class).
    A wrong parameter raises `InputError`.

    >>> TDS(k=5)
    TDS(k=5)
    """

    method_name = "tds"
    k: Annotated[int, Field(description="Smallest number of records in a group.")]
    quasi: Annotated[
        AttributeNames | None, Field(description="Quasi-identifier: names with commas. By default all but the class.")
    ] = None

    if TYPE_CHECKING:

        def __init__(self, *, k: int, quasi: AttributeNames | None = None) -> None: ...


class _ExactAnswer(RowMeasurement):
    def sensitivity(self, unit: Unit) -> Sensitivity:
        """None is declared, because one record can change the whole cut: only `Holder.disclose` returns the answer."""
        raise InputError("tds declares no sensitivity and adds no noise. Use diffgen for differential privacy.")


@dataclass(frozen=True, kw_only=True)
class FinalCut(_ExactAnswer):
    """The generalized values of each attribute of the quasi-identifier, as lines (attribute, low, high)."""

    schema: Schema
    quasi: tuple[Attribute, ...]
    k: int

    def answer(self, blocks: Iterable[Block]) -> Integers:
        columns = all_columns(blocks, self.schema)
        return specialize(
            [columns[attribute.name] for attribute in self.quasi],
            [attribute.domain for attribute in self.quasi],
            class_labels(columns, self.schema),
            len(self.schema.classes),
            self.k,
        )


@dataclass(frozen=True, kw_only=True)
class CutCounts(_ExactAnswer):
    """The lines of the table that is generalized by a cut, in codes of the published schema."""

    schema: Schema
    digits: tuple[tuple[str, tuple[int, ...]], ...]
    """For each attribute of the quasi-identifier, the published code of each of its codes."""

    def answer(self, blocks: Iterable[Block]) -> Integers:
        columns = all_columns(blocks, self.schema)
        published = [np.array(digits, dtype=np.int64)[columns[name]] for name, digits in self.digits]
        group = numbered(published, len(columns[self.digits[0][0]]))
        first = np.unique(group, return_index=True)[1]
        ranges = {
            name: (digit[first], digit[first] + 1) for (name, _), digit in zip(self.digits, published, strict=True)
        }
        return generalized_lines(self.schema, columns, group, ranges)


class TDSMethod:
    """The method `tds`."""

    name = "tds"
    summary = "One cut of all taxonomies, specialized for the class while groups have at least k records. Not DP."
    parameters = TDS
    characteristics = Characteristics(several_attributes=True, leaf_values=False, generalized_values=True)
    audited: ClassVar[tuple[dict[str, Any], ...]] = ({"k": 3},)

    def plan(self, schema: Schema, parameters: TDS) -> Plan:
        require_target(schema, self.name)
        quasi = quasi_attributes(schema, parameters.quasi, sensitive=None)
        names = tuple(attribute.name for attribute in quasi)
        return anonymity_plan(schema, quasi, KAnonymity(k=parameters.k, quasi=names))

    def run(self, schema: Schema, parameters: TDS, holder: Holder) -> GeneralizedRelease:
        quasi = quasi_attributes(schema, parameters.quasi, sensitive=None)
        lines = holder.disclose(FinalCut(schema=schema, quasi=quasi, k=parameters.k))
        cut = {
            attribute.name: [(int(low), int(high)) for number, low, high in lines if number == place]
            or [(0, attribute.domain.size)]
            for place, attribute in enumerate(quasi)
        }
        attributes = tuple(
            replace(each, domain=each.domain.truncate([each.domain.interval(*ends) for ends in cut[each.name]]))
            if each.name in cut
            else each
            for each in schema.attributes
        )
        published = replace(schema, attributes=attributes)
        digits = tuple(
            (name, tuple(np.repeat(np.arange(len(ends)), [high - low for low, high in ends]).tolist()))
            for name, ends in cut.items()
        )
        counts = holder.disclose(CutCounts(schema=schema, digits=digits)) if len(lines) else _no_lines(schema)
        return generalized_release(self.name, parameters, holder.plan, published, quasi, counts)


def _no_lines(schema: Schema) -> Integers:
    return np.zeros((0, 2 * len(schema.predictors) + len(schema.classes)), dtype=np.int64)
