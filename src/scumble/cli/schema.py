"""`scumble schema`: draft, check, edit, roles, confirm, format, hierarchy."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import TABLE, Json, with_csv_options
from scumble.cli.output import err, out, print_json, print_lines, print_readings, print_table, print_text
from scumble.cli.schema_edit import (
    ExactRows,
    Identifiers,
    Person,
    RowsAtMost,
    RowsEach,
    TargetColumn,
    UnitOfPrivacy,
    edit,
    roles,
    unit_named,
)
from scumble.errors import InputError
from scumble.files.hierarchy_file import write_hierarchy
from scumble.files.schema_attribute import REASON
from scumble.files.schema_confirm import check_unconfirmed, confirm_domains
from scumble.files.schema_draft import DRAFT_HEADING
from scumble.files.schema_file import json_schema, read_schema
from scumble.flows.check_rows import PRIVATE, RowsCheck, check_rows
from scumble.flows.draft import draft_of
from scumble.flows.person_rows import PersonRows
from scumble.flows.plan import refuse_doubtful
from scumble.flows.row_proposals import proposal_heading, propose
from scumble.flows.schema_roles import ColumnRoles
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Tree
from scumble.sources import CSVSource, Dialect, check_columns, check_dialect, open_source, readings
from scumble.sources.addresses import shown_address

schema_app = typer.Typer(help="Draft, check, edit and convert schema files.", no_args_is_help=True)
schema_app.command()(edit)
schema_app.command()(roles)


@schema_app.command()
@with_csv_options
def draft(
    *,
    data: Annotated[str, typer.Argument(help=TABLE, show_default=False)],
    target: TargetColumn = None,
    identifier: Identifiers = None,
    person: Person = None,
    rows_each_at_most: RowsEach = None,
    rows_at_most: RowsAtMost = None,
    unit: UnitOfPrivacy = None,
    rows: ExactRows = None,
    to: Annotated[Path | None, typer.Option("--out", help="Where to write it (default: standard output).")] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Draft a schema from a table. Every domain in the draft is marked unconfirmed and must be edited."""
    stated = ColumnRoles(
        target=target,
        identifiers=identifier or (),
        person=person,
        rows_each_at_most=rows_each_at_most,
        rows_at_most=rows_at_most,
        unit=unit_named(unit),
        rows=rows,
    )
    source = open_source(data, dialect=dialect)
    check_dialect(dialect, source)
    note = " ".join(readings(source))
    if target is not None and target not in source.columns():
        hint = source.delimiter_hint([target]) if isinstance(source, CSVSource) else None
        advice = hint or "Give --target a name from the header."
        raise InputError(f"{shown_address(data)} has no column {target!r}. {advice} {note}".rstrip())
    text = draft_of(source, roles=stated).text(f"{DRAFT_HEADING}\n{note}".rstrip())
    if to is not None:
        if to.exists():
            raise InputError(f"{to} exists already and is not overwritten. Give another --out.")
        to.write_text(text, encoding="utf-8")
    if json:
        separator = source.header.delimiter if isinstance(source, CSVSource) else None
        print_json({"schema": None if to is None else str(to), "text": text, "delimiter": separator})
    elif to is None:
        print_lines(text)
    else:
        if note:
            print_text(note, err)
        print_text(
            f"{to} is a draft. Replace every domain by public knowledge, then state why each is public with `scumble "
            f"schema confirm {to}`.",
            err,
        )


@schema_app.command()
@with_csv_options
def check(
    *,
    schema: Annotated[Path, typer.Argument(help="The schema file.", show_default=False)],
    data: Annotated[
        str | None, typer.Argument(help="A table whose header is checked against the schema.", show_default=False)
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Also read the rows and report, for you only, how they fit the schema.")
    ] = False,
    proposal: Annotated[
        Path | None,
        typer.Option("--propose", help="With --rows: write a schema with proposals into this file. It is private."),
    ] = None,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Check a schema file and, optionally, the header of a table. Rows are read only with --rows."""
    public = read_schema(schema)
    refuse_doubtful(public)
    if rows and data is None:
        raise InputError("`--rows` reads the rows of a table, and none was given. Name it: schema check SCHEMA DATA.")
    if proposal is not None and not rows:
        raise InputError("`--propose` needs the rows. Pass --rows as well.")
    if proposal is not None and proposal.exists():
        raise InputError(f"{proposal} exists already and is not overwritten. Give another --propose.")
    if data is not None:
        source = open_source(data, dialect=dialect)
        check_dialect(dialect, source)
        check_columns(source, public.columns_read, person=public.person)
    checked = check_rows(public, data, **asdict(dialect)) if data is not None and rows else None
    proposed = None if checked is None or proposal is None else propose(public, checked)
    if proposal is not None and checked is not None and proposed is not None:
        proposal.write_text(proposed.text(proposal_heading(checked)), encoding="utf-8")
    print_readings(dialect, data)
    unconfirmed = [attribute.name for attribute in public.attributes if attribute.unconfirmed]
    unexplained = [each.name for each in public.attributes if not each.unconfirmed and each.public_because is None]
    if json:
        sizes = {attribute.name: attribute.domain.size for attribute in public.attributes}
        found: dict[str, Any] = {} if checked is None else {"rows": checked.to_json()}
        if proposal is not None:
            found["proposal"] = None if proposed is None else str(proposal)
        print_json(
            {
                "schema": str(schema),
                "unit": public.unit.value,
                **({} if public.persons is None else public.persons.to_json()),
                "values": sizes,
                "unconfirmed": unconfirmed,
                "without_reason": unexplained,
                **found,
            }
        )
        return
    lines = []
    for attribute in public.attributes:
        kind = "class" if attribute.name == public.target else attribute.kind
        lines.append([attribute.name, kind, f"{attribute.domain.size:,}", attribute.outside.value])
    bound = public.persons
    person = "" if bound is None else f", person {bound.column!r}, at most {bound.rows_each_at_most} rows each"
    print_table(f"{schema}, unit {public.unit.value}{person}", ["attribute", "kind", "values", "outside"], lines)
    if unconfirmed:
        print_text(
            f"Unconfirmed, so not ready for a release: {', '.join(unconfirmed)}. Confirm with `scumble schema confirm`."
        )
    if unexplained:
        print_text(
            f"Without a reason why the domain is public: {', '.join(unexplained)}. Recommended: `{REASON}: ...`."
        )
    if checked is not None:
        print_rows_check(checked)
    if proposal is not None and proposed is None:
        out.print(f"There is nothing to propose, so {proposal} was not written.")
    elif proposed is not None:
        print_text(
            f"PRIVATE: {proposal} proposes other domains for {', '.join(proposed.comments)}, derived from the rows. "
            "Keep only what is public knowledge, then confirm it with `scumble schema confirm`."
        )


@schema_app.command()
def confirm(
    *,
    schema: Annotated[Path, typer.Argument(help="The schema file.", show_default=False)],
    attributes: Annotated[
        list[str] | None, typer.Argument(help="Attributes to confirm (default: ask for each).", show_default=False)
    ] = None,
    because: Annotated[
        str | None, typer.Option("--because", help="Why the domains are public. It is published with every release.")
    ] = None,
    json: Json = False,
) -> None:
    """Confirm that drafted domains are public knowledge, with a reason for each. Only these entries are edited."""
    public = read_schema(schema)
    if because is not None and not attributes:
        raise InputError("--because is the reason for named attributes. Name them: schema confirm SCHEMA ATTRIBUTE ...")
    waiting = [attribute.name for attribute in public.attributes if attribute.unconfirmed]
    names = list(dict.fromkeys(attributes or waiting))
    check_unconfirmed(public, names)
    if because is not None:
        reasons = dict.fromkeys(names, because)
        confirm_domains(schema, reasons)
    elif json:
        raise InputError("With --json no question is asked. Name the attributes, and give --because.")
    else:
        reasons = {}
        for name in names:
            if reason := _asked_reason(public[name]):
                confirm_domains(schema, {name: reason})  # at once, so that no answer is lost if the next is not given
                reasons[name] = reason
    left = [name for name in waiting if name not in reasons]
    if json:
        print_json({"schema": str(schema), "confirmed": reasons, "unconfirmed": left})
        return
    for name in reasons:
        print_text(f"{name}: confirmed.")
    print_text(f"Still unconfirmed: {', '.join(left)}." if left else f"{schema} has no unconfirmed domain.")


def _asked_reason(attribute: Attribute) -> str:
    """Ask why a domain is public. An empty answer leaves it unconfirmed."""
    print_text(f"{attribute.name}: {attribute.domain_text}", err)
    err.print("Why is this public knowledge, whoever is in the table? (Enter: leave it unconfirmed)", end=" ")
    try:
        return input().strip()
    except EOFError:
        raise typer.Abort from None


def print_rows_check(checked: RowsCheck) -> None:
    """Print how rows fit their schema, marked as private."""
    out.print()
    print_text(f"PRIVATE. {PRIVATE}")
    rows = []
    for each in checked.attributes:
        common = ", ".join(f"{value.text!r} x {value.times:,}" for value in each.commonest)
        numbers = (each.missing, each.unknown, each.unreadable, each.outside, each.clamped, each.dropped)
        rows.append([each.name, *(f"{number:,}" if number else "-" for number in numbers), common])
    heads = ["attribute", "missing", "unknown", "not a number", "out of range", "clamped", "drops rows", "commonest"]
    print_table(f"{checked.rows:,} rows; {_remaining_text(checked)}", heads, rows)
    if checked.unused_columns:
        print_text(
            f"Columns that the schema does not name, and a release never reads: {', '.join(checked.unused_columns)}."
        )
    if checked.persons is not None:
        print_person_rows(checked.persons)
    for line in checked.advice:
        print_text(f"  {line}")
    if not checked.advice:
        out.print("  Every value fits.")


def _remaining_text(checked: RowsCheck) -> str:
    """How many rows a release would use. Which rows a bound leaves out is not known here, nor how many of these fit."""
    people = checked.persons
    left_out = 0 if people is None else people.left_out[people.rows_each_at_most]
    if people is None or not left_out or not checked.dropped:
        return f"{checked.kept - left_out:,} would remain"
    return f"{checked.kept:,} would remain before `rows_each_at_most: {people.rows_each_at_most}`"


def print_person_rows(people: PersonRows) -> None:
    """Print how many rows each bound on the rows of a person would leave out."""
    rows = [
        [f"{bound} (the schema's)" if bound == people.rows_each_at_most else str(bound), f"{left_out:,}", share]
        for bound, left_out in people.left_out.items()
        for share in [f"{100 * left_out / people.rows:.1f} %" if people.rows else "-"]
    ]
    heading = f"{people.persons:,} persons by {people.column!r}, with up to {people.most_rows:,} rows each"
    if people.rows_without_id:
        heading += f"; {people.rows_without_id:,} without an id"
    print_table(heading, ["rows each at most", "rows left out", "share"], rows)


@schema_app.command("format")
def format_(*, json: Json = True) -> None:
    """Print the format of schema files as a JSON Schema."""
    del json
    print_json(json_schema())


@schema_app.command()
def hierarchy(
    *,
    schema: Annotated[Path, typer.Argument(help="The schema file.", show_default=False)],
    attribute: Annotated[str, typer.Argument(help="An attribute with a taxonomy.", show_default=False)],
    to: Annotated[Path, typer.Option("--out", help="The CSV file to write.", show_default=False)],
    json: Json = False,
) -> None:
    """Write an attribute's taxonomy as a hierarchy in ARX's CSV format."""
    domain = read_schema(schema)[attribute].domain
    if not isinstance(domain, Tree):
        raise InputError(f"{attribute!r} is numeric and has no taxonomy. Name an attribute with a `taxonomy`.")
    if to.exists():
        raise InputError(f"{to} exists already and is not overwritten. Give another --out.")
    write_hierarchy(Tree.nested(domain.finest.to_nested()), to)
    if json:
        print_json({"hierarchy": str(to), "leaves": domain.size})
    else:
        out.print(f"{to}: {domain.size} leaves.")
