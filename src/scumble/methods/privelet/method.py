"""Privelet: noise on the wavelet coefficients of a whole table (Xiao, Wang & Gehrke 2010).

A range of a flat table adds up the noise of all its cells. Each wavelet coefficient is a difference between two parts
of the table, and a range is a combination of few of them: its error grows with a power of the logarithm of the number
of values instead of the number itself. Ordered attributes have the Haar wavelet, categories the nominal wavelet of
their taxonomy, several attributes one along each axis. As in the paper's variant Privelet+, attributes with few values
are left as they are, where that has less noise.
"""

from fractions import Fraction
from math import log2, prod, sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from scumble.errors import InputError
from scumble.methods.cell_rows import draw_in_cells, seed_from, whole_counts
from scumble.methods.inferred_tables import InferredAxis, inferred_table, measured_vector, vectors_document
from scumble.methods.method import BudgetParams, Characteristics
from scumble.methods.privelet.queries import CellCoefficients
from scumble.methods.public_cut import (
    AttributeNames,
    CountedAttributes,
    MostBins,
    public_cut,
    published_axes,
    restricted,
)
from scumble.model.budget import Budget
from scumble.model.domain import Domain
from scumble.model.measured_tables import NoiseKind
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.model.schema import Schema
from scumble.model.spend import guarantee_for, needs_for, priced
from scumble.model.taxonomy import Tree
from scumble.model.transforms.interval_tree import IntervalTree
from scumble.model.transforms.transform import Identity, Transform, coefficient_weights, largest_of, reconstructed
from scumble.model.transforms.wavelets import Haar, Nominal
from scumble.model.values import published_values
from scumble.privacy.holder import Holder

MEASURE = "measure the wavelet coefficients"
MOST_COEFFICIENTS = 1_000_000
"""The public limit of coefficients, each of which costs a draw of noise."""
LARGEST_COEFFICIENT = 2**31
"""The coefficients of so many records of this size fit into 64 bits."""
NOMINAL_VARIANCE = 4.0
"""The paper's bound on the variance of a node of a taxonomy, in units of the noise of a weighted coefficient."""


class Privelet(BudgetParams):
    """Parameters of `privelet`: noise on the wavelet coefficients of a whole table.

    `epsilon` is the privacy budget of the whole release, with Gaussian noise if there is a `delta`. `attributes` are
    those to count together (default: all), and `bins` is the largest number of values of each, in public bins.
    `wavelets` says which attributes are transformed: `all`, or those with many values (`auto`: Privelet+). A wrong
    parameter raises `InputError`.

    >>> Privelet(epsilon="1", attributes=("age", "income"))
    Privelet(epsilon='1', attributes=['age', 'income'])
    """

    method_name = "privelet"
    attributes: CountedAttributes = None
    bins: MostBins = None
    wavelets: Annotated[
        Literal["auto", "all"],
        Field(description="Attributes to transform: all, or those with so many values that it lowers the noise."),
    ] = "auto"

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            epsilon: Budget,
            delta: Budget | None = None,
            attributes: AttributeNames | None = None,
            bins: int | None = None,
            wavelets: Literal["auto", "all"] = "auto",
        ) -> None: ...


class PriveletMethod:
    """The method `privelet`."""

    name = "privelet"
    summary = "Rows from the noisy wavelet coefficients of a whole table: ranges with little noise (ICDE 2010)."
    parameters = Privelet
    characteristics = Characteristics(several_attributes=True, leaf_values=True, generalized_values=False)
    audited: ClassVar[tuple[dict[str, Any], ...]] = ({"wavelets": "all", "bins": 3},)
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"wavelets": "all", "bins": 2, "delta": "1e-9"},)

    def plan(self, schema: Schema, parameters: Privelet) -> Plan:
        query = _query(schema, parameters)
        number = prod(each.coefficients for each in query.transforms)
        if number > MOST_COEFFICIENTS:
            largest = max(query.cut.nodes, key=lambda name: len(query.cut.nodes[name]))
            raise InputError(
                f"The table has {number:,} coefficients, and privelet allows {MOST_COEFFICIENTS:,}. Count fewer values "
                f"(--bins) or fewer attributes (--attributes); the largest is {largest!r}."
            )
        if largest_of(query.transforms) > LARGEST_COEFFICIENT:
            raise InputError(
                "The taxonomies have so large families that their wavelets exceed 64 bits. Count fewer attributes "
                "(--attributes)."
            )
        guarantee = guarantee_for(epsilon=parameters.epsilon, delta=parameters.delta, unit=schema.unit)
        kinds = ", ".join(
            f"{name}: {each.kind}"
            for name, each in zip(_names(schema), query.transforms, strict=True)
            if each.values > 1
        )
        purpose = f"{NoiseKind.of(guarantee)} noise on {number:,} coefficients"
        return Plan(
            guarantee=guarantee,
            spends=(priced(guarantee, label=MEASURE, share=Fraction(1), purpose=purpose),),
            cells_at_most=query.cut.cells,
            notes=(f"{number:,} coefficients will be measured. {kinds}.",),
            needs=needs_for(CellCoefficients.needs, parameters.delta),
            numbers_at_most=number,
        )

    def run(self, schema: Schema, parameters: Privelet, holder: Holder) -> RecordRelease:
        query = _query(schema, parameters)
        variance = holder.variance(query, spend=MEASURE)
        measured = holder.measure(query, spend=MEASURE)
        coefficients = measured.reshape([each.coefficients for each in query.transforms])
        estimates = reconstructed(coefficients.astype(np.float64), query.transforms)
        every = coefficient_weights(np.ones(estimates.shape), query.transforms)
        counted, error = float(estimates.sum()), sqrt(variance * float((every**2).sum()))
        axes = published_axes(query.cut, parameters.attributes)
        count = whole_counts(estimates).reshape([bins.number for bins in axes.values()])
        rows = row_counts(count, counted=counted, error=error)
        columns = draw_in_cells(axes, rows, seed=seed_from(measured))
        published = restricted(schema, axes)
        transforms = dict(zip(_names(schema), query.transforms, strict=True))
        table = inferred_table(
            [
                InferredAxis(attribute=name, starts=bins.bounds[:-1], transform=transforms[name])
                for name, bins in axes.items()
            ]
        )
        return RecordRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=published,
            columns={each.name: published_values(each.domain, columns[each.name]) for each in published.attributes},
            documents={"tables": vectors_document(holder.noise_kind, [measured_vector(measured, variance, [table])])},
            story=row_limit_story(count, rows),
            records_error=error,
        )


def _query(schema: Schema, parameters: Privelet) -> CellCoefficients:
    cut = public_cut(schema, attributes=parameters.attributes, bins=parameters.bins)
    every = parameters.wavelets == "all"
    domains = cut.published_schema()
    transforms = [
        _transform(domains[each.name].domain, in_order=each.in_order, every=every) for each in schema.predictors
    ]
    classes = Tree.flat(schema.classes)
    return CellCoefficients(cut=cut, transforms=(*transforms, _transform(classes, in_order=False, every=every)))


def _transform(domain: Domain, *, in_order: bool, every: bool) -> Transform:
    """The wavelet of a domain, or none if its noise would not be smaller: by the paper's rule for Privelet+, none for
    at most P^2 H values, where P is the sensitivity of the wavelet and H its bound on the variance of a range."""
    size = domain.size
    if size == 1:
        return Identity(size=1)
    if in_order:
        haar = Haar(size=size)
        few = size <= haar.sensitivity**2 * (2 + log2(size)) / 2
        return Identity(size=size) if few and not every else haar
    nominal = Nominal.of(IntervalTree.of_taxonomy(domain.root))
    few = size <= nominal.tree.height**2 * NOMINAL_VARIANCE
    return Identity(size=size) if few and not every else nominal


def _names(schema: Schema) -> list[str]:
    """The names of the axes of a table: all predictors, and the class."""
    return [*(each.name for each in schema.predictors), schema.target or ""]
