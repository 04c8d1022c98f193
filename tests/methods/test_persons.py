"""People with several rows: methods plan with a row's share of epsilon, and the guarantee is the person's."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scumble import plan
from scumble.auditing.laws.queries import engine_of
from scumble.errors import BudgetError, InputError
from scumble.files.noise_file import noise_data, noise_from
from scumble.files.schema_file import parse_schema, schema_text
from scumble.flows.join_plan import write_agreement
from scumble.flows.perturb import noise_model
from scumble.flows.release import run
from scumble.methods import METHODS, method_named
from scumble.methods.persons import plan_release, without_persons
from scumble.model.guarantee import LocalDP, PureDP, Unit, Unproven, from_json, to_json
from scumble.model.persons import Persons
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise
from scumble.privacy.perturber import Perturber

HEAD = "scumble: schema/1\nperson: patient\nrows_each_at_most: 3\ntarget: ill\n"
ATTRIBUTES = """attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  ill: {classes: ["no", "yes"]}
"""
SCHEMA = parse_schema(HEAD + ATTRIBUTES)
NUMBERS = parse_schema(
    "scumble: schema/1\nperson: patient\nrows_each_at_most: 3\nrows_at_most: 1000\nattributes:\n"
    "  age: {numeric: {low: 0, high: 8, step: 1}}\n  visits: {numeric: {low: 0, high: 20, step: 1}}\n"
)
SCHEMAS = {"diffgen": SCHEMA, "histograms": SCHEMA, "microaggregate": NUMBERS}
PATIENTS = Persons(column="patient", rows_each_at_most=3)


def test_the_schema_states_persons_and_is_read_back() -> None:
    assert SCHEMA.persons == PATIENTS
    assert SCHEMA.columns == ("age", "sex", "ill")
    assert SCHEMA.columns_read == ("age", "sex", "ill", "patient")
    assert parse_schema(schema_text(SCHEMA)) == SCHEMA
    listed = parse_schema(HEAD + ATTRIBUTES + "  patient: {identifier: true}\n")
    assert (listed.persons, listed.identifiers) == (PATIENTS, ("patient",))
    assert "patient, at most 3 rows of each" in str(SCHEMA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD.replace("rows_each_at_most: 3\n", ""), "belong together"),
        (HEAD.replace("person: patient\n", ""), "belong together"),
        (HEAD.replace("most: 3", "most: 0"), "greater than or equal to 1"),
        (HEAD.replace("patient", "age"), "would be published"),
        (HEAD + "unit: replace\nrows: 5\n", "add-remove"),
    ],
)
def test_a_wrong_person_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_schema(text + ATTRIBUTES)


def test_a_guarantee_of_persons_says_so() -> None:
    promised = PureDP(epsilon=Fraction(1, 2), unit=Unit.ADD_REMOVE, protects=PATIENTS)
    assert promised.sentence == (
        "0.5-differentially private: no outcome becomes more than e^0.5 times as likely or unlikely when all rows of "
        "one person (at most 3 are used, by 'patient') are added or removed."
    )
    assert to_json(promised) == {
        "kind": "PureDP",
        "epsilon": "0.5",
        "unit": "add-remove",
        "protects": {"person": "patient", "rows_each_at_most": 3},
    }
    claimed = Unproven(claim=promised, reason="Refuted.")
    assert [from_json(to_json(each)) for each in (promised, claimed)] == [promised, claimed]
    with pytest.raises(InputError, match="not a guarantee"):
        from_json({**to_json(promised), "protects": {"person": "patient", "rows_each_at_most": 0}})


def test_spends_times_the_bound_are_the_epsilon() -> None:
    promised = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE, protects=PATIENTS)
    third = Spend(label="all", epsilon=Fraction(1, 3))
    planned = Plan(guarantee=promised, spends=(third,), cells_at_most=1)
    assert Plan.from_json(planned.to_json()) == planned
    assert "times 3: 1" in str(planned)
    for wrong in (Fraction(1), Fraction("0.3333333333333333")):
        with pytest.raises(BudgetError):
            Plan(guarantee=promised, spends=(replace(third, epsilon=wrong),), cells_at_most=1)


@pytest.mark.parametrize(("method", "schema"), SCHEMAS.items())
def test_a_method_plans_for_one_row_and_promises_for_a_person(method: str, schema: Schema) -> None:
    planned = plan(schema=schema, method=method, epsilon="1")
    alone = plan(schema=without_persons(schema), method=method, epsilon="1/3")
    assert planned.spends == alone.spends
    assert planned.guarantee == PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE, protects=PATIENTS)
    assert sum((spend.total(Unit.ADD_REMOVE) for spend in planned.spends), Fraction(0)) * 3 == 1
    assert "3 times as large" in planned.notes[-1]


@pytest.mark.parametrize("schema", [SCHEMA, NUMBERS])
def test_every_method_protects_persons_or_refuses(schema: Schema) -> None:
    for method in METHODS:
        given: dict[str, Any] = {name: 2 for name in ("k",) if name in method.parameters.model_fields}
        given |= {"epsilon": "1"} if "epsilon" in method.parameters.model_fields else {}
        try:
            planned = plan_release(method, schema, method.parameters(**given))
        except InputError:
            assert method.name not in SCHEMAS or schema is not SCHEMAS[method.name]
        else:
            assert "all rows of one person" in planned.guarantee.sentence


def test_k_anonymity_of_persons_is_refused() -> None:
    with pytest.raises(InputError, match="not differentially private, so it cannot protect all rows of a person"):
        plan(schema=NUMBERS, method="mdav", k=3)


@pytest.mark.parametrize(("method", "schema"), SCHEMAS.items())
def test_the_release_states_the_epsilon_of_the_owner_and_no_person(method: str, schema: Schema) -> None:
    chosen = method_named(method)
    parameters = chosen.parameters(epsilon="1")
    planned = plan_release(chosen, schema, parameters)
    engine = engine_of(without_persons(schema), [(0,) * len(schema.attributes)] * 50)
    made = run(chosen, schema, parameters, engine, PaidNoise(), plan=planned)
    assert made.parameters["epsilon"] == "1"
    assert made.plan.guarantee == planned.guarantee
    assert made.schema.persons is None
    with pytest.raises(BudgetError, match="same persons"):
        run(chosen, without_persons(schema), parameters, engine, PaidNoise(), plan=planned)


def test_an_epsilon_that_leaves_a_row_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="rows_each_at_most"):
        plan(schema=replace(SCHEMA, rows_each_at_most=10**9), method="histograms", epsilon="0.01")


def test_perturbed_reports_share_the_epsilon_of_a_person() -> None:
    made, alone = noise_model(SCHEMA, epsilon="1"), noise_model(without_persons(SCHEMA), epsilon="1/3")
    assert made.randomizers == alone.randomizers
    assert made.guarantee == LocalDP(epsilon=Fraction(1), covers=("age", "sex", "ill"), protects=PATIENTS)
    assert from_json(to_json(made.guarantee)) == made.guarantee
    assert "all reports of one person in one table (at most 3 are used, by 'patient')" in made.guarantee.sentence
    assert made.guarantee.earlier_sentences == ()
    assert made.published.persons is None
    assert noise_from(noise_data(made)) == made
    assert "protects" not in to_json(alone.guarantee)
    with pytest.raises(InputError, match="Interval privacy says nothing about several reports"):
        noise_model(SCHEMA, privacy="50%")
    report = Perturber(made, secret=bytes(32)).perturb({"age": 3, "sex": "f", "ill": "no"})
    assert report == Perturber(alone, secret=bytes(32)).perturb({"age": 3, "sex": "f", "ill": "no"})


def test_joint_releases_refuse_persons(tmp_path: Path) -> None:
    owner = {"address": "localhost:1", "owner": True, "computes": True}
    with pytest.raises(InputError, match="joint release protects single rows"):
        write_agreement(
            tmp_path / "agreement",
            schema=SCHEMA,
            parties={name: {**owner, "address": f"localhost:{place}"} for place, name in enumerate("abc", start=4000)},
            parameters={"epsilon": "1"},
            rows_at_most=100,
        )
