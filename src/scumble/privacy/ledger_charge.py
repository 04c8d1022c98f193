"""What a guarantee costs in an account of the ledger: an epsilon and, unless it is pure, a delta.

Both add up over the releases of a dataset: releases that are (e1, d1)- and (e2, d2)-differentially private are together
(e1 + e2, d1 + d2)-differentially private, even if the second was chosen by looking at the first. A pure guarantee has a
delta of 0. Proof and conversions: `privacy/PROOF.md`, section 10.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.guarantee import ApproxDP, Guarantee, JointDP, PureDP, Unit, delta_of, persons_of

ROUND_UP = Context(prec=12, rounding=ROUND_CEILING)
EXACT = Context(prec=60)
MARGIN = 1 + Fraction(1, 10**50)
"""Exceeds the relative error of `Decimal.exp`, which rounds correctly, by far."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a release takes from an account."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    @property
    def twice(self) -> "Cost":
        """The charge for two steps between neighbouring tables, by group privacy: 2 eps, and (1 + e^eps) delta.

        The delta is rounded up to twelve digits, and is at most 1.

        >>> Cost(epsilon=Fraction(1), delta=Fraction(1, 10**9)).twice.delta
        Fraction(185914091423, 50000000000000000000)
        """
        if not self.delta:
            return Cost(epsilon=2 * self.epsilon)
        power = Fraction(EXACT.exp(EXACT.divide(self.epsilon.numerator, self.epsilon.denominator))) * MARGIN
        delta = self.delta * (1 + power)
        rounded = Fraction(ROUND_UP.divide(Decimal(delta.numerator), Decimal(delta.denominator)))
        return Cost(epsilon=2 * self.epsilon, delta=min(rounded, Fraction(1)))


def charge(guarantee: Guarantee, account: Unit, *, person: str | None = None) -> Cost:
    """What a guarantee costs in an account kept under `account`'s unit, which protects the persons in a column or, if
    `person` is None, single records.

    Replacing a record is removing one and adding another, so an add-remove epsilon counts twice in a replace account.
    The reverse is refused: a replace mechanism may publish the exact number of records, which no add-remove epsilon
    covers. Guarantees that are not differential privacy of a table held by an owner are charged nothing.

    A guarantee of persons counts twice in an account of records: a table with one row more or less is reached by
    removing all rows of its person and adding the others again. An account of persons accepts no guarantee of records,
    nor one of the persons in another column.
    """
    if not isinstance(guarantee, PureDP | ApproxDP | JointDP):
        return Cost(epsilon=Fraction(0))
    persons = persons_of(guarantee)
    if person is not None and (persons is None or persons.column != person):
        raise InputError(
            f"This dataset's account protects persons by the column {person!r}, and this release does not: one person "
            f"could change it by any number of rows. Write `person: {person}` and `rows_each_at_most:` in the schema."
        )
    own = Cost(epsilon=guarantee.epsilon, delta=delta_of(guarantee))
    own = own if persons is None or person is not None else own.twice
    if guarantee.unit is account:
        return own
    if account is Unit.REPLACE:
        return own.twice
    raise InputError(
        "This dataset's account is kept under add-remove, and a release under replace may publish the exact number "
        "of rows, which no add-remove budget covers. Release with `unit: add-remove` in the schema."
    )


def why_charged(guarantee: Guarantee, account: Unit, *, person: str | None = None) -> str:
    """Why `charge` is more than the guarantee's epsilon, in parentheses after a space; empty if it is not."""
    if not isinstance(guarantee, PureDP | ApproxDP | JointDP):
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
