"""The method `mondrian`: groups of at least k records with generalized values, by multidimensional partitioning.

LeFevre, DeWitt and Ramakrishnan (Mondrian Multidimensional K-Anonymity, ICDE 2006), strict and relaxed, with optional
l-diversity or t-closeness of a sensitive attribute. It is a baseline: PROOF.md states what it promises and what not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from scumble.errors import InputError
from scumble.methods.method import Characteristics, Exact, Params
from scumble.methods.mondrian.partition import GroupCondition, SensitiveRule, covering_range, partition
from scumble.methods.public_cut import AttributeNames
from scumble.methods.quasi_identifier import (
    all_columns,
    anonymity_plan,
    generalized_lines,
    generalized_release,
    quasi_attributes,
)
from scumble.model.budget import Budget
from scumble.model.counts import Block, Integers
from scumble.model.diversity import MoveCosts
from scumble.model.guarantee import KAnonymity, LDiversity, TCloseness, Unit
from scumble.model.plan import Plan
from scumble.model.release import GeneralizedRelease
from scumble.model.schema import Attribute, Schema
from scumble.privacy.holder import Holder
from scumble.privacy.query import RowMeasurement, Sensitivity

MOST_SENSITIVE_VALUES = 1000


class Mondrian(Params):
    """Parameters of `mondrian`: generalized groups of at least k records. k-anonymity, not differential privacy.

    `k` is the size of the smallest group, `quasi` the names of the quasi-identifier (default: all but the class and the
    sensitive attribute). `relaxed` divides equal values, too, for more even groups. `diversity` asks for that many
    different values of the `sensitive` attribute (default: the class) in each group or, with `entropy`, for at least
    its logarithm as their entropy; `closeness` asks for a distribution within that distance of the whole table's.
    A wrong parameter raises `InputError`.

    >>> Mondrian(k=5, quasi="age,sex")
    Mondrian(k=5, quasi=['age', 'sex'])
    """

    method_name = "mondrian"
    k: Annotated[int, Field(description="Smallest number of records in a group.")]
    quasi: Annotated[
        AttributeNames | None,
        Field(description="Quasi-identifier: names with commas. By default all but the class and the sensitive one."),
    ] = None
    relaxed: Annotated[bool, Field(description="Divide records with equal values, too: more even groups.")] = False
    sensitive: Annotated[
        str | None, Field(description="The sensitive attribute of --diversity and --closeness. By default the class.")
    ] = None
    diversity: Annotated[
        Exact | None, Field(description="l-diversity: least number of sensitive values in each group.")
    ] = None
    entropy: Annotated[bool, Field(description="Measure --diversity by the entropy of the sensitive values.")] = False
    closeness: Annotated[
        Exact | None, Field(description="t-closeness: largest distance of a group's sensitive values from the table's.")
    ] = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            k: int,
            quasi: AttributeNames | None = None,
            relaxed: bool = False,
            sensitive: str | None = None,
            diversity: Budget | None = None,
            entropy: bool = False,
            closeness: Budget | None = None,
        ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class GeneralizedGroups(RowMeasurement):
    """The exact lines of Mondrian's table. Their sensitivity has no bound: only `Holder.disclose` returns them."""

    schema: Schema
    quasi: tuple[Attribute, ...]
    condition: GroupCondition
    sensitive: str | None
    relaxed: bool

    def answer(self, blocks: Iterable[Block]) -> Integers:
        columns = all_columns(blocks, self.schema)
        if self.relaxed:  # which equal records go to which half must not depend on the order of the table
            order = np.lexsort(list(columns.values()))
            columns = {name: column[order] for name, column in columns.items()}
        groups = partition(
            [columns[attribute.name] for attribute in self.quasi],
            [attribute.domain for attribute in self.quasi],
            self.condition,
            sensitive=None if self.sensitive is None else columns[self.sensitive],
            relaxed=self.relaxed,
        )
        if groups is None:
            width = 2 * len(self.schema.predictors) + len(self.schema.classes)
            return np.zeros((0, width), dtype=np.int64)
        ranges = {each.name: _ranges(columns[each.name], groups, each) for each in self.quasi}
        return generalized_lines(self.schema, columns, groups, ranges)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """None is declared, because one record can change every group."""
        raise InputError("mondrian declares no sensitivity and adds no noise. Use diffgen for differential privacy.")


def _ranges(codes: Integers, groups: Integers, attribute: Attribute) -> tuple[Integers, Integers]:
    """The lows and highs of the generalized value of each group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    least = np.minimum.reduceat(codes[order], starts)
    most = np.maximum.reduceat(codes[order], starts)
    if attribute.domain.splits_anywhere:
        return least, most + 1
    pairs, place = np.unique(np.stack([least, most], axis=1), axis=0, return_inverse=True)
    covers = np.array([covering_range(attribute.domain, *pair) for pair in pairs.tolist()], dtype=np.int64)
    return covers[place.reshape(-1), 0], covers[place.reshape(-1), 1]


class MondrianMethod:
    """The method `mondrian`."""

    name = "mondrian"
    summary = "Generalized groups of at least k records by multidimensional partitioning. Not differential privacy."
    parameters = Mondrian
    characteristics = Characteristics(several_attributes=True, leaf_values=False, generalized_values=True)
    audited: ClassVar[tuple[dict[str, Any], ...]] = ({"k": 3}, {"k": 2, "relaxed": True})

    def plan(self, schema: Schema, parameters: Mondrian) -> Plan:
        quasi = quasi_attributes(schema, parameters.quasi, sensitive=_sensitive(schema, parameters))
        return anonymity_plan(schema, quasi, _guarantee(schema, parameters, quasi))

    def run(self, schema: Schema, parameters: Mondrian, holder: Holder) -> GeneralizedRelease:
        sensitive = _sensitive(schema, parameters)
        quasi = quasi_attributes(schema, parameters.quasi, sensitive=sensitive)
        query = GeneralizedGroups(
            schema=schema,
            quasi=quasi,
            condition=_condition(schema, parameters),
            sensitive=sensitive,
            relaxed=parameters.relaxed,
        )
        return generalized_release(self.name, parameters, holder.plan, schema, quasi, holder.disclose(query))


def _sensitive(schema: Schema, parameters: Mondrian) -> str | None:
    """The sensitive attribute; None if no condition names one. Raises `InputError` if a condition lacks it."""
    asked = parameters.diversity is not None or parameters.closeness is not None
    if parameters.diversity is not None and parameters.closeness is not None:
        raise InputError("mondrian: give --diversity or --closeness, not both. A release states one of the two.")
    if not asked:
        if parameters.sensitive is not None or parameters.entropy:
            raise InputError("mondrian: --sensitive and --entropy need --diversity or --closeness. Give one of them.")
        return None
    if parameters.entropy and parameters.diversity is None:
        raise InputError("mondrian: --entropy measures --diversity. Give --diversity, or leave out --entropy.")
    name = schema.target if parameters.sensitive is None else parameters.sensitive
    if name is None:
        raise InputError("mondrian: the schema has no class. Name the sensitive attribute with --sensitive.")
    values = schema[name].domain.size
    if values > MOST_SENSITIVE_VALUES:
        raise InputError(
            f"mondrian: {name!r} has {values:,} values, more than {MOST_SENSITIVE_VALUES:,}. Give it a coarser domain."
        )
    if parameters.diversity is not None and not 1 < parameters.diversity <= values:
        raise InputError(
            f"mondrian: --diversity must be above 1 and at most {values}, the number of values of {name!r}."
        )
    if parameters.closeness is not None and parameters.closeness > 1:
        raise InputError("mondrian: --closeness is a distance between 0 and 1. Give one such as 0.2.")
    return name


def _guarantee(schema: Schema, parameters: Mondrian, quasi: Sequence[Attribute]) -> KAnonymity:
    names = tuple(attribute.name for attribute in quasi)
    sensitive = _sensitive(schema, parameters)
    if sensitive is None:
        return KAnonymity(k=parameters.k, quasi=names)
    if parameters.closeness is not None:
        return TCloseness(k=parameters.k, quasi=names, t=parameters.closeness, sensitive=sensitive)
    assert parameters.diversity is not None
    return LDiversity(
        k=parameters.k, quasi=names, l=parameters.diversity, sensitive=sensitive, entropy=parameters.entropy
    )


def _condition(schema: Schema, parameters: Mondrian) -> GroupCondition:
    sensitive = _sensitive(schema, parameters)
    if sensitive is None:
        return GroupCondition(k=parameters.k)
    attribute = schema[sensitive]
    if parameters.closeness is not None:
        rule, limit = SensitiveRule.CLOSENESS, float(parameters.closeness)
    else:
        rule, limit = (
            SensitiveRule.ENTROPY if parameters.entropy else SensitiveRule.DISTINCT,
            float(parameters.diversity or 0),
        )
    costs = MoveCosts.of(attribute) if rule is SensitiveRule.CLOSENESS else None
    return GroupCondition(k=parameters.k, rule=rule, limit=limit, values=attribute.domain.size, costs=costs)
