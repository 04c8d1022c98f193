"""What all flows that spend a budget share: acceptance of weaker guarantees, the charge, and the charged rows.

Every run that ends after its charge ends here, in `reporting_charge`, which states one of the reasons in `Abort`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from scumble import interrupts
from scumble.engines import ENGINES, Engine
from scumble.errors import Abort, ChargeOutcome, InputError, Interrupted, PossiblyRecorded, ScumbleError
from scumble.files.atomic_folder import Staging
from scumble.flows.progress import Progress
from scumble.model.guarantee import Guarantee, IntervalPrivacy, KAnonymity, Unit, Unproven
from scumble.model.schema import Schema
from scumble.privacy.fingerprint import fingerprint_of_sums, row_sums
from scumble.privacy.ledger import Ledger
from scumble.privacy.receipt import Receipt
from scumble.sources import Source, interruptible

Notify = Callable[[str], None]
"""Called with a sentence that the user should read at once."""

WEAKER: Mapping[str, type[Guarantee]] = {
    "interval": IntervalPrivacy,
    "k-anonymity": KAnonymity,
    "unproven": Unproven,
}
"""Guarantees that are not differential privacy, by the name with which the data owner accepts them."""


def check_accepted(guarantee: Guarantee, accept: Sequence[str]) -> None:
    """Refuse a guarantee weaker than differential privacy unless the data owner accepted it by name."""
    unknown = set(accept) - set(WEAKER)
    if unknown:
        raise InputError(f"Unknown guarantee {sorted(unknown)[0]!r} in --accept. Available: {', '.join(WEAKER)}.")
    needed = next((name for name, kind in WEAKER.items() if isinstance(guarantee, kind)), None)
    if needed is not None and needed not in accept:
        raise InputError(
            f"This release would not be differentially private. {guarantee.sentence} To accept this guarantee, pass "
            f"--accept {needed}."
        )


def open_ledger(
    ledger: str | Path | None, witness: str | Path | None, new_ledger: str | None, notify: Notify | None
) -> Ledger:
    """Open the ledger that a run charges, and report its notices before anything is charged."""
    paths = (None if path is None else Path(path) for path in (ledger, witness))
    opened = Ledger.open(next(paths), witness=next(paths), new_ledger=new_ledger)
    for notice in opened.notices:
        if notify is not None:
            notify(notice)
    return opened


@contextmanager
def charged_rows(
    ledger: Ledger, receipt: Receipt, engine: str, source: Source, schema: Schema, report: Progress
) -> Iterator[Engine]:
    """Open the rows that a reservation pays for, after the ledger has recorded their fingerprint."""
    with _opened(engine, source, schema, report, ledger.contribution_key) as rows:
        sizes = [attribute.domain.size for attribute in schema.attributes]
        sums = rows.add_up(partial(row_sums, sizes=sizes, key=ledger.key))
        with aborting(Abort.LEDGER):
            ledger.record_rows(receipt, fingerprint_of_sums(sums, sizes=sizes, key=ledger.key))
        yield rows


@contextmanager
def aborting(reason: Abort) -> Iterator[None]:
    """Give an error that does not state why the run ended this reason."""
    try:
        yield
    except ScumbleError as error:
        error.abort = error.abort or reason
        raise


@contextmanager
def _opened(engine: str, source: Source, schema: Schema, report: Progress, key: bytes) -> Iterator[Engine]:
    batches = source.batches(schema.columns_read, lambda done, total: report("reading rows", done, total))
    with aborting(Abort.SOURCE):
        rows = ENGINES[engine].open(interruptible(batches), schema, key=key)
    try:
        if schema.unit is Unit.REPLACE and rows.rows != schema.rows:
            raise InputError(
                f"The schema states `rows: {schema.rows}`, and the table has a different number of rows. Correct the "
                "schema: under `unit: replace`, the number of rows is public and must be exact.",
                abort=Abort.ROW_COUNT,
            )
        yield rows
    finally:
        with interrupts.delayed():
            rows.close()


@dataclass(kw_only=True)
class Charge:
    """The state of the charge of a run."""

    begun: bool = False
    receipt: Receipt | None = None
    published: Path | None = None
    has_ledger: bool = True
    others: str = ""
    """What is known about the charges of the other owners of a joint release. Every error then states the charge."""
    drawn: bool | None = None
    """Whether the method, which draws the answers, has begun; None if that is not tracked."""

    @contextmanager
    def publishing(self, stage: Staging, out: Path) -> Iterator[None]:
        """Note whether a folder has got its final name in this block, even if the block fails after that."""
        try:
            yield
        finally:
            if stage.published:
                self.published = out

    def outcome(self, reason: Abort) -> ChargeOutcome:
        """The state of the charge, as an error that ends the run for a reason reports it."""
        known = ChargeOutcome(
            begun=self.begun, published=self.published, has_ledger=self.has_ledger, others=self.others, drawn=self.drawn
        )
        return known if self.receipt is None else replace(known, entry=self.receipt.entry, abort=reason)


@contextmanager
def reporting_charge() -> Iterator[Charge]:
    """If a run ends early, add to its error whether the run was charged and, if so, why it ended.

    This is the only place where a charged run ends early. An error that states no reason is a bug of the program.
    """
    charge = Charge()
    interrupts.follow_charge(lambda: charge.outcome(Abort.INTERRUPT))
    try:
        with interrupts.converted():
            yield charge
        interrupts.check()
    except KeyboardInterrupt:
        raise _stopped(charge) from None
    except ScumbleError as error:
        if charge.receipt is not None or charge.others or isinstance(error, PossiblyRecorded):
            error.charge = charge.outcome(error.abort or Abort.BUG)
        raise
    except (OSError, MemoryError) as error:
        problem = getattr(error, "strerror", None) or str(error) or "out of memory"
        failed = ScumbleError(f"The run failed: {problem}. Free disk space or memory, or choose another --out.")
        failed.charge = charge.outcome(Abort.MACHINE)
        raise failed from error
    except BaseException as error:
        if _is_interrupt(error):
            raise _stopped(charge) from None
        error.add_note(str(charge.outcome(Abort.BUG)))
        raise


def _stopped(charge: Charge) -> ScumbleError:
    interrupts.report()
    stopped = (Interrupted if charge.begun else ScumbleError)("Interrupted.")
    stopped.charge = charge.outcome(Abort.INTERRUPT)
    return stopped


def _is_interrupt(error: BaseException) -> bool:
    """Whether an interrupt caused the error: a library that calls a function of ours may wrap it, as pydantic does."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__ or cause.__context__
    return cause is not None
