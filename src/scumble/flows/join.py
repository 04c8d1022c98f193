"""Take part in a joint release: every party runs this on its own machine, and all write the same release.

    agreement -> plan -> connect, compare -> all can pay -> reserve -> read rows -> joint answers -> folder -> settle

Nothing is charged before all parties are connected, have the same agreement and have said that their ledgers can pay,
and no row is read before the charge.
An interrupted run is continued with `resume`, under the same charge, from the last answer that any party has stored.
"""

import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

from scumble import interrupts
from scumble.errors import Abort, InputError
from scumble.files.atomic_folder import staging
from scumble.files.release_folder import file_hash, write_release
from scumble.flows.abandon import state_folder
from scumble.flows.charge import Charge, Notify, aborting, open_ledger, reporting_charge
from scumble.flows.join_owner import JointOwner
from scumble.flows.join_plan import PlannedAgreement, prepare
from scumble.flows.joined import Joined
from scumble.flows.progress import Progress
from scumble.flows.release import check_before_reading
from scumble.joint.network.certificates import KEY_FILE
from scumble.joint.network.connection import PartyLost
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.session.agreement import Address
from scumble.joint.session.attempt import Attempt, holder_from_log
from scumble.joint.session.state import State, open_state
from scumble.model.release import Release
from scumble.sources import Dialect, Source, check_dialect, has_column, open_source

DIFFERENT_COLUMNS = (
    "In a joint release every owner has all columns of the schema, for people of its own. Owners with different columns"
    " of the same people cannot release them jointly: their rows would first have to be linked, which no part of "
    "scumble does privately."
)


def join(
    agreement: str | Path,
    *,
    party: str,
    out: str | Path,
    data: Any = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    witness: str | Path | None = None,
    new_ledger: str | None = None,
    engine: str = "memory",
    state: str | Path | None = None,
    key: str | Path | None = None,
    listen: str | None = None,
    table: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    multiline: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Joined:
    """Take part in a joint release as one party, and publish the release in the folder `out`.

    An owner passes its `data` and is charged in its own `ledger`; an aggregator has neither. All parties must run this
    at the same time. To continue an interrupted run, every party calls it again with `resume`, including those that
    have published their release already. `witness` and `new_ledger` are those of `release`; `notify` is called with
    sentences about the ledger and the connections.
    """
    began = time.perf_counter()
    report = progress or (lambda label, done, total: None)
    with reporting_charge() as charge, ExitStack() as stack:
        joint = prepare(agreement)
        dialect = Dialect(delimiter=delimiter, encoding=encoding, multiline=multiline)
        source = _source(joint, party, data, dialect, engine)
        saved = stack.enter_context(open_state(state_folder(out, state), agreement=joint.agreement.digest, party=party))
        _check_state(saved, resume=resume)
        stage = None if _is_published(Path(out), saved) else stack.enter_context(staging(Path(out)))
        owner = None
        charge.has_ledger = source is not None
        if source is not None:
            charged = stack.enter_context(open_ledger(ledger, witness, new_ledger, notify))
            name = source.name if dataset is None else dataset
            owner = JointOwner(
                joint=joint,
                saved=saved,
                charge=charge,
                ledger=charged,
                source=source,
                dataset=name,
            )
            # An account that can never accept the guarantee would end the run after others have paid.
            charged.check_account(dataset=name, unit=joint.schema.unit, guarantee=joint.plan.guarantee)
        attempt = Attempt(
            joint.agreement,
            party,
            state=saved,
            key=_key_file(Path(agreement), party) if key is None else Path(key),
            listen=None if listen is None else Address.parse(listen),
            fields=joint.fields(),
            notify=notify,
        )
        with aborting(Abort.PARTY):
            made = _make_release(joint, attempt, saved, charge, owner, engine, report)
        receipt = charge.receipt
        if stage is not None:
            written = write_release(
                made,
                stage.folder,
                {} if receipt is None else receipt.to_json(),
                table=table,
                progress=lambda done, total: report("writing table.csv", done, total),
            )
            with aborting(Abort.PARTY):
                saved.mark(published=written.sha256)
            with aborting(Abort.OUTPUT), interrupts.delayed(), charge.publishing(stage, Path(out)):
                stage.publish()
        charge.published = Path(out)
        if owner is not None and receipt is not None:
            with aborting(Abort.LEDGER):
                owner.ledger.settle(receipt, saved.marks.published)
        with aborting(Abort.PARTY):
            saved.forget_keys()
    attempt.meter.lap("publishing")
    return Joined(
        party=party,
        folder=Path(out),
        release=made,
        receipt=receipt,
        seconds=time.perf_counter() - began,
        phases=attempt.meter.phases,
        transcript=attempt.transcript_path,
        rows_at_most=joint.agreement.records_at_most,
        notices=() if owner is None else owner.ledger.notices,
    )


def _make_release(
    joint: PlannedAgreement,
    attempt: Attempt,
    saved: State,
    charge: Charge,
    owner: JointOwner | None,
    engine: str,
    report: Progress,
) -> Release:
    """The release, made from answers that all parties have stored."""
    was_complete = saved.marks.complete
    other = "owner" if owner is None else "other owner"
    charge.others = f"No {other} was charged in this attempt."
    perhaps = f"Each {other} may have been charged: see its ledger."
    try:
        with attempt:
            attempt.exchange_status()
            refusal = None if owner is None else owner.refusal(lost_state=attempt.lost_state)
            try:
                attempt.agree_to_charge(refusal)
            except (PartyLost, PartiesDiffer):
                charge.others = perhaps
                raise
            charge.others = perhaps
            if owner is not None:
                owner.pay()
            attempt.catch_up()
            made = _run_jointly(joint, attempt, saved, owner, engine, report)
            attempt.finish(made)
            return made
    except PartyLost:
        if not was_complete:
            raise
    # The other parties may have finished and gone. All answers are stored here, so this party finishes alone.
    if owner is not None:
        owner.pay()
    return joint.run(holder_from_log(joint.agreement, joint.plan, saved))


def _run_jointly(
    joint: PlannedAgreement, attempt: Attempt, saved: State, owner: JointOwner | None, engine: str, report: Progress
) -> Release:
    if saved.marks.complete:
        return joint.run(holder_from_log(joint.agreement, joint.plan, saved))
    done = 0

    def report_reading(label: str, finished: int, total: int | None) -> None:
        attempt.mesh.check()
        report(label, finished, total)

    def answered(label: str) -> None:
        nonlocal done
        done += 1
        report(label, done, max(done, sum(spend.times for spend in holder.plan.spends)))

    with nullcontext() if owner is None else owner.rows(engine, report_reading) as rows:
        attempt.meter.lap("reading rows")
        holder = attempt.holder(joint.plan, rows, answered)
        return joint.run(holder)


def _source(joint: PlannedAgreement, party: str, data: Any, dialect: Dialect, engine: str) -> Source | None:
    if joint.agreement.party_number(party) not in joint.agreement.roles.owners:
        if data is not None:
            raise InputError(f"According to the agreement, {party} owns no rows. Omit --data.")
        return None
    if data is None:
        raise InputError(f"According to the agreement, {party} owns rows. Give its table with --data.")
    source = open_source(data, dialect=dialect, engine=engine)
    check_dialect(dialect, source)
    absent = [name for name in joint.schema.columns_read if not has_column(source, name)]
    try:
        check_before_reading(source, joint.schema, engine)
    except InputError as error:
        raise InputError(f"{error} {DIFFERENT_COLUMNS}") if absent else error from None
    return source


def _key_file(agreement: Path, party: str) -> Path:
    """The default key file: beside the agreement, or in the party's folder that `scumble join init` created."""
    beside = agreement.parent / KEY_FILE
    return beside if beside.exists() else agreement.parent / party / KEY_FILE


def _check_state(saved: State, *, resume: bool) -> None:
    marks = saved.marks
    if marks.abandoned:
        raise InputError(
            "This run was abandoned and its session keys were deleted. Create a new agreement with `scumble join init`."
        )
    if (marks.charging or marks.keys_id) and not resume:
        raise InputError(
            f"This run was started before; its state is in {saved.folder}. Continue it with --resume, which charges "
            "nothing more, or close it with --abandon."
        )


def _is_published(out: Path, saved: State) -> bool:
    """Whether `out` contains the release of this run already."""
    manifest = out / "release.json"
    return bool(saved.marks.published) and manifest.is_file() and file_hash(manifest) == saved.marks.published
