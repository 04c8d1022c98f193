"""Barak: consistent, non-negative, integral marginals through the Fourier basis (Barak et al. 2007).

Separate noisy marginals disagree about what they have in common. Here the Fourier coefficients of all wanted marginals
are measured, each once, so that all marginals follow from one vector and agree. A linear programme finds the nearest
non-negative table, whose rounded cells are the published rows, and whose marginals are consistent, non-negative and
integral. Values are written in bits, as the paper proposes for attributes with many values.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from scumble.errors import InputError
from scumble.methods.barak.queries import MarginalCoefficients
from scumble.methods.cell_rows import draw_in_cells, seed_from
from scumble.methods.inferred_tables import InferredAxis, inferred_table, measured_vector, vectors_document
from scumble.methods.method import BudgetParams, Characteristics
from scumble.methods.public_cut import (
    AttributeNames,
    CountedAttributes,
    MostBins,
    public_cut,
    published_axes,
    restricted,
)
from scumble.model.budget import Budget
from scumble.model.counts import Integers
from scumble.model.measured_tables import NoiseKind
from scumble.model.plan import Plan
from scumble.model.public_bins import Bins
from scumble.model.release import RecordRelease
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.model.schema import Schema
from scumble.model.spend import guarantee_for, needs_for, priced
from scumble.model.values import published_values
from scumble.privacy.holder import Holder

MEASURE = "measure the Fourier coefficients"
MOST_ENTRIES = 1_000_000
"""The public limit of the entries of the linear programme: cells of the whole table times coefficients."""
MOST_MARGINALS = 5000
"""The public limit of marginals. Each has a coefficient of its own in every cell of the linear programme."""


def _separated(value: Any) -> Any:
    return value.split(";") if isinstance(value, str) else value


WantedMarginals = Annotated[
    Annotated[tuple[AttributeNames, ...], Field(min_length=1), BeforeValidator(_separated)] | None,
    Field(description="The marginals to publish, as in age,sex;sex,income (default: all of --ways attributes)."),
]


class Barak(BudgetParams):
    """Parameters of `barak`: consistent, non-negative, integral marginals.

    `epsilon` is the privacy budget of the whole release, with Gaussian noise if there is a `delta`. `marginals` are
    sets of attributes; by default all sets of as many `attributes` as `ways` says, the class included. `bins` is the
    largest number of values of each attribute, in public bins. A wrong parameter raises `InputError`.

    >>> Barak(epsilon="1", marginals=(("age", "sex"), ("sex", "income")))
    Barak(epsilon='1', marginals=[['age', 'sex'], ['sex', 'income']])
    """

    method_name = "barak"
    marginals: WantedMarginals = None
    ways: Annotated[int, Field(ge=1, le=10, description="Attributes of each marginal, if none are listed.")] = 2
    attributes: CountedAttributes = None
    bins: MostBins = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            epsilon: Budget,
            delta: Budget | None = None,
            marginals: tuple[AttributeNames, ...] | None = None,
            ways: int = 2,
            attributes: AttributeNames | None = None,
            bins: int | None = None,
        ) -> None: ...


class BarakMethod:
    """The method `barak`."""

    name = "barak"
    summary = "Rows whose chosen marginals are consistent, non-negative and integral (PODS 2007)."
    parameters = Barak
    characteristics = Characteristics(several_attributes=True, leaf_values=True, generalized_values=False)
    audited: ClassVar[tuple[dict[str, Any], ...]] = ({"bins": 3},)
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"bins": 2, "delta": "1e-9"},)

    def plan(self, schema: Schema, parameters: Barak) -> Plan:
        query = _query(schema, parameters)
        guarantee = guarantee_for(epsilon=parameters.epsilon, delta=parameters.delta, unit=schema.unit)
        number = len(query.coefficients)
        purpose = f"{NoiseKind.of(guarantee)} noise on {number:,} coefficients"
        return Plan(
            guarantee=guarantee,
            spends=(priced(guarantee, label=MEASURE, share=Fraction(1), purpose=purpose),),
            cells_at_most=query.cells,
            notes=(
                f"{len(query.marginals)} marginals of a table with {query.cells:,} cells need {number:,} coefficients.",
            ),
            needs=needs_for(MarginalCoefficients.needs, parameters.delta),
            numbers_at_most=number,
        )

    def run(self, schema: Schema, parameters: Barak, holder: Holder) -> RecordRelease:
        from scumble.methods.barak.nearest_table import nearest_table  # imported late, because plans solve nothing

        query = _query(schema, parameters)
        variance = holder.variance(query, spend=MEASURE)
        measured = holder.measure(query, spend=MEASURE)
        nearest = nearest_table(query, measured)
        names = _axis_names(schema)
        used = {names[axis] for marginal in query.marginals for axis in marginal}
        axes = {name: bins for name, bins in published_axes(query.cut, None).items() if name in used}
        others = tuple(axis for axis, name in enumerate(names) if name not in used)
        count = nearest.counts.sum(axis=others)
        error = sqrt(variance)  # of the coefficient of no bits, which is the number of records
        rows = row_counts(count, counted=float(count.sum()), error=error)
        columns = draw_in_cells(axes, rows, seed=seed_from(measured))
        published = restricted(schema, axes)
        tables = [_table(query, marginal, names, axes) for marginal in query.marginals]
        unsolved = () if nearest.solved else ("the linear programme was not solved: the estimates were projected",)
        return RecordRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=published,
            columns={each.name: published_values(each.domain, columns[each.name]) for each in published.attributes},
            documents={
                "tables": vectors_document(holder.noise_kind, [measured_vector(measured, variance, tables)]),
                "marginals": _marginals(query, nearest.counts, names, axes),
            },
            story=(*unsolved, *row_limit_story(count, rows)),
            records_error=error,
        )


def _axis_names(schema: Schema) -> list[str]:
    """The names of the axes of the table: all predictors, and the class, whose name is empty if there is none."""
    return [*(each.name for each in schema.predictors), schema.target or ""]


def _query(schema: Schema, parameters: Barak) -> MarginalCoefficients:
    """The query of the wanted marginals. Raises `InputError` if a name is unknown or the table too large."""
    names = _axis_names(schema)
    wanted = _wanted(schema, parameters)
    used = [name for name in names if any(name in marginal for marginal in wanted)]
    cut = public_cut(schema, attributes=used, bins=parameters.bins)
    places = sorted({tuple(sorted(names.index(name) for name in marginal)) for marginal in wanted})
    largest = [each for each in places if not any(set(each) < set(other) for other in places)]
    query = MarginalCoefficients(cut=cut, marginals=tuple(largest))
    least = max(prod(each.coefficients for each in query.transforms(marginal)) for marginal in largest)
    if query.cells * least > MOST_ENTRIES or query.cells * len(query.coefficients) > MOST_ENTRIES:
        raise InputError(
            f"The linear programme of a table with {query.cells:,} cells and its marginals exceeds {MOST_ENTRIES:,} "
            "entries, the limit of barak. Count fewer values (--bins), fewer attributes (--attributes) or smaller "
            "marginals (--ways, --marginals)."
        )
    return query


def _wanted(schema: Schema, parameters: Barak) -> Sequence[Sequence[str]]:
    """The sets of attributes, by name."""
    if parameters.marginals is not None:
        if parameters.attributes is not None:
            raise InputError("--marginals names the attributes. Leave out --attributes, or give --ways instead.")
        for marginal in parameters.marginals:
            for name in marginal:
                schema[name]  # raises `InputError` for an unknown name
            if len(set(marginal)) < len(marginal):
                raise InputError(f"The marginal {','.join(marginal)} names an attribute twice. Name each once.")
        _check_number(len(parameters.marginals))
        return parameters.marginals
    chosen = schema.names if parameters.attributes is None else parameters.attributes
    everyone = [name for name in schema.names if name in chosen or name == schema.target]
    ways = min(parameters.ways, len(everyone))
    _check_number(comb(len(everyone), ways))
    return list(combinations(everyone, ways))


def _check_number(marginals: int) -> None:
    """Refuse more marginals than any table within the limit of entries has, before they are listed."""
    if marginals > MOST_MARGINALS:
        raise InputError(
            f"There are more than {MOST_MARGINALS:,} marginals, the limit of barak. Count fewer attributes "
            "(--attributes) or smaller marginals (--ways, --marginals)."
        )


def _table(
    query: MarginalCoefficients, marginal: Sequence[int], names: Sequence[str], axes: dict[str, Bins]
) -> dict[str, Any]:
    described = [
        InferredAxis(attribute=names[axis], starts=axes[names[axis]].bounds[:-1], transform=query.walsh[axis])
        for axis in marginal
    ]
    return inferred_table(described, query.places(marginal))


def _marginals(
    query: MarginalCoefficients, counts: Integers, names: Sequence[str], axes: dict[str, Bins]
) -> dict[str, Any]:
    """The marginals of the published table: consistent, non-negative, whole numbers, in row-major order."""
    listed = []
    for marginal in query.marginals:
        others = tuple(axis for axis in range(counts.ndim) if axis not in marginal)
        listed.append(
            {
                "attributes": [names[axis] for axis in marginal],
                "bins": [list(axes[names[axis]].bounds[:-1]) for axis in marginal],
                "counts": counts.sum(axis=others).ravel().tolist(),
            }
        )
    return {"marginals": listed}
