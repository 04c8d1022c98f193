"""The methods that EDBT 2019 compares: `mdav`, `i-mdav`, `s-mdav` and `plain`.

They are baselines; `microaggregate` is the recommended method. All require `unit: replace` with a public number of
rows. PROOF.md states what each guarantees, and so does the guarantee of its plan.
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
    "The groups of neighbouring tables can differ by far more than the two records that its noise is calibrated to "
    "(docs/s-mdav-violation.md)."
)


class Plain(Params):
    """Parameters of `plain`: every record with its own noise.

    `epsilon` is the privacy budget of the whole release.
    A wrong parameter raises `InputError`.

    >>> Plain(epsilon="1")
    Plain(epsilon='1')
    """

    method_name = "plain"
    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]

    if TYPE_CHECKING:

        def __init__(self, *, epsilon: Budget) -> None: ...


class MDAV(Params):
    """Parameters of `mdav`: groups of similar records without noise. k-anonymity, not differential privacy.

    `k` is the size of the smallest group.
    A wrong parameter raises `InputError`.

    >>> MDAV(k=5)
    MDAV(k=5)
    """

    method_name = "mdav"
    k: Annotated[int, Field(description="Smallest number of records in a group.")]

    if TYPE_CHECKING:

        def __init__(self, *, k: int) -> None: ...


class IMDAV(Params):
    """Parameters of `i-mdav`: averages of blocks of a public order, with noise.

    `k` is the size of the smallest group. `epsilon` is the privacy budget of the whole release.
    A wrong parameter raises `InputError`.

    >>> IMDAV(k=5, epsilon="1")
    IMDAV(k=5, epsilon='1')
    """

    method_name = "i-mdav"
    k: Annotated[int, Field(description="Smallest number of records in a group.")]
    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]

    if TYPE_CHECKING:

        def __init__(self, *, k: int, epsilon: Budget) -> None: ...


class SMDAV(Params):
    """Parameters of `s-mdav`: averages of MDAV's groups, with noise that is too small for its claim.

    `k` is the size of the smallest group, `epsilon` the privacy budget that the paper claims.
    A wrong parameter raises `InputError`.

    >>> SMDAV(k=5, epsilon="1")
    SMDAV(k=5, epsilon='1')
    """

    method_name = "s-mdav"
    k: Annotated[int, Field(description="Smallest number of records in a group.")]
    epsilon: Annotated[
        Exact, Field(description="The claimed privacy budget of the whole release. The claim is refuted.")
    ]

    if TYPE_CHECKING:

        def __init__(self, *, k: int, epsilon: Budget) -> None: ...


NoisyGroupParams = Plain | IMDAV | SMDAV


@dataclass(frozen=True, kw_only=True)
class NoisyGroups:
    """`plain`, `i-mdav` and `s-mdav`: noisy sums of groups, divided by public sizes."""

    name: str
    summary: str
    grouping: GroupingRule
    parameters: type[Params]

    def plan(self, schema: Schema, parameters: NoisyGroupParams) -> Plan:
        query = self._query(schema, parameters)
        bound = query.sensitivity(schema.unit).bound
        assert schema.rows is not None
        claim = PureDP(epsilon=parameters.epsilon, unit=schema.unit)
        spend = Spend(
            label=SUMS,
            epsilon=parameters.epsilon,
            purpose=f"discrete Laplace noise for a sensitivity of {bound:,} weighted units",
        )
        groups = len(query.sizes(schema.rows))
        refuted = self.grouping is GroupingRule.STABLE
        guarantee = Unproven(claim=claim, reason=REFUTED) if refuted else claim
        return Plan(guarantee=guarantee, spends=(spend,), cells_at_most=groups)

    def run(self, schema: Schema, parameters: NoisyGroupParams, holder: Holder) -> RecordRelease:
        return record_release(self.groups(schema, parameters, holder), schema, parameters)

    def groups(self, schema: Schema, parameters: NoisyGroupParams, holder: Holder) -> PublishedGroups:
        """The published groups, before they are converted to records."""
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
        assert query.amounts  # raises for categories, before any query is answered
        return query


@dataclass(frozen=True, kw_only=True)
class ExactSums(RowMeasurement):
    """MDAV's exact group sums, including categories. Their sensitivity has no bound: only `Holder.disclose` returns
    them."""

    layout: Layout
    k: int

    def answer(self, blocks: Iterable[Block]) -> Integers:
        rows = collect(blocks, len(self.layout.schema.attributes))
        numbers = self.layout.numbers(rows)
        sums = np.zeros((len(group_sizes(len(rows), self.k)), numbers.shape[1]), dtype=np.int64)
        np.add.at(sums, mdav(self.layout.standardized(rows), self.k), numbers)
        return sums

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """None is declared, because one record can change every group of MDAV."""
        raise InputError("mdav declares no sensitivity and adds no noise. Use microaggregate for differential privacy.")


class MDAVMethod:
    """The method `mdav`: k-anonymous groups of numbers and categories, without noise."""

    name = "mdav"
    summary = "Groups of at least k similar records with their exact averages. k-anonymity, not differential privacy."
    parameters = MDAV

    def plan(self, schema: Schema, parameters: MDAV) -> Plan:
        if schema.unit is not Unit.REPLACE or schema.rows is None:
            raise InputError("mdav publishes the exact number of rows. Set `unit: replace` and `rows:` in the schema.")
        check_group_size(parameters.k, schema.rows)
        assert Layout(schema=schema).amounts
        groups = len(group_sizes(schema.rows, parameters.k))
        return Plan(guarantee=KAnonymity(k=parameters.k), schema_unit=schema.unit, spends=(), cells_at_most=groups)

    def run(self, schema: Schema, parameters: MDAV, holder: Holder) -> RecordRelease:
        return record_release(self.groups(schema, parameters, holder), schema, parameters)

    def groups(self, schema: Schema, parameters: MDAV, holder: Holder) -> PublishedGroups:
        """The published groups, before they are converted to records."""
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
    summary="Every record with independent noise: the baseline of the papers.",
    grouping=GroupingRule.RECORDS,
    parameters=Plain,
)
I_MDAV = NoisyGroups(
    name="i-mdav",
    summary="Noisy averages of blocks of records in a public order (VLDB Journal 2014).",
    grouping=GroupingRule.INSENSITIVE,
    parameters=IMDAV,
)
S_MDAV = NoisyGroups(
    name="s-mdav",
    summary="MDAV's averages with the noise of EDBT 2019, whose privacy claim is false.",
    grouping=GroupingRule.STABLE,
    parameters=SMDAV,
)
