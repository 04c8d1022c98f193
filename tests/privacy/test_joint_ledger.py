"""The ledger and joint releases: one session, one charge, however often a run is taken up again."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from scumble.errors import BudgetError, CheckError
from scumble.model.guarantee import JointDP, Unit
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_entries import EntryChain

SESSION = "ab" * 16
GUARANTEE = JointDP(epsilon=Fraction(1, 2), delta=Fraction(1, 2**60), coalition=1, unit=Unit.ADD_REMOVE)


def charge(**changes: Any) -> dict[str, Any]:
    usual = {"dataset": "north", "unit": Unit.ADD_REMOVE, "guarantee": GUARANTEE, "method": "diffgen", "spends": []}
    return {**usual, "session": SESSION, **changes}


def test_a_session_is_charged_once_and_found_again_as_it_was(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as book:
        assert book.reserved(session=SESSION) is None
        receipt = book.reserve(**charge())
        assert (receipt.charged, receipt.spent, receipt.ceiling) == (Fraction(1, 2),) * 3
        book.grant("north", Fraction(2), "more")
        assert book.reserve(**charge(session="cd" * 16)).spent == 1
        assert book.reserved(session=SESSION, dataset="north") == receipt
        with pytest.raises(BudgetError, match="already charged to this ledger"):
            book.reserve(**charge())
        with pytest.raises(BudgetError, match="--dataset north"):
            book.reserved(session=SESSION, dataset="south")
    with Ledger.open(tmp_path / "ledger.db") as again:
        assert again.verify() == 5
        assert again.reserved(session=SESSION) == receipt
        assert again.datasets()["datasets"][0]["spent"] == "1"


def test_a_dry_run_raises_what_the_charge_would_raise_and_charges_nothing(tmp_path: Path) -> None:
    asked = {name: value for name, value in charge().items() if name not in ("method", "spends")}
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.check_room(**asked)
        assert ledger.datasets()["datasets"] == []
        ledger.reserve(**charge())
        for changes in ({}, {"session": "cd" * 16}):
            with pytest.raises(BudgetError) as dry:
                ledger.check_room(**{**asked, **changes})
            with pytest.raises(BudgetError) as real:
                ledger.reserve(**charge(**changes))
            assert str(dry.value) == str(real.value)
        ledger.grant("north", Fraction(1), "more")
        ledger.check_room(**{**asked, "session": "cd" * 16})
        assert [each["spent"] for each in ledger.datasets()["datasets"]] == ["0.5"]


def test_other_releases_have_no_session(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as book:
        book.reserve(**charge(session=None))
        book.grant("north", Fraction(2), "more")
        book.reserve(**charge(session=None))
        assert book.reserved(session=SESSION) is None


def test_a_book_with_a_session_charged_twice_does_not_hold() -> None:
    book = EntryChain(bytes(32))
    book.write(time="t", kind="open", dataset="north", body={"unit": "add-remove", "ceiling": "2"})
    body = {
        "method": "diffgen",
        "charged": "1",
        "guarantee": {"kind": "JointDP", "epsilon": "1", "delta": "1/1024", "coalition": 1, "unit": "add-remove"},
        "spends": [],
        "session": SESSION,
    }
    book.write(time="t", kind="reserve", dataset="north", body=body)
    with pytest.raises(CheckError, match="for the second time"):
        book.write(time="t", kind="reserve", dataset="north", body=body)
