"""`scumble audit`: compute a lower bound on a method's epsilon, or attack a release on behalf of its owner."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble.auditing.audit import DEFAULT_SECONDS, Finding, audit
from scumble.cli.options import Json, MethodName, with_csv_options, with_method_options
from scumble.cli.output import err, print_json, print_readings, print_table, print_text, progress_bar
from scumble.errors import CheckError, InputError
from scumble.model.dialect import Dialect
from scumble.settings import user_folder

if TYPE_CHECKING:
    from scumble.auditing.transcripts.finding import TranscriptFinding

FIRST_SECONDS = 15
"""How long exact losses are computed before the sampling begins."""


@with_method_options
@with_csv_options
def audit_(
    *,
    method: MethodName = "diffgen",
    schema: Annotated[
        Path | None,
        typer.Option("--schema", help="Schema to audit the method on (default: a small built-in one)."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            help="Only sample, with so many test runs on each table; the search for the event takes further runs. "
            "(default: exact losses first, then as many runs as fit into --seconds)",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", help="About how long the sampling may take, unless --runs is given.")
    ] = DEFAULT_SECONDS,
    transcripts: Annotated[
        int | None,
        typer.Option(
            "--transcripts",
            metavar="N",
            help="Instead of sampling, compute the exact privacy loss of N transcripts (takes seconds).",
        ),
    ] = None,
    variations: Annotated[int, typer.Option("--variations", help="Random variations of the best table pairs.")] = 12,
    confidence: Annotated[str, typer.Option("--confidence", help="Confidence level of the lower bound.")] = "0.999",
    claims: Annotated[int, typer.Option("--claims", help="Number of audits that share the confidence level.")] = 1,
    workers: Annotated[int | None, typer.Option("--workers", help="Worker processes (default: one per core).")] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            help="File in which the audit notes how far it is; the same command resumes. (default: in the user's cache "
            "folder, until the audit ends)",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Write the result to this HTML file.")] = None,
    attacks: Annotated[
        Path | None,
        typer.Option("--attacks", metavar="DIR", help="Attack this release folder instead of auditing a method."),
    ] = None,
    train: Annotated[str | None, typer.Option("--train", help="With --attacks: the rows in the release.")] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="With --attacks: similar rows that are not in it.")
    ] = None,
    json: Json = False,
    dialect: Dialect,
    parameters: dict[str, Any],
) -> None:
    """Search for a violation of the declared epsilon by running a method many times on neighbouring tables.

    First the exact privacy loss of some transcripts is computed, which takes seconds. Then runs are sampled, and the
    lower bound on epsilon refines while they are. After an interruption the same command resumes.

    The exit code is 4 if the lower bound on epsilon, or the exact privacy loss of a transcript, exceeds the declared
    one. With --attacks, show how much better four attacks work on people in a release than on a control group. The
    attacks read raw rows: keep their results private.
    """
    if report is not None and report.exists():
        raise InputError(f"{report} exists already and is not overwritten. Give another --report.")
    if attacks is not None:
        _attack(attacks, train, control, dialect, json=json, report=report)
        return
    if transcripts is not None:
        _check_transcripts(method, schema, transcripts, parameters, json=json, report=report)
        return
    first = None if runs is not None else _first_answer(method, schema, parameters, json=json)
    with progress_bar() as progress:
        finding = audit(
            method,
            schema=schema,
            runs=runs,
            seconds=seconds,
            variations=variations,
            confidence=confidence,
            claims=claims,
            workers=workers,
            state=_state_folder() if state is None else state,
            progress=progress,
            **parameters,
        )
    if report is not None:
        from scumble.auditing.report import audit_page

        report.write_text(audit_page([finding]), encoding="utf-8")
    if json:
        print_json(finding.to_json() | ({} if first is None else {"transcripts": first.to_json()}))
    else:
        print_finding(finding)
        if runs is None:
            print_text(f"So many runs fit into {seconds:g} s. For a tighter bound, give --runs or --seconds.")
    if finding.refuted:
        raise CheckError(f"{finding.sentence} Do not release with this method; docs/audit.md explains the result.")


def _first_answer(method: str, schema: Path | None, parameters: dict[str, Any], *, json: bool) -> "TranscriptFinding":
    """The exact losses of the transcripts that fit into a few seconds, printed at once. A violation ends the audit."""
    from scumble.auditing.transcripts.audit import check_transcripts

    with progress_bar() as progress:
        finding = check_transcripts(method, schema=schema, seconds=FIRST_SECONDS, progress=progress, **parameters)
    if finding.violation:
        if json:
            print_json(finding.to_json())
        raise CheckError(f"{finding.sentence} Do not release with this method; docs/audit.md explains the result.")
    if not json:
        print_text(finding.sentence)
    return finding


def _state_folder() -> Path | None:
    """Where the state of an audit is kept until it ends; None if the folder cannot be made."""
    folder = user_folder("cache") / "scumble" / "audits"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder


def _check_transcripts(
    method: str, schema: Path | None, transcripts: int, parameters: dict[str, Any], *, json: bool, report: Path | None
) -> None:
    if report is not None:
        raise InputError("--report shows a sampling audit. Leave it out with --transcripts, or use --json.")
    from scumble.auditing.transcripts.audit import check_transcripts

    with progress_bar() as progress:
        finding = check_transcripts(method, schema=schema, transcripts=transcripts, progress=progress, **parameters)
    if json:
        print_json(finding.to_json())
    if finding.violation:
        raise CheckError(f"{finding.sentence} Do not release with this method; docs/audit.md explains the result.")
    if not json:
        print_text(finding.sentence)


def print_finding(finding: Finding) -> None:
    print_text(finding.sentence)
    print_text(f"Tables: {finding.pair}.")
    print_text(f"Event: {finding.event}.")
    print_text(
        f"The event happened {finding.hits[0]:,} and {finding.hits[1]:,} times in {finding.judged:,} test runs of each "
        f"table; {finding.runs:,} runs in total."
    )


def _attack(
    folder: Path, train: str | None, control: str | None, dialect: Dialect, *, json: bool, report: Path | None
) -> None:
    if train is None or control is None:
        raise InputError("An attack compares people in the release with a control group. Give --train and --control.")
    from scumble.auditing.attacks import ATTACK_COLUMNS, attack_release

    found = attack_release(folder, train=train, control=control, dialect=dialect)
    print_readings(dialect, train, control)
    if report is not None:
        from scumble.auditing.report import attack_page

        report.write_text(attack_page(folder.name, found), encoding="utf-8")
    if json:
        print_json({"release": str(folder), "attacks": [attack.to_json() for attack in found]})
        return
    print_table("Attacks on the release", list(ATTACK_COLUMNS), [attack.cells for attack in found])
    for attack in found:
        print_text(f"{attack.name}: {attack.how}.")
    if found[0].most_allowed is not None:
        print_text(
            f"The guarantee limits the expected difference to {100 * found[0].most_allowed:.1f} percentage points."
        )
    print_text("These figures are computed from your raw rows without noise. Do not publish them.", err)
