"""`scumble.audit`: a method held to the epsilon it declares, on made-up tables. No private row is involved."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scumble.auditing.laws.cases import declared_epsilon, served_schema
from scumble.errors import InputError
from scumble.flows.plan import schema_of
from scumble.flows.progress import Progress
from scumble.methods import Params, method_and_parameters
from scumble.methods.method import Method
from scumble.model.budget import budget_text, parse_budget
from scumble.model.guarantee import Unit, Unproven
from scumble.model.schema import Schema

if TYPE_CHECKING:
    from scumble.auditing.bounds import Confidence
    from scumble.auditing.mechanisms import Mechanism
    from scumble.auditing.neighbours import Pair
    from scumble.auditing.search import Judgement

POWER = 0.99
FEWEST_RUNS = 100


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
    """The smallest true loss that would have been found above the declared one with probability 0.99, if it showed in
    the judged event in the proportion in which the declared one did. Infinite where the event shows nothing."""
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
        seen = f"only a loss of {self.smallest_violation:.3f} or more would have been found with probability {POWER}"
        if math.isinf(self.smallest_violation):
            seen = "these runs could not have found any violation"
        return (
            f"Not refuted: {self.method} declares {budget_text(self.declared)}; at least {self.found:.3f} was found, "
            f"{how_sure}. That proves nothing: {seen}."
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


@dataclass(frozen=True, kw_only=True)
class Subject:
    """Something to be audited: a mechanism, what it declares, and the pairs to begin with."""

    name: str
    parameters: Mapping[str, Any]
    mechanism: "Mechanism"
    pairs: "Sequence[Pair]"
    declared: Fraction
    proved: bool = True


def audit(
    method: str | Params | Method = "diffgen",
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
    subject = method_subject(method, schema=schema, pairs=pairs, parameters=parameters)
    return examine(
        subject,
        judged=judged,
        variations=variations,
        confidence=confidence,
        claims=claims,
        workers=workers,
        state=state,
        progress=progress,
    )


def method_subject(
    method: str | Params | Method,
    *,
    schema: Schema | str | Path | None = None,
    pairs: "Sequence[Pair] | None" = None,
    parameters: dict[str, Any],
) -> Subject:
    """A method from plan to release, on a small schema that it serves."""
    # scipy takes a while to import, and only this verb needs it.
    from scumble.auditing.mechanisms import WholeRelease
    from scumble.auditing.neighbours import candidate_pairs

    if isinstance(method, str | Params):
        chosen, settings = method_and_parameters(method, parameters)
    else:
        chosen, settings = method, method.parameters(**parameters)
    public = served_schema(chosen, settings) if schema is None else schema_of(schema)
    mechanism = WholeRelease(method=chosen, schema=public, parameters=settings)
    guarantee = mechanism.plan.guarantee
    declared = declared_epsilon(guarantee)
    if declared is None:
        raise InputError(f"{chosen.name} declares no epsilon, so there is nothing to hold it to. Audit another method.")
    return Subject(
        name=chosen.name,
        parameters=settings.model_dump(mode="json", exclude_defaults=True),
        mechanism=mechanism,
        pairs=candidate_pairs(chosen, public, settings) if pairs is None else list(pairs),
        declared=declared,
        proved=not isinstance(guarantee, Unproven),
    )


def examine(
    subject: Subject,
    *,
    judged: int,
    variations: int = 0,
    confidence: object = "0.999",
    claims: int = 1,
    workers: int | None = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
) -> Finding:
    """Search, judge, and say what was found."""
    from scumble.auditing.bounds import Confidence
    from scumble.auditing.search import Effort, all_cores, identity_of, search_and_judge

    sure = _confidence(confidence, claims)
    if judged < FEWEST_RUNS:
        raise InputError(f"{judged} judged runs are too few to say anything. Give {FEWEST_RUNS:,} or more.")
    effort = Effort(judged=judged, variations=variations)
    public = subject.mechanism.schema
    judgement = search_and_judge(
        subject.mechanism,
        list(subject.pairs),
        effort,
        workers=all_cores() if workers is None else workers,
        state=None if state is None else Path(state),
        identity=identity_of(subject.name, subject.parameters, subject.declared, public, effort, subject.pairs),
        progress=progress,
    )
    family = Confidence(level=sure, claims=claims)
    likely, unlikely = ("first", "second") if judgement.event.likelier_on_first else ("second", "first")
    return Finding(
        method=subject.name,
        parameters=subject.parameters,
        unit=public.unit,
        declared=subject.declared,
        proved=subject.proved,
        found=judgement.bound(family),
        confidence=sure,
        claims=claims,
        runs=judgement.all_runs,
        judged=judged,
        hits=judgement.hits,
        smallest_violation=_violation_seen(judgement, float(subject.declared), family),
        pair=judgement.pair.words(public),
        event=judgement.event.words,
        direction=f"{likely} table against {unlikely}",
    )


def _violation_seen(judgement: "Judgement", declared: float, family: "Confidence") -> float:
    """An event that shows a third of the declared loss needs three times the violation to show as much of it."""
    from scumble.auditing.bounds import FAR, smallest_violation

    share = min(1.0, judgement.loss / declared)
    smallest = smallest_violation(
        declared=declared, frequency=judgement.frequency, runs=judgement.runs[0], alpha=family.alpha, power=POWER
    )
    return smallest / share if share > 0 and smallest / share < declared + FAR else math.inf


def _confidence(value: object, claims: int) -> Fraction:
    level = parse_budget(value, name="the confidence")
    if not Fraction(1, 2) <= level < 1 or claims < 1:
        raise InputError(f"The confidence is {value}. Give a share below 1, such as 0.999.")
    return level
