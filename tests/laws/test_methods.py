"""The laws of methods: every entry of METHODS, in each of its modes and on every schema that it accepts.

A new entry of METHODS is checked without any change here. The last tests violate one law each.
"""

from dataclasses import replace
from typing import Any

import pytest
from planted_bugs import ChargedOnce, OneTooSmall, RangeFromData, Wrapped

from scumble.auditing.laws.cases import parameters_for, settings_of, small_schemas
from scumble.auditing.laws.methods import check_method, check_nothing_unpaid, check_plan, check_refusals, check_spending
from scumble.auditing.laws.queries import check_query_sensitivities
from scumble.errors import CheckError, InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.methods.diffgen import settings as settings_of_diffgen
from scumble.methods.diffgen.division import EpsilonShares
from scumble.methods.diffgen.method import COUNT, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.method import Method
from scumble.model.cut import Cut
from scumble.model.plan import Plan
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder

CASES = [
    pytest.param(method, settings, id=f"{method.name} {settings}")
    for method in METHODS
    for settings in settings_of(method)
]
LEAVES = DiffGen(epsilon="1", leaves=True)
WITH_CLASS = small_schemas()[0]
FOUR = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 6, step: 1}}
  sex: {classes: [f, m]}
  ward: {taxonomy: {Any: {North: {n1: , n2: }, South: }}}
  stay: {numeric: {low: 0, high: 3, step: 1}}
  ill: {classes: [a, b, c]}
"""
)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "7/3"])
@pytest.mark.parametrize(("method", "settings"), CASES)
def test_every_method_satisfies_the_laws(method: Method, settings: dict[str, Any], epsilon: str) -> None:
    parameters = parameters_for(method, epsilon, settings)
    served = check_refusals(method, small_schemas(), parameters)
    assert served, "a method that accepts none of the small schemas would not be checked at all"
    for schema in served:
        check_method(method, schema, parameters)


def close_divisions(information: float, values: tuple[int, ...], classes: int = 2) -> EpsilonShares:
    """Divisions that change so soon that the noisy count of a handful of records reaches each of them."""
    del classes
    attributes = len(values)
    every = EpsilonShares(tables=attributes, calibration=0.1)
    divisions = [EpsilonShares(tables=0), every, replace(every, combination=0.05, fit=0.1)]
    if attributes > 1:
        chosen = EpsilonShares(tables=attributes // 2, choice=0.2, calibration=0.1)
        divisions += [chosen, replace(chosen, combination=0.05, fit=0.1)]
    return divisions[int(information) % len(divisions)]


@pytest.mark.parametrize("records", [1, 100, 300, 3_000, 10**6, "auto"])
def test_the_laws_are_satisfied_for_every_number_of_records(
    records: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if records == "auto":
        monkeypatch.setattr(settings_of_diffgen, "best_division", close_divisions)
    method = DiffGenMethod()
    parameters = DiffGen(epsilon="1", records=records)  # type: ignore[arg-type]
    served = check_refusals(method, [*small_schemas(), FOUR], parameters)
    assert FOUR in served
    for schema in served:
        check_method(method, schema, parameters)


@pytest.mark.parametrize(("method", "settings"), CASES)
def test_every_method_refuses_invalid_parameters(method: Method, settings: dict[str, Any]) -> None:
    wrong: list[dict[str, Any]] = [{**settings, "epsilon": "1", "no such parameter": 1}]
    if "epsilon" in method.parameters.model_fields:
        wrong += [{**settings, "epsilon": value} for value in ("0", "-1", "nan", "inf", True, None, "1e9")]
        wrong.append(settings)
    for values in wrong:
        with pytest.raises(InputError):
            method.parameters(**values)


def test_names_are_unique_and_every_method_has_a_summary() -> None:
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert all(method.summary.endswith(".") for method in METHODS)


class PlansDifferently(Wrapped):
    """A plan that changes from call to call."""

    times = 0

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        self.times += 1
        return replace(super().plan(schema, parameters), notes=(f"attempt {self.times}",))


class DeclaresLess(Wrapped):
    """Plans and declares half of the epsilon that the owner gave."""

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        return DiffGenMethod().plan(schema, parameters.model_copy(update={"epsilon": parameters.epsilon / 2}))


class PublishesRowCount(Wrapped):
    """Publishes the exact number of rows in its story."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        rows = sum(len(block[0]) for block in holder._engine.blocks())
        return replace(super().run(schema, parameters, holder), story=(f"{rows} rows were read",))


class AltersCounts(Wrapped):
    """Publishes counts that do not follow from the measured ones."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        made = super().run(schema, parameters, holder)
        return replace(made, count=made.count + 1)


def test_violations_of_the_laws_are_detected() -> None:
    with pytest.raises(CheckError, match="a different plan"):
        check_plan(PlansDifferently(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="was given epsilon 1 and declares 1/2"):
        check_plan(DeclaresLess(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="'story', which depends on rows"):
        check_nothing_unpaid(PublishesRowCount(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="'schema', which depends on rows"):
        check_nothing_unpaid(RangeFromData(), WITH_CLASS, DiffGen(epsilon="1", rounds=1))
    with pytest.raises(CheckError, match="do not follow from the measured"):
        check_spending(AltersCounts(), WITH_CLASS, LEAVES)
    with pytest.raises(CheckError, match="differ from the spends it paid for"):
        check_spending(ChargedOnce(), WITH_CLASS, LEAVES)


class UnderstatesSensitivity(Wrapped):
    """Measures counts under `replace` with the sensitivity of `add-remove`."""

    def run(self, schema: Schema, parameters: DiffGen, holder: CentralHolder) -> CellRelease:
        measured = holder.measure(OneTooSmall(cut=Cut.leaves(schema)), spend=COUNT)
        made = DiffGenMethod().run(
            schema, parameters, CentralHolder(engine=holder._engine, noise=holder._noise, plan=made_plan(schema))
        )
        return replace(made, measured=measured.reshape(made.measured.shape))


def made_plan(schema: Schema) -> Plan:
    return DiffGenMethod().plan(schema, LEAVES)


def test_the_queries_of_a_method_are_checked_wherever_they_are_defined() -> None:
    under_replace = small_schemas()[1]
    assert check_query_sensitivities(DiffGenMethod(), under_replace, LEAVES) == 1
    with pytest.raises(CheckError, match="declares a sensitivity of 1"):
        check_query_sensitivities(UnderstatesSensitivity(), under_replace, LEAVES)


class RefusesWithoutReason(Wrapped):
    """Refuses a schema without a reason."""

    def plan(self, schema: Schema, parameters: DiffGen) -> Plan:
        if schema.target is None:
            raise InputError("no")
        return super().plan(schema, parameters)


def test_a_refusal_has_a_reason() -> None:
    with pytest.raises(CheckError, match="refuses"):
        check_refusals(RefusesWithoutReason(), small_schemas(), LEAVES)
