"""`scumble plan`: the cost of a release."""

from fractions import Fraction
from typing import Any

from scumble.cli.options import Json, MethodName, SchemaFile, with_method_options
from scumble.cli.output import print_json, print_table, print_text
from scumble.flows.plan import plan as plan_release
from scumble.model.budget import budget_text
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan


@with_method_options
def plan(*, schema: SchemaFile, method: MethodName = "diffgen", json: Json = False, parameters: dict[str, Any]) -> None:
    """What a release would cost, spend by spend. It reads no data; the table need not exist yet."""
    planned = plan_release(schema=schema, method=method, **parameters)
    if json:
        print_json({"method": method, **planned.to_json()})
    else:
        print_plan(planned)


def print_plan(planned: Plan) -> None:
    """Print the spends of a plan, its notes and its guarantee."""
    unit = planned.unit
    rows = [
        [
            str(number),
            spend.label,
            budget_text(spend.epsilon),
            str(spend.times),
            budget_text(spend.total(unit)),
            spend.purpose,
        ]
        for number, spend in enumerate(planned.spends, start=1)
    ]
    total = budget_text(sum((spend.total(unit) for spend in planned.spends), Fraction(0)))
    rows.append(["", "all together", "", "", total, f"unit: {unit.value}"])
    print_table("The plan", ["", "spend", "epsilon", "times", "total", "for"], rows)
    for note in planned.notes:
        print_text(note)
    print_text(f"Guarantee: {planned.guarantee.sentence}")
    if isinstance(planned.guarantee, PureDP) and unit is Unit.ADD_REMOVE:
        print_text("For a person whose record is changed instead, the epsilon is twice that.")
