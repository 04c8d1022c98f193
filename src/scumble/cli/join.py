"""`scumble join`: joint releases of several data owners."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import (
    TABLE,
    Json,
    LedgerFile,
    LossReason,
    MethodName,
    NewLedger,
    SchemaFile,
    WitnessFile,
    choice,
    declared_loss,
    with_csv_options,
    with_method_options,
)
from scumble.cli.output import err, print_advice, print_guarantee, print_json, print_readings, print_text, progress_bar
from scumble.cli.output import out as console
from scumble.cli.plan import print_plan
from scumble.cli.rehearse import print_phases, rehearse
from scumble.engines import ENGINES
from scumble.errors import InputError
from scumble.model.dialect import Dialect

join_app = typer.Typer(
    help="Joint releases: several owners publish one table without showing each other their rows.", no_args_is_help=True
)
transcript_app = typer.Typer(help="Verify transcripts of joint runs.", no_args_is_help=True)
join_app.add_typer(transcript_app, name="transcript")

AgreementFile = Annotated[Path, typer.Option("--agreement", help="The agreement file.", show_default=False)]
PartyName = Annotated[str, typer.Option("--party", help="The name of this party.", show_default=False)]
OutFolder = Annotated[Path, typer.Option("--out", help="The folder to create.", show_default=False)]


@join_app.command()
def key(*, party: PartyName, out: OutFolder, json: Json = False) -> None:
    """Create a party's private key and certificate. The key must stay with the party."""
    from scumble.joint.network.certificates import CERTIFICATE_FILE, make_key

    make_key(party, out)
    if json:
        print_json({"party": party, "certificate": str(out / CERTIFICATE_FILE)})
    else:
        print_text(f"Send {out / CERTIFICATE_FILE} to whoever creates the agreement. Keep the private key secret.")


@join_app.command()
@with_method_options
def init(
    *,
    schema: SchemaFile,
    out: OutFolder,
    party: Annotated[
        list[str],
        typer.Option("--party", help="An owner that computes: NAME=HOST:PORT (repeatable).", show_default=False),
    ],
    submitter: Annotated[
        list[str] | None,
        typer.Option("--submitter", help="An owner that only submits shares: NAME=HOST:PORT (repeatable)."),
    ] = None,
    aggregator: Annotated[
        str | None,
        typer.Option("--aggregator", help="A computing party without rows: HOST:PORT or NAME=HOST:PORT."),
    ] = None,
    certificate: Annotated[
        list[str] | None,
        typer.Option(
            "--certificate", help="A party's certificate: NAME=FILE (repeatable). Parties without one get a new key."
        ),
    ] = None,
    rows_at_most: Annotated[
        int,
        typer.Option("--rows-at-most", help="Public bound on the rows of each owner without --owner-rows-at-most."),
    ] = 1_000_000,
    owner_rows_at_most: Annotated[
        list[str] | None,
        typer.Option("--owner-rows-at-most", help="Public bound on the rows of one owner: NAME=ROWS (repeatable)."),
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option("--threshold", help="Largest coalition that learns nothing (default: the maximum)."),
    ] = None,
    start: Annotated[int, typer.Option("--start", help="Seconds to wait until all parties are connected.")] = 600,
    stall: Annotated[int, typer.Option("--stall", help="Seconds to wait for a message from a connected party.")] = 600,
    method: MethodName = "diffgen",
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Create an agreement, and a key and certificate for every party without --certificate."""
    from scumble.flows.join_plan import prepare, write_agreement

    parties = {
        **_roles(party, owner=True, computes=True),
        **_roles(submitter or [], owner=True, computes=False),
        **_roles([aggregator] if aggregator else [], owner=False, computes=True),
    }
    path = write_agreement(
        out,
        schema=schema,
        parties=parties,
        certificates={name: Path(file) for name, file in _pairs(certificate or [], "--certificate")},
        method=method,
        parameters=parameters,
        rows_at_most=rows_at_most,
        owners_rows_at_most={
            name: _whole_number(text, "--owner-rows-at-most")
            for name, text in _pairs(owner_rows_at_most or [], "--owner-rows-at-most")
        },
        threshold=threshold,
        deadlines={"start": start, "stall": stall},
    )
    joint = prepare(path)
    agreement = joint.agreement
    print_advice(joint.plan.guarantee)
    if json:
        print_json({"agreement": str(path), "hash": agreement.digest.hex(), "parties": list(agreement.names)})
        return
    print_text(f"Wrote {path}. Give it to all parties ({', '.join(agreement.names)}). Hash: {agreement.digest.hex()}")
    for sentence in agreement.trust:
        print_text(sentence)
    print_guarantee(joint.plan.guarantee)
    print_text(f"`scumble join plan --agreement {path}` prints the privacy cost.")


def _roles(words: Sequence[str], **role: bool) -> dict[str, dict[str, Any]]:
    named = [word if "=" in word else f"aggregator={word}" for word in words] if not role["owner"] else words
    return {name: {"address": address, **role} for name, address in _pairs(named, "--party")}


def _whole_number(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError(f"{option} {text!r} is not a whole number.")
    return int(text)


def _pairs(words: Sequence[str], option: str) -> list[tuple[str, str]]:
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} {word!r} is not of the form NAME=VALUE.")
        pairs.append((name, value))
    repeated = {name for name, _ in pairs if [each for each, _ in pairs].count(name) > 1}
    if repeated:
        raise InputError(f"{option} names {sorted(repeated)[0]!r} twice. Use each name once.")
    return pairs


@join_app.command()
def plan(*, agreement: AgreementFile, json: Json = False) -> None:
    """Print what a joint release costs every owner, and the trust assumptions. Reads no data."""
    from scumble.flows.join_plan import prepare

    joint = prepare(agreement)
    print_advice(joint.plan.guarantee)
    if json:
        trust = {"hash": joint.agreement.digest.hex(), "trust": list(joint.agreement.trust)}
        print_json({"method": joint.method.name, **trust, **joint.plan.to_json()})
        return
    print_plan(joint.plan)
    for sentence in joint.agreement.trust:
        print_text(sentence)
    print_text(f"Hash of the agreement, to be compared with the other parties: {joint.agreement.digest.hex()}")


@join_app.command()
@with_csv_options
def run(
    *,
    agreement: AgreementFile,
    party: PartyName,
    out: OutFolder,
    data: Annotated[str | None, typer.Option("--data", help=f"{TABLE} Owners only.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="The dataset's name in the ledger (default: the file name without its suffix)."),
    ] = None,
    ledger: LedgerFile = None,
    witness: WitnessFile = None,
    new_ledger: NewLedger = False,
    reason: LossReason = None,
    engine: Annotated[str, choice(ENGINES, "--engine", help=f"One of: {', '.join(ENGINES)}.")] = "memory",
    key: Annotated[
        Path | None,
        typer.Option("--key", help="The private key (default: key.pem beside the agreement or in the party's folder)."),
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="The state folder, needed to resume the run (default: OUT.state).")
    ] = None,
    listen: Annotated[
        str | None, typer.Option("--listen", help="Listen at this HOST:PORT instead of the one in the agreement.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run under the same charge.")
    ] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Close an interrupted run permanently; the charge is not refunded.")
    ] = False,
    table: Annotated[
        bool, typer.Option("--table/--no-table", help="Also write table.csv, the counts expanded to rows.")
    ] = True,
    json: Json = False,
    dialect: Dialect,
) -> None:
    """Take part in a joint release as one party. All parties run this at about the same time."""
    from scumble.flows import join as joint_flow
    from scumble.flows.abandon import abandon as abandon_run

    declared = declared_loss(new_ledger, reason)
    if abandon:
        receipt = abandon_run(agreement, party=party, out=out, state=state, ledger=ledger, witness=witness)
        charge = "Nothing was charged." if receipt is None else f"The charge stands: ledger entry {receipt.entry[:12]}."
        if json:
            print_json({"abandoned": True, "entry": None if receipt is None else receipt.entry})
        else:
            print_text(f"The run is closed and can no longer be resumed. {charge}")
        return
    with progress_bar() as progress:
        joined = joint_flow.join(
            agreement,
            party=party,
            out=out,
            data=data,
            dataset=dataset,
            ledger=ledger,
            witness=witness,
            new_ledger=declared,
            engine=engine,
            state=state,
            key=key,
            listen=listen,
            table=table,
            **asdict(dialect),
            resume=resume,
            progress=progress,
            notify=lambda text: print_text(text, err),
        )
    print_readings(dialect, data, engine=engine)
    for warning in joined.warnings:
        print_text(f"warning: {warning}", err)
    if json:
        print_json(joined.to_json())
        return
    print_text(f"Wrote {joined.folder}: {joined.to_json().get('cells', 0):,} cells.")
    print_guarantee(joined.release.plan.guarantee)
    for step in joined.release.story:
        console.print(f"  {step}")
    if joined.receipt is not None:
        print_text(f"Charged {joined.receipt.text}.")
    print_phases([phase.to_json() for phase in joined.phases], party)
    print_text(f"Transcript: {joined.transcript}. Took {joined.seconds:.1f} s.")


join_app.command()(rehearse)


@transcript_app.command()
def verify(
    *,
    file: Annotated[Path, typer.Argument(help="A transcript file.", show_default=False)],
    other: Annotated[
        Path | None, typer.Argument(help="Another party's transcript of the same attempt.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Verify a transcript's hash chain, and compare two parties' transcripts of one attempt."""
    from scumble.joint.session.transcript import compare_transcripts, read_transcript

    transcript = read_transcript(file)
    checked = {"transcript": str(file), **transcript.to_json()}
    if other is not None:
        theirs = read_transcript(other)
        checked |= {"other": theirs.to_json(), "messages_in_both": compare_transcripts(transcript, theirs)}
    if json:
        print_json(checked)
        return
    outcome = "finished" if transcript.end == "finished" else "was interrupted"
    print_text(
        f"{file}: the hash chain is valid. {transcript.party} sent {transcript.bytes_sent:,} bytes, received "
        f"{transcript.bytes_received:,} and opened {len(transcript.opened)} answers. The run {outcome}."
    )
    if other is not None:
        print_text(f"{checked['messages_in_both']:,} messages are in both transcripts, with the same hashes.")
