"""What every flow that spends a budget shares: acceptance of weaker guarantees, the charge, and the charged rows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scumble.engines import ENGINES, Engine
from scumble.errors import ChargeOutcome, InputError, Interrupted, ScumbleError
from scumble.flows.progress import Progress
from scumble.model.guarantee import Guarantee, IntervalPrivacy, KAnonymity, Unit, Unproven
from scumble.model.schema import Schema
from scumble.privacy.fingerprint import fingerprint_of_sums, row_sums
from scumble.privacy.ledger import Ledger, Receipt
from scumble.sources import Source

WEAKER: Mapping[str, type[Guarantee]] = {
    "interval": IntervalPrivacy,
    "k-anonymity": KAnonymity,
    "unproven": Unproven,
}
"""Promises that are not differential privacy, and the words by which an owner accepts them."""


def check_accepted(guarantee: Guarantee, accept: Sequence[str]) -> None:
    """Refuse a promise weaker than differential privacy unless the owner named it."""
    unknown = set(accept) - set(WEAKER)
    if unknown:
        raise InputError(f"Nothing called {sorted(unknown)[0]!r} can be accepted. There is: {', '.join(WEAKER)}.")
    needed = next((name for name, kind in WEAKER.items() if isinstance(guarantee, kind)), None)
    if needed is not None and needed not in accept:
        raise InputError(
            f"This release would not be differentially private. {guarantee.sentence} If that is what you want, say so: "
            f"--accept {needed}."
        )


@contextmanager
def charged_rows(
    book: Ledger, receipt: Receipt, engine: str, source: Source, schema: Schema, tell: Progress
) -> Iterator[Engine]:
    """The rows that a reservation is spent on, once the ledger has taken down which they are."""
    with _opened(engine, source, schema, tell) as rows:
        sizes = [attribute.domain.size for attribute in schema.attributes]
        sums = rows.add_up(partial(row_sums, sizes=sizes, key=book.key))
        book.record_rows(receipt, fingerprint_of_sums(sums, sizes=sizes, key=book.key))
        yield rows


@contextmanager
def _opened(engine: str, source: Source, schema: Schema, tell: Progress) -> Iterator[Engine]:
    batches = source.batches(schema.columns, lambda done, total: tell("reading rows", done, total))
    rows = ENGINES[engine].open(batches, schema)
    try:
        if schema.unit is Unit.REPLACE and rows.rows != schema.rows:
            raise InputError(
                f"The schema says `rows: {schema.rows}`, under replace a public fact, and the table has another "
                "number. Correct the schema."
            )
        yield rows
    finally:
        rows.close()


@dataclass(kw_only=True)
class Charge:
    """How far a run's charge has come."""

    begun: bool = False
    receipt: Receipt | None = None
    published: Path | None = None

    @property
    def outcome(self) -> ChargeOutcome:
        """What an error that ends the run says of the charge."""
        entry = None if self.receipt is None else self.receipt.entry
        return ChargeOutcome(begun=self.begun, entry=entry, published=self.published)


@contextmanager
def reporting_charge() -> Iterator[Charge]:
    """However a run ends early, its last words say what became of the charge."""
    charge = Charge()
    try:
        yield charge
    except KeyboardInterrupt:
        stopped = (Interrupted if charge.begun else ScumbleError)("Interrupted.")
        stopped.charge = charge.outcome
        raise stopped from None
    except ScumbleError as error:
        if charge.receipt is not None:
            error.charge = charge.outcome
        raise
    except (OSError, MemoryError) as error:
        problem = getattr(error, "strerror", None) or str(error) or "out of memory"
        failed = ScumbleError(f"The machine failed: {problem}. Make room on the disk, or choose another --out.")
        failed.charge = charge.outcome
        raise failed from error
    except BaseException as error:
        error.add_note(str(charge.outcome))
        raise
