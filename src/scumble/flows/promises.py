"""Checks that what a release folder promises is what its parts say: parameters, guarantee, charge, plan, noise.

Whoever writes a folder can also compute its hashes. These checks find a folder whose promise was changed without the
numbers that follow from it. They cannot find one that was forged consistently: only a signature or the owner's ledger
can. A sentence that begins with "not checked" says what could not be compared.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, InputError
from scumble.files.release_folder import read_manifest, read_release
from scumble.flows.noise_law import check_noise
from scumble.flows.stated_plan import check_plan
from scumble.foreign.numbers import parse_fraction
from scumble.model.budget import budget_text
from scumble.model.guarantee import ApproxDP, KAnonymity, PureDP, Unit, Unproven, persons_of
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.privacy.ledger_charge import Cost, charge

DO_NOT_TRUST = "Do not trust this folder."


def check_promises(folder: Path, read: Release | None = None) -> list[str]:
    """Run the checks on a folder that is otherwise sound, and return a sentence for each.

    `read` is its release, if it was read already.
    """
    manifest, release = read_manifest(folder), read_release(folder) if read is None else read
    try:
        return [
            *_check_parameters(release),
            *_check_receipt(release.plan, manifest["receipt"]),
            *check_plan(folder, manifest, release),
            *check_noise(release),
        ]
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise CheckError(f"release.json does not state what it promises: {error!r}. {DO_NOT_TRUST}") from error


def _check_parameters(release: Release) -> Iterator[str]:
    """The epsilon, delta and k of the guarantee are those of the parameters."""
    parameters, guarantee = release.parameters, release.plan.guarantee
    claimed = guarantee.claim if isinstance(guarantee, Unproven) else guarantee
    stated: dict[str, Fraction] = {}
    if isinstance(claimed, PureDP | ApproxDP):
        stated["epsilon"] = claimed.epsilon
    if isinstance(claimed, ApproxDP):
        stated["delta"] = claimed.delta
    if isinstance(claimed, KAnonymity):
        stated["k"] = Fraction(claimed.k)
    compared = {name: value for name, value in stated.items() if parameters.get(name) is not None}
    for name, value in compared.items():
        if parse_fraction(parameters[name]) != value:
            raise CheckError(f"The guarantee and the parameters state different values of {name}. {DO_NOT_TRUST}")
    if compared:
        yield f"the parameters state the {' and '.join(compared)} of the guarantee"


def _check_receipt(plan: Plan, receipt: Mapping[str, Any]) -> Iterator[str]:
    """The ledger charged what the guarantee costs, in an account of one of the possible units, and had room for it."""
    if not receipt:
        return
    charged, spent, ceiling = (parse_fraction(receipt[name]) for name in ("charged", "spent", "ceiling"))
    if Cost(epsilon=charged, delta=parse_fraction(receipt.get("charged_delta", 0))) not in _possible_charges(plan):
        raise CheckError(
            f"The receipt states a charge of {budget_text(charged)}, which is not what the guarantee costs. "
            f"{DO_NOT_TRUST}"
        )
    if not charged <= spent <= ceiling:
        raise CheckError(f"The receipt states that more was spent than its ceiling, or less than it. {DO_NOT_TRUST}")
    yield "the receipt states the charge of the guarantee"


def _possible_charges(plan: Plan) -> set[Cost]:
    """What the guarantee costs in accounts of either unit, of records or of persons."""
    persons = persons_of(plan.guarantee)
    found = set()
    for unit in Unit:
        for person in (None, *([] if persons is None else [persons.column])):
            try:
                found.add(charge(plan.guarantee, unit, person=person))
            except InputError:
                continue  # an account that accepts no such release
    return found
