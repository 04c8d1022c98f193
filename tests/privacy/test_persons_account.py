"""Accounts of persons: what a guarantee of persons costs where, and what such an account refuses."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from scumble.errors import BudgetError, InputError
from scumble.model.guarantee import JointDP, PureDP, Unit
from scumble.model.persons import Persons
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_charge import charge
from scumble.privacy.receipt import Receipt

RECORDS = PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE)
JOINT = JointDP(epsilon=Fraction(1), delta=Fraction(1, 2**60), coalition=1, unit=Unit.ADD_REMOVE)


def persons(column: str = "patient", rows: int = 5) -> PureDP:
    protects = Persons(column=column, rows_each_at_most=rows)
    return PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE, protects=protects)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        yield opened


def reserve(ledger: Ledger, guarantee: PureDP | JointDP, unit: Unit = Unit.ADD_REMOVE) -> Receipt:
    return ledger.reserve(dataset="visits", unit=unit, guarantee=guarantee, method="diffgen", spends=[])


def test_an_account_of_persons_says_so_and_survives_the_replay(ledger: Ledger) -> None:
    assert reserve(ledger, persons()).charged == 1
    ledger.grant("visits", Fraction(5), "a second release")
    assert reserve(ledger, persons(rows=2)).spent == 2
    assert ledger.verify() == 5
    account = ledger.statement()["visits"]
    assert account.person == "patient"
    assert account.to_json()["person"] == "patient"
    assert "persons by 'patient'" in str(ledger.statement())


@pytest.mark.parametrize("guarantee", [RECORDS, JOINT, persons(column="household")])
def test_an_account_of_persons_accepts_nothing_else(ledger: Ledger, guarantee: PureDP | JointDP) -> None:
    reserve(ledger, persons())
    ledger.grant("visits", Fraction(5), "a second release")
    with pytest.raises(InputError, match="protects persons by the column 'patient'"):
        reserve(ledger, guarantee)
    assert ledger.statement()["visits"].spent == 1
    assert ledger.verify() == 4


def test_in_an_account_of_records_a_guarantee_of_persons_counts_twice(ledger: Ledger) -> None:
    reserve(ledger, RECORDS)
    ledger.grant("visits", Fraction(5), "persons from now on")
    assert reserve(ledger, persons(rows=1)).charged == 2
    assert reserve(ledger, persons(rows=50)).charged == 2
    assert ledger.verify() == 6
    assert charge(persons(), Unit.REPLACE).epsilon == 4


def test_an_account_of_records_has_no_new_entry(ledger: Ledger) -> None:
    reserve(ledger, RECORDS)
    opened = ledger.statement()["visits"].entries[0]
    assert opened.content == {"unit": "add-remove", "ceiling": "1"}
    assert "person" not in ledger.statement()["visits"].to_json()


def test_a_refusal_says_why_more_than_epsilon_is_needed(ledger: Ledger) -> None:
    reserve(ledger, RECORDS)
    with pytest.raises(BudgetError, match=r"needs 1\. Nothing was charged"):
        reserve(ledger, RECORDS)
    with pytest.raises(BudgetError, match=r"needs 2 \(twice its epsilon of 1: the account protects single rows and"):
        reserve(ledger, persons())


def test_a_refusal_in_an_account_of_replaced_records(ledger: Ledger) -> None:
    reserve(ledger, PureDP(epsilon=Fraction(1), unit=Unit.REPLACE), Unit.REPLACE)
    with pytest.raises(BudgetError, match=r"needs 2 \(twice its epsilon of 1: the account is kept under replace"):
        reserve(ledger, RECORDS)
    with pytest.raises(BudgetError, match=r"needs 4 \(four times its epsilon of 1: the account protects single rows"):
        reserve(ledger, persons())
