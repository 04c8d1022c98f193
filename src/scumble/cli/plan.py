"""`scumble plan`: the cost of a release."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble.cli.options import Json, LedgerFile, SchemaFile, UsualMethod, WitnessFile, with_method_options
from scumble.cli.output import print_advice, print_guarantee, print_json, print_table, print_text, progress_bar
from scumble.errors import InputError
from scumble.flows.plan import plan as plan_release
from scumble.flows.plan import schema_of
from scumble.methods import usual_method
from scumble.model.guarantee import ApproxDP, PureDP, Unit
from scumble.model.plan import Plan

if TYPE_CHECKING:
    from scumble.comparison.wanted_accuracy import WantedBudget


@with_method_options
def plan(
    *,
    schema: SchemaFile,
    method: UsualMethod = None,
    wanted_accuracy: Annotated[
        str | None,
        typer.Option("--wanted-accuracy", help="Find the epsilon for this accuracy, such as 84%, with --like."),
    ] = None,
    like: Annotated[
        str | None, typer.Option("--like", help="With --wanted-accuracy: a public table of the same shape.")
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """What a release would cost, spend by spend. It reads no data; the table need not exist yet."""
    if (wanted_accuracy is None) != (like is None):
        raise InputError("--wanted-accuracy and --like belong together: the accuracy, and a public table to try it on.")
    if wanted_accuracy is not None and like is not None:
        found = _budget(schema, like, wanted_accuracy, method, parameters, ledger, witness)
        if json:
            print_json(found.to_json())
            return
        print_budget(found, like)
        if found.epsilon is None:
            return
        parameters = {**parameters, "epsilon": found.epsilon}
    planned = plan_release(schema=schema, method=method, **parameters)
    if json:
        print_json({"method": method or usual_method(schema_of(schema)), **planned.to_json()})
    else:
        print_plan(planned)
    print_advice(planned.guarantee)


def _budget(
    schema: Path,
    like: str,
    wanted: str,
    method: str | None,
    parameters: dict[str, Any],
    ledger: Path | None,
    witness: Path | None,
) -> "WantedBudget":
    # scikit-learn takes a second to import; a plan does not need it.
    from scumble.comparison.wanted_accuracy import budget_for_accuracy, share_of

    share = share_of(wanted)
    with progress_bar() as progress:
        return budget_for_accuracy(
            schema,
            like,
            share,
            method=method,
            parameters=parameters,
            ledger=ledger,
            witness=witness,
            progress=progress,
        )


def print_budget(found: "WantedBudget", like: str) -> None:
    """Print the accuracy at every epsilon that was tried, and the smallest that is enough."""
    rows = [
        [each.epsilon, f"{100 * each.accuracy:.1f} %", "-" if each.band is None else f"± {100 * each.band:.1f}"]
        for each in found.sweep
    ]
    print_table(f"Pruned tree on releases of {like}", ["epsilon", "accuracy", "95 % band"], rows)
    if found.epsilon is None:
        print_text(f"No epsilon that was tried reaches {100 * found.wanted:.1f} % on this table.")
    else:
        print_text(f"{100 * found.wanted:.1f} % needs epsilon {found.epsilon} on this table. Nothing was charged.")


def print_plan(planned: Plan) -> None:
    """Print the spends of a plan, its notes and its guarantee."""
    (spends,) = planned.summary.listings
    print_table("The plan", spends.columns, spends.complete)
    for note in planned.notes:
        print_text(note)
    print_guarantee(planned.guarantee)
    if isinstance(planned.guarantee, PureDP | ApproxDP) and planned.unit is Unit.ADD_REMOVE:
        changed = "record is" if planned.guarantee.protects is None else "rows are"
        delta = " and the delta 1 + e^epsilon times" if isinstance(planned.guarantee, ApproxDP) else ""
        print_text(f"For a person whose {changed} changed instead, the epsilon is twice{delta} that.")
