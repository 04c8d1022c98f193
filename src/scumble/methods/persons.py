"""Plans and runs a method for persons with several rows: the only place where a person's epsilon becomes a row's.

A method knows single rows only. Where the schema names persons with up to k rows each, the method plans and runs with
eps / k, which is exact because budgets are fractions. By group privacy the release is then eps-differentially private
for a person, as long as the engine keeps at most k rows of each (`scumble.engines.contributions`). With a delta, a rho
for one row is k^2 rho for k rows, so the method gets the largest epsilon whose rho is within that of the person divided
by k^2. Without persons, these functions are `Method.plan` and `Method.run`.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from scumble.errors import BudgetError, InputError
from scumble.methods.method import Method, Params
from scumble.model.budget import parse_budget
from scumble.model.guarantee import ApproxDP, PureDP, Unproven, persons_of
from scumble.model.persons import Persons
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.zcdp import epsilon_within, rho_within
from scumble.privacy.holder import Holder


def plan_release(method: Method, schema: Schema, parameters: Params) -> Plan:
    """The plan of a release. Its spends are prices for one row; its guarantee is that of a person, if the schema names
    persons. Raises `InputError` if the method does not support the schema."""
    persons = schema.persons
    if persons is None:
        return method.plan(schema, parameters)
    planned = method.plan(without_persons(schema), _for_one_row(method, persons, parameters))
    match planned.guarantee:
        case PureDP():
            guarantee: PureDP | ApproxDP | Unproven = _for_persons(planned.guarantee, persons)
        case ApproxDP():
            guarantee = replace(planned.guarantee, epsilon=_epsilon(method, parameters), protects=persons)
        case Unproven(claim=claim):
            guarantee = replace(planned.guarantee, claim=_for_persons(claim, persons))
        case _:
            raise _unsupported(method)
    return replace(planned, guarantee=guarantee, notes=(*planned.notes, _note(persons, guarantee)))


def run_release(method: Method, schema: Schema, parameters: Params, holder: Holder) -> Release:
    """Run a method on a holder whose plan is that of `plan_release`. The release states the parameters as given."""
    if persons_of(holder.plan.guarantee) != schema.persons:
        raise BudgetError("The plan and the schema do not protect the same persons. No answer was released.")
    if schema.persons is None:
        return method.run(schema, parameters, holder)
    made = method.run(without_persons(schema), _for_one_row(method, schema.persons, parameters), holder)
    return replace(made, parameters=_stated(parameters))


def without_persons(schema: Schema) -> Schema:
    """The schema of single rows: what a method knows, and what is published."""
    return replace(schema, person=None, rows_each_at_most=None)


def refuse_persons(schema: Schema, what: str) -> None:
    """Refuse a schema with `person:` where only single rows can be protected."""
    if schema.persons is not None:
        raise InputError(
            f"{what} protects single rows, and the schema names persons with several. Remove `person` and "
            "`rows_each_at_most` from the schema, or use `scumble release`. Nothing was charged."
        )


def _for_one_row(method: Method, persons: Persons, parameters: Params) -> Params:
    epsilon, rows = _epsilon(method, parameters), persons.rows_each_at_most
    delta: Fraction | None = getattr(parameters, "delta", None)
    row = epsilon / rows if delta is None or rows == 1 else epsilon_within(rho_within(epsilon, delta) / rows**2, delta)
    row = parse_budget(row, name="epsilon divided by `rows_each_at_most`")
    return parameters.model_copy(update={"epsilon": row})


def _epsilon(method: Method, parameters: Params) -> Fraction:
    epsilon: Fraction | None = getattr(parameters, "epsilon", None)
    if epsilon is None:
        raise _unsupported(method)
    return epsilon


def _unsupported(method: Method) -> InputError:
    return InputError(
        f"{method.name} is not differentially private, so it cannot protect all rows of a person together. Choose a "
        "method with an epsilon, such as diffgen, or remove `person` from the schema."
    )


def _for_persons(guarantee: PureDP, persons: Persons) -> PureDP:
    return replace(guarantee, epsilon=guarantee.epsilon * persons.rows_each_at_most, protects=persons)


def _note(persons: Persons, guarantee: PureDP | ApproxDP | Unproven) -> str:
    rows = persons.rows_each_at_most
    if rows == 1:
        return "One row of each person is used; all others are left out."
    share = f"epsilon divided by {rows}"
    if isinstance(guarantee, ApproxDP):
        share = f"rho divided by {rows**2}, the square of the rows"
    return (
        f"At most {rows} rows of each person are used; rows beyond that are left out. The noise is {rows} times as "
        f"large as with one row a person: each row is planned with {share}."
    )


def _stated(parameters: Params) -> Mapping[str, Any]:
    return parameters.model_dump(mode="json")
