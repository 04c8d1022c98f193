"""What can go wrong, as one small tree.

Each leaf carries the exit code of the command line. A message says what was wrong, where, and ends with what to do.
None may depend on private values: headers, file formats, schemas, parameters, budgets and the machine can be at fault,
rows cannot.
"""


class ScumbleError(Exception):
    """The root: a failure of the machine (disk, network, a bug)."""

    exit_code = 1


class InputError(ScumbleError):
    """A file, a schema or a parameter is wrong. Nothing was charged for it unless the message says so."""

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
