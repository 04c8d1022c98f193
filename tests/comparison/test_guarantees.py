"""The guarantee that a comparison prints for each contender: that of its plan, with the unit of each epsilon."""

from fractions import Fraction
from pathlib import Path

import pytest
from command_line import SCHEMA, people

from scumble.comparison.compare import Comparison, compare
from scumble.comparison.contenders import contender_of
from scumble.comparison.files import write_comparison
from scumble.comparison.guarantee_texts import guarantee_text
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import METHODS
from scumble.model.guarantee import KAnonymity, PureDP, Unit, Unproven
from scumble.model.persons import Persons

PEOPLE = parse_schema(SCHEMA)
REPLACED_TEXT = SCHEMA.replace("target:", "unit: replace\nrows: 400\ntarget:")
REPLACED = parse_schema(REPLACED_TEXT)
NUMBERS = parse_schema(
    "scumble: schema/1\nunit: replace\nrows: 400\nattributes:\n"
    "  age: {numeric: {low: 0, high: 100, step: 10}}\n  pay: {numeric: {low: 0, high: 100, step: 1}}\n"
)


@pytest.mark.parametrize(
    ("contender", "text"),
    [
        ("diffgen", "eps, no delta, under add-remove"),
        ("explore", "eps, no delta, under add-remove"),
        ("explore:delta=1e-9", "(eps, 1e-9) under add-remove"),
        ("diffp-c45", "eps, no delta, under add-remove"),
        ("raw", "no guarantee"),
        ("independent", "no guarantee"),
    ],
)
def test_each_epsilon_has_its_unit(contender: str, text: str) -> None:
    assert contender_of(contender).guarantee(PEOPLE) == text
    assert contender_of(contender).guarantee(REPLACED) == text.replace("add-remove", "replace")


def test_the_unit_of_persons_is_stated() -> None:
    persons = Persons(column="patient-id", rows_each_at_most=5)
    text = guarantee_text(PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE, protects=persons))
    assert text == "eps, no delta, under add-remove of all rows of one person, by 'patient-id'"


def test_a_refuted_claim_is_not_printed_as_a_guarantee() -> None:
    refuted, proved = (contender_of(f"{name}:k=5").guarantee(NUMBERS) for name in ("s-mdav", "i-mdav"))
    assert refuted.startswith("UNPROVEN. Claimed, not proved: eps, no delta, under replace.")
    assert "s-mdav-violation.md" in refuted
    assert proved == "eps, no delta, under replace"


def test_diversity_and_closeness_are_more_than_plain_anonymity() -> None:
    settings = ("k=5", "k=5,diversity=2", "k=5,closeness=0.2")
    plain, diverse, close = (contender_of(f"mondrian:{values}").guarantee(PEOPLE) for values in settings)
    assert plain == "NOT differentially private. 5-anonymous only: each record looks like 4 others in age, job."
    assert "at least 2 different values of 'income'" in diverse
    assert "within 0.2 of that of the whole table" in close


@pytest.mark.parametrize("schema", [PEOPLE, REPLACED, NUMBERS])
def test_the_text_of_every_method_is_that_of_its_plan(schema: object) -> None:
    stated = 0
    for method in METHODS:
        values = ":k=5" if "k" in method.parameters.model_fields else ""
        try:
            contender = contender_of(f"{method.name}{values}")
            text = contender.guarantee(schema)  # type: ignore[arg-type]
        except InputError:
            continue  # not for such tables
        epsilon = {"epsilon": "1"} if contender.private else {}
        plan = method.plan(schema, method.parameters(**epsilon, **({"k": 5} if values else {})))  # type: ignore[arg-type]
        assert text.startswith("UNPROVEN") == isinstance(plan.guarantee, Unproven)
        assert text.startswith("NOT differentially private") == isinstance(plan.guarantee, KAnonymity)
        assert contender.private == (f"under {plan.unit}" in text)
        stated += 1
    assert stated >= 8


def test_tables_of_different_units_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(people(400))
    Path("one.yaml").write_text(SCHEMA)
    Path("two.yaml").write_text(SCHEMA.replace("target:", "unit: replace\nrows: 266\ntarget:"))
    tables = ("people.csv@one.yaml", "people.csv@two.yaml")
    comparison = Comparison(
        tables=tables,
        contenders=("histograms", "raw", "s-mdav:k=5"),
        epsilons=("1",),
        splits=(0,),
        classifiers=("tree",),
    )
    result = compare(comparison, Path("cache"))
    both = f"on {tables[0]}: eps, no delta, under add-remove; on {tables[1]}: eps, no delta, under replace"
    assert result.guarantees == {"histograms": both, "raw": "no guarantee"}, "what is left out has a reason instead"
    assert write_comparison(result, Path("out"))["guarantees"]["histograms"] == both
    assert f"- histograms: {both}" in Path("out/comparison.md").read_text()
