"""`scumble plan`: the cost of a release."""

from typing import Any

from scumble.cli.options import Json, SchemaFile, UsualMethod, with_method_options
from scumble.cli.output import print_json, print_table, print_text
from scumble.flows.plan import plan as plan_release
from scumble.flows.plan import schema_of
from scumble.methods import usual_method
from scumble.model.guarantee import ApproxDP, PureDP, Unit
from scumble.model.plan import Plan


@with_method_options
def plan(*, schema: SchemaFile, method: UsualMethod = None, json: Json = False, parameters: dict[str, Any]) -> None:
    """What a release would cost, spend by spend. It reads no data; the table need not exist yet."""
    planned = plan_release(schema=schema, method=method, **parameters)
    if json:
        print_json({"method": method or usual_method(schema_of(schema)), **planned.to_json()})
    else:
        print_plan(planned)


def print_plan(planned: Plan) -> None:
    """Print the spends of a plan, its notes and its guarantee."""
    (spends,) = planned.summary.listings
    print_table("The plan", spends.columns, spends.complete)
    for note in planned.notes:
        print_text(note)
    print_text(f"Guarantee: {planned.guarantee.sentence}")
    if isinstance(planned.guarantee, PureDP | ApproxDP) and planned.unit is Unit.ADD_REMOVE:
        changed = "record is" if planned.guarantee.protects is None else "rows are"
        delta = " and the delta 1 + e^epsilon times" if isinstance(planned.guarantee, ApproxDP) else ""
        print_text(f"For a person whose {changed} changed instead, the epsilon is twice{delta} that.")
