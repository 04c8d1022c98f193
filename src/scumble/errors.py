"""The errors of scumble, each class with the exit code of the command line.

A message says what is wrong, where, and what to do. No error depends on private values: headers, file formats, schemas,
parameters, budgets and the machine can cause errors, the values of rows cannot.

Data that a caller may need are attributes of the error. No code compares the text of a message.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from pathlib import Path


class Abort(Enum):
    """Why a run ended after its charge was recorded, and what that may depend on.

    Nothing else ends a run after `Ledger.reserve`. The argument that no record does, with its exceptions, is section 5
    of `sources/PROOF.md`; `tests/flows/test_aborts.py` provokes each of these and looks for others.
    """

    def __init__(self, cause: str, depends_on: str) -> None:
        self.cause = cause
        self.depends_on = depends_on

    MACHINE = (
        "a failure of the machine",
        "memory, disk, other programs, and the size of the table as far as it needs them",
    )
    INTERRUPT = "an interruption", "whoever sent the signal"
    SOURCE = (
        "the table could not be read to its end",
        "the disk, the compressed stream, the database or the cluster; not the value of a cell",
    )
    ROW_COUNT = "a wrong number of rows", "the number of rows under `unit: replace`, which is public there"
    FINGERPRINT = (
        "rows of another account",
        "whether all rows are those of an earlier release from this ledger; one record can decide this",
    )
    LEDGER = "the ledger could not be written", "the file of the ledger, its disk and other programs"
    OUTPUT = "a folder that appeared at the place of the release", "other programs"
    PARTY = "another party, the network, or the stored state of the run", "the other parties and the connections"
    BUG = "a bug of the program; please report it", "anything, records included"


@dataclass(frozen=True, kw_only=True)
class ChargeOutcome:
    """Whether a run that ended early was charged."""

    begun: bool = False
    """Whether the ledger was asked to charge."""
    entry: str | None = None
    """The hash of the ledger entry, if the charge is known to be recorded."""
    published: Path | None = None
    """The folder of the release, if it was published."""
    abort: Abort | None = None
    """Why the run ended, if its charge is known to be recorded."""
    has_ledger: bool = True
    """Whether this run charges a ledger; the aggregator of a joint release has none."""
    others: str = ""
    """A sentence about the charges of the other owners of a joint release."""
    drawn: bool | None = None
    """Whether an answer may have been drawn from the rows; None if that is not known."""

    def __str__(self) -> str:
        return " ".join(filter(None, (self._own if self.has_ledger else "", self.others)))

    @property
    def _own(self) -> str:
        if self.entry is None:
            return "It may have been charged: see `scumble ledger show`." if self.begun else "Nothing was charged."
        charged = f"The charge stands: ledger entry {self.entry[:12]}."
        made = f"The release {self.published} is complete." if self.published else "No release was made."
        if self.drawn is False:
            made += " No answer was drawn from the rows."
        return f"{charged} {made}" if self.abort is None else f"{charged} {made} Cause: {self.abort.cause}."


class ScumbleError(Exception):
    """The base class of all errors; raised itself for failures of the machine (disk, memory, network).

    `charge` says whether the run was charged, if it could have been; the message then ends with it. `abort` is why the
    run ended, if the error can be raised after the charge. `exit_code` is that of the command line.
    """

    exit_code = 1
    charge: ChargeOutcome | None = None

    def __init__(self, *arguments: object, abort: Abort | None = None) -> None:
        super().__init__(*arguments)
        self.abort = abort

    def __str__(self) -> str:
        return super().__str__() if self.charge is None else f"{super().__str__()} {self.charge}"


class InputError(ScumbleError):
    """A file, a schema or a parameter is wrong. Nothing was charged for it unless `charge` says so."""

    exit_code = 2


class BudgetError(ScumbleError):
    """The ledger refuses the spend, or a method requested an answer that was not planned."""

    exit_code = 3


class CheckError(ScumbleError):
    """A check (verify, audit) failed."""

    exit_code = 4


class Interrupted(ScumbleError):
    """The run was interrupted after its charge was recorded. The charge is not refunded."""

    exit_code = 5


class PossiblyRecorded(ScumbleError):
    """The disk failed while an entry was written to the ledger, or just after: it may have been recorded."""


class MalformedEntry(ValueError):
    """An entry of a stored document is wrong. The reader of the document catches this and names the file."""

    def __init__(self, entry: str, problem: str) -> None:
        super().__init__(f"{entry} {problem}")
        self.entry = entry
        self.problem = problem


def did_you_mean(name: str, available: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest available one, if one is near, and all of them.

    >>> did_you_mean("difgen", ["diffgen", "plain"])
    " Did you mean 'diffgen'? Available: diffgen, plain."
    """
    names = list(available)
    near = get_close_matches(name, names, n=1)
    return f"{f' Did you mean {near[0]!r}?' if near else ''} Available: {', '.join(names)}."
