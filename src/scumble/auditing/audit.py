"""`scumble.audit`: a method held to the epsilon it declares, on tables of its own making. No private row is involved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.flow import Progress, method_named, parameters_of, schema_of
from scumble.methods.method import Method, Params
from scumble.model.budget import budget_text, parse_budget
from scumble.model.guarantee import Guarantee, PureDP, Unit, Unproven
from scumble.model.schema import Schema

if TYPE_CHECKING:
    from scumble.auditing.neighbours import Pair

SMALL_SCHEMA = """\
scumble: schema/1
target: class
attributes:
  number: {numeric: {low: 0, high: 4, step: 1}}
  group: {taxonomy: {Any: {a: , b: }}}
  class: {classes: [x, y]}
"""
ROWS = 6
"""How many rows a table has where their number is public."""
POWER = 0.99


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an audit found: the declared epsilon against a lower bound on the true one."""

    method: str
    parameters: Mapping[str, Any]
    unit: Unit
    declared: Fraction
    proved: bool
    """Whether the method itself stands by its claim."""
    found: float
    confidence: Fraction
    claims: int
    runs: int
    judged: int
    hits: tuple[int, int]
    smallest_violation: float
    """The smallest true loss that would have been found above the declared one with probability 0.99."""
    pair: str
    event: str
    direction: str

    @property
    def refuted(self) -> bool:
        return self.found > self.declared

    @property
    def sentence(self) -> str:
        how_sure = f"at {budget_text(100 * self.confidence)} % confidence"
        if self.refuted:
            declared = budget_text(self.declared)
            return f"REFUTED: {self.method} declares {declared} and has at least {self.found:.3f}, {how_sure}."
        return (
            f"Not refuted: {self.method} declares {budget_text(self.declared)}; at least {self.found:.3f} was found, "
            f"{how_sure}. That proves nothing: a loss of {self.smallest_violation:.3f} or more would have been found "
            f"with probability {POWER}."
        )

    def to_json(self) -> dict[str, Any]:
        smallest = None if math.isinf(self.smallest_violation) else round(self.smallest_violation, 4)
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "unit": self.unit.value,
            "declared": budget_text(self.declared),
            "proved": self.proved,
            "found": math.floor(10_000 * self.found) / 10_000,
            "refuted": self.refuted,
            "confidence": budget_text(self.confidence),
            "claims": self.claims,
            "runs": self.runs,
            "judged": self.judged,
            "hits": list(self.hits),
            "smallest_violation": smallest,
            "power": POWER,
            "pair": self.pair,
            "event": self.event,
            "direction": self.direction,
        }


def audit(
    method: str | Method = "diffgen",
    *,
    schema: Schema | str | Path | None = None,
    judged: int = 10_000,
    variations: int = 12,
    confidence: object = "0.999",
    claims: int = 1,
    pairs: "Sequence[Pair] | None" = None,
    workers: int | None = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Finding:
    """Look for an event that tells neighbouring tables apart better than the declared epsilon allows.

    Of each table `judged` runs count towards the bound, which holds at `confidence` for a family of `claims` audits
    together. `parameters` are the method's own, epsilon first among them. The default schema is small on purpose.
    """
    # scipy takes a while to import, and only this verb needs it.
    from scumble.auditing.bounds import Confidence, smallest_violation
    from scumble.auditing.loop import Effort, all_cores, identity_of, search_and_judge
    from scumble.auditing.mechanisms import WholeRelease
    from scumble.auditing.neighbours import candidate_pairs

    chosen = method_named(method) if isinstance(method, str) else method
    settings = parameters_of(chosen, parameters)
    public = served_schema(chosen, settings) if schema is None else schema_of(schema)
    declared = declared_epsilon(chosen.plan(public, settings).guarantee)
    if declared is None:
        raise InputError(f"{chosen.name} declares no epsilon, so there is nothing to hold it to. Audit another method.")
    sure = _confidence(confidence, claims)
    if judged < 100:
        raise InputError(f"judged is {judged}: too few runs to say anything. Give 1,000 or more.")
    effort = Effort(judged=judged, variations=variations)
    suspects = candidate_pairs(chosen, public, settings) if pairs is None else list(pairs)
    crew = all_cores() if workers is None else workers
    judgement = search_and_judge(
        WholeRelease(method=chosen, schema=public, parameters=settings),
        suspects,
        effort,
        workers=crew,
        state=None if state is None else Path(state),
        identity=identity_of(chosen.name, settings, public, effort, suspects),
        progress=progress,
    )
    found = judgement.bound(Confidence(level=sure, claims=claims))
    likely, unlikely = ("first", "second") if judgement.event.likelier_on_first else ("second", "first")
    return Finding(
        method=chosen.name,
        parameters=settings.model_dump(mode="json", exclude_defaults=True),
        unit=public.unit,
        declared=declared,
        proved=not isinstance(chosen.plan(public, settings).guarantee, Unproven),
        found=found,
        confidence=sure,
        claims=claims,
        runs=judgement.all_runs,
        judged=judged,
        hits=judgement.hits,
        smallest_violation=smallest_violation(
            declared=float(declared),
            frequency=judgement.frequency,
            runs=judged,
            alpha=Confidence(level=sure, claims=claims).alpha,
            power=POWER,
        ),
        pair=judgement.pair.words(public),
        event=judgement.event.words,
        direction=f"{likely} table against {unlikely}",
    )


def declared_epsilon(guarantee: Guarantee) -> Fraction | None:
    """What a guarantee says about neighbouring tables, proved or not; None where it says nothing."""
    match guarantee:
        case PureDP(epsilon=epsilon) | Unproven(claim=PureDP(epsilon=epsilon)):
            return epsilon
        case _:
            return None


def small_schemas() -> list[Schema]:
    """Small public domains to audit on, in the order they are tried: both units, with and without a class."""
    whole = parse_schema(SMALL_SCHEMA, name="the audit's schema")
    replaced = replace(
        whole,
        unit=Unit.REPLACE,
        rows=ROWS,
        attributes=tuple(replace(attribute, outside=type(attribute.outside).CLAMP) for attribute in whole.attributes),
    )
    plain = [replace(each, target=None, attributes=each.attributes[:1]) for each in (whole, replaced)]
    return [whole, replaced, *plain]


def served_schema(method: Method, parameters: Params) -> Schema:
    """The first small schema that the method accepts."""
    refusals = []
    for schema in small_schemas():
        try:
            method.plan(schema, parameters)
        except InputError as refusal:
            refusals.append(str(refusal))
        else:
            return schema
    raise InputError(f"{method.name} serves none of the audit's schemas: {refusals[0]} Give one with --schema.")


def _confidence(value: object, claims: int) -> Fraction:
    level = parse_budget(value, name="the confidence")
    if not Fraction(1, 2) <= level < 1 or claims < 1:
        raise InputError(f"The confidence is {value}. Give a share below 1, such as 0.999.")
    return level
