"""One owner in a joint release: its rows, and the charge to its own ledger."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scumble import interrupts
from scumble.engines import Engine
from scumble.errors import BudgetError, InputError, ScumbleError
from scumble.flows.charge import Charge, charged_rows
from scumble.flows.join_plan import PlannedAgreement
from scumble.flows.progress import Progress
from scumble.joint.session.state import State
from scumble.privacy.ledger import Ledger
from scumble.privacy.receipt import Receipt
from scumble.sources import Source


@dataclass(frozen=True, kw_only=True)
class JointOwner:
    """What an owner contributes: its rows and the charge to its ledger."""

    joint: PlannedAgreement
    saved: State
    charge: Charge
    ledger: Ledger
    source: Source
    dataset: str

    def earlier_charge(self, *, lost_state: bool = False) -> Receipt | None:
        """The charge of an earlier attempt, if there was one.

        If this owner lost its state folder and the other parties have not, it was charged: its ledger must say so.
        """
        if not (self.saved.marks.charging or lost_state):
            return None
        before = self.ledger.reserved(session=self.joint.agreement.session, dataset=self.dataset)
        # The ledger recorded the rows before keys were made.
        if before is None and (self.saved.marks.keys_id or lost_state):
            raise BudgetError(
                "This run was charged to another ledger, which also identifies its rows. Give that ledger with "
                "--ledger. Nothing was charged now."
            )
        return before

    def check_payable(self, *, lost_state: bool = False) -> None:
        """Raise what `pay` would raise, and charge nothing."""
        joint = self.joint
        self.charge.receipt = self.earlier_charge(lost_state=lost_state)
        if lost_state:
            self.saved.mark(charging=True, ledger=str(self.ledger.path.absolute()))
        if self.charge.receipt is None:
            self.ledger.check_room(
                dataset=self.dataset,
                unit=joint.schema.unit,
                guarantee=joint.plan.guarantee,
                session=joint.agreement.session,
            )

    def refusal(self, *, lost_state: bool) -> ScumbleError | None:
        """Why this owner cannot be charged, or None if it can."""
        try:
            self.check_payable(lost_state=lost_state)
        except (BudgetError, InputError) as error:
            return error
        return None

    def pay(self) -> Receipt:
        """Charge the run to the ledger, or find its earlier charge if it was started before.

        The mark `charging` is written to disk before the ledger is called. So a crash between the two cannot lead to a
        second charge. If the state folders of several parties are lost after the charge, the mark is lost too, and
        `Ledger.reserve` refuses to charge the session again: the lost answers are not computed a second time.
        """
        joint = self.joint
        interrupts.check()
        self.charge.begun = True
        before = self.earlier_charge()
        if not self.saved.marks.charging:
            self.saved.mark(charging=True, ledger=str(self.ledger.path.absolute()))
        self.charge.receipt = before or self.ledger.reserve(
            dataset=self.dataset,
            unit=joint.schema.unit,
            guarantee=joint.plan.guarantee,
            method=joint.method.name,
            spends=[spend.to_json() for spend in joint.plan.spends],
            session=joint.agreement.session,
        )
        return self.charge.receipt

    @contextmanager
    def rows(self, engine: str, report: Progress) -> Iterator[Engine]:
        """The owner's rows. The ledger checks that they are the rows of every earlier attempt."""
        with charged_rows(self.ledger, self.pay(), engine, self.source, self.joint.schema, report) as rows:
            yield rows
