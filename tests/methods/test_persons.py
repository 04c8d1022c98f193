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
from scumble.flows.join_plan import PlannedAgreement, prepare, write_agreement
from scumble.flows.perturb import noise_model
from scumble.flows.release import run
from scumble.joint.session.agreement import agreement_from, differing_fields
from scumble.methods import METHODS, method_named
from scumble.methods.persons import plan_release, without_persons
from scumble.model.guarantee import JointDP, LocalDP, PureDP, Unit, Unproven
from scumble.model.guarantee_json import from_json, to_json
from scumble.model.persons import Persons
from scumble.model.plan import Plan, Spend
from scumble.model.schema import Schema
from scumble.privacy.ledger import Ledger
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


def agreed(folder: Path, schema: Schema, epsilon: str = "1") -> PlannedAgreement:
    owner = {"owner": True, "computes": True}
    path = write_agreement(
        folder,
        schema=schema,
        parties={name: {**owner, "address": f"localhost:{port}"} for port, name in enumerate("abc", start=4000)},
        parameters={"epsilon": epsilon},
        rows_at_most=100,
    )
    return prepare(path)


def test_joint_releases_protect_the_persons_of_one_owner(tmp_path: Path) -> None:
    joint = agreed(tmp_path / "persons", SCHEMA)
    alone = agreed(tmp_path / "rows", without_persons(SCHEMA), "1/3")
    assert joint.plan.spends == alone.plan.spends
    stated, one_row = joint.plan.guarantee, alone.plan.guarantee
    assert isinstance(stated, JointDP) and isinstance(one_row, JointDP)
    assert (stated.epsilon, stated.protects, one_row.protects) == (1, PATIENTS, None)
    assert stated.delta == 6 * one_row.delta, "1 + e^(1/3) + e^(2/3) is less than 6"
    assert (
        "one person at one data owner (at most 3 are used there, by 'patient') are added or removed" in stated.sentence
    )
    assert "For a person with rows at several owners, the epsilons add up." in stated.sentence
    assert from_json(to_json(stated)) == stated
    assert "protects" not in to_json(one_row)
    assert any("owners do not compare ids" in note for note in joint.plan.notes)
    assert Plan.from_json(joint.plan.to_json()).guarantee == stated


def test_persons_are_part_of_the_agreement(tmp_path: Path) -> None:
    first = agreed(tmp_path / "first", SCHEMA).agreement
    table = first.table
    fields = agreement_from({**first.model_dump(mode="json", by_alias=True), "schema": table}).fields()
    for key, other in (("person", "visitor"), ("rows_each_at_most", 4)):
        changed = agreement_from({**first.model_dump(mode="json", by_alias=True), "schema": {**table, key: other}})
        assert differing_fields(fields, changed.fields()) == [f"schema > {key}"]
        assert changed.digest != first.digest


def test_a_joint_epsilon_with_a_large_delta_is_refused(tmp_path: Path) -> None:
    for epsilon in ("40", "900"):
        with pytest.raises(InputError, match=r"delta would be about 10\^.*`rows_each_at_most`"):
            agreed(tmp_path / "agreed", SCHEMA, epsilon)
    assert agreed(tmp_path / "rows", without_persons(SCHEMA), "40").plan.rows_each_at_most == 1


def test_an_account_that_can_never_accept_a_guarantee_is_found_before_the_charge(tmp_path: Path) -> None:
    persons, rows = (
        agreed(tmp_path / name, schema) for name, schema in (("p", SCHEMA), ("r", without_persons(SCHEMA)))
    )
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        for joint in (persons, rows):
            ledger.check_account(dataset="new", unit=Unit.ADD_REMOVE, guarantee=joint.plan.guarantee)
        receipt = ledger.reserve(
            dataset="visits", unit=Unit.ADD_REMOVE, guarantee=persons.plan.guarantee, method="diffgen", spends=[]
        )
        assert receipt.charged == 1
        before = ledger.datasets()
        ledger.check_account(dataset="visits", unit=Unit.ADD_REMOVE, guarantee=persons.plan.guarantee)
        with pytest.raises(InputError, match="account protects persons by the column 'patient'"):
            ledger.check_account(dataset="visits", unit=Unit.ADD_REMOVE, guarantee=rows.plan.guarantee)
        assert ledger.datasets() == before
        ledger.verify()
