"""Accuracy of a pruned tree on Adult: joint release, separate releases, one owner with all rows; on the same splits."""

import sys
from collections.abc import Sequence
from pathlib import Path

from scumble.comparison.compare import Comparison, TrialOutcome, compare
from scumble.comparison.summary import Mean, paired_differences

OWNERS = (2, 3, 5)
JOINT, GRID, ONE, DETAILED = "joint-3", "joint-3:positions=32", "together", "diffgen"
ALONE = "detail=auto,score=auto"
"""The settings of a single owner's defaults, which differ from those of a joint release."""


def section(results: Path, splits: int, epsilons: Sequence[str], jobs: int, *, own_defaults: bool = False) -> str:
    apart = {owners: [f"apart-{owners}"] + [f"apart-{owners}:{ALONE}"] * own_defaults for owners in OWNERS}
    comparison = Comparison(
        tables=("adult",),
        contenders=(JOINT, GRID, ONE, DETAILED, *(name for names in apart.values() for name in names)),
        epsilons=tuple(epsilons),
        splits=tuple(range(splits)),
        classifiers=("tree",),
    )

    def report(label: str, done: int, total: int | None) -> None:
        print(f"\r{label}: {done} of {total}", end="" if done != total else "\n", file=sys.stderr, flush=True)

    found = Figures(compare(comparison, results / "cache", jobs=jobs, progress=report).outcomes)
    text = [f"{splits} random 2/3–1/3 splits, seeds 0 to {splits - 1}. Standard errors are in brackets.", ""]
    head = ["eps", "owners", "joint", "one owner has all rows; joint is", "apart; joint is"]
    head += ["apart by own defaults; joint is"] * own_defaults
    text += [_row(head), _row(["---"] * len(head))]
    for epsilon in comparison.epsilons:
        for owners, names in apart.items():
            cells = [found.mean(JOINT, epsilon), *(found.both(JOINT, other, epsilon) for other in (ONE, *names))]
            text.append(_row([epsilon, str(owners), *cells]))
    text += ["", "One owner with all rows and the default settings, and the effect of every step away from them:", ""]
    head = ["eps", "one owner, defaults", "without detail, by `accuracy`; against the defaults"]
    head += ["joint; against the defaults", "joint, 32 positions; against all positions"]
    text += [_row(head), _row(["---"] * len(head))]
    for epsilon in comparison.epsilons:
        pairs = ((DETAILED, ONE), (DETAILED, JOINT), (JOINT, GRID))
        steps = [found.both(reference, other, epsilon, reverse=True) for reference, other in pairs]
        text.append(_row([epsilon, found.mean(DETAILED, epsilon), *steps]))
    return "\n".join([*text, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


class Figures:
    """Means and paired differences as text."""

    def __init__(self, outcomes: Sequence[TrialOutcome]) -> None:
        self._outcomes = outcomes

    def mean(self, contender: str, epsilon: str) -> str:
        chosen = [each.accuracy for each in self._outcomes if (each.contender, each.epsilon) == (contender, epsilon)]
        value = Mean.of(chosen)
        return f"{100 * value.mean:.2f} ({100 * (value.error or 0):.2f})"

    def both(self, reference: str, other: str, epsilon: str, *, reverse: bool = False) -> str:
        """The other's mean, and the reference minus the other (or the reverse) with its standard error."""
        (difference,) = (
            each
            for each in paired_differences(self._outcomes, reference)
            if (each.other, each.epsilon, each.measure) == (other, epsilon, "accuracy")
        )
        apart, error = (100 * (number or 0) for number in (difference.value.mean, difference.value.error))
        text = f"{-apart:+.2f} ({error:.2f})" if reverse else f"{apart:+.2f} ({error:.2f}) {difference.verdict}"
        return f"{self.mean(other, epsilon)}; {text}"
