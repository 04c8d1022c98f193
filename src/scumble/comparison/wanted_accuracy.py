"""From a wanted accuracy to an epsilon, by releases of a public table of the same shape.

The private rows are never used for this: choosing epsilon by looking at them would reveal them without a charge. A
table whose rows the ledger knows is therefore refused.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from scumble.comparison.compare import Comparison, compare
from scumble.comparison.summary import mean_scores
from scumble.engines import ENGINES
from scumble.errors import InputError
from scumble.flows.plan import schema_of
from scumble.flows.progress import Progress
from scumble.methods import usual_method
from scumble.model.budget import budget_text, parse_budget
from scumble.privacy.fingerprint import fingerprint_of_sums, row_sums
from scumble.privacy.ledger import Ledger
from scumble.privacy.ledger_place import default_path
from scumble.sources import open_source

SWEEP = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4")
"""The budgets that are tried."""


@dataclass(frozen=True, kw_only=True)
class SweptBudget:
    """The mean accuracy of releases of the public table at one epsilon, and half the width of its 95 % band."""

    epsilon: str
    accuracy: float
    band: float | None


@dataclass(frozen=True, kw_only=True)
class WantedBudget:
    """The smallest epsilon of the sweep that reached the wanted accuracy on the public table; None if none did."""

    wanted: float
    epsilon: str | None
    sweep: Sequence[SweptBudget]

    def to_json(self) -> dict[str, Any]:
        """The sweep as plain data."""
        swept = [{"epsilon": each.epsilon, "accuracy": each.accuracy, "band": each.band} for each in self.sweep]
        return {"wanted": self.wanted, "epsilon": self.epsilon, "sweep": swept, "charged": "0"}


def share_of(text: str) -> float:
    """A wanted accuracy, such as 84% or 0.84.

    >>> share_of("84%"), share_of("0.84")
    (0.84, 0.84)
    """
    plain = text.strip().removesuffix("%").strip()
    number = parse_budget(plain, name="the wanted accuracy") / (100 if text.strip().endswith("%") else 1)
    if number >= 1:
        raise InputError(f"An accuracy of {text!r} is not below 100 %. Write it as 84% or 0.84.")
    return float(number)


def refuse_known_rows(like: str, schema_path: Path, *, ledger: Path | None, witness: Path | None) -> None:
    """Refuse a table whose rows the ledger has charged: it is not public."""
    path = ledger or default_path()
    if not path.exists():
        return
    schema = schema_of(schema_path)
    sizes = [attribute.domain.size for attribute in schema.attributes]
    with Ledger.open(path, witness=witness, reading=True) as opened:
        source = open_source(like)
        rows = ENGINES["memory"].open(source.batches(schema.columns_read), schema, key=opened.contribution_key)
        sums = rows.add_up(partial(row_sums, sizes=sizes, key=opened.key))
        owner = opened.owner_of(fingerprint_of_sums(sums, sizes=sizes, key=opened.key))
    if owner is not None:
        raise InputError(
            f"The ledger knows the rows of {like} as the dataset {owner!r}, so they are not public. Choosing epsilon "
            "by their accuracy would reveal them without a charge. Give a public table of the same shape."
        )


def budget_for_accuracy(
    schema: Path,
    like: str,
    wanted: float,
    *,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    splits: int = 3,
    epsilons: Sequence[str] = SWEEP,
    ledger: Path | None = None,
    witness: Path | None = None,
    progress: Progress | None = None,
) -> WantedBudget:
    """Release parts of the public table at several epsilons, and find the smallest that reaches the wanted accuracy."""
    refuse_known_rows(like, schema, ledger=ledger, witness=witness)
    given = {name: value for name, value in (parameters or {}).items() if name != "epsilon"}
    settings = ",".join(f"{name}={value}" for name, value in given.items())
    contender = method or usual_method(schema_of(schema))
    comparison = Comparison(
        tables=(f"{like}@{schema}",),
        contenders=(f"{contender}:{settings}" if settings else contender,),
        epsilons=tuple(epsilons),
        splits=tuple(range(splits)),
        classifiers=("tree",),
    )
    with tempfile.TemporaryDirectory(prefix="scumble-sweep-") as cache:
        result = compare(comparison, Path(cache), progress=progress)
    if result.skipped:
        raise InputError(f"The sweep is not possible: {result.skipped[0]}")
    scores = [each for each in mean_scores(result.outcomes) if each.measure == "accuracy"]
    sweep = [
        SweptBudget(epsilon=each.epsilon, accuracy=each.value.mean, band=each.value.band)
        for each in sorted(scores, key=lambda each: Fraction(each.epsilon))
    ]
    enough = next((each.epsilon for each in sweep if each.accuracy >= wanted), None)
    return WantedBudget(wanted=wanted, epsilon=None if enough is None else budget_text(Fraction(enough)), sweep=sweep)
