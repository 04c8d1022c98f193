"""Contingency: the whole contingency table with discrete Laplace noise on every count.

The oldest differentially private release (Dwork, McSherry, Nissim & Smith 2006), with which later methods compare
themselves. Every combination of values is counted, whether it occurs or not, so the noise of a sum grows with the
number of combinations in it. A table with more counts than a public limit is refused while planning; bins and a list of
attributes, both public, make it smaller.
"""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from scumble.methods.method import Characteristics, Exact, Params
from scumble.methods.public_cut import AttributeNames, CountedAttributes, MostBins, public_cut, require_cells
from scumble.model.budget import Budget
from scumble.model.cut import Cut
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding
from scumble.model.row_limit import row_limit_story
from scumble.model.schema import Schema
from scumble.model.spend import needs_for, priced
from scumble.privacy.holder import Holder
from scumble.privacy.query import CellCounts

COUNT = "count every combination of values"
MOST_COUNTS = 1_000_000
"""The public limit of counts: each costs a draw of noise and a line of counts.csv."""


class Contingency(Params):
    """Parameters of `contingency`: the whole contingency table with noise.

    `epsilon` is the privacy budget of the whole release. `attributes` are those to count together (default: all), and
    `bins` is the largest number of values of each, in public bins (default: all values). A wrong parameter raises
    `InputError`.

    >>> Contingency(epsilon="1", attributes=("age", "sex"), bins=10)
    Contingency(epsilon='1', attributes=['age', 'sex'], bins=10)
    """

    method_name = "contingency"
    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    attributes: CountedAttributes = None
    bins: MostBins = None

    if TYPE_CHECKING:

        def __init__(
            self, *, epsilon: Budget, attributes: AttributeNames | None = None, bins: int | None = None
        ) -> None: ...


class ContingencyMethod:
    """The method `contingency`."""

    name = "contingency"
    summary = "The whole contingency table with noise on every count, in public bins: a baseline."
    parameters = Contingency
    characteristics = Characteristics(several_attributes=True, leaf_values=True, generalized_values=False)
    audited: ClassVar[tuple[dict[str, Any], ...]] = ({"bins": 3},)

    def plan(self, schema: Schema, parameters: Contingency) -> Plan:
        cut = self._cut(schema, parameters)
        entries = require_cells(cut, most=MOST_COUNTS, method=self.name)
        guarantee = PureDP(epsilon=parameters.epsilon, unit=schema.unit)
        purpose = "discrete Laplace noise on every (cell, class) count"
        return Plan(
            guarantee=guarantee,
            spends=(priced(guarantee, label=COUNT, share=Fraction(1), purpose=purpose),),
            cells_at_most=cut.cells,
            needs=needs_for(CellCounts.needs, None),
            notes=(f"All {entries:,} combinations of values will be counted, whether they occur or not.",),
        )

    def run(self, schema: Schema, parameters: Contingency, holder: Holder) -> CellRelease:
        cut = self._cut(schema, parameters)
        query = CellCounts(cut=cut)
        variance = holder.variance(query, spend=COUNT)
        measured = holder.measure(query, spend=COUNT).reshape(cut.cells, len(schema.classes))
        made = CellRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=cut.published_schema(),
            measured=measured,
            resolution=1,
            variance=variance,
            rounding=Rounding.PROJECT,
            count=Rounding.PROJECT.apply(measured, 1),
        )
        return replace(made, story=row_limit_story(made.count, made.row_counts))

    def _cut(self, schema: Schema, parameters: Contingency) -> Cut:
        return public_cut(schema, attributes=parameters.attributes, bins=parameters.bins)
