"""A plan: its spends add up to its guarantee, and a division keeps what was reserved."""

from fractions import Fraction

import pytest

from scumble.errors import BudgetError
from scumble.model.guarantee import Guarantee, IntervalPrivacy, JointDP, KAnonymity, LocalDP, PureDP, Unit, Unproven
from scumble.model.plan import Plan, Spend
from scumble.privacy.purse import Purse

ONE = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE)
WHOLE = (Spend(label="whole", epsilon=Fraction(1)),)
WITH_EPSILON: list[Guarantee] = [
    ONE,
    JointDP(epsilon=Fraction(1), delta=Fraction(1, 2**60), coalition=1, unit=Unit.ADD_REMOVE),
    Unproven(claim=ONE, reason="It is refuted."),
    LocalDP(epsilon=Fraction(1), covers=("age",)),
]
WITHOUT_EPSILON: list[Guarantee] = [KAnonymity(k=3), IntervalPrivacy(intervals={"age": (Fraction(1, 2), Fraction(9))})]


def unit_for(guarantee: Guarantee) -> Unit | None:
    named = isinstance(guarantee, PureDP | JointDP | Unproven)
    return None if named else Unit.ADD_REMOVE


def plan_of(guarantee: Guarantee, *spends: Spend) -> Plan:
    return Plan(guarantee=guarantee, spends=spends, cells_at_most=4, schema_unit=unit_for(guarantee))


@pytest.mark.parametrize("guarantee", WITH_EPSILON, ids=lambda each: type(each).__name__)
def test_spends_add_up_to_the_epsilon_of_the_guarantee(guarantee: Guarantee) -> None:
    assert plan_of(guarantee, *WHOLE).unit is Unit.ADD_REMOVE
    half = Spend(label="half", epsilon=Fraction(1, 2))
    negative = Spend(label="more", epsilon=Fraction(-1))
    for wrong in [(), (half,), (*WHOLE, half), (*WHOLE, *WHOLE), (Spend(label="two", epsilon=Fraction(2)), negative)]:
        with pytest.raises(BudgetError):
            plan_of(guarantee, *wrong)


@pytest.mark.parametrize("guarantee", WITHOUT_EPSILON, ids=lambda each: type(each).__name__)
def test_a_guarantee_without_epsilon_has_nothing_to_spend(guarantee: Guarantee) -> None:
    assert plan_of(guarantee).spends == ()
    with pytest.raises(BudgetError, match="nothing to spend"):
        plan_of(guarantee, *WHOLE)


def test_the_unit_is_the_guarantees() -> None:
    with pytest.raises(BudgetError, match="unit"):
        Plan(guarantee=ONE, spends=WHOLE, cells_at_most=4, schema_unit=Unit.REPLACE)
    with pytest.raises(BudgetError, match="unit"):
        Plan(guarantee=KAnonymity(k=3), spends=(), cells_at_most=4)
    assert Plan(guarantee=KAnonymity(k=3), spends=(), cells_at_most=4, schema_unit=Unit.REPLACE).unit is Unit.REPLACE


def test_only_a_held_table_has_a_purse() -> None:
    for guarantee, spends in ((WITH_EPSILON[-1], WHOLE), (WITHOUT_EPSILON[-1], ())):
        with pytest.raises(BudgetError, match="perturb their own records"):
            Purse(plan_of(guarantee, *spends))


def test_a_divided_plan_states_what_was_reserved_and_reads_back() -> None:
    first, rest = Spend(label="first", epsilon=Fraction(1, 4)), Spend(label="rest", epsilon=Fraction(3, 4))
    plan = plan_of(ONE, first, rest)
    assert "reserved" not in plan.to_json()
    parts = (Spend(label="a", epsilon=Fraction(1, 4), times=2), Spend(label="b", epsilon=Fraction(1, 4)))
    divided = plan.divided("rest", parts)
    halves = tuple(Spend(label=f"b{number}", epsilon=Fraction(1, 8)) for number in range(2))
    twice = divided.divided("b", halves)
    assert plan.spends == (first, rest) and divided.spends == (first, *parts)
    assert twice.spends == (first, parts[0], *halves)
    for each in (plan, divided, twice):
        assert each.reserved == plan.spends
        assert Plan.from_json(each.to_json()) == each
    assert twice.price("a") == Fraction(1, 4)
    with pytest.raises(BudgetError, match="No spend 'rest'"):
        twice.price("rest")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("reserved", 1, "epsilon"), "1/2"),
        (("reserved", 1, "label"), "another"),
        (("divisions", 0, "whole", "epsilon"), "1/2"),
        (("divisions", 0, "parts", 0, "times"), 1),
        (("divisions", 0, "parts", 0, "label"), "c"),
        (("spends", 1, "label"), "c"),
        (("divisions",), []),
    ],
)
def test_a_division_that_does_not_add_up_is_not_read(place: tuple[str | int, ...], value: object) -> None:
    first, rest = Spend(label="first", epsilon=Fraction(1, 4)), Spend(label="rest", epsilon=Fraction(3, 4))
    parts = (Spend(label="a", epsilon=Fraction(1, 4), times=2), Spend(label="b", epsilon=Fraction(1, 4)))
    data = plan_of(ONE, first, rest).divided("rest", parts).to_json()
    below = data
    for step in place[:-1]:
        below = below[step]  # type: ignore[index]
    below[place[-1]] = value  # type: ignore[index]
    with pytest.raises(BudgetError):
        Plan.from_json(data)
