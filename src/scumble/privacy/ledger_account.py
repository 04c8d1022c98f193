"""The account of a dataset in the ledger: its name, its balance, its charges, and why it refuses one."""

import unicodedata
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from scumble.errors import InputError
from scumble.model.budget import budget_text, short_delta
from scumble.model.guarantee import Unit
from scumble.privacy.ledger_charge import Cost
from scumble.privacy.receipt import Receipt

if TYPE_CHECKING:
    from scumble.privacy.ledger_entries import Entry

LONGEST_NAME = 200


@dataclass(kw_only=True)
class Account:
    """The budget of one dataset after the entries read so far."""

    unit: Unit
    ceiling: Fraction
    ceiling_delta: Fraction = Fraction(0)
    person: str | None = None
    """The column whose persons the account protects; None if it protects single records."""
    spent: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)
    entries: "list[Entry]" = field(default_factory=list)

    def has_room(self, price: Cost) -> bool:
        """Whether the ceilings leave room for a price."""
        return self.spent + price.epsilon <= self.ceiling and self.spent_delta + price.delta <= self.ceiling_delta


@dataclass(kw_only=True)
class Reservation:
    """A charge: its receipt, the rows it was spent on, and the release it paid for, with its signature if it has one.

    A joint release has a session. An owner is charged once for a session, however often its run is resumed.
    """

    dataset: str
    receipt: Receipt
    session: str | None = None
    fingerprint: str | None = None
    release: str | None = None
    signature: str | None = None


def no_room(dataset: str, account: Account, price: Cost, why: str) -> tuple[str, str]:
    """Why an account cannot pay a price, and the arguments of the `grant` that lets it."""
    enough = budget_text(max(account.spent + price.epsilon, account.ceiling))
    refusal = (
        f"The dataset {dataset!r} has spent {budget_text(account.spent)} of its ceiling of "
        f"{budget_text(account.ceiling)}, and this release needs {budget_text(price.epsilon)}{why}."
    )
    if account.spent_delta + price.delta <= account.ceiling_delta:
        return refusal, enough
    has = "allows no delta"
    if account.ceiling_delta:
        spent, ceiling = short_delta(account.spent_delta), short_delta(account.ceiling_delta)
        has = f"has spent {spent} of its ceiling of delta, {ceiling}"
    needs = f"this release needs a delta of {short_delta(price.delta)}"
    refusal += f" It {has}, and {needs}. Leave out --delta, or grant it."
    return refusal, f"{enough} --delta {short_delta(account.spent_delta + price.delta)}"


def dataset_name(name: str) -> str:
    """The normalized name of an account: Unicode NFC, printable characters only."""
    name = unicodedata.normalize("NFC", name)
    if not name or name != name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise InputError(
            f"{name[:LONGEST_NAME]!r} is not a valid name of a dataset. Give 1 to {LONGEST_NAME} printable characters, "
            "without a space at either end."
        )
    return name
