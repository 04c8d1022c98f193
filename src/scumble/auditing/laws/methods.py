"""The laws of a method: what has to hold of every one there is, whatever it does. `check_method` holds it to them all.

The strongest is that of the deaf holder. Two tables, as different as they come, are released with noise that is deaf to
what it is given: if the releases differ in anything, something of the rows came round the holder unpaid.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from scumble.auditing.laws.cases import declared_epsilon
from scumble.auditing.laws.queries import check_asked_queries, engine_of
from scumble.auditing.neighbours import Record
from scumble.errors import BudgetError, CheckError, InputError
from scumble.files.kinds import kind_of
from scumble.methods.method import Method, Params
from scumble.model.counts import Integers
from scumble.model.guarantee import KAnonymity, Unit, from_json, to_json
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection

DEAF_ANSWERS = 6
"""How many deaf sources are tried, each with other answers."""


def check_method(method: Method, schema: Schema, parameters: Params) -> None:
    """Check every law of methods on one schema that the method serves: the call for authors of methods.

    The plan needs no data and adds up to the declared epsilon. A run spends what was planned and nothing else, takes no
    answer that was not paid for, publishes nothing but answers, and asks queries whose declared sensitivity bounds
    every pair of neighbouring tables that is tried. Returns nothing; raises `CheckError` with the method, the law and
    what was found. Passing is evidence, not a proof.
    """
    check_plan(method, schema, parameters)
    check_spending(method, schema, parameters)
    check_nothing_unplanned(method, schema, parameters)
    check_nothing_unpaid(method, schema, parameters)
    check_nothing_hidden(method, schema, parameters)
    check_asked_queries(method, schema, parameters)


def check_plan(method: Method, schema: Schema, parameters: Params) -> None:
    """The plan needs no data, is the same each time, adds up to what is declared, and survives being written down."""
    planned = method.plan(schema, parameters)
    _require(planned == method.plan(schema, parameters), method, "plans differently the second time")
    _require(planned.unit is schema.unit, method, "plans for another unit than the schema's")
    _require(
        from_json(to_json(planned.guarantee)) == planned.guarantee, method, "has a guarantee that is not read back"
    )
    read_back = tuple(Spend.from_json(spend.to_json()) for spend in planned.spends)
    _require(read_back == planned.spends, method, "has spends that are not read back")
    total = sum((spend.total(planned.unit) for spend in planned.spends), Fraction(0))
    declared = declared_epsilon(planned.guarantee)
    _require(declared is None or total == declared, method, f"plans {total} and declares {declared}")
    asked = getattr(parameters, "epsilon", None)
    _require(asked == declared, method, f"was given epsilon {asked} and declares {declared}")


def check_spending(method: Method, schema: Schema, parameters: Params) -> None:
    """A run takes nothing but planned uses out of the purse, tells of each, and draws noise at no other price."""
    planned = method.plan(schema, parameters)
    answered: Counter[str] = Counter()
    for rows in extreme_tables(schema):
        answered.clear()
        noise = Listening(PaidNoise())
        holder = CentralHolder(
            engine=engine_of(schema, rows),
            noise=noise,
            plan=planned,
            answered=lambda label: answered.update([label]),
        )
        release = method.run(schema, parameters, holder)
        spent = holder.plan
        used = {spend.label: spend.times - holder.purse.left[spend.label] for spend in spent.spends}
        _require(answered == Counter(used), method, "was answered other than it paid for")
        _require(min(holder.purse.left.values(), default=0) >= 0, method, "overdraws its purse")
        _require(release.plan == spent and release.method == method.name, method, "publishes another plan")
        _require(spent.guarantee == planned.guarantee, method, "spends by another guarantee than it planned")
        _require(spent.reserved == planned.spends, method, "spends other than it reserved")
        prices = {spend.epsilon for spend in spent.spends}
        _require(noise.prices <= prices, method, f"draws noise at {noise.prices - prices}, which nobody planned")
        for fault in kind_of(release).faults(release):
            _require(False, method, f"publishes {fault}")
        fine = release.tables.get("fine", schema)
        _require(fine == schema, method, "draws fine rows from another schema than the public one")


def check_nothing_unplanned(method: Method, schema: Schema, parameters: Params) -> None:
    """Without any one of its spends, a run fails: no answer can be had but through the purse."""
    planned = method.plan(schema, parameters)
    rows = extreme_tables(schema)[0]
    for spend in planned.spends:
        other = Spend(label="nothing of use", epsilon=spend.total(planned.unit))
        kept = tuple(other if each is spend else each for each in planned.spends)
        holder = CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=replace(planned, spends=kept))
        try:
            method.run(schema, parameters, holder)
        except BudgetError:
            continue
        _require(_optional(method, schema, parameters, spend.label), method, f"runs without its spend {spend.label!r}")


def check_nothing_unpaid(method: Method, schema: Schema, parameters: Params) -> None:
    """With noise that is deaf to the rows, the release is the same whatever they are."""
    planned = method.plan(schema, parameters)
    if isinstance(planned.guarantee, KAnonymity):
        return  # it tells exact averages, and says that it does
    for answer in range(DEAF_ANSWERS):
        releases = [
            _plain(method.run(schema, parameters, _holder(schema, rows, planned, Deaf(answer))))
            for rows in extreme_tables(schema)
        ]
        for name in releases[0]:
            same = all(release[name] == releases[0][name] for release in releases)
            _require(same, method, f"publishes {name!r}, which depends on rows that nobody paid for")


def check_nothing_hidden(method: Method, schema: Schema, parameters: Params) -> None:
    """Fine rows follow from all else that is published: an answer that changes them shows in something else, too.

    So whoever has the rest can draw them again, and an onlooker learns nothing from them that the rest does not tell.
    """
    planned = method.plan(schema, parameters)
    rows = extreme_tables(schema)[0]

    def told(noise: Noise) -> tuple[object, dict[str, object]]:
        release = _plain(method.run(schema, parameters, _holder(schema, rows, planned, noise)))
        return release.pop("fine", None), release

    noise = DeafButOnce(other=None)
    fine, rest = told(noise)
    for answer in range(noise.answers if fine is not None else 0):
        others_fine, others_rest = told(DeafButOnce(other=answer))
        _require(others_rest != rest or others_fine == fine, method, "draws fine rows from what it does not publish")


def check_refusals(method: Method, schemas: list[Schema], parameters: Params) -> list[Schema]:
    """A schema is served or refused with a reason before any row is read, never anything else. Returns those served."""
    served = []
    for schema in schemas:
        try:
            method.plan(schema, parameters)
        except InputError as refusal:
            _require(str(refusal).rstrip().endswith("."), method, "refuses without saying what to do")
        else:
            served.append(schema)
    return served


def extreme_tables(schema: Schema) -> list[list[Record]]:
    """Tables that have as little in common as the schema allows: none, the lowest, the highest, and some of each."""
    low = tuple(0 for _ in schema.attributes)
    high = tuple(attribute.domain.size - 1 for attribute in schema.attributes)
    if schema.unit is Unit.ADD_REMOVE:
        return [[low] * 5 + [high] * 4, [], [high], [low] * 40]
    rows = schema.rows or 0
    return [[low] * (rows // 2) + [high] * (rows - rows // 2), [low] * rows, [high] * rows]


class Listening:
    """Shipped noise that keeps the prices it was asked for."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self.prices: set[Fraction] = set()

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.prices.add(epsilon)
        return self._noise.laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        self.prices.add(epsilon)
        return self._noise.select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


class Deaf:
    """Answers that follow from the length of a question and from nothing in it."""

    def __init__(self, answer: int) -> None:
        self._answer = answer

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        told = (np.arange(values.size, dtype=np.int64) * (self._answer + 2) % 5 + self._answer) * sensitivity
        return told.reshape(values.shape)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return self._answer % len(scores)


class DeafButOnce:
    """Deaf answers, numbered in the order they are given, one of them other than usual."""

    def __init__(self, *, other: int | None) -> None:
        self._other = other
        self.answers = 0

    def _next(self) -> Deaf:
        self.answers += 1
        return Deaf(1 if self.answers - 1 == self._other else 0)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        return self._next().laplace(values, sensitivity=sensitivity, epsilon=epsilon)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        return self._next().select(
            scores, sensitivity=sensitivity, monotone=monotone, epsilon=epsilon, selection=selection
        )


def _optional(method: Method, schema: Schema, parameters: Params, label: str) -> bool:
    """Whether a spend is one that need not be used, as rounds that find nothing to split."""
    planned = method.plan(schema, parameters)
    holder = _holder(schema, extreme_tables(schema)[0], planned, PaidNoise())
    method.run(schema, parameters, holder)
    times = {spend.label: spend.times for spend in planned.spends}
    return holder.purse.left[label] == times[label]


def _holder(schema: Schema, rows: list[Record], planned: Plan, noise: Noise) -> CentralHolder:
    return CentralHolder(engine=engine_of(schema, rows), noise=noise, plan=planned)


def _plain(release: Any) -> dict[str, object]:
    """A release field by field, as values that can be compared."""
    return {each.name: _comparable(getattr(release, each.name)) for each in fields(release)}


def _comparable(value: object) -> object:
    match value:
        case np.ndarray():
            return value.dtype.str, value.shape, value.tolist() if value.dtype.kind == "O" else value.tobytes()
        case Mapping():
            return {key: _comparable(below) for key, below in value.items()}
        case _ if is_dataclass(value):
            return type(value).__name__, _plain(value)
        case _:
            return value


def _require(holds: bool, method: Method, fault: str) -> None:
    if not holds:
        raise CheckError(f"The method {method.name} {fault}.")
