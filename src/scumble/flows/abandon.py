"""Closes an interrupted joint run permanently: it can no longer be resumed, and its keys are forgotten."""

from pathlib import Path

from scumble.errors import InputError
from scumble.flows.join_plan import prepare
from scumble.joint.session.state import State, open_state
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path
from scumble.privacy.receipt import Receipt


def abandon(
    agreement: str | Path,
    *,
    party: str,
    out: str | Path,
    state: str | Path | None = None,
    ledger: Path | None = None,
    witness: Path | None = None,
) -> Receipt | None:
    """Close an interrupted run permanently; it can no longer be resumed. Returns the receipt of its charge, if any.

    The charge is not refunded, because an answer may have been opened.
    """
    joint = prepare(agreement)
    joint.agreement.party_number(party)
    folder = state_folder(out, state)
    if not folder.exists():
        raise InputError(
            f"The state folder {folder} does not exist, so there is no run to abandon. Give the --out or --state of "
            "the run."
        )
    with open_state(folder, agreement=joint.agreement.digest, party=party) as saved:
        if saved.marks.published:
            raise InputError("The release of this run was published, so there is nothing to abandon.")
        receipt = _charge_of(saved, joint.agreement.session, ledger, witness) if saved.marks.charging else None
        saved.mark(abandoned=True)
        saved.forget_keys()
        return receipt


def _charge_of(saved: State, session: str, ledger: Path | None, witness: Path | None) -> Receipt | None:
    """The charge of a run that was about to be charged, from the given ledger or the one that the run used."""
    used = Path(saved.marks.ledger) if ledger is None and saved.marks.ledger else ledger or default_path()
    if not used.exists():
        raise InputError(
            f"This run may have been charged, and the ledger {used} does not exist. Give the ledger of the run with "
            "--ledger. The run was not closed."
        )
    with Ledger.open(used, witness=witness) as charged:
        receipt = charged.reserved(session=session)
    if receipt is None and (saved.marks.keys_id or str(used.absolute()) != saved.marks.ledger):
        raise InputError(
            f"This run may have been charged, and the ledger {used} has no charge of it. Give the ledger of the run "
            "with --ledger. The run was not closed."
        )
    return receipt


def state_folder(out: str | Path, state: str | Path | None) -> Path:
    """The folder in which a party stores what it needs to resume a run; by default OUT.state, beside the release."""
    return Path(f"{out}.state") if state is None else Path(state)
