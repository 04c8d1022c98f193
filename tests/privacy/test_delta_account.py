"""Accounts with deltas: epsilon adds up and delta adds up, both are limited, and older ledgers are read as before."""

import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from older_ledgers import write_ledger_with

from scumble.errors import BudgetError, CheckError, InputError
from scumble.model.guarantee import ApproxDP, Guarantee, JointDP, PureDP, Unit
from scumble.model.persons import Persons
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_charge import Cost, charge
from scumble.privacy.receipt import Receipt

DELTA = Fraction(1, 10**9)
PURE = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE)
APPROX = ApproxDP(epsilon=Fraction(1), delta=DELTA, unit=Unit.ADD_REMOVE)
JOINT = JointDP(epsilon=Fraction(1), delta=Fraction(1, 2**60), coalition=1, unit=Unit.ADD_REMOVE)
OLDER = Path(__file__).parent / "ledger_of_version_0_1.json"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened


def reserve(ledger: Ledger, guarantee: Guarantee, unit: Unit = Unit.ADD_REMOVE) -> Receipt:
    return ledger.reserve(dataset="adult", unit=unit, guarantee=guarantee, method="histograms", spends=[])


def test_the_first_release_opens_the_account_with_its_own_epsilon_and_delta(ledger: Ledger) -> None:
    receipt = reserve(ledger, APPROX)
    assert (receipt.charged_delta, receipt.spent_delta, receipt.ceiling_delta) == (DELTA, DELTA, DELTA)
    assert receipt.to_json()["charged_delta"] == "0.000000001"
    assert receipt.text.startswith("1 and delta 1e-9: 1 of 1 and delta 1e-9 of 1e-9 spent, ledger entry ")
    account = ledger.statement()["adult"]
    assert account.balance == "1 of 1 spent, delta 1e-9 of 1e-9 spent"
    assert account.amounts == ("1 and delta 1e-9", "1 and delta 1e-9")
    assert account.to_json()["spent_delta"] == account.to_json()["ceiling_delta"] == "0.000000001"
    assert "histograms, charged 1 and delta 1e-9" in str(ledger.statement())
    assert ledger.verify() == 3


def test_a_pure_account_allows_no_delta_until_one_is_granted(ledger: Ledger) -> None:
    reserve(ledger, PURE)
    ledger.grant("adult", Fraction(5), "more pure releases")
    with pytest.raises(BudgetError) as refused:
        reserve(ledger, APPROX)
    message = str(refused.value)
    assert "It allows no delta, and this release needs a delta of 1e-9. Leave out --delta, or grant it." in message
    assert "scumble ledger grant adult 5 --delta 1e-9 --reason" in message
    assert ledger.statement()["adult"].spent == 1
    ledger.grant("adult", Fraction(5), "Gaussian noise", delta=DELTA)
    assert reserve(ledger, APPROX).spent_delta == DELTA
    assert reserve(ledger, PURE).spent == 3
    with pytest.raises(BudgetError, match="has spent 1e-9 of its ceiling of delta, 1e-9, and this release needs"):
        reserve(ledger, APPROX)
    assert ledger.statement()["adult"].balance == "3 of 5 spent, delta 1e-9 of 1e-9 spent"
    assert ledger.verify() == 7


def test_both_ceilings_are_named_where_both_are_reached(ledger: Ledger) -> None:
    reserve(ledger, APPROX)
    with pytest.raises(BudgetError, match=r"scumble ledger grant adult 2 --delta 2e-9 --reason"):
        reserve(ledger, APPROX)


def test_a_grant_without_a_delta_keeps_it_and_none_is_below_what_was_spent(ledger: Ledger) -> None:
    reserve(ledger, APPROX)
    ledger.grant("adult", Fraction(2), "more")
    assert ledger.statement()["adult"].ceiling_delta == DELTA
    with pytest.raises(InputError, match="already spent a delta of 1e-9"):
        ledger.grant("adult", Fraction(3), "less", delta=DELTA / 2)


def test_pure_releases_write_the_entries_of_earlier_versions(ledger: Ledger) -> None:
    receipt = reserve(ledger, PURE)
    assert set(receipt.to_json()) == {"entry", "charged", "spent", "ceiling"}
    opened, reserved = ledger.statement()["adult"].entries
    assert opened.content == {"unit": "add-remove", "ceiling": "1"}
    assert set(reserved.content) == {"method", "charged", "guarantee", "spends"}
    assert "spent_delta" not in ledger.statement()["adult"].to_json()


def test_the_negligible_delta_of_a_joint_release_is_added_and_needs_no_grant(ledger: Ledger) -> None:
    reserve(ledger, PURE)
    ledger.grant("adult", Fraction(3), "a joint release")
    receipt = reserve(ledger, JOINT)
    assert receipt.spent_delta == JOINT.delta
    assert receipt.text.startswith("1 and delta 8.68e-19: 2 of 3 and delta 8.68e-19 of 8.68e-19 spent, ")
    with pytest.raises(BudgetError, match="needs a delta of 1e-9"):
        reserve(ledger, APPROX)
    ledger.grant("adult", Fraction(3), "Gaussian noise", delta=DELTA + JOINT.delta)
    assert reserve(ledger, APPROX).spent_delta == DELTA + JOINT.delta
    assert ledger.verify() == 7


def test_a_ledger_of_version_0_1_is_read_and_continued(tmp_path: Path) -> None:
    older = json.loads(OLDER.read_text("utf-8"))
    path = tmp_path / "ledger.db"
    write_ledger_with(path, bytes.fromhex(older["key"]), older["entries"])
    with Ledger.open(path) as ledger:
        assert ledger.verify() == len(older["entries"]) + 1
        adult, visits = ledger.statement()["adult"], ledger.statement()["visits"]
        assert (adult.spent, adult.ceiling, adult.spent_delta) == (Fraction(3, 2), 3, Fraction(1, 2**60))
        assert (visits.spent, visits.person) == (2, "id")
        # Twice, under replace: (1 + e) delta.
        assert 3.718 < visits.spent_delta * 2**60 < 3.719
        with pytest.raises(BudgetError, match="--delta"):
            reserve(ledger, APPROX)
        ledger.grant("adult", Fraction(3), "Gaussian noise", delta=2 * DELTA)
        assert reserve(ledger, APPROX).spent == Fraction(5, 2)
        assert ledger.verify() == len(older["entries"]) + 3


@pytest.mark.parametrize(
    "change",
    [{"charged_delta": "0"}, {"charged_delta": "0.0000000001"}, {"charged_delta": None}],
    ids=["zero", "too little", "missing"],
)
def test_an_entry_that_charges_less_delta_than_its_guarantee_breaks_the_ledger(
    ledger: Ledger, change: dict[str, str | None]
) -> None:
    reserve(ledger, APPROX)
    chain = ledger._chain
    opened, reserved = (json.loads(entry.body) for entry in chain.accounts["adult"].entries)
    copy = type(chain)(ledger.key)
    copy.write(time="now", kind="open", dataset="adult", body=opened)
    body = {name: value for name, value in {**reserved, **change}.items() if value is not None}
    with pytest.raises(CheckError, match="does not charge what its guarantee costs"):
        copy.write(time="now", kind="reserve", dataset="adult", body=body)
    copy.write(time="now", kind="reserve", dataset="adult", body=reserved)


def test_an_account_of_replaced_records_or_of_single_records_is_charged_by_group_privacy() -> None:
    persons = replace(APPROX, protects=Persons(column="id", rows_each_at_most=3))
    one = charge(APPROX, Unit.ADD_REMOVE)
    assert one == charge(persons, Unit.ADD_REMOVE, person="id") == Cost(epsilon=Fraction(1), delta=DELTA)
    assert charge(APPROX, Unit.REPLACE) == charge(persons, Unit.ADD_REMOVE) == one.twice
    assert charge(persons, Unit.REPLACE) == one.twice.twice
    assert charge(replace(APPROX, epsilon=Fraction(100)), Unit.REPLACE).delta == 1, "a delta above 1 means nothing"


@given(epsilon=st.fractions(min_value=Fraction(1, 1000), max_value=20), power=st.integers(5, 30))
def test_two_steps_cost_at_least_what_group_privacy_says(epsilon: Fraction, power: int) -> None:
    """Against e^epsilon by its series, whose partial sums are lower bounds."""
    term = total = Fraction(1)
    for number in range(1, 120):
        term = term * epsilon / number
        total += term
    delta = Fraction(1, 10**power)
    doubled = Cost(epsilon=epsilon, delta=delta).twice
    assert doubled.epsilon == 2 * epsilon
    exact = min(Fraction(1), delta * (1 + total))
    assert exact <= doubled.delta <= exact * (1 + Fraction(1, 10**10))
