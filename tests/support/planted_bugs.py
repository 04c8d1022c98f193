"""Planted bugs: small wrappers around the shipped code, each of which violates one part of the privacy guarantee."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from scumble.auditing.neighbours import CodedRows, Pair
from scumble.auditing.outcomes import Draws, finest_digit
from scumble.methods.diffgen.method import COUNT, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.scores import PartitionScores, Score
from scumble.methods.diffgen.settings import diffgen_settings
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection, simulation
from scumble.privacy.query import CellCounts, Sensitivity


class ShippedNoise:
    """The shipped noise, for subclasses to override in part."""

    def __init__(self, noise: Noise | None = None) -> None:
        self.inner = noise or PaidNoise()

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return self.inner.laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        return self.inner.gaussian(values, squared=squared, rho=rho)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return self.inner.select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


class HalfTheNoise(ShippedNoise):
    """The noise scale is half of what it should be."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return self.inner.laplace(values, sensitivity=sensitivity, epsilon=2 * epsilon)


class ATenthLessGaussianNoise(ShippedNoise):
    """The scale of Gaussian noise is nine tenths of what it should be."""

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        return self.inner.gaussian(values, squared=squared, rho=rho / Fraction(9, 10) ** 2)


class AQuarterOfTheGaussianNoise(ShippedNoise):
    """The scale of Gaussian noise is a quarter of what it should be."""

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        return self.inner.gaussian(values, squared=squared, rho=16 * rho)


class OnlyNonEmpty(ShippedNoise):
    """Empty cells get no noise."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = super().laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        return np.where(values == 0, 0, noisy)


class NoNoiseFromThreeToNine(ShippedNoise):
    """Counts from three to nine get no noise. None of the candidate pairs has such a count."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        noisy = super().laplace(values, sensitivity=sensitivity, epsilon=epsilon)
        return np.where((values >= 3) & (values <= 9), values, noisy)


class Seeded(ShippedNoise):
    """Noise from a generator with a fixed seed."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        scale = float(sensitivity / epsilon)
        return values + np.rint(simulation(12345).laplace(0, scale, values.shape)).astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class OneTooSmall(CellCounts):
    """Declares that a single count changes under `replace`, although a record leaves one count and enters another."""

    def sensitivity(self, unit: Unit) -> Sensitivity:
        true = super().sensitivity(unit)
        return replace(true, bound=true.bound - self.resolution if unit is Unit.REPLACE else true.bound)


@dataclass(frozen=True, kw_only=True)
class ClaimsMonotone(PartitionScores):
    """Declares gini monotone, and so pays half, although an added record can lower it."""

    def sensitivity(self, unit: Unit) -> Sensitivity:
        return replace(super().sensitivity(unit), monotone=True)


class Wrapped:
    """DiffGen with one thing changed."""

    name = "diffgen"
    summary = "A planted bug."
    parameters = DiffGen

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        return DiffGenMethod().plan(schema, parameters)

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        return DiffGenMethod().run(schema, parameters, holder)


class ChargedOnce(Wrapped):
    """The counts are measured twice, each time at the full epsilon, and charged once."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        made = super().run(schema, parameters, holder)
        holder.purse._left[COUNT] = 1
        again = super().run(schema, parameters, holder)
        return replace(made, measured=np.concatenate([made.measured, again.measured]))


class Averaged(Wrapped):
    """The same, but only the average of both is published, in halves, so that nothing is rounded."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        made = super().run(schema, parameters, holder)
        holder.purse._left[COUNT] = 1
        again = super().run(schema, parameters, holder)
        return replace(made, measured=made.measured + again.measured, resolution=2 * made.resolution)


class RangeFromData(Wrapped):
    """The grid of the first numeric attribute ends at the largest value in the table."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        made = super().run(schema, parameters, holder)
        highest = largest_code(schema, holder)
        attributes = tuple(
            replace(each, domain=Grid(edges=(*each.domain.edges[:-1], grid_of(schema).edge(highest + 1))))
            if isinstance(each.domain, Grid) and grid_of(schema).edge(highest + 1) > each.domain.edges[-2]
            else each
            for each in made.schema.attributes
        )
        return replace(made, schema=replace(made.schema, attributes=attributes))


class NeverAboveTheLargest(Wrapped):
    """Splits above the largest value in the table are not candidates, as in the program of DiffGen's authors."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        highest, choose = largest_code(schema, holder), holder.choose

        def choose_below(query: PartitionScores, *, spend: str, log_weights: list[float]) -> int:
            offered = [
                place
                for place, each in enumerate(query.candidates)
                if not isinstance(schema[each.attribute].domain, Grid) or each.position <= max(highest, 1)
            ]
            few = replace(query, candidates=tuple(query.candidates[place] for place in offered))
            return offered[choose(few, spend=spend, log_weights=[log_weights[place] for place in offered])]

        holder.choose = choose_below  # type: ignore[method-assign, assignment]
        return super().run(schema, parameters, holder)


class BestOfSeveral(Wrapped):
    """The owner tries one round and two, and publishes the one that fits the rows better, as the paper suggests."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        tried = []
        for rounds in (1, 2):
            chosen = parameters.model_copy(update={"rounds": rounds})
            fresh = CentralHolder(engine=holder._engine, noise=holder._noise, plan=self.plan(schema, chosen))
            tried.append(DiffGenMethod().run(schema, chosen, fresh))
        return max(tried, key=lambda made: self._agreement(made, holder))

    def _agreement(self, made: CellRelease, holder: CentralHolder) -> int:
        """How many rows have the commonest class of their cell, computed from exact counts without paying for them."""
        blocks = list(holder._engine.blocks())
        numbers, groups, labels = (np.concatenate([block[place] for block in blocks]) for place in range(3))
        domain, width = made.schema["number"].domain, made.schema["group"].domain.size
        assert isinstance(domain, Grid)
        cells = np.searchsorted(domain.edge_floats, numbers, side="right") - 1
        exact = np.zeros(made.count.shape, dtype=np.int64)
        np.add.at(exact, (cells * width + groups * (width > 1), labels), 1)
        return int(exact.max(axis=1).sum())


class GiniClaimedMonotone(Wrapped):
    """DiffGen with gini, charged as if gini were monotone."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        choose = holder.choose
        assert diffgen_settings(schema, parameters).score is Score.GINI
        holder.choose = lambda query, **options: choose(  # type: ignore[method-assign]
            ClaimsMonotone(cut=query.cut, candidates=query.candidates, score=query.score), **options
        )
        return super().run(schema, parameters, holder)


class ReplacedOneTooSmall(Wrapped):
    """The finest table under `replace`, with the noise for `add-remove`."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        measure = holder.measure
        holder.measure = lambda query, **options: measure(  # type: ignore[method-assign]
            OneTooSmall(cut=query.cut, resolution=query.resolution), **options
        )
        return super().run(schema, parameters, holder)


def grid_of(schema: Schema) -> Grid:
    return next(each.domain for each in schema.attributes if isinstance(each.domain, Grid))


def largest_code(schema: Schema, holder: CentralHolder) -> int:
    place = next(place for place, each in enumerate(schema.attributes) if isinstance(each.domain, Grid))
    return max((int(block[place].max(initial=0)) for block in holder._engine.blocks()), default=0)


@dataclass(frozen=True, kw_only=True)
class FloatLaplace:
    """One count with the textbook floating-point Laplace noise. Rounding hides the leak."""

    schema: Schema
    epsilon: Fraction
    rounded: bool = False

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        uniform = simulation().random(runs) - 0.5
        noise = -np.sign(uniform) * np.log1p(-2 * np.abs(uniform)) / float(self.epsilon)
        noisy = len(rows) + noise
        numbers = np.rint(noisy)[:, None] if self.rounded else np.stack([noisy, finest_digit(noisy)], axis=1)
        names = ("the count", "the finest binary digit of the count")
        return Draws(numbers={(): numbers}, observed={(): numbers}, names={(): names})


@dataclass(frozen=True, kw_only=True)
class InsidersView:
    """A joint count as a coalition of insiders sees it: each subtracts its own share of the noise again.

    Every party adds the difference of two negative binomials of shape 1/`divided_by`. Over m parties, shapes of 1/m sum
    to the difference of two geometric variables, which is the noise that an outsider sees.
    """

    schema: Schema
    epsilon: Fraction
    parties: int
    insiders: int
    divided_by: int

    def draw(self, pair: Pair, rows: CodedRows, runs: int) -> Draws:
        random, success = simulation(), -np.expm1(-float(self.epsilon))
        drawn = random.negative_binomial(1 / self.divided_by, success, (2, self.parties, runs))
        shares = drawn[0] - drawn[1]
        noisy = len(rows) + shares.sum(axis=0)
        known = shares[: self.insiders].sum(axis=0)
        numbers = (noisy - known).astype(np.float64)[:, None]
        return Draws(numbers={(): numbers}, observed={(): numbers}, names={(): ("the count",)})
