"""If a run ends early, the error states in an attribute and in its message whether the run was charged."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, PlainSerializer
from pydantic_core import PydanticSerializationError

from scumble.errors import Abort, BudgetError, ChargeOutcome, InputError, Interrupted, ScumbleError
from scumble.flows.charge import aborting, reporting_charge
from scumble.joint.network.connection import PartyLost
from scumble.joint.network.wire import Ending
from scumble.privacy.receipt import Receipt

ENTRY = "0123456789abcdef" * 4


def receipt() -> Receipt:
    fields: dict[str, Any] = dict.fromkeys(Receipt.__dataclass_fields__, None)
    return Receipt(**{**fields, "entry": ENTRY})


def fail(raised: BaseException, *, begun: bool, charged: bool, out: Path | None) -> None:
    with reporting_charge() as charge:
        charge.begun, charge.receipt, charge.published = begun, receipt() if charged else None, out
        raise raised


def ended(
    raised: BaseException, *, begun: bool = False, charged: bool = False, out: Path | None = None
) -> ScumbleError:
    with pytest.raises(ScumbleError) as caught:
        fail(raised, begun=begun, charged=charged, out=out)
    return caught.value


def test_before_the_charge_an_error_stays_as_it_is() -> None:
    error = ended(InputError("A column stands twice in the header."))
    assert (error.charge, str(error)) == (None, "A column stands twice in the header.")


@pytest.mark.parametrize("message", ["The table is wrong.", "A column stands twice in the header."])
def test_after_the_charge_every_message_says_so(message: str) -> None:
    """Even if the message contains the word by which the charge used to be recognized."""
    error = ended(InputError(message), begun=True, charged=True)
    assert isinstance(error, InputError)
    assert error.charge == ChargeOutcome(begun=True, entry=ENTRY, abort=Abort.BUG)
    charged = f"{message} The charge stands: ledger entry {ENTRY[:12]}. No release was made."
    assert str(error) == f"{charged} Cause: {Abort.BUG.cause}."


def test_a_stated_reason_is_kept() -> None:
    with pytest.raises(InputError) as caught, aborting(Abort.SOURCE):
        raise InputError("The table is wrong.", abort=Abort.ROW_COUNT)
    assert caught.value.abort is Abort.ROW_COUNT
    with pytest.raises(InputError) as caught, aborting(Abort.SOURCE):
        raise InputError("The table is wrong.")
    error = ended(caught.value, begun=True, charged=True)
    assert error.charge is not None and error.charge.abort is Abort.SOURCE


def test_a_party_lost_while_rows_are_read_is_not_a_fault_of_the_table() -> None:
    with pytest.raises(PartyLost) as caught, aborting(Abort.SOURCE):
        raise PartyLost("east could not continue.", party=1, ending=Ending.FAILED)
    error = ended(caught.value, begun=True, charged=True)
    assert error.charge is not None and error.charge.abort is Abort.PARTY


def test_a_published_release_is_named() -> None:
    error = ended(BudgetError("Too late."), begun=True, charged=True, out=Path("out"))
    assert "The release out is complete." in str(error)
    assert error.charge is not None and error.charge.published == Path("out")


@pytest.mark.parametrize(
    ("begun", "charged", "kind", "words"),
    [
        (False, False, ScumbleError, "Nothing was charged."),
        (True, False, Interrupted, "It may have been charged: see `scumble ledger show`."),
        (
            True,
            True,
            Interrupted,
            f"The charge stands: ledger entry {ENTRY[:12]}. No release was made. Cause: an interruption.",
        ),
    ],
)
def test_an_interruption_says_what_was_charged(
    begun: bool, charged: bool, kind: type[ScumbleError], words: str
) -> None:
    error = ended(KeyboardInterrupt(), begun=begun, charged=charged)
    assert type(error) is kind
    assert str(error) == f"Interrupted. {words}"


def test_a_failure_of_the_machine_says_what_was_charged() -> None:
    error = ended(OSError(28, "No space left on device"), begun=True, charged=True)
    assert error.charge == ChargeOutcome(begun=True, entry=ENTRY, abort=Abort.MACHINE)
    assert "No space left on device. Free disk space" in str(error) and "The charge stands" in str(error)


def test_an_interrupt_that_a_library_wraps_is_one() -> None:
    def interrupted(value: object) -> str:
        raise KeyboardInterrupt

    class Parameters(BaseModel):
        epsilon: Annotated[int, PlainSerializer(interrupted)] = 1

    with pytest.raises(PydanticSerializationError):
        Parameters().model_dump(mode="json")

    def run() -> None:
        with reporting_charge() as charge:
            charge.begun = True
            Parameters().model_dump(mode="json")

    with pytest.raises(Interrupted, match="It may have been charged"):
        run()
