"""What a guarantee costs in an account of the ledger."""

from fractions import Fraction

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.guarantee import ApproxDP, Guarantee, JointDP, PureDP, Unit, persons_of


def charge(guarantee: Guarantee, account: Unit, *, person: str | None = None) -> Fraction:
    """What a guarantee costs in an account kept under `account`'s unit, which protects the persons in a column or, if
    `person` is None, single records.

    Replacing a record is removing one and adding another, so an add-remove epsilon counts twice in a replace account.
    The reverse is refused: a replace mechanism may publish the exact number of records, which no add-remove epsilon
    covers. Guarantees that are not differential privacy of a table held by an owner are charged nothing.

    A guarantee of persons counts twice in an account of records: a table with one row more or less is reached by
    removing all rows of its person and adding the others again. An account of persons accepts no guarantee of records,
    nor one of the persons in another column.
    """
    if isinstance(guarantee, ApproxDP):
        raise InputError("The ledger does not add up deltas. Leave out --delta.")
    if not isinstance(guarantee, PureDP | JointDP):
        return Fraction(0)
    persons = persons_of(guarantee)
    if person is not None and (persons is None or persons.column != person):
        raise InputError(
            f"This dataset's account protects persons by the column {person!r}, and this release does not: one person "
            f"could change it by any number of rows. Write `person: {person}` and `rows_each_at_most:` in the schema."
        )
    epsilon = guarantee.epsilon if persons is None or person is not None else 2 * guarantee.epsilon
    if guarantee.unit is account:
        return epsilon
    if account is Unit.REPLACE:
        return 2 * epsilon
    raise InputError(
        "This dataset's account is kept under add-remove, and a release under replace may publish the exact number "
        "of rows, which no add-remove budget covers. Release with `unit: add-remove` in the schema."
    )


def why_charged(guarantee: Guarantee, account: Unit, *, person: str | None = None) -> str:
    """Why `charge` is more than the guarantee's epsilon, in parentheses after a space; empty if it is not."""
    if not isinstance(guarantee, PureDP | JointDP):
        return ""
    reasons = []
    if persons_of(guarantee) is not None and person is None:
        reasons.append(
            "the account protects single rows and this release persons, and one changed row is one person removed and "
            "added again"
        )
    if guarantee.unit is not account:
        reasons.append("the account is kept under replace, and replacing a row is removing one and adding another")
    factor = {0: "", 1: "twice", 2: "four times"}[len(reasons)]
    return f" ({factor} its epsilon of {budget_text(guarantee.epsilon)}: {'; '.join(reasons)})" if reasons else ""
