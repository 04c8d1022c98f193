"""Spends in epsilon and in rho, and plans whose guarantee is approximate."""

from dataclasses import replace
from fractions import Fraction

import pytest

from scumble.errors import BudgetError, InputError
from scumble.model.guarantee import ApproxDP, PureDP, Unit
from scumble.model.guarantee_json import from_json, to_json
from scumble.model.persons import Persons
from scumble.model.plan import Plan, Spend, guarantee_text
from scumble.model.spend import budget_of, guarantee_for, priced
from scumble.model.zcdp import rho_within

EPSILON, DELTA = Fraction(1), Fraction(1, 10**9)
APPROX = ApproxDP(epsilon=EPSILON, delta=DELTA, unit=Unit.ADD_REMOVE)
PURE = PureDP(epsilon=EPSILON, unit=Unit.ADD_REMOVE)
RHO = rho_within(EPSILON, DELTA)


def plan_of(guarantee: PureDP | ApproxDP, *spends: Spend) -> Plan:
    return Plan(guarantee=guarantee, spends=spends, cells_at_most=4)


def test_spends_in_rho_stay_within_what_epsilon_and_delta_allow() -> None:
    whole = Spend(label="whole", rho=RHO)
    assert plan_of(APPROX, whole).spend("whole").amount == RHO
    assert plan_of(APPROX, replace(whole, rho=RHO / 2)).spends
    for wrong in (
        (),
        (replace(whole, rho=RHO + Fraction(1, 10**20)),),
        (whole, Spend(label="more", rho=Fraction(1, 10**20))),
        (replace(whole, times=2),),
        (Spend(label="two", rho=2 * RHO), Spend(label="less", rho=-RHO)),
        (Spend(label="in epsilon", epsilon=RHO),),
    ):
        with pytest.raises(BudgetError):
            plan_of(APPROX, *wrong)


def test_a_pure_plan_takes_no_rho() -> None:
    with pytest.raises(BudgetError, match="priced in rho under approximate"):
        plan_of(PURE, Spend(label="whole", rho=EPSILON))


def test_a_spend_has_one_price() -> None:
    with pytest.raises(BudgetError, match="an epsilon and a rho"):
        Spend(label="both", epsilon=EPSILON, rho=RHO)


def test_a_rho_is_not_read_as_an_epsilon() -> None:
    with pytest.raises(BudgetError, match="priced in rho"):
        plan_of(APPROX, Spend(label="whole", rho=RHO)).price("whole")


def test_group_privacy_of_persons_squares_the_rows() -> None:
    """k rows cost k^2 rho: this is where counting a rho like an epsilon would leak."""
    persons = replace(APPROX, protects=Persons(column="id", rows_each_at_most=3))
    assert plan_of(persons, Spend(label="whole", rho=RHO / 9)).for_persons(RHO / 9) == RHO
    with pytest.raises(BudgetError):
        plan_of(persons, Spend(label="whole", rho=RHO / 8))


def test_a_shared_rho_counts_four_times_under_replace() -> None:
    """Two add-remove steps in the same part have a distance of two, whose square is four."""
    shared = Spend(label="parts", rho=RHO / 4, shared=True)
    assert (shared.total(Unit.ADD_REMOVE), shared.total(Unit.REPLACE)) == (RHO / 4, RHO)
    replacing = replace(APPROX, unit=Unit.REPLACE)
    assert plan_of(replacing, shared).spends
    with pytest.raises(BudgetError):
        plan_of(replacing, replace(shared, rho=RHO / 3))


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("delta", [None, DELTA])
@pytest.mark.parametrize("shared", [False, True])
def test_shares_that_add_up_to_one_make_a_plan_and_can_be_divided(
    unit: Unit, delta: Fraction | None, shared: bool
) -> None:
    guarantee = guarantee_for(epsilon=EPSILON, delta=delta, unit=unit)
    first = priced(guarantee, label="first", share=Fraction(1, 3), times=4, shared=shared)
    rest = priced(guarantee, label="rest", share=Fraction(2, 3), shared=shared)
    plan = plan_of(guarantee, first, rest)
    assert first.total(unit) * 3 == budget_of(guarantee)
    parts = (
        rest.part(label="some", share=Fraction(1, 7), times=2),
        rest.part(label="others", share=Fraction(6, 7)),
    )
    divided = plan.divided("rest", parts)
    assert divided.reserved == plan.spends
    assert Plan.from_json(divided.to_json()) == divided
    with pytest.raises(BudgetError):
        plan.divided("rest", parts[1:])


def test_the_guarantee_is_told_apart_from_a_pure_one() -> None:
    assert from_json(to_json(APPROX)) == APPROX
    assert to_json(APPROX) == {"kind": "ApproxDP", "epsilon": "1", "delta": "0.000000001", "unit": "add-remove"}
    assert guarantee_text(APPROX) == "ApproxDP with epsilon 1 and delta 1e-9"
    assert APPROX.sentence.startswith("(1, 1e-9)-differentially private: ")
    assert "may reveal all about that record" in APPROX.sentence
    persons = replace(APPROX, protects=Persons(column="id", rows_each_at_most=3))
    assert from_json(to_json(persons)) == persons
    assert "all rows of one person" in persons.sentence and "about that person" in persons.sentence


def test_the_summary_states_rhos_and_what_is_allowed() -> None:
    text = repr(plan_of(APPROX, Spend(label="whole", rho=RHO / 2)))
    assert "ApproxDP with epsilon 1 and delta 1e-9" in text
    (spends,) = plan_of(APPROX, Spend(label="whole", rho=RHO / 2)).summary.listings
    assert spends.columns[2] == "rho"
    assert spends.total is not None and "epsilon and delta allow a rho of 0.0149730576735" in spends.total[-1]


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1)])
def test_a_delta_lies_between_zero_and_one(delta: Fraction) -> None:
    with pytest.raises(InputError, match="delta"):
        replace(APPROX, delta=delta)
