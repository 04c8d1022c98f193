"""Parameters are importable, immutable and keyword-only, and identify their method."""

import ast
import inspect
import sys
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import ValidationError

import scumble
from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods import (
    IMDAV,
    MDAV,
    METHODS,
    SMDAV,
    TDS,
    Barak,
    Contingency,
    DiffGen,
    DiffPC45,
    Explore,
    Hay,
    Histograms,
    Microaggregate,
    Mondrian,
    Params,
    Plain,
    Privelet,
    method_and_parameters,
    method_named,
)
from scumble.model.budget import Budget

SCHEMA = parse_schema(
    """
scumble: schema/1
target: ill
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  ill: {classes: ["no", "yes"]}
"""
)
VALUES: list[tuple[Params, str]] = [
    (DiffGen(epsilon="1", rounds=3), "diffgen"),
    (Histograms(epsilon="1"), "histograms"),
    (Explore(epsilon="1"), "explore"),
    (Microaggregate(epsilon="1"), "microaggregate"),
    (MDAV(k=3), "mdav"),
    (IMDAV(k=3, epsilon="1"), "i-mdav"),
    (SMDAV(k=3, epsilon="1"), "s-mdav"),
    (Plain(epsilon="1"), "plain"),
    (Contingency(epsilon="1", attributes=("age",), bins=4), "contingency"),
    (DiffPC45(epsilon="1", depth=3), "diffp-c45"),
    (Hay(epsilon="1", branching=3), "hay"),
    (Mondrian(k=3), "mondrian"),
    (TDS(k=3), "tds"),
    (Privelet(epsilon="1", bins=4, wavelets="all"), "privelet"),
    (Barak(epsilon="1", marginals=(("age", "ill"),), bins=4), "barak"),
]


@pytest.mark.parametrize(("value", "name"), VALUES, ids=[name for _, name in VALUES])
def test_parameters_identify_their_method_and_round_trip(value: Params, name: str) -> None:
    assert method_and_parameters(value, {}) == (method_named(name), value)
    assert eval(repr(value)) == value  # noqa: S307 - our own repr, made two lines up
    given = value.model_dump(mode="json", exclude_unset=True)
    assert method_and_parameters(name, given) == (method_named(name), value)
    assert type(value).method_name == name
    with pytest.raises(ValidationError, match="frozen"):
        value.epsilon = Fraction(9)  # type: ignore[attr-defined]


def test_every_method_has_parameters() -> None:
    assert [method.name for method in METHODS] == [name for _, name in VALUES]
    assert len({method.parameters for method in METHODS}) == len(METHODS)


def test_invalid_parameters_are_refused_on_construction() -> None:
    for wrong in ({}, {"epsilon": "0"}, {"epsilon": "1", "roundz": 3}, {"epsilon": "1", "rounds": 0}):
        with pytest.raises(InputError, match=r"^diffgen: "):
            DiffGen(**wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        DiffGen("1")  # type: ignore[misc]


def test_release_and_plan_take_a_parameters_object_or_keywords_but_not_both(tmp_path: Path) -> None:
    chosen = DiffGen(epsilon="1", rounds=2)
    assert scumble.plan(schema=SCHEMA, method=chosen) == scumble.plan(schema=SCHEMA, epsilon="1", rounds=2)
    table = tmp_path / "people.csv"
    table.write_text("age,ill\n" + "3,no\n5,yes\n" * 20, encoding="utf-8")
    options: dict[str, Any] = {"schema": SCHEMA, "out": tmp_path / "out", "ledger": tmp_path / "ledger.db"}
    made = scumble.release(table, method=chosen, **options)
    assert made.release.parameters == chosen.model_dump(mode="json")
    for verb in (scumble.plan, lambda **given: scumble.release(table, **{**options, **given})):
        with pytest.raises(InputError, match="in one form only"):
            verb(schema=SCHEMA, method=chosen, epsilon="1")


def _accepted(annotation: Any) -> set[object]:
    """What a field accepts: types, and the values of literals; a budget in any form, an enum also by its text."""
    if get_origin(annotation) is Annotated:
        return _accepted(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return set().union(*map(_accepted, get_args(annotation)))
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    if annotation is Fraction:
        return set(get_args(Budget))
    if issubclass(annotation, Enum):
        return {annotation, *(member.value for member in annotation)}
    return {annotation}


@pytest.mark.parametrize("kind", [type(value) for value, _ in VALUES])
def test_type_checkers_see_the_fields(kind: type[Params]) -> None:
    """The signature under TYPE_CHECKING names every field, accepts its values, and has a default where it has."""
    stating, block = next(
        (each, part)
        for each in kind.__mro__[: kind.__mro__.index(Params)]
        for part in ast.walk(ast.parse(inspect.getsource(each)))
        if isinstance(part, ast.If)
    )
    (signature,) = block.body
    assert isinstance(signature, ast.FunctionDef)
    assert signature.name == "__init__"
    assert [argument.arg for argument in signature.args.args] == ["self"]
    known = vars(sys.modules[stating.__module__])
    stated = {
        argument.arg: (_accepted(eval(ast.unparse(argument.annotation), known)), default is None)  # noqa: S307
        for argument, default in zip(signature.args.kwonlyargs, signature.args.kw_defaults, strict=True)
        if argument.annotation is not None
    }
    fields = {name: (_accepted(field.annotation), field.is_required()) for name, field in kind.model_fields.items()}
    assert stated == fields


class Unknown(Params):
    """Parameters that belong to no method."""


def test_parameters_of_no_method_are_refused() -> None:
    with pytest.raises(InputError, match=r"Unknown are not .* Available: DiffGen, "):
        method_and_parameters(Unknown(), {})
    with pytest.raises(InputError, match=r"Unknown method 'x'. Available: diffgen, "):
        method_and_parameters("x", {})
