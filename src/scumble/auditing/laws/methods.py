"""The laws that every method must satisfy. `check_method` checks them all; a violation raises `CheckError`.

The strongest law is `check_nothing_unpaid`: it releases very different tables with a noise source whose answers do not
depend on the data. If the releases differ in anything, the method read rows without paying for an answer.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np

from scumble.auditing.laws.cases import declared_epsilon
from scumble.auditing.laws.queries import check_query_sensitivities, engine_of
from scumble.auditing.laws.release_fields import plain_fields
from scumble.auditing.neighbours import CodedRecord
from scumble.errors import BudgetError, CheckError, InputError
from scumble.files.kinds import kind_of
from scumble.methods.method import Method, Params
from scumble.model.counts import Integers
from scumble.model.guarantee import ApproxDP, KAnonymity, Unit
from scumble.model.guarantee_json import from_json, to_json
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.model.spend import budget_of
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection
from scumble.privacy.price import Price

ANSWER_PATTERNS = 6
RUNS_FOR_UNUSED_SPENDS = 30
"""How many data-independent noise sources are tried, each with different answers."""


def check_method(method: Method, schema: Schema, parameters: Params) -> None:
    """Check every law of methods on one schema that the method accepts: the call for authors of methods.

    The plan needs no data and sums to the declared epsilon. A run spends only what was planned, uses only answers that
    it paid for, publishes only what follows from these answers, and makes queries whose declared sensitivity is not
    exceeded on any pair of neighbouring tables that is tried. A violation raises `CheckError`, which names the method
    and the fault. Passing is evidence, not a proof.
    """
    check_plan(method, schema, parameters)
    check_spending(method, schema, parameters)
    check_nothing_unplanned(method, schema, parameters)
    check_nothing_unpaid(method, schema, parameters)
    check_nothing_hidden(method, schema, parameters)
    check_query_sensitivities(method, schema, parameters)


def check_plan(method: Method, schema: Schema, parameters: Params) -> None:
    """The plan is deterministic, sums to the declared epsilon, and survives a round trip through JSON."""
    planned = method.plan(schema, parameters)
    _require(planned == method.plan(schema, parameters), method, "returns a different plan the second time")
    _require(planned.unit is schema.unit, method, "plans for a unit other than that of the schema")
    _require(
        from_json(to_json(planned.guarantee)) == planned.guarantee,
        method,
        "has a guarantee that JSON does not preserve",
    )
    read_back = tuple(Spend.from_json(spend.to_json()) for spend in planned.spends)
    _require(read_back == planned.spends, method, "has spends that JSON does not preserve")
    total = sum((spend.total(planned.unit) for spend in planned.spends), Fraction(0))
    declared, limit = declared_epsilon(planned.guarantee), budget_of(planned.guarantee)
    fits = total <= (limit or 0) if isinstance(planned.guarantee, ApproxDP) else total == (limit or 0)
    _require(declared is None or fits, method, f"plans to spend {total} of {limit}")
    given = getattr(parameters, "epsilon", None)
    _require(given == declared, method, f"was given epsilon {given} and declares {declared}")


def check_spending(method: Method, schema: Schema, parameters: Params) -> None:
    """A run uses only planned spends, reports each use, and draws noise only at planned epsilons."""
    planned = method.plan(schema, parameters)
    answered: Counter[str] = Counter()
    for rows in extreme_tables(schema):
        answered.clear()
        noise = PriceRecordingNoise(PaidNoise())
        holder = CentralHolder(
            engine=engine_of(schema, rows),
            noise=noise,
            plan=planned,
            answered=lambda label: answered.update([label]),
        )
        release = method.run(schema, parameters, holder)
        spent = holder.plan
        used = {spend.label: spend.times - holder.purse.left[spend.label] for spend in spent.spends}
        _require(answered == Counter(used), method, "received answers that differ from the spends it paid for")
        _require(min(holder.purse.left.values(), default=0) >= 0, method, "spends more than it planned")
        _require(
            release.plan == spent and release.method == method.name,
            method,
            "publishes another plan than it used",
        )
        _require(spent.guarantee == planned.guarantee, method, "spends under a guarantee other than the planned one")
        _require(spent.reserved == planned.spends, method, "reserves spends other than the planned ones")
        prices = [Price.of(spend, spent.unit) for spend in spent.spends]
        epsilons = {price.selection_epsilon(selection) for price in prices for selection in Selection}
        _require(noise.epsilons <= epsilons, method, f"draws noise at unplanned epsilons {noise.epsilons - epsilons}")
        rhos = {price.rho for price in prices}
        _require(noise.rhos <= rhos, method, f"draws noise at unplanned rhos {noise.rhos - rhos}")
        for fault in kind_of(release).faults(release):
            _require(False, method, f"publishes {fault}")
        fine = release.tables.get("fine", schema)
        _require(fine == schema, method, "draws fine rows from a schema other than the public one")


def check_nothing_unplanned(method: Method, schema: Schema, parameters: Params) -> None:
    """A run fails if any one of its spends is missing from the plan."""
    planned = method.plan(schema, parameters)
    rows = extreme_tables(schema)[0]
    for spend in planned.spends:
        other = replace(spend, label="unused")
        kept = tuple(other if each is spend else each for each in planned.spends)
        holder = CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=replace(planned, spends=kept))
        try:
            method.run(schema, parameters, holder)
        except BudgetError:
            continue
        _require(
            _optional(method, schema, parameters, spend.label), method, f"runs even without its spend {spend.label!r}"
        )


def check_nothing_unpaid(method: Method, schema: Schema, parameters: Params) -> None:
    """If the noise source ignores the data, the release does not depend on the rows."""
    planned = method.plan(schema, parameters)
    if isinstance(planned.guarantee, KAnonymity):
        return  # it publishes exact averages, as its guarantee states
    for answer in range(ANSWER_PATTERNS):
        releases = [
            plain_fields(method.run(schema, parameters, _holder(schema, rows, planned, DataIndependentNoise(answer))))
            for rows in extreme_tables(schema)
        ]
        for name in releases[0]:
            same = all(release[name] == releases[0][name] for release in releases)
            _require(same, method, f"publishes {name!r}, which depends on rows without a paid answer")


def check_nothing_hidden(method: Method, schema: Schema, parameters: Params) -> None:
    """Fine rows are a function of the other published fields: an answer that changes them changes another field, too.

    So anyone can draw the fine rows again from the rest of the release, and they reveal nothing beyond it.
    """
    planned = method.plan(schema, parameters)
    rows = extreme_tables(schema)[0]

    def published(noise: Noise) -> tuple[object, dict[str, object]]:
        release = plain_fields(method.run(schema, parameters, _holder(schema, rows, planned, noise)))
        return release.pop("fine", None), release

    noise = OneAnswerChanged(changed=None)
    fine, rest = published(noise)
    for answer in range(noise.answers if fine is not None else 0):
        changed_fine, changed_rest = published(OneAnswerChanged(changed=answer))
        _require(
            changed_rest != rest or changed_fine == fine,
            method,
            "draws fine rows from an answer that it does not publish",
        )


def check_refusals(method: Method, schemas: list[Schema], parameters: Params) -> list[Schema]:
    """A method accepts a schema, or refuses it with a reason before it reads a row. Returns the accepted schemas."""
    served = []
    for schema in schemas:
        try:
            method.plan(schema, parameters)
        except InputError as refusal:
            _require(
                str(refusal).rstrip().endswith("."),
                method,
                "refuses a schema without a full sentence",
            )
        else:
            served.append(schema)
    return served


def extreme_tables(schema: Schema) -> list[list[CodedRecord]]:
    """Tables that differ as much as the schema allows: with the lowest codes, the highest, both, and no rows."""
    low = tuple(0 for _ in schema.attributes)
    high = tuple(attribute.domain.size - 1 for attribute in schema.attributes)
    if schema.unit is Unit.ADD_REMOVE:
        return [[low] * 5 + [high] * 4, [], [high], [low] * 40]
    rows = schema.rows or 0
    return [[low] * (rows // 2) + [high] * (rows - rows // 2), [low] * rows, [high] * rows]


class PriceRecordingNoise:
    """The shipped noise, which also records the epsilon or rho of every request."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self.epsilons: set[Fraction] = set()
        self.rhos: set[Fraction | None] = set()

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.epsilons.add(epsilon)
        return self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        self.rhos.add(rho)
        return self._noise.gaussian(values, squared=squared, rho=rho)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.epsilons.add(epsilon)
        return self._noise.select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


class DataIndependentNoise:
    """A noise source whose answers depend on the length of the request only."""

    def __init__(self, answer: int) -> None:
        self._answer = answer

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        answer = (np.arange(values.size, dtype=np.int64) * (self._answer + 2) % 5 + self._answer) * sensitivity
        return answer.reshape(values.shape)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        return self.laplace(values, sensitivity=squared, epsilon=rho)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return self._answer % len(scores)


class OneAnswerChanged:
    """A data-independent noise source in which the answer number `changed` differs."""

    def __init__(self, *, changed: int | None) -> None:
        self._changed = changed
        self.answers = 0

    def _next(self) -> DataIndependentNoise:
        self.answers += 1
        return DataIndependentNoise(1 if self.answers - 1 == self._changed else 0)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return self._next().laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        return self._next().gaussian(values, squared=squared, rho=rho)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return self._next().select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


def _optional(method: Method, schema: Schema, parameters: Params, label: str) -> bool:
    """Whether the method may leave a spend unused, such as that of a round with nothing left to split.

    Whether it does so can depend on noise, so it is run several times.
    """
    planned = method.plan(schema, parameters)
    times = {spend.label: spend.times for spend in planned.spends}
    for _ in range(RUNS_FOR_UNUSED_SPENDS):
        holder = _holder(schema, extreme_tables(schema)[0], planned, PaidNoise())
        method.run(schema, parameters, holder)
        if holder.purse.left[label] == times[label]:
            return True
    return False


def _holder(schema: Schema, rows: list[CodedRecord], planned: Plan, noise: Noise) -> CentralHolder:
    return CentralHolder(engine=engine_of(schema, rows), noise=noise, plan=planned)


def _require(satisfied: bool, method: Method, fault: str) -> None:
    if not satisfied:
        raise CheckError(f"The method {method.name} {fault}.")
