"""The query of the noisy baselines: sums of the records of each group, from which centroids are computed.

There are three grouping rules: every record is a group (plain), blocks of ranks in a public order (I-MDAV), and MDAV,
which is what S-MDAV does with one table. They differ in the sensitivity of the sums. Sizes depend only on the public
number of rows and k, so they are not measured. Sums are divided by sizes after the noise was added.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.methods.coordinates import Amounts, Layout, collect, require_numbers
from scumble.methods.mdav.insensitive import insensitive_mdav, insensitive_sizes
from scumble.methods.mdav.mdav import group_sizes, mdav
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.query import RowMeasurement, Sensitivity

COMMON_RANGE = 1 << 32
"""Amounts are multiplied so that all attributes have about this range. So each gets noise in proportion to its
range."""


class GroupingRule(StrEnum):
    """How records are grouped."""

    RECORDS = "records"
    INSENSITIVE = "insensitive"
    STABLE = "stable"

    @property
    def method(self) -> str:
        """The method that groups records in this way, as messages name it."""
        return {"records": "plain", "insensitive": "i-mdav", "stable": "s-mdav"}[self]


@dataclass(frozen=True, kw_only=True)
class GroupSums(RowMeasurement):
    """The sum of weighted amounts for each group and attribute, group after group."""

    schema: Schema
    grouping: GroupingRule
    k: int = 1

    @cached_property
    def amounts(self) -> tuple[Amounts, ...]:
        return require_numbers(self.schema, self.grouping.method)

    @cached_property
    def weights(self) -> Integers:
        """Public integer factors that bring every attribute to nearly the same range."""
        return np.array([max(1, COMMON_RANGE // max(1, scale.largest)) for scale in self.amounts], dtype=np.int64)

    @property
    def reach(self) -> int:
        """The largest L1 change of one group's sums, over all attributes, when one of its records is replaced."""
        return sum(int(weight) * scale.largest for weight, scale in zip(self.weights, self.amounts, strict=True))

    @property
    def numbers_per_row(self) -> int:
        """Groups of one record are in the order of the rows; groups of several are not."""
        return len(self.amounts) if self.grouping is GroupingRule.RECORDS else 0

    def sizes(self, rows: int) -> Integers:
        """The number of records in each group."""
        if self.grouping is GroupingRule.RECORDS:
            return np.ones(rows, dtype=np.int64)
        return (
            insensitive_sizes(rows, self.k) if self.grouping is GroupingRule.INSENSITIVE else group_sizes(rows, self.k)
        )

    def groups(self, rows: Integers) -> Integers:
        """The group of each coded row."""
        if self.grouping is GroupingRule.RECORDS:
            return np.arange(len(rows))
        if self.grouping is GroupingRule.INSENSITIVE:
            largest = [scale.largest for scale in self.amounts]
            return insensitive_mdav(self.numbers(rows), largest, self.k)
        return mdav(Layout(schema=self.schema).standardized(rows), self.k)

    def numbers(self, rows: Integers) -> Integers:
        columns = [scale.of_codes(codes) for scale, codes in zip(self.amounts, rows.T, strict=True)]
        return np.stack(columns, axis=1)

    def answer(self, blocks: Iterable[Block]) -> Integers:
        rows = collect(blocks, len(self.schema.attributes))
        sums = np.zeros((len(self.sizes(len(rows))), len(self.amounts)), dtype=np.int64)
        np.add.at(sums, self.groups(rows), self.numbers(rows) * self.weights)
        return sums.ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """Under replace, with R = `reach`, the largest change of a group's sums when one member is exchanged.

        `records`: one group of one record changes: R. `insensitive`: every block of ranks exchanges at most one member,
        so all groups together change by at most (number of groups) R. `stable`: 2 R is the paper's claim that two
        groups exchange one member each. The claim is FALSE if each table is grouped by itself (PROOF.md).
        """
        if unit is not Unit.REPLACE:
            raise InputError(
                "This method's groups reveal the number of rows, which add-remove keeps secret. Set "
                "`unit: replace` and `rows:` in the schema, or use microaggregate."
            )
        assert self.schema.rows is not None
        groups = {
            GroupingRule.RECORDS: 1,
            GroupingRule.INSENSITIVE: len(self.sizes(self.schema.rows)),
            GroupingRule.STABLE: 2,
        }
        return Sensitivity(bound=max(1, groups[self.grouping] * self.reach))

    def centres(self, sums: Integers, rows: int, *, clamp: bool = True) -> npt.NDArray[np.float64]:
        """Centroids from noisy sums: divided by the sizes and clamped to the public domain."""
        table = sums.reshape(-1, len(self.amounts)) / self.weights / self.sizes(rows)[:, None]
        if clamp:
            table = np.clip(table, 0, [scale.largest for scale in self.amounts])
        lows = np.array([float(scale.low) for scale in self.amounts])
        return lows + table * np.array([float(scale.unit) for scale in self.amounts])
