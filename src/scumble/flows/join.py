"""The line of several owners: each runs it at home, and all arrive at the same release.

    agreement -> plan -> connect, compare -> reserve -> read rows -> answers, together -> folder -> settle

Nothing is charged before all parties are there with the same agreement, and no row is read before the charge. A run
that broke is taken up again with `resume`, under the same charge, from the last answer that anybody recorded.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.engines import Engine
from scumble.errors import BudgetError, InputError
from scumble.files.atomic_folder import staging
from scumble.files.release_folder import file_hash, write_release
from scumble.flows.charge import Charge, charged_rows, reporting_charge
from scumble.flows.join_plan import Joint, prepare
from scumble.flows.progress import Progress
from scumble.flows.release import check_before_reading, release_summary
from scumble.joint.network.certificates import KEY_FILE
from scumble.joint.network.connection import PartyLost
from scumble.joint.session.agreement import Address
from scumble.joint.session.attempt import Attempt, recorded_answers
from scumble.joint.session.meter import Phase
from scumble.joint.session.state import State, opened
from scumble.model.release import Release
from scumble.privacy.ledger import Ledger, Receipt
from scumble.sources import Source, open_source

Tell = Callable[[str], None]
"""Called with a sentence on what is going on."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """A joint release that stands in one party's folder. A party without rows has no receipt."""

    party: str
    folder: Path
    release: Release
    receipt: Receipt | None
    seconds: float
    phases: tuple[Phase, ...]
    transcript: Path

    def to_json(self) -> dict[str, Any]:
        return {
            **release_summary(self.folder, self.release),
            "party": self.party,
            "phases": [phase.to_json() for phase in self.phases],
            "transcript": str(self.transcript),
            "seconds": round(self.seconds, 3),
        }


def join(
    agreement: str | Path,
    *,
    party: str,
    out: str | Path,
    data: Any = None,
    dataset: str | None = None,
    ledger: str | Path | None = None,
    engine: str = "memory",
    state: str | Path | None = None,
    key: str | Path | None = None,
    listen: str | None = None,
    table: bool = True,
    delimiter: str = ",",
    resume: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Joined:
    """Take part in a joint release as one party, and publish it in a folder of one's own.

    An owner gives its `data` and is charged in its own ledger; the aggregator has neither. All parties run at the same
    time. `resume` takes up a run that broke: every party does so, also one that has its release already.
    """
    began = time.perf_counter()
    hear = progress or (lambda label, done, total: None)
    with reporting_charge() as charge, ExitStack() as stack:
        joint = prepare(agreement)
        source = _source(joint, party, data, delimiter, engine)
        kept = stack.enter_context(opened(state_folder(out, state), agreement=joint.agreement.digest, party=party))
        _check_state(kept, resume=resume)
        stage = None if _stands(Path(out), kept) else stack.enter_context(staging(Path(out)))
        account = None
        if source is not None:
            book = stack.enter_context(Ledger.open(None if ledger is None else Path(ledger)))
            name = source.name if dataset is None else dataset
            account = _Account(joint=joint, kept=kept, charge=charge, book=book, source=source, dataset=name)
        attempt = Attempt(
            joint.agreement,
            party,
            state=kept,
            key=_key_file(Path(agreement), party) if key is None else Path(key),
            listen=None if listen is None else Address.parse(listen),
            fields=joint.fields(),
            tell=tell,
        )
        made = _answered(joint, attempt, kept, account, engine, hear)
        receipt = charge.receipt
        if stage is not None:
            written = write_release(
                made,
                stage.folder,
                {} if receipt is None else receipt.to_json(),
                table=table,
                progress=lambda done, total: hear("writing table.csv", done, total),
            )
            kept.mark(published=written.sha256)
            stage.publish()
        charge.published = Path(out)
        if account is not None and receipt is not None:
            account.book.settle(receipt, kept.marks.published)
        kept.forget_keys()
    attempt.meter.lap("publishing")
    return Joined(
        party=party,
        folder=Path(out),
        release=made,
        receipt=receipt,
        seconds=time.perf_counter() - began,
        phases=attempt.meter.phases,
        transcript=attempt.transcript_path,
    )


def abandon(
    agreement: str | Path, *, party: str, out: str | Path, state: str | Path | None = None, ledger: Path | None = None
) -> Receipt | None:
    """Close a run that broke, for ever: it cannot be taken up again. The charge stands; its receipt, if any."""
    joint = prepare(agreement)
    joint.agreement.seat(party)
    folder = state_folder(out, state)
    if not folder.exists():
        raise InputError(f"There is no {folder}: nothing was begun there. Give --out or --state of the run.")
    with opened(folder, agreement=joint.agreement.digest, party=party) as kept:
        if kept.marks.published:
            raise InputError("The release of this run was published. There is nothing to abandon.")
        kept.mark(abandoned=True)
        kept.forget_keys()
        if not kept.marks.charging:
            return None
        with Ledger.open(ledger) as book:
            return book.reserved(session=joint.agreement.session)


def state_folder(out: str | Path, state: str | Path | None) -> Path:
    """Where a party keeps what it needs to take up a run again: beside its release, if nowhere else."""
    return Path(f"{out}.state") if state is None else Path(state)


@dataclass(frozen=True, kw_only=True)
class _Account:
    """An owner's ledger and rows."""

    joint: Joint
    kept: State
    charge: Charge
    book: Ledger
    source: Source
    dataset: str

    def pay(self) -> Receipt:
        """The charge of this run: the one that stands, if it was begun before, or else a new one.

        The mark is on the disk before the ledger is asked. So a crash between the two leads to no second charge, and a
        charge without the mark, whose record is lost, is never used for drawing again.
        """
        joint, before = self.joint, None
        self.charge.begun = True
        if self.kept.marks.charging:
            before = self.book.reserved(session=joint.agreement.session, dataset=self.dataset)
            if before is None and self.kept.marks.keys_id:  # rows were recorded before keys were made
                raise BudgetError(
                    "This run was charged to another ledger, which knows its rows. Give that one with --ledger. "
                    "Nothing was charged now."
                )
        else:
            self.kept.mark(charging=True)
        self.charge.receipt = before or self.book.reserve(
            dataset=self.dataset,
            unit=joint.schema.unit,
            guarantee=joint.plan.guarantee,
            method=joint.method.name,
            spends=[spend.to_json() for spend in joint.plan.spends],
            session=joint.agreement.session,
        )
        return self.charge.receipt

    @contextmanager
    def rows(self, engine: str, hear: Progress) -> Iterator[Engine]:
        """The owner's rows, which the ledger knows to be those of every earlier attempt."""
        receipt, most = self.pay(), self.joint.agreement.rows_at_most
        with charged_rows(self.book, receipt, engine, self.source, self.joint.schema, hear) as rows:
            if rows.rows > most:
                raise InputError(
                    f"The agreement says `rows_at_most: {most}`, a public fact about all owners together, and this "
                    "table alone does not keep to it. Make a new agreement."
                )
            yield rows


def _answered(
    joint: Joint, attempt: Attempt, kept: State, account: _Account | None, engine: str, hear: Progress
) -> Release:
    """The release, from answers that all parties have recorded."""
    was_complete = kept.marks.complete
    try:
        with attempt:
            attempt.meet()
            if account is not None:
                account.pay()
            attempt.catch_up()
            made = _together(joint, attempt, kept, account, engine, hear)
            attempt.finish()
            return made
    except PartyLost:
        if not was_complete:
            raise
    # Whoever was here before may be done and gone. Nothing is missing from the record.
    if account is not None:
        account.pay()
    return joint.run(recorded_answers(joint.agreement, joint.plan, kept))


def _together(
    joint: Joint, attempt: Attempt, kept: State, account: _Account | None, engine: str, hear: Progress
) -> Release:
    if kept.marks.complete:
        return joint.run(recorded_answers(joint.agreement, joint.plan, kept))
    answers, done = sum(spend.times for spend in joint.plan.spends), 0

    def told(label: str, finished: int, total: int | None) -> None:
        attempt.mesh.check()
        hear(label, finished, total)

    def answered(label: str) -> None:
        nonlocal done
        done += 1
        hear(label, done, answers)

    with nullcontext() if account is None else account.rows(engine, told) as rows:
        attempt.meter.lap("reading rows")
        return joint.run(attempt.holder(joint.plan, rows, answered))


def _source(joint: Joint, party: str, data: Any, delimiter: str, engine: str) -> Source | None:
    seat = joint.agreement.seat(party)
    if seat not in joint.agreement.seats.owners:
        if data is not None:
            raise InputError(f"{party} brings no rows, says the agreement. Leave out --data.")
        return None
    if data is None:
        raise InputError(f"{party} is an owner, says the agreement. Give its table with --data.")
    source = open_source(data, delimiter=delimiter, engine=engine)
    check_before_reading(source, joint.schema, engine)
    return source


def _key_file(agreement: Path, party: str) -> Path:
    """The key that `scumble join init` made, or one that lies beside the agreement."""
    beside = agreement.parent / KEY_FILE
    return beside if beside.exists() else agreement.parent / party / KEY_FILE


def _check_state(kept: State, *, resume: bool) -> None:
    marks = kept.marks
    if marks.abandoned:
        raise InputError(
            "This run was abandoned, and its keys are gone. Make a new agreement with `scumble join init`."
        )
    if (marks.charging or marks.keys_id) and not resume:
        raise InputError(
            f"This run was begun before: {kept.folder} has what was recorded of it. Take it up again with --resume, "
            "which charges nothing more, or close it with --abandon."
        )


def _stands(out: Path, kept: State) -> bool:
    """Whether the release of this very run is there already."""
    manifest = out / "release.json"
    return bool(kept.marks.published) and manifest.is_file() and file_hash(manifest) == kept.marks.published
