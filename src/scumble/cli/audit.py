"""`scumble audit`: hold a method to the epsilon it declares, or attack a release on its owner's behalf."""

from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.auditing.audit import Finding, audit
from scumble.cli.options import Delimiter, Json, MethodName, delimiter_of, with_method_options
from scumble.cli.output import err, print_json, print_table, print_text, progress_bar
from scumble.errors import CheckError, InputError


@with_method_options
def audit_(
    *,
    method: MethodName = "diffgen",
    schema: Annotated[
        Path | None,
        typer.Option("--schema", help="Audit on this schema (default: a small one that the method serves)."),
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", help="How many runs of each table are judged; as many again look for the event.")
    ] = 10_000,
    variations: Annotated[int, typer.Option("--variations", help="How often the best pair of tables is varied.")] = 12,
    confidence: Annotated[str, typer.Option("--confidence", help="Of the bound, for the whole family.")] = "0.999",
    claims: Annotated[int, typer.Option("--claims", help="How many audits the family has.")] = 1,
    workers: Annotated[int | None, typer.Option("--workers", help="Processes (default: one for each core).")] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="A file to keep what was counted; the same command goes on from it.")
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the finding as an HTML page.")] = None,
    attacks: Annotated[
        Path | None,
        typer.Option("--attacks", metavar="DIR", help="Instead: attack this release folder, for its owner alone."),
    ] = None,
    train: Annotated[Path | None, typer.Option("--train", help="With --attacks: the rows it was made of.")] = None,
    control: Annotated[
        Path | None, typer.Option("--control", help="With --attacks: rows like them, not in it.")
    ] = None,
    delimiter: Delimiter = ",",
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Look for a violation of the declared epsilon by running the shipped code on neighbouring tables.

    Ends with exit code 4 where more is found than declared. With --attacks, shows what a release gives away about the
    people in it over what it tells about others like them.
    """
    if attacks is not None:
        _attack(attacks, train, control, delimiter_of(delimiter), json=json)
        return
    if report is not None and report.exists():
        raise InputError(f"{report} exists already and is not overwritten. Give another --report.")
    with progress_bar() as progress:
        finding = audit(
            method,
            schema=schema,
            judged=runs,
            variations=variations,
            confidence=confidence,
            claims=claims,
            workers=workers,
            state=state,
            progress=progress,
            **parameters,
        )
    if report is not None:
        from scumble.auditing.report import audit_page

        report.write_text(audit_page([finding]), encoding="utf-8")
    if json:
        print_json(finding.to_json())
    else:
        print_finding(finding)
    if finding.refuted:
        raise CheckError(f"{finding.sentence} Do not release with it; see docs/audit.md on how to read this.")


def print_finding(finding: Finding) -> None:
    print_text(finding.sentence)
    print_text(f"Tables: {finding.pair}.")
    print_text(f"Event: {finding.event}.")
    print_text(
        f"Seen {finding.hits[0]:,} and {finding.hits[1]:,} times in {finding.judged:,} judged runs of each table; "
        f"{finding.runs:,} runs in all."
    )


def _attack(folder: Path, train: Path | None, control: Path | None, delimiter: str, *, json: bool) -> None:
    if train is None or control is None:
        raise InputError("An attack compares people in the release with others. Give --train and --control.")
    from scumble.auditing.attacks import attack_release

    found = attack_release(folder, train=train, control=control, delimiter=delimiter)
    if json:
        print_json({"release": str(folder), "attacks": [attack.to_json() for attack in found]})
        return
    rows = [
        [
            attack.name,
            f"{100 * attack.in_release:.1f} %",
            f"{100 * attack.control:.1f} %",
            f"{100 * attack.gain:+.1f} %",
            f"{100 * attack.interval[0]:+.1f} to {100 * attack.interval[1]:+.1f}",
        ]
        for attack in found
    ]
    columns = ["attack", "on people in the release", "on the control group", "gain", "difference, 95 %"]
    print_table("What the release gives away about the people in it", columns, rows)
    for attack in found:
        print_text(f"{attack.name}: {attack.how}.")
    if found[0].most_allowed is not None:
        print_text(
            f"The guarantee allows a difference of at most {100 * found[0].most_allowed:.1f} points in expectation."
        )
    print_text("These figures come from your raw rows, which no guarantee covers: they are for you alone.", err)
