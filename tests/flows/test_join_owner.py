"""An owner finds the charge of an earlier attempt, also if it lost its state folder, and never invents one."""

from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scumble.errors import BudgetError
from scumble.flows.charge import Charge
from scumble.flows.join_owner import JointOwner
from scumble.joint.session.state import Marks

RECEIPT = object()


class Ledger:
    path = Path("north.db")

    def __init__(self, charge: object | None) -> None:
        self._charge = charge
        self.asked = 0
        self.checked = 0

    def reserved(self, *, session: str, dataset: str) -> Any:
        assert (session, dataset) == ("session", "people")
        self.asked += 1
        return self._charge

    def check_room(self, **facts: Any) -> None:
        self.checked += 1


class Saved:
    def __init__(self, **marks: Any) -> None:
        self.marks = replace(Marks(), **marks)

    def mark(self, **marks: Any) -> None:
        self.marks = Marks(**{**asdict(self.marks), **marks})


def owner_of(ledger: Ledger, saved: Saved) -> JointOwner:
    joint: Any = SimpleNamespace(
        agreement=SimpleNamespace(session="session"),
        schema=SimpleNamespace(unit="unit"),
        plan=SimpleNamespace(guarantee="guarantee"),
    )
    rest: Any = {"source": None, "dataset": "people", "charge": Charge(), "saved": saved, "ledger": ledger}
    return JointOwner(joint=joint, **rest)


def test_a_first_attempt_has_no_earlier_charge() -> None:
    ledger = Ledger(RECEIPT)
    owner = owner_of(ledger, Saved())
    assert owner.refusal(lost_state=False) is None
    assert (ledger.asked, ledger.checked, owner.charge.receipt) == (0, 1, None)


def test_a_resumed_attempt_uses_the_charge_of_the_first() -> None:
    ledger = Ledger(RECEIPT)
    owner = owner_of(ledger, Saved(charging=True, keys_id="01"))
    assert owner.refusal(lost_state=False) is None
    assert (ledger.checked, owner.charge.receipt) == (0, RECEIPT)


def test_an_owner_that_lost_its_state_uses_the_charge_in_its_ledger() -> None:
    ledger, saved = Ledger(RECEIPT), Saved()
    owner = owner_of(ledger, saved)
    assert owner.refusal(lost_state=True) is None
    assert (ledger.checked, owner.charge.receipt, saved.marks.charging) == (0, RECEIPT, True)


@pytest.mark.parametrize(("marks", "lost"), [({}, True), ({"charging": True, "keys_id": "01"}, False)])
def test_another_ledger_is_refused_and_nothing_is_marked(marks: dict[str, Any], lost: bool) -> None:
    saved = Saved(**marks)
    refusal = owner_of(Ledger(None), saved).refusal(lost_state=lost)
    assert isinstance(refusal, BudgetError) and "charged to another ledger" in str(refusal)
    assert saved.marks == replace(Marks(), **marks)
