"""The errors of scumble, each class with the exit code of the command line.

A message says what is wrong, where, and what to do. No error depends on private values: headers, file formats, schemas,
parameters, budgets and the machine can cause errors, the values of rows cannot.

Data that a caller may need are attributes of the error. No code compares the text of a message.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ChargeOutcome:
    """Whether a run that ended early was charged."""

    begun: bool = False
    """Whether the ledger was asked to charge."""
    entry: str | None = None
    """The hash of the ledger entry, if the charge is known to be recorded."""
    published: Path | None = None
    """The folder of the release, if it was published."""

    def __str__(self) -> str:
        if self.entry is None:
            return "It may have been charged: see `scumble ledger show`." if self.begun else "Nothing was charged."
        charged = f"The charge stands: ledger entry {self.entry[:12]}."
        return (
            f"{charged} The release {self.published} is complete."
            if self.published
            else f"{charged} No release was made."
        )


class ScumbleError(Exception):
    """The base class of all errors; raised itself for failures of the machine (disk, memory, network).

    `charge` says whether the run was charged, if it could have been; the message then ends with it. `exit_code` is that
    of the command line.
    """

    exit_code = 1
    charge: ChargeOutcome | None = None

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


class MalformedEntry(ValueError):
    """An entry of a stored document is wrong. The reader of the document catches this and names the file."""

    def __init__(self, entry: str, problem: str) -> None:
        super().__init__(f"{entry} {problem}")
        self.entry = entry
        self.problem = problem
