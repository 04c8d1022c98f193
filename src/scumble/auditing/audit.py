"""`scumble.audit`: compares the epsilon that a method declares with a lower bound measured by running it.

The audit runs the method on small synthetic tables. It needs no private data and no ledger.
"""

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
from scumble.model.budget import budget_text, parse_budget, short_delta
from scumble.model.guarantee import Unit, Unproven, delta_of
from scumble.model.schema import Schema

if TYPE_CHECKING:
    from scumble.auditing.bounds import Confidence
    from scumble.auditing.mechanisms import Mechanism
    from scumble.auditing.neighbours import Pair
    from scumble.auditing.search import EventCounts

POWER = 0.99
FEWEST_RUNS = 100
DEFAULT_SECONDS = 75
"""How long the sampling takes if no number of runs is given."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result of an audit: the declared epsilon and a lower bound on the true one."""

    method: str
    parameters: Mapping[str, Any]
    unit: Unit
    declared: Fraction
    delta: Fraction = Fraction(0)
    """The declared delta, for which the bound on epsilon holds; 0 if the guarantee is pure."""
    proved: bool
    """False if the method itself calls its guarantee unproven."""
    found: float
    """The lower bound on epsilon."""
    confidence: Fraction
    claims: int
    """How many audits share the confidence level."""
    runs: int
    """All runs, including those that chose the pair and the event."""
    judged: int
    """Test runs on each of the two tables. Only these count towards the bound."""
    hits: tuple[int, int]
    """Test runs in which the event happened, on the first and on the second table."""
    smallest_violation: float
    """The power: the smallest true epsilon that this audit would have detected with probability 0.99, assuming that the
    tested event shows the same share of any privacy loss. Infinite if no violation would have been detected."""
    pair: str
    event: str
    direction: str

    @property
    def refuted(self) -> bool:
        """Whether the lower bound exceeds the declared epsilon."""
        return self.found > self.declared

    @property
    def declared_text(self) -> str:
        """The declared epsilon and, if there is one, the declared delta."""
        return budget_text(self.declared) + (f" and delta {short_delta(self.delta)}" if self.delta else "")

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        how_sure = f"at {budget_text(100 * self.confidence)} % confidence"
        if self.refuted:
            return (
                f"REFUTED: {self.method} declares epsilon {self.declared_text}; the true epsilon is at least "
                f"{self.found:.3f} ({how_sure})."
            )
        power = f"with probability {POWER} it detects an epsilon of {self.smallest_violation:.3f} or more"
        if math.isinf(self.smallest_violation):
            power = "its runs were too few to detect any violation"
        return (
            f"Not refuted: {self.method} declares epsilon {self.declared_text}; the lower bound is "
            f"{self.found:.3f} ({how_sure}). This is not a proof. Power of this audit: {power}."
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain data, as `scumble audit --json` prints it."""
        smallest = None if math.isinf(self.smallest_violation) else round(self.smallest_violation, 4)
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "unit": self.unit.value,
            "declared": budget_text(self.declared),
            **({"declared_delta": budget_text(self.delta)} if self.delta else {}),
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
    """What is audited: a mechanism, the epsilon it declares, and the neighbouring pairs to start from."""

    name: str
    parameters: Mapping[str, Any]
    mechanism: "Mechanism"
    pairs: "Sequence[Pair]"
    declared: Fraction
    proved: bool = True
    delta: Fraction = Fraction(0)


def audit(
    method: str | Params | Method = "diffgen",
    *,
    schema: Schema | str | Path | None = None,
    runs: int | None = None,
    seconds: float = DEFAULT_SECONDS,
    variations: int = 12,
    confidence: object = "0.999",
    claims: int = 1,
    pairs: "Sequence[Pair] | None" = None,
    workers: int | None = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
    judged: int | None = None,
    **parameters: Any,
) -> Finding:
    """Search for an event that distinguishes neighbouring tables better than the declared epsilon allows.

    `runs` is the number of test runs on each of the two tables; further runs choose the pair and the event. Without it,
    the audit takes about `seconds`: the number of runs follows from the speed of the method, is at most 10,000, and is
    fixed before the first test run. The lower bound is valid at level `confidence` for `claims` audits together.
    `parameters` are those of the method, such as epsilon. Without `schema` the audit uses a small one, because it runs
    the method thousands of times. `state` is a file in which the audit notes how far it is, or a folder for such a file
    until the audit ends: the same call resumes from it. `judged` is an older name of `runs`.
    """
    if runs is not None and judged is not None:
        raise InputError("`runs` and `judged` are two names of one option. Give only `runs`.")
    subject = method_subject(method, schema=schema, pairs=pairs, parameters=parameters)
    return audit_subject(
        subject,
        runs=judged if runs is None else runs,
        seconds=seconds,
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
    """A whole release by a method: on the given schema, or on a small one that the method accepts."""
    # scipy is slow to import, and only audits need it.
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
        raise InputError(f"{chosen.name} declares no epsilon, so there is nothing to audit. Choose another method.")
    return Subject(
        name=chosen.name,
        parameters=settings.model_dump(mode="json", exclude_defaults=True),
        mechanism=mechanism,
        pairs=candidate_pairs(chosen, public, settings) if pairs is None else list(pairs),
        declared=declared,
        proved=not isinstance(guarantee, Unproven),
        delta=delta_of(guarantee),
    )


def audit_subject(
    subject: Subject,
    *,
    runs: int | None,
    seconds: float = DEFAULT_SECONDS,
    variations: int = 0,
    confidence: object = "0.999",
    claims: int = 1,
    workers: int | None = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
) -> Finding:
    """Search for the best pair and event, then compute the lower bound from `runs` test runs of each table, or from as
    many as fit into `seconds`."""
    from scumble.auditing.audit_state import identity_of
    from scumble.auditing.bounds import Confidence
    from scumble.auditing.search import Effort, search_and_test
    from scumble.auditing.workers import all_cores

    level = _confidence(confidence, claims)
    if runs is not None and runs < FEWEST_RUNS:
        raise InputError(f"{runs} test runs are too few for a lower bound. Give {FEWEST_RUNS:,} or more.")
    if not seconds > 0:
        raise InputError(f"The audit may take {seconds} seconds. Give more than 0.")
    delta = float(subject.delta)
    if runs is None:
        effort = Effort(variations=variations, delta=delta, seconds=seconds)
    else:
        effort = Effort(test_runs=runs, variations=variations, delta=delta)
    public = subject.mechanism.schema
    identity = identity_of(subject.name, subject.parameters, subject.declared, public, effort, subject.pairs)
    saved = None if state is None else Path(state)
    in_folder = saved is not None and saved.is_dir()
    if saved is not None and in_folder:
        saved /= f"{subject.name}-{identity[:16]}.json"
    family = Confidence(level=level, claims=claims)
    result = search_and_test(
        subject.mechanism,
        list(subject.pairs),
        effort,
        workers=all_cores() if workers is None else workers,
        state=saved,
        identity=identity,
        progress=progress,
        confidence=family,
    )
    if saved is not None and in_folder:
        saved.unlink(missing_ok=True)
    likely, unlikely = ("first", "second") if result.event.likelier_on_first else ("second", "first")
    return Finding(
        method=subject.name,
        parameters=subject.parameters,
        unit=public.unit,
        declared=subject.declared,
        delta=subject.delta,
        proved=subject.proved,
        found=result.bound(family, effort.delta),
        confidence=level,
        claims=claims,
        runs=result.all_runs,
        judged=result.runs[0],
        hits=result.hits,
        smallest_violation=_violation_seen(result, float(subject.declared), family, effort.delta),
        pair=result.pair.words(public),
        event=result.event.words,
        direction=f"{likely} table against {unlikely}",
    )


def _violation_seen(result: "EventCounts", declared: float, family: "Confidence", delta: float) -> float:
    """The smallest violation detected, scaled by the share of the loss that the event shows.

    An event that shows a third of the declared epsilon shows a third of a violation, too, so that the violation must be
    three times as large to be detected.
    """
    from scumble.auditing.bounds import LARGEST_EXCESS, smallest_violation

    share = min(1.0, result.loss / declared)
    smallest = smallest_violation(
        declared=declared,
        frequency=result.frequency,
        runs=result.runs[0],
        alpha=family.alpha,
        power=POWER,
        delta=delta,
    )
    return smallest / share if share > 0 and smallest / share < declared + LARGEST_EXCESS else math.inf


def _confidence(value: object, claims: int) -> Fraction:
    level = parse_budget(value, name="the confidence")
    if not Fraction(1, 2) <= level < 1 or claims < 1:
        raise InputError(f"The confidence is {value}. Give a number from 0.5 to below 1, such as 0.999.")
    return level
