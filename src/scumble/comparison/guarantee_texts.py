"""The guarantee of a contender in a few words, made from the guarantee of its plan; `eps` is the one compared at."""

from scumble.model.budget import delta_text
from scumble.model.guarantee import ApproxDP, Guarantee, PureDP, Unit, Unproven
from scumble.model.persons import Persons

NO_GUARANTEE = "no guarantee"


def guarantee_text(guarantee: Guarantee) -> str:
    """What a plan promises, with the unit of its epsilon. A guarantee without epsilon is stated as releases state it.

    >>> from fractions import Fraction
    >>> guarantee_text(PureDP(epsilon=Fraction(1), unit=Unit.REPLACE))
    'eps, no delta, under replace'
    """
    match guarantee:
        case PureDP(unit=unit, protects=persons):
            return f"eps, no delta, {unit_text(unit, persons)}"
        case ApproxDP(delta=delta, unit=unit, protects=persons):
            return f"(eps, {delta_text(delta)}) {unit_text(unit, persons)}"
        case Unproven(claim=claim, reason=reason):
            return f"UNPROVEN. Claimed, not proved: {guarantee_text(claim)}. {reason}"
        case _:
            return guarantee.sentence


def unit_text(unit: Unit, persons: Persons | None = None) -> str:
    """The unit of an epsilon: records added or removed, records replaced, or all rows of a person.

    >>> unit_text(Unit.ADD_REMOVE, Persons(column="id", rows_each_at_most=5))
    "under add-remove of all rows of one person, by 'id'"
    """
    return f"under {unit}" if persons is None else f"under {unit} of all rows of one person, by {persons.column!r}"
