"""What can go wrong, as one small tree.

Each leaf carries the exit code of the command line. A message says what was wrong, where, and ends with what to do.
None may depend on private values: headers, file formats, schemas, parameters, budgets and the machine can be at fault,
rows cannot.

What a caller may want to know of an error is an attribute of it. No code compares the text of a message.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class ChargeOutcome:
    """What became of the charge of a run that ended early."""

    begun: bool = False
    """Whether the ledger was asked to charge."""
    entry: str | None = None
    """The hash of the ledger entry, if the charge was made for certain."""
    published: Path | None = None
    """The folder of the release, if it was published."""

    def __str__(self) -> str:
        if self.entry is None:
            return "It may have been charged: see `scumble ledger show`." if self.begun else "Nothing was charged."
        charged = f"The charge stands: ledger entry {self.entry[:12]}."
        return (
            f"{charged} The release {self.published} is whole." if self.published else f"{charged} No release was made."
        )


class ScumbleError(Exception):
    """The root: a failure of the machine (disk, network, a bug).

    `charge` says what became of the charge, where a run had one; the message then ends with it.
    """

    exit_code = 1
    charge: ChargeOutcome | None = None

    def __str__(self) -> str:
        return super().__str__() if self.charge is None else f"{super().__str__()} {self.charge}"


class InputError(ScumbleError):
    """A file, a schema or a parameter is wrong. Nothing was charged for it unless `charge` says so."""

    exit_code = 2


class BudgetError(ScumbleError):
    """The ledger refuses the spend, or a method asked for an answer that was not planned."""

    exit_code = 3


class CheckError(ScumbleError):
    """A check (verify, audit) did not hold."""

    exit_code = 4


class Interrupted(ScumbleError):
    """The run was stopped after its charge was written; the charge stands."""

    exit_code = 5


class MalformedEntry(ValueError):
    """An entry of a stored document is wrong. The reader of the document catches this and names the file."""

    def __init__(self, entry: str, problem: str) -> None:
        super().__init__(f"{entry} {problem}")
        self.entry = entry
        self.problem = problem
