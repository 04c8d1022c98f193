"""The noise model of a table: how each attribute was blurred, what that promises, and what a receiver needs to know."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from scumble.errors import InputError
from scumble.model.budget import budget_text, parse_budget
from scumble.model.guarantee import IntervalPrivacy, LocalDP
from scumble.model.local.randomized_attribute import BlurredAttribute
from scumble.model.local.randomizers import (
    BLURS,
    Blur,
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Retained,
    Truthful,
    Uniform,
    Withheld,
    parse_confidence,
    parse_share,
)
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree

FORMAT = "noise/1"
USUAL_CONFIDENCE = Fraction(95, 100)
NOISES = ("gaussian", "uniform", "discretized")


@dataclass(frozen=True, kw_only=True)
class NoiseModel:
    """A schema of true values and a blur for each of its attributes, the class included."""

    schema: Schema
    blurs: Mapping[str, Blur]
    confidence: Fraction = USUAL_CONFIDENCE
    """At which the widths of interval privacy are stated."""

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.schema.attributes]
        if set(names) != set(self.blurs):
            odd = sorted(set(names) ^ set(self.blurs))
            raise InputError(f"The noise model and the schema differ in {', '.join(odd)}. Blur every attribute once.")
        _ = self.attributes
        if not any(self._costs(name) or self._widths(name) for name in names):
            raise InputError("The noise model blurs nothing. Blur at least one attribute, or publish the truth openly.")
        _ = self.published

    @cached_property
    def attributes(self) -> Mapping[str, BlurredAttribute]:
        """Each attribute with its blur, in the schema's order."""
        return {a.name: BlurredAttribute(attribute=a, blur=self.blurs[a.name]) for a in self.schema.attributes}

    def __getitem__(self, name: str) -> BlurredAttribute:
        self.schema[name]  # refuses a name it does not know
        return self.attributes[name]

    @cached_property
    def told(self) -> tuple[str, ...]:
        """The attributes that are published."""
        return tuple(name for name, blur in self.blurs.items() if not isinstance(blur, Withheld))

    @cached_property
    def published(self) -> Schema:
        """The schema of blurred values: widened domains, without what is withheld and without identifiers."""
        attributes = tuple(a.published for name, a in self.attributes.items() if name in self.told)
        target = self.schema.target if self.schema.target in self.told else None
        return replace(self.schema, attributes=attributes, target=target, identifiers=())

    @cached_property
    def guarantee(self) -> LocalDP | IntervalPrivacy:
        """Local differential privacy of all that is blurred, budgets added, if each blur has it; else intervals."""
        widths = {n: w for n in self.told if self._costs(n) is None and (w := self._widths(n)) is not None}
        costs = {n: c for n in self.told if (c := self._costs(n)) is not None}
        if not widths:
            return LocalDP(epsilon=sum(costs.values(), Fraction(0)), covers=tuple(costs))
        widths |= {n: w for n in costs if (w := self._widths(n)) is not None}
        ordered = {n: (self.confidence, _rounded_down(widths[n])) for n in self.told if n in widths}
        return IntervalPrivacy(intervals=ordered)

    def _costs(self, name: str) -> Fraction | None:
        return self.attributes[name].epsilon

    def _widths(self, name: str) -> Fraction | None:
        return self.attributes[name].width(self.confidence)

    def check_columns(self, columns: Collection[str]) -> None:
        """Refuse a table that this noise model does not describe, by its header alone."""
        absent = [name for name in self.told if name not in columns]
        if absent:
            raise InputError(
                f"The table has no column {absent[0]!r}, which the noise model describes. Take the noise model that "
                "was written with the table."
            )

    def to_json(self) -> dict[str, Any]:
        """Everything a receiver needs, exact, as plain data."""
        return {
            "scumble": FORMAT,
            "confidence": budget_text(self.confidence),
            "target": self.schema.target,
            "attributes": {
                name: {"domain": _domain_json(blurred.attribute), "blur": _blur_json(blurred.blur)}
                for name, blurred in self.attributes.items()
            },
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "NoiseModel":
        """The inverse of `to_json`."""
        try:
            if data["scumble"] != FORMAT:
                raise InputError(f"The noise model has format {data['scumble']!r}, not {FORMAT!r}. Update scumble.")
            entries = data["attributes"]
            return cls(
                schema=Schema(
                    attributes=tuple(_read_attribute(n, e["domain"]) for n, e in entries.items()), target=data["target"]
                ),
                blurs={name: _read_blur(entry["blur"]) for name, entry in entries.items()},
                confidence=parse_confidence(data["confidence"]),
            )
        except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise InputError(
                f"This is no noise model: {error!r}. Take the file that was written with the table."
            ) from error


def for_privacy(
    schema: Schema,
    *,
    privacy: object,
    confidence: object = USUAL_CONFIDENCE,
    noise: str = "gaussian",
    truthful: Iterable[str] = (),
    withheld: Iterable[str] = (),
    chosen: Mapping[str, Blur] | None = None,
    privacy_of: Mapping[str, object] | None = None,
) -> NoiseModel:
    """Interval privacy by the share of the public range: "100%" hides a value in an interval as wide as the range.

    Numbers get the named noise, categories are retained or replaced, the class is told truthfully, as in the paper.
    `privacy_of` has the share of an attribute that is to differ from the rest.
    """
    usual, level = parse_share(privacy, name="privacy"), parse_confidence(confidence)
    shares = {name: parse_share(each, name=f"the privacy of {name!r}") for name, each in (privacy_of or {}).items()}
    for name in shares:
        schema[name]  # refuses a name it does not know
    if noise not in NOISES:
        raise InputError(f"There is no noise {noise!r}. Choose from {', '.join(NOISES)}.")
    told = {*truthful, *([schema.target] if schema.target is not None else [])} - set(shares)

    def blur(attribute: Attribute) -> Blur:
        domain, share = attribute.domain, shares.get(attribute.name, usual)
        if isinstance(domain, Tree):
            return Retained.hiding(share, level, domain.size) if domain.size > 1 else Truthful()
        width = share * (Fraction(domain.edges[-1]) - Fraction(domain.edges[0]))
        if noise == "discretized":
            return Discretized.hiding(width, level, domain)
        if domain.step is None:
            raise InputError(
                f"{attribute.name!r} has irregular edges, so noise has no step to be added in. Give it low, high and "
                "step, or discretize it, tell the truth or withhold it."
            )
        return (Gaussian if noise == "gaussian" else Uniform).hiding(width, level, Fraction(domain.step))

    blurs = _settled(schema, told, withheld, chosen or {})
    blurs |= {a.name: blur(a) for a in schema.attributes if a.name not in blurs}
    return NoiseModel(schema=schema, blurs={a.name: blurs[a.name] for a in schema.attributes}, confidence=level)


def for_epsilon(
    schema: Schema, *, epsilon: object, truthful: Iterable[str] = (), withheld: Iterable[str] = ()
) -> NoiseModel:
    """Local differential privacy: the budget in equal parts over a person's blurred attributes, the class included.

    Numbers on a regular grid that cannot be missing get Laplace noise, everything else randomized response.
    """
    budget = parse_budget(epsilon)
    blurs = _settled(schema, truthful, withheld, {})
    covered = [attribute for attribute in schema.attributes if attribute.name not in blurs]
    if not covered:
        raise InputError("Every attribute is told or withheld. Leave at least one to be blurred.")
    part = budget / len(covered)
    for attribute in covered:
        grid = attribute.domain
        numeric = isinstance(grid, Grid) and grid.step is not None and grid.missing is None
        blurs[attribute.name] = Laplace(epsilon=part) if numeric else RandomizedResponse(epsilon=part)
    return NoiseModel(schema=schema, blurs={a.name: blurs[a.name] for a in schema.attributes})


def _rounded_down(width: Fraction) -> Fraction:
    """Six digits of a width, never more than it is."""
    scale = Fraction(10) ** (5 - math.floor(math.log10(width)))
    return math.floor(width * scale) / scale


def _settled(
    schema: Schema, truthful: Iterable[str], withheld: Iterable[str], chosen: Mapping[str, Blur]
) -> dict[str, Blur]:
    settled: dict[str, Blur] = dict.fromkeys(truthful, Truthful())
    settled |= dict.fromkeys(withheld, Withheld())
    settled |= chosen
    for name in settled:
        schema[name]  # refuses a name it does not know
    return settled


def _domain_json(attribute: Attribute) -> dict[str, Any]:
    domain = attribute.domain
    if isinstance(domain, Tree):
        told: dict[str, Any] = {"taxonomy": domain.to_nested()}
    elif domain.step is None:
        told = {"edges": [str(edge) for edge in domain.edges]}
    else:
        told = {"low": str(domain.edges[0]), "high": str(domain.edges[1]), "step": str(domain.step)}
    return told if attribute.missing is None else {**told, "missing": attribute.missing}


def _read_attribute(name: str, entry: Mapping[str, Any]) -> Attribute:
    missing = entry.get("missing")
    domain: Tree | Grid
    if "taxonomy" in entry:
        domain = Tree.nested(entry["taxonomy"])
    elif "edges" in entry:
        domain = Grid(edges=tuple(Decimal(edge) for edge in entry["edges"]), missing=missing)
    else:
        low, high, step = (Decimal(entry[key]) for key in ("low", "high", "step"))
        domain = Grid.regular(low=low, high=high, step=step, missing=missing)
    outside = Outside.DROP if isinstance(domain, Tree) else Outside.CLAMP
    return Attribute(name=name, domain=domain, outside=outside, missing=missing)


def _blur_json(blur: Blur) -> dict[str, Any]:
    told = {name: _plain(value) for name, value in vars(blur).items()}
    return {"kind": blur.kind, **told}


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return budget_text(value)
    return [str(edge) for edge in value] if isinstance(value, tuple) else value


def _read_blur(entry: Mapping[str, Any]) -> Blur:
    readers: dict[str, Callable[[Any], Any]] = {
        "refine": int,
        "edges": lambda edges: tuple(Decimal(edge) for edge in edges),
    }
    kind = BLURS[entry["kind"]]
    return kind(**{field.name: readers.get(field.name, Fraction)(entry[field.name]) for field in fields(kind)})
