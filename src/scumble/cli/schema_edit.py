"""`scumble schema edit` and `scumble schema roles`: changes of a schema file, one at a time."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.options import Json, choice
from scumble.cli.output import print_json, print_text
from scumble.errors import InputError
from scumble.flows.schema_edit import edit_domain, import_hierarchy, set_domain_text, set_roles, state_reason
from scumble.flows.schema_roles import ColumnRoles
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.model.taxonomy_edits import add_node, group_nodes, move_node, remove_node, rename_node

SchemaArgument = Annotated[Path, typer.Argument(help="The schema file.", show_default=False)]

TargetColumn = Annotated[str | None, typer.Option("--target", help="The class to predict (default: none).")]
Identifiers = Annotated[
    list[str] | None, typer.Option("--identifier", help="A column that is never published (repeatable).")
]
Person = Annotated[
    str | None, typer.Option("--person", help="The column that identifies persons (default: one row is a person).")
]
RowsEach = Annotated[
    int | None, typer.Option("--rows-each-at-most", help="With --person: how many rows of each are used.")
]
RowsAtMost = Annotated[int | None, typer.Option("--rows-at-most", help="A public upper bound on the number of rows.")]
UnitOfPrivacy = Annotated[
    str | None, choice(list(Unit), "--unit", help=f"The unit of privacy: {' or '.join(Unit)} (default: unchanged).")
]
ExactRows = Annotated[
    int | None, typer.Option("--rows", help="With --unit replace: the exact number of rows, which is then public.")
]


def edit(
    *,
    schema: SchemaArgument,
    attribute: Annotated[str, typer.Argument(help="The attribute to change.", show_default=False)],
    add: Annotated[
        tuple[str, str] | None, typer.Option("--add", metavar="LABEL PARENT", help="Add a value below a node.")
    ] = None,
    rename: Annotated[
        tuple[str, str] | None, typer.Option("--rename", metavar="LABEL NEW", help="Give a node another name.")
    ] = None,
    move: Annotated[
        tuple[str, str] | None, typer.Option("--move", metavar="LABEL PARENT", help="Move a node below another one.")
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="NAME", help="Put the values of --values below a new node.")
    ] = None,
    values: Annotated[list[str] | None, typer.Option("--values", help="A value of the group (repeatable).")] = None,
    remove: Annotated[
        str | None, typer.Option("--remove", metavar="LABEL", help="Remove a node. Its children move up.")
    ] = None,
    hierarchy: Annotated[
        str | None, typer.Option("--hierarchy", metavar="FILE", help="Import a taxonomy in ARX's CSV format.")
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option("--domain", metavar="YAML", help="The whole domain, such as 'ordered: [low, middle, high]'."),
    ] = None,
    because: Annotated[str | None, typer.Option("--because", help="State why the domain is public.")] = None,
    json: Json = False,
) -> None:
    """Change the domain of one attribute. It must then be confirmed again with `scumble schema confirm`."""
    changes: list[Callable[[], Schema]] = []
    for function, words in ((add_node, add), (rename_node, rename), (move_node, move)):
        if words is not None:
            changes.append(partial(edit_domain, schema, attribute, partial(_applied, function, words)))
    if group is not None:
        changes.append(lambda: edit_domain(schema, attribute, lambda tree: group_nodes(tree, values or [], group)))
    if remove is not None:
        changes.append(lambda: edit_domain(schema, attribute, lambda tree: remove_node(tree, remove)))
    if hierarchy is not None:
        changes.append(lambda: import_hierarchy(schema, attribute, hierarchy))
    if domain is not None:
        changes.append(lambda: set_domain_text(schema, attribute, domain))
    if because is not None:
        changes.append(lambda: state_reason(schema, attribute, because))
    if len(changes) != 1:
        raise InputError("Make one change at a time, with one of the options of this command.")
    changed = changes[0]()[attribute]
    if json:
        print_json(
            {
                "schema": str(schema),
                "attribute": attribute,
                "domain": changed.domain_text,
                "unconfirmed": changed.unconfirmed,
            }
        )
    elif not changed.unconfirmed:
        print_text(f"{attribute}: {changed.domain_text}, public because: {changed.public_because}.")
    else:
        print_text(f"{attribute}: {changed.domain_text}. State why it is public: `scumble schema confirm {schema}`.")


def roles(
    *,
    schema: SchemaArgument,
    target: TargetColumn = None,
    identifier: Identifiers = None,
    person: Person = None,
    rows_each_at_most: RowsEach = None,
    rows_at_most: RowsAtMost = None,
    unit: UnitOfPrivacy = None,
    rows: ExactRows = None,
    json: Json = False,
) -> None:
    """State the roles of all columns: the class, the identifiers, the column of persons; and the unit of privacy.

    The domain of a column that becomes an identifier or identifies persons is removed.
    """
    stated = ColumnRoles(
        target=target,
        identifiers=identifier or (),
        person=person,
        rows_each_at_most=rows_each_at_most,
        rows_at_most=rows_at_most,
        unit=unit_named(unit),
        rows=rows,
    )
    changed = set_roles(schema, stated)
    if json:
        printed = {"target": changed.target, "identifiers": list(changed.identifiers), "person": changed.person}
        print_json({"schema": str(schema), **printed, "unit": changed.unit.value, "rows": changed.rows})
    else:
        print_text(f"{schema}: {changed.summary.size}.")


def unit_named(name: str | None) -> Unit | None:
    """A unit of privacy by its name. Raises `InputError` if there is none."""
    if name is not None and name not in list(Unit):
        raise InputError(f"Unknown unit {name!r}. Available: {', '.join(Unit)}.")
    return None if name is None else Unit(name)


def _applied(function: Callable[[Tree, str, str], Tree], words: tuple[str, str], tree: Tree) -> Tree:
    return function(tree, *words)
