"""Accuracy and AUC on Adult: a joint release, one owner with all rows, separate releases; on the same splits."""

import sys
from collections.abc import Sequence
from pathlib import Path

from scumble.comparison.compare import Comparison, compare
from scumble.comparison.summary import Difference, MeanScore, mean_scores, paired_differences

JOINT, DEFAULT, BY_ACCURACY, APART = "joint-3", "diffgen", "together", "apart-3:detail=auto,score=auto"
OTHERS = {
    DEFAULT: "one owner has all rows; joint minus this",
    BY_ACCURACY: "one owner, cells by `accuracy`; joint minus this",
    APART: "three owners apart; joint minus this",
}
FEWEST_SPLITS = 10
"""A difference over fewer splits is printed without a verdict."""
MEASURES = (("tree", "accuracy"), ("boosting", "accuracy"), ("boosting", "auc"))


def section(results: Path, splits: int, epsilons: Sequence[str], jobs: int, others: Sequence[str]) -> str:
    comparison = Comparison(
        tables=("adult",),
        contenders=(JOINT, *others),
        epsilons=tuple(epsilons),
        splits=tuple(range(splits)),
        classifiers=("tree", "boosting"),
    )

    def report(label: str, done: int, total: int | None) -> None:
        print(f"\r{label}: {done} of {total}", end="" if done != total else "\n", file=sys.stderr, flush=True)

    outcomes = compare(comparison, results / "cache", jobs=jobs, progress=report).outcomes
    means = {(each.contender, each.epsilon, each.classifier, each.measure): each for each in mean_scores(outcomes)}
    differences = {
        (each.other, each.epsilon, each.classifier, each.measure): each for each in paired_differences(outcomes, JOINT)
    }
    text = [f"{splits} random 2/3–1/3 splits, seeds 0 to {splits - 1}. Standard errors are in brackets.", ""]
    head = ["eps", "percent", "joint", *(OTHERS[other] for other in others)]
    text += [_row(head), _row(["---"] * len(head))]
    for epsilon in comparison.epsilons:
        for classifier, measure in MEASURES:
            key = epsilon, classifier, measure
            cells = [_mean(means[JOINT, *key])]
            cells += [f"{_mean(means[other, *key])}; {_difference(differences[other, *key])}" for other in others]
            text.append(_row([epsilon, f"{classifier}, {measure}", *cells]))
    return "\n".join([*text, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _mean(score: MeanScore) -> str:
    return f"{100 * score.value.mean:.2f} ({100 * (score.value.error or 0):.2f})"


def _difference(found: Difference) -> str:
    """The difference with its standard error. Few splits get no verdict: their standard errors are too uncertain."""
    mean, error = 100 * found.value.mean, 100 * (found.value.error or 0)
    verdict = f" {found.verdict}" if found.value.number >= FEWEST_SPLITS else ""
    return f"{mean:+.2f} ({error:.2f}){verdict}"
