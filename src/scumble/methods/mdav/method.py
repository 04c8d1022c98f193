"""The methods of EDBT 2019 as the straight line calls them: `mdav`, `i-mdav`, `s-mdav`, `plain`.

They are here to be compared with; what a user should take is `microaggregate`. All are under `replace`, with the number
of rows public. What each promises is in PROOF.md, and in the guarantee it plans.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from scumble.errors import InputError
from scumble.methods.coordinates import Layout, collect
from scumble.methods.grouped_records import PublishedGroups, record_release
from scumble.methods.mdav.mdav import check_group_size, group_sizes, mdav
from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.methods.method import Exact, Params
from scumble.model.budget import Budget
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import KAnonymity, PureDP, Unit, Unproven
from scumble.model.plan import Plan, Spend
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.query import RowMeasurement, Sensitivity

SUMS = "sums of every group"
REFUTED = (
    "The groups of neighbouring tables differ by far more than the two records that its noise is made for "
    "(docs/s-mdav-violation.md)."
)


class Plain(Params):
    """Parameters of the method `plain`."""

    method_name = "plain"
    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]

    if TYPE_CHECKING:

        def __init__(self, *, epsilon: Budget) -> None: ...


class MDAV(Params):
    """Parameters of the method `mdav`."""

    method_name = "mdav"
    k: Annotated[int, Field(description="The smallest group.")]

    if TYPE_CHECKING:

        def __init__(self, *, k: int) -> None: ...


class IMDAV(Params):
    """Parameters of the method `i-mdav`."""

    method_name = "i-mdav"
    k: Annotated[int, Field(description="The smallest group.")]
    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]

    if TYPE_CHECKING:

        def __init__(self, *, k: int, epsilon: Budget) -> None: ...


class SMDAV(Params):
    """Parameters of the method `s-mdav`."""

    method_name = "s-mdav"
    k: Annotated[int, Field(description="The smallest group.")]
    epsilon: Annotated[Exact, Field(description="What is claimed to be the privacy budget of the whole release.")]

    if TYPE_CHECKING:

        def __init__(self, *, k: int, epsilon: Budget) -> None: ...


NoisyGroupParams = Plain | IMDAV | SMDAV


@dataclass(frozen=True, kw_only=True)
class NoisyGroups:
    """`plain`, `i-mdav` and `s-mdav`: sums of groups with noise."""

    name: str
    summary: str
    grouping: GroupingRule
    parameters: type[Params]

    def plan(self, schema: Schema, parameters: NoisyGroupParams) -> Plan:
        query = self._query(schema, parameters)
        bound = query.sensitivity(schema.unit).bound
        assert schema.rows is not None
        claim = PureDP(epsilon=parameters.epsilon, unit=schema.unit)
        spend = Spend(label=SUMS, epsilon=parameters.epsilon, purpose=f"noise for a change of {bound:,} weighted units")
        groups = len(query.sizes(schema.rows))
        refuted = self.grouping is GroupingRule.STABLE
        guarantee = Unproven(claim=claim, reason=REFUTED) if refuted else claim
        return Plan(guarantee=guarantee, spends=(spend,), cells_at_most=groups)

    def run(self, schema: Schema, parameters: NoisyGroupParams, holder: Holder) -> RecordRelease:
        return record_release(self.groups(schema, parameters, holder), schema, parameters)

    def groups(self, schema: Schema, parameters: NoisyGroupParams, holder: Holder) -> PublishedGroups:
        """The groups that are published, before they are written out as records."""
        query = self._query(schema, parameters)
        assert schema.rows is not None
        sums = holder.measure(query, spend=SUMS)
        centres = query.centres(sums, schema.rows)
        return PublishedGroups(
            method=self.name,
            plan=holder.plan,
            names=tuple(attribute.name for attribute in schema.attributes),
            centres=tuple(tuple(float(value) for value in line) for line in centres),
            sizes=query.sizes(schema.rows),
        )

    def _query(self, schema: Schema, parameters: NoisyGroupParams) -> GroupSums:
        k = 1
        if not isinstance(parameters, Plain):
            check_group_size(parameters.k, schema.rows)
            k = parameters.k
        query = GroupSums(schema=schema, grouping=self.grouping, k=k)
        assert query.amounts  # categories are refused here, before anything is asked
        return query


@dataclass(frozen=True, kw_only=True)
class ExactSums(RowMeasurement):
    """MDAV's group sums as they are, categories included. They have no bound: only `Holder.disclose` returns them."""

    layout: Layout
    k: int

    def answer(self, blocks: Iterable[Block]) -> Integers:
        rows = collect(blocks, len(self.layout.schema.attributes))
        numbers = self.layout.numbers(rows)
        sums = np.zeros((len(group_sizes(len(rows), self.k)), numbers.shape[1]), dtype=np.int64)
        np.add.at(sums, mdav(self.layout.standardized(rows), self.k), numbers)
        return sums

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """None is declared: one record can change every group of MDAV."""
        raise InputError("mdav has no sensitivity and no noise. Use microaggregate for differential privacy.")


class MDAVMethod:
    """`mdav`: k-anonymous groups without noise, of numbers and categories."""

    name = "mdav"
    summary = "Groups of at least k similar records with their exact averages. k-anonymity, no differential privacy."
    parameters = MDAV

    def plan(self, schema: Schema, parameters: MDAV) -> Plan:
        if schema.unit is not Unit.REPLACE or schema.rows is None:
            raise InputError("mdav tells the exact number of rows. Set `unit: replace` and `rows:` in the schema.")
        check_group_size(parameters.k, schema.rows)
        assert Layout(schema=schema).amounts
        groups = len(group_sizes(schema.rows, parameters.k))
        return Plan(guarantee=KAnonymity(k=parameters.k), schema_unit=schema.unit, spends=(), cells_at_most=groups)

    def run(self, schema: Schema, parameters: MDAV, holder: Holder) -> RecordRelease:
        return record_release(self.groups(schema, parameters, holder), schema, parameters)

    def groups(self, schema: Schema, parameters: MDAV, holder: Holder) -> PublishedGroups:
        """The groups that are published, before they are written out as records."""
        layout = Layout(schema=schema)
        assert schema.rows is not None
        sizes = group_sizes(schema.rows, parameters.k)
        sums = holder.disclose(ExactSums(layout=layout, k=parameters.k))
        return PublishedGroups(
            method=self.name,
            plan=holder.plan,
            names=tuple(attribute.name for attribute in schema.attributes),
            centres=tuple(tuple(centre) for centre in layout.representatives(sums.astype(np.float64), sizes)),
            sizes=sizes,
        )


PLAIN = NoisyGroups(
    name="plain",
    summary="Every record with noise of its own: the baseline of the papers.",
    grouping=GroupingRule.RECORDS,
    parameters=Plain,
)
I_MDAV = NoisyGroups(
    name="i-mdav",
    summary="Averages of blocks of a public order, with noise for every block (VLDB Journal 2014).",
    grouping=GroupingRule.INSENSITIVE,
    parameters=IMDAV,
)
S_MDAV = NoisyGroups(
    name="s-mdav",
    summary="MDAV's averages with the noise of EDBT 2019: its privacy claim does not hold.",
    grouping=GroupingRule.STABLE,
    parameters=SMDAV,
)
