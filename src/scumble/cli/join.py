"""`scumble join`: several owners, one release."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import Delimiter, Json, LedgerFile, MethodName, SchemaFile, delimiter_of, with_method_options
from scumble.cli.output import err, print_json, print_table, print_text, progress_bar
from scumble.cli.output import out as console
from scumble.cli.release import print_plan
from scumble.engines import ENGINES
from scumble.errors import InputError
from scumble.model.budget import budget_text

join_app = typer.Typer(
    help="One release of several owners' tables, which none of them shows to the others.", no_args_is_help=True
)
transcript_app = typer.Typer(help="What a party sent, received and opened.", no_args_is_help=True)
join_app.add_typer(transcript_app, name="transcript")

AgreementFile = Annotated[Path, typer.Option("--agreement", help="The agreement file.", show_default=False)]
PartyName = Annotated[str, typer.Option("--party", help="Which party this is.", show_default=False)]
OutFolder = Annotated[Path, typer.Option("--out", help="The folder to make.", show_default=False)]


@join_app.command()
def key(*, party: PartyName, out: OutFolder, json: Json = False) -> None:
    """Make a party's private key and certificate, at home: the key never leaves this folder."""
    from scumble.joint.network.certificates import CERTIFICATE_FILE, make_key

    make_key(party, out)
    if json:
        print_json({"party": party, "certificate": str(out / CERTIFICATE_FILE)})
    else:
        print_text(f"Give {out / CERTIFICATE_FILE} to whoever makes the agreement. Show the key to nobody.")


@join_app.command()
@with_method_options
def init(
    *,
    schema: SchemaFile,
    out: OutFolder,
    party: Annotated[
        list[str],
        typer.Option("--party", help="An owner that computes, NAME=HOST:PORT, once for each.", show_default=False),
    ],
    submitter: Annotated[
        list[str] | None,
        typer.Option("--submitter", help="An owner that only hands in shares, NAME=HOST:PORT, once for each."),
    ] = None,
    aggregator: Annotated[
        str | None,
        typer.Option("--aggregator", help="A party without rows that computes: HOST:PORT, or NAME=HOST:PORT."),
    ] = None,
    certificate: Annotated[
        list[str] | None,
        typer.Option("--certificate", help="A party's certificate, NAME=FILE; a key is made for each without one."),
    ] = None,
    rows_at_most: Annotated[
        int, typer.Option("--rows-at-most", help="A public bound on the rows of all owners together.")
    ] = 1_000_000,
    threshold: Annotated[
        int | None,
        typer.Option("--threshold", help="How many computing parties together may learn nothing (default: most)."),
    ] = None,
    start: Annotated[int, typer.Option("--start", help="Seconds to wait for all parties to be there.")] = 600,
    stall: Annotated[int, typer.Option("--stall", help="Seconds to wait for a message of a living party.")] = 600,
    method: MethodName = "diffgen",
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Make an agreement, with a key and a certificate for every party that has not made its own."""
    from scumble.flows.join_plan import draw_up, prepare

    parties = {
        **_roles(party, owner=True, computes=True),
        **_roles(submitter or [], owner=True, computes=False),
        **_roles([aggregator] if aggregator else [], owner=False, computes=True),
    }
    path = draw_up(
        out,
        schema=schema,
        parties=parties,
        certificates={name: Path(file) for name, file in _pairs(certificate or [], "--certificate")},
        method=method,
        parameters=parameters,
        rows_at_most=rows_at_most,
        threshold=threshold,
        deadlines={"start": start, "stall": stall},
    )
    agreement = prepare(path).agreement
    if json:
        print_json({"agreement": str(path), "hash": agreement.digest.hex(), "parties": list(agreement.names)})
        return
    print_text(f"{path}: give it to all parties ({', '.join(agreement.names)}). Its hash: {agreement.digest.hex()}")
    for sentence in agreement.trust:
        print_text(sentence)
    print_text(f"`scumble join plan --agreement {path}` prints what it costs.")


def _roles(words: Sequence[str], **role: bool) -> dict[str, dict[str, Any]]:
    named = [word if "=" in word else f"aggregator={word}" for word in words] if not role["owner"] else words
    return {name: {"address": address, **role} for name, address in _pairs(named, "--party")}


def _pairs(words: Sequence[str], option: str) -> list[tuple[str, str]]:
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} {word!r} is no pair. Write NAME=VALUE.")
        pairs.append((name, value))
    repeated = {name for name, _ in pairs if [each for each, _ in pairs].count(name) > 1}
    if repeated:
        raise InputError(f"{option} names {sorted(repeated)[0]!r} twice. Names are unique.")
    return pairs


@join_app.command()
def plan(*, agreement: AgreementFile, json: Json = False) -> None:
    """What the joint release would cost every owner, and whom they rely on. No row is read."""
    from scumble.flows.join_plan import prepare

    joint = prepare(agreement)
    if json:
        trust = {"hash": joint.agreement.digest.hex(), "trust": list(joint.agreement.trust)}
        print_json({"method": joint.method.name, **trust, **joint.plan.to_json()})
        return
    print_plan(joint.plan)
    for sentence in joint.agreement.trust:
        print_text(sentence)
    print_text(f"The agreement's hash, the same for all parties: {joint.agreement.digest.hex()}")


@join_app.command()
def run(
    *,
    agreement: AgreementFile,
    party: PartyName,
    out: OutFolder,
    data: Annotated[Path | None, typer.Option("--data", help="An owner's table: CSV or Parquet.")] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The dataset's name in the ledger (default: the file's stem).")
    ] = None,
    ledger: LedgerFile = None,
    engine: Annotated[str, typer.Option("--engine", help=f"One of: {', '.join(ENGINES)}.")] = "memory",
    key: Annotated[
        Path | None, typer.Option("--key", help="This party's key (default: beside the agreement, or in its folder).")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", help="Where to record what a resumed run needs (default: OUT.state).")
    ] = None,
    listen: Annotated[
        str | None, typer.Option("--listen", help="Where to listen, if not at the address in the agreement.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Take up a run that broke, under the same charge.")] = False,
    abandon: Annotated[
        bool, typer.Option("--abandon", help="Close a run that broke, for ever; the charge stands.")
    ] = False,
    table: Annotated[bool, typer.Option("--table/--no-table", help="Also write the counts as rows: table.csv.")] = True,
    delimiter: Delimiter = ",",
    json: Json = False,
) -> None:
    """Take part in a joint release as one party. All parties run this at about the same time."""
    from scumble.flows import join as joint_flow

    if abandon:
        receipt = joint_flow.abandon(agreement, party=party, out=out, state=state, ledger=ledger)
        stands = "Nothing had been charged." if receipt is None else f"The charge stands: entry {receipt.entry[:12]}."
        if json:
            print_json({"abandoned": True, "entry": None if receipt is None else receipt.entry})
        else:
            print_text(f"The run is closed and cannot be taken up again. {stands}")
        return
    with progress_bar() as progress:
        joined = joint_flow.join(
            agreement,
            party=party,
            out=out,
            data=data,
            dataset=dataset,
            ledger=ledger,
            engine=engine,
            state=state,
            key=key,
            listen=listen,
            table=table,
            delimiter=delimiter_of(delimiter),
            resume=resume,
            progress=progress,
            tell=lambda text: print_text(text, err),
        )
    if json:
        print_json(joined.to_json())
        return
    print_text(f"{joined.folder}: {joined.to_json().get('cells', 0):,} cells.")
    print_text(f"Guarantee: {joined.release.plan.guarantee.sentence}")
    for step in joined.release.story:
        console.print(f"  {step}")
    if joined.receipt is not None:
        charged, spent, ceiling = (
            budget_text(each) for each in (joined.receipt.charged, joined.receipt.spent, joined.receipt.ceiling)
        )
        print_text(f"Charged {charged}: {spent} of {ceiling} spent, ledger entry {joined.receipt.entry[:12]}.")
    print_phases([phase.to_json() for phase in joined.phases], party)
    print_text(f"Transcript: {joined.transcript}. Took {joined.seconds:.1f} s.")


def print_phases(phases: Sequence[Mapping[str, Any]], party: str) -> None:
    """What each phase took, with the sums below."""
    names = ("seconds", "rounds", "bytes_sent", "bytes_received")
    total = {"name": "all together", **{name: sum(phase[name] for phase in phases) for name in names}}
    rows = [
        [
            phase["name"],
            f"{phase['seconds']:.2f}",
            f"{phase['rounds']:,}",
            f"{phase['bytes_sent'] / 1e6:.3f}",
            f"{phase['bytes_received'] / 1e6:.3f}",
        ]
        for phase in (*phases, total)
    ]
    print_table(f"What it took {party}", ["phase", "seconds", "rounds", "MB sent", "MB received"], rows)


@join_app.command()
@with_method_options
def rehearse(
    *,
    parties: Annotated[int, typer.Option("--parties", help="How many owners.", min=2, max=7)] = 3,
    aggregator: Annotated[
        bool, typer.Option("--aggregator", help="With a party that has no rows but computes.")
    ] = False,
    rows: Annotated[int, typer.Option("--rows", help="How many made-up rows all owners have together.", min=0)] = 3000,
    delay_ms: Annotated[
        float, typer.Option("--delay-ms", help="Hold every message back for so long, as a distant network does.", min=0)
    ] = 0,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Rows drawn evenly from this schema (default: made-up patients).")
    ] = None,
    method: MethodName = "diffgen",
    out: Annotated[Path | None, typer.Option("--out", help="Keep all parties' folders here.")] = None,
    json: Json = False,
    parameters: dict[str, Any],
) -> None:
    """Run a joint release of made-up rows on this machine, every party as a process of its own.

    Prints what it takes: time, bytes and rounds for every party and phase.
    """
    from scumble.demo.rehearsal import rehearse as run_rehearsal

    with progress_bar() as progress:
        rehearsed = run_rehearsal(
            owners=parties,
            aggregator=aggregator or parties == 2,
            rows=rows,
            delay_ms=delay_ms,
            schema=schema,
            method=method,
            parameters={"epsilon": "1", **parameters},
            out=out,
            watch=progress,
        )
    if json:
        print_json(rehearsed.to_json())
        return
    for name, told in rehearsed.parties.items():
        print_phases(told["phases"], name)
    first = next(iter(rehearsed.parties.values()))
    away = f", every message {delay_ms:g} ms late" if delay_ms else ""
    print_text(
        f"{len(rehearsed.parties)} parties, {rows:,} rows{away}: {first['cells']:,} cells, the same for all, in "
        f"{rehearsed.seconds:.1f} s with starting up."
    )


@transcript_app.command()
def verify(
    *,
    file: Annotated[Path, typer.Argument(help="A transcript.", show_default=False)],
    other: Annotated[
        Path | None, typer.Argument(help="Another party's, of the same attempt.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Check a transcript's chain, and two parties' transcripts against each other."""
    from scumble.joint.session.transcript import compare, read_transcript

    account = read_transcript(file)
    checked = {"transcript": str(file), **account.to_json()}
    if other is not None:
        theirs = read_transcript(other)
        checked |= {"other": theirs.to_json(), "messages_in_both": compare(account, theirs)}
    if json:
        print_json(checked)
        return
    print_text(
        f"{file}: the chain holds. {account.party} sent {account.bytes_sent:,} bytes, received "
        f"{account.bytes_received:,}, opened {len(account.opened)} answers; {account.end or 'it was cut off'}."
    )
    if other is not None:
        print_text(f"{checked['messages_in_both']:,} messages are in both, and both say the same of them.")
