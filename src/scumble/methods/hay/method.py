"""Hay: hierarchical histograms with consistency (Hay, Rastogi, Miklau & Suciu 2010).

Every attribute is counted at all levels of a tree at once: a range of values is then a sum of few noisy counts instead
of many. The paper has one ordered attribute and a tree of equal intervals. Here each attribute has a tree, by class if
the schema has one: intervals of numbers, dates and ordered categories; the nodes of a taxonomy otherwise. Constrained
inference makes the counts of all levels consistent. Rows are drawn from the consistent counts as `histograms` draws
them.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from scumble.errors import InputError
from scumble.methods.hay.queries import ClassHierarchies
from scumble.methods.inferred_tables import InferredAxis, inferred_table, measured_vector, vectors_document
from scumble.methods.method import BudgetParams, Characteristics
from scumble.model.budget import Budget
from scumble.model.counts import Floats, Integers
from scumble.model.measured_tables import NoiseKind
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.schema import Attribute, Schema
from scumble.model.spend import guarantee_for, needs_for, priced
from scumble.model.transforms.hierarchy import Hierarchy
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity
from scumble.model.values import published_values
from scumble.privacy.holder import Holder

COUNT = "count every node of every tree"
MOST_COUNTS = 4_000_000
"""The public limit of counts, each of which costs a draw of noise."""


class Hay(BudgetParams):
    """Parameters of `hay`: hierarchical histograms with consistency.

    `epsilon` is the privacy budget of the whole release, with Gaussian noise if there is a `delta`. `branching` is the
    number of parts into which an interval is divided. A wrong parameter raises `InputError`.

    >>> Hay(epsilon="1", branching=16)
    Hay(epsilon='1', branching=16)
    """

    method_name = "hay"
    branching: Annotated[
        int,
        Field(ge=2, le=1024, description="The number of parts into which an interval of an ordered attribute is cut."),
    ] = 2

    if TYPE_CHECKING:

        def __init__(self, *, epsilon: Budget, delta: Budget | None = None, branching: int = 2) -> None: ...


class HayMethod:
    """The method `hay`."""

    name = "hay"
    summary = "Rows from hierarchical histograms with consistency: ranges with little noise (PVLDB 2010)."
    parameters = Hay
    characteristics = Characteristics(several_attributes=False, leaf_values=True, generalized_values=True)
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"branching": 3, "delta": "1e-9"},)

    def plan(self, schema: Schema, parameters: Hay) -> Plan:
        sizes = sum(attribute.domain.size for attribute in schema.predictors) * len(schema.classes)
        if 2 * sizes > MOST_COUNTS:  # a tree has less than twice as many nodes as leaves
            raise InputError(
                f"The attributes have {sizes:,} values by class, and hay allows {MOST_COUNTS // 2:,}. Give larger "
                "steps, or leave out attributes."
            )
        query = _query(schema, parameters)
        guarantee = guarantee_for(epsilon=parameters.epsilon, delta=parameters.delta, unit=schema.unit)
        counts = sum(each.coefficients for each in query.hierarchies) * len(schema.classes)
        levels = sum(each.sensitivity for each in query.hierarchies)
        purpose = f"{NoiseKind.of(guarantee)} noise on {levels} levels of {len(query.hierarchies)} trees at once"
        return Plan(
            guarantee=guarantee,
            spends=(priced(guarantee, label=COUNT, share=Fraction(1), purpose=purpose),),
            cells_at_most=sum(attribute.domain.size for attribute in schema.predictors),
            notes=(f"{counts:,} counts of nodes will be measured, in {levels} levels together.",),
            needs=needs_for(ClassHierarchies.needs, parameters.delta),
            numbers_at_most=counts,
        )

    def run(self, schema: Schema, parameters: Hay, holder: Holder) -> RecordRelease:
        from scumble.methods.histograms.rows import draw_classes, seed_of  # imported late, because plans draw no rows

        query = _query(schema, parameters)
        variance = holder.variance(query, spend=COUNT)
        measured = query.tables(holder.measure(query, spend=COUNT))
        tables = [
            each.reconstruct(table.astype(float)) for each, table in zip(query.hierarchies, measured, strict=True)
        ]
        totals, error = _totals(query.hierarchies, tables, variance)
        drawn = draw_classes(tables, totals, error=error, seed=seed_of(measured))
        codes = dict(zip((each.name for each in schema.predictors), drawn.predictors, strict=True))
        codes |= {} if schema.target is None else {schema.target: drawn.labels}
        return RecordRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=schema,
            columns={each.name: published_values(each.domain, codes[each.name]) for each in schema.attributes},
            documents={"tables": _document(schema, query.hierarchies, measured, holder.noise_kind, variance)},
            story=drawn.story,
            records_error=error,
        )


def _query(schema: Schema, parameters: Hay) -> ClassHierarchies:
    trees = (tree_of(attribute, parameters.branching) for attribute in schema.predictors)
    return ClassHierarchies(schema=schema, hierarchies=tuple(Hierarchy(tree=tree) for tree in trees))


def tree_of(attribute: Attribute, branching: int) -> IntervalTree:
    """Equal intervals of values in an order, the nodes of the taxonomy of others."""
    if attribute.in_order:
        return IntervalTree.balanced(attribute.domain.size, branching=branching)
    return IntervalTree.of_taxonomy(attribute.domain.root)


def _totals(hierarchies: Sequence[Hierarchy], tables: Sequence[Floats], variance: float) -> tuple[Integers, float]:
    """The number of records of each class, none negative: a mean over all attributes, weighted by precision; and the
    standard error of their sum."""
    precision = np.array([1 / float((each.adjoint(np.ones(each.values)) ** 2).sum()) for each in hierarchies])
    totals = precision @ np.stack([table.sum(axis=0) for table in tables]) / precision.sum()
    return np.maximum(np.rint(totals), 0).astype(np.int64), sqrt(variance * len(totals) / float(precision.sum()))


def _document(
    schema: Schema, hierarchies: Sequence[Hierarchy], measured: Sequence[Integers], noise: NoiseKind, variance: float
) -> dict[str, Any]:
    """The measured counts of nodes as plain data: readers infer consistent tables from them."""
    by_class = [] if schema.target is None else [_class_axis(schema, schema.target)]
    vectors = []
    for attribute, hierarchy, table in zip(schema.predictors, hierarchies, measured, strict=True):
        axis = InferredAxis(attribute=attribute.name, starts=range(hierarchy.values), transform=hierarchy)
        vectors.append(measured_vector(table, variance, [inferred_table([axis, *by_class])]))
    return vectors_document(noise, vectors)


def _class_axis(schema: Schema, target: str) -> InferredAxis:
    classes = len(schema.classes)
    return InferredAxis(attribute=target, starts=range(classes), transform=Identity(size=classes))
