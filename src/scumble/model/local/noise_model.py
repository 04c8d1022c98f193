"""The noise model of a table: the randomizer of every attribute, the guarantee that follows, and the reported schema.

It is public: a receiver needs it to reconstruct distributions.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from scumble.errors import InputError
from scumble.model.budget import parse_budget
from scumble.model.grid import Grid
from scumble.model.guarantee import IntervalPrivacy, LocalDP
from scumble.model.local.randomized_attribute import RandomizedAttribute
from scumble.model.local.randomizers import (
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Randomizer,
    Retained,
    Truthful,
    Uniform,
    Withheld,
    parse_confidence,
    parse_share,
)
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree

USUAL_CONFIDENCE = Fraction(95, 100)
NOISES = ("gaussian", "uniform", "discretized")


@dataclass(frozen=True, kw_only=True)
class NoiseModel:
    """The schema of the true values and a randomizer for each of its attributes, the class included."""

    schema: Schema
    randomizers: Mapping[str, Randomizer]
    confidence: Fraction = USUAL_CONFIDENCE
    """The confidence at which the widths of interval privacy are stated."""

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.schema.attributes]
        if set(names) != set(self.randomizers):
            odd = sorted(set(names) ^ set(self.randomizers))
            raise InputError(
                f"The noise model and the schema differ in {', '.join(odd)}. Give each attribute one randomizer."
            )
        _ = self.attributes
        if not any(self._costs(name) or self._widths(name) for name in names):
            raise InputError("The noise model perturbs no attribute. Perturb at least one.")
        _ = self.published
        if self.schema.persons is not None and not isinstance(self.guarantee, LocalDP):
            raise InputError(
                "Interval privacy says nothing about several reports of one person, and the schema names persons. Use "
                "local differential privacy (epsilon), or remove `person` and `rows_each_at_most` from the schema."
            )

    @cached_property
    def attributes(self) -> Mapping[str, RandomizedAttribute]:
        """Each attribute with its randomizer, in the order of the schema."""
        return {
            a.name: RandomizedAttribute(attribute=a, randomizer=self.randomizers[a.name])
            for a in self.schema.attributes
        }

    def __getitem__(self, name: str) -> RandomizedAttribute:
        self.schema[name]  # refuses a name it does not know
        return self.attributes[name]

    @cached_property
    def reported(self) -> tuple[str, ...]:
        """The names of the attributes that are published: perturbed, or reported without noise."""
        return tuple(name for name, randomizer in self.randomizers.items() if not isinstance(randomizer, Withheld))

    @cached_property
    def published(self) -> Schema:
        """The schema of the reports: widened domains, without withheld attributes and identifiers."""
        attributes = tuple(a.published for name, a in self.attributes.items() if name in self.reported)
        target = self.schema.target if self.schema.target in self.reported else None
        return replace(
            self.schema, attributes=attributes, target=target, identifiers=(), person=None, rows_each_at_most=None
        )

    @cached_property
    def guarantee(self) -> LocalDP | IntervalPrivacy:
        """Local differential privacy, epsilons added, if all perturbed attributes have it; else interval privacy.

        If the schema names persons with up to k rows each, the epsilon is that of k reports.
        """
        widths = {n: w for n in self.reported if self._costs(n) is None and (w := self._widths(n)) is not None}
        costs = {n: c for n in self.reported if (c := self._costs(n)) is not None}
        if not widths:
            reports = self.schema.rows_each_at_most or 1
            total = reports * sum(costs.values(), Fraction(0))
            return LocalDP(epsilon=total, covers=tuple(costs), protects=self.schema.persons)
        widths |= {n: w for n in costs if (w := self._widths(n)) is not None}
        ordered = {n: (self.confidence, _rounded_down(widths[n])) for n in self.reported if n in widths}
        categories = {
            name: (self.schema[name].domain.size, _rounded_up(randomizer.probability))
            for name in ordered
            if isinstance(randomizer := self.randomizers[name], Retained)
        }
        return IntervalPrivacy(intervals=ordered, categories=categories)

    def _costs(self, name: str) -> Fraction | None:
        return self.attributes[name].epsilon

    def _widths(self, name: str) -> Fraction | None:
        return self.attributes[name].width(self.confidence)

    def check_columns(self, columns: Collection[str]) -> None:
        """Refuse a table whose header lacks a reported attribute."""
        absent = [name for name in self.reported if name not in columns]
        if absent:
            raise InputError(
                f"The table has no column {absent[0]!r}, which the noise model describes. Use the noise model that was "
                "written with the table."
            )


def for_privacy(
    schema: Schema,
    *,
    privacy: object,
    confidence: object = USUAL_CONFIDENCE,
    noise: str = "gaussian",
    truthful: Iterable[str] = (),
    withheld: Iterable[str] = (),
    chosen: Mapping[str, Randomizer] | None = None,
    privacy_of: Mapping[str, object] | None = None,
) -> NoiseModel:
    """Interval privacy, given as a share of the public range: "100%" is an interval as wide as the range.

    Numbers get the named noise, categories are retained or replaced, and the class is reported without noise, as in
    the paper. `privacy_of` gives the share of single attributes, `chosen` their randomizer.
    """
    usual, level = parse_share(privacy, name="privacy"), parse_confidence(confidence)
    shares = {name: parse_share(each, name=f"the privacy of {name!r}") for name, each in (privacy_of or {}).items()}
    for name in shares:
        schema[name]  # refuses a name it does not know
    if noise not in NOISES:
        raise InputError(f"Unknown noise {noise!r}. Available: {', '.join(NOISES)}.")
    without_noise = {*truthful, *([schema.target] if schema.target is not None else [])} - set(shares)

    def randomizer(attribute: Attribute) -> Randomizer:
        domain, share = attribute.domain, shares.get(attribute.name, usual)
        if isinstance(domain, Tree):
            size = domain.size
            return Retained.hiding(share, level, size, name=attribute.name) if size > 1 else Truthful()
        width = share * (Fraction(domain.edges[-1]) - Fraction(domain.edges[0]))
        if noise == "discretized":
            return Discretized.hiding(width, level, domain, name=attribute.name)
        if domain.step is None:
            raise InputError(
                f"{attribute.name!r} has irregular edges, but noise needs a regular grid. Give it `low`, `high` and "
                "`step` in the schema, or discretize it, report it without noise (truthful) or withhold it."
            )
        return (Gaussian if noise == "gaussian" else Uniform).hiding(width, level, Fraction(domain.step))

    randomizers = _settled(schema, without_noise, withheld, chosen or {})
    randomizers |= {a.name: randomizer(a) for a in schema.attributes if a.name not in randomizers}
    return NoiseModel(
        schema=schema, randomizers={a.name: randomizers[a.name] for a in schema.attributes}, confidence=level
    )


def for_epsilon(
    schema: Schema, *, epsilon: object, truthful: Iterable[str] = (), withheld: Iterable[str] = ()
) -> NoiseModel:
    """Local differential privacy: the epsilon of a record in equal parts over its perturbed attributes and class.

    If the schema names persons with up to k rows each, `epsilon` is that of a person, and a record gets epsilon / k.
    Numbers on a regular grid that cannot be missing get Laplace noise, all others randomized response.
    """
    budget = parse_budget(epsilon)
    randomizers = _settled(schema, truthful, withheld, {})
    covered = [attribute for attribute in schema.attributes if attribute.name not in randomizers]
    if not covered:
        raise InputError("Every attribute is truthful or withheld. Leave at least one to be perturbed.")
    record = parse_budget(budget / (schema.rows_each_at_most or 1), name="epsilon divided by `rows_each_at_most`")
    part = record / len(covered)
    for attribute in covered:
        grid = attribute.domain
        numeric = isinstance(grid, Grid) and grid.step is not None and grid.missing is None
        randomizers[attribute.name] = Laplace(epsilon=part) if numeric else RandomizedResponse(epsilon=part)
    return NoiseModel(schema=schema, randomizers={a.name: randomizers[a.name] for a in schema.attributes})


def _rounded_down(width: Fraction) -> Fraction:
    """The width rounded down to six digits."""
    scale = Fraction(10) ** (5 - math.floor(math.log10(width)))
    return math.floor(width * scale) / scale


def _rounded_up(probability: Fraction) -> Fraction:
    """The probability rounded up to six decimals."""
    return Fraction(math.ceil(probability * 10**6), 10**6)


def _settled(
    schema: Schema, truthful: Iterable[str], withheld: Iterable[str], chosen: Mapping[str, Randomizer]
) -> dict[str, Randomizer]:
    settled: dict[str, Randomizer] = dict.fromkeys(truthful, Truthful())
    settled |= dict.fromkeys(withheld, Withheld())
    settled |= chosen
    for name in settled:
        schema[name]  # refuses a name it does not know
    return settled
