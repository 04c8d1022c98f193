"""The measures of a comparison: how each is called, shown and ranked.

Most judge a classifier that was trained on a contender's table. The distances of margins judge the table itself,
whatever is trained on it. They are the only ones of which less is better.
"""

from dataclasses import dataclass

RECALL = "recall:"
"""The prefix of the measures `recall:LABEL`, one for each class."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How a measure is shown: a short heading, the label of its axis, and a scale with a number of digits."""

    heading: str
    axis: str
    scale: int = 100
    digits: int = 2
    lower_is_better: bool = False

    def text(self, mean: float, spread: float | None = None) -> str:
        """A mean, with half the width of its confidence band if it has one.

        >>> measure_named("accuracy").text(0.84521, 0.0021)
        '84.52 ± 0.21'
        """
        band = "" if spread is None else f" ± {self.scale * spread:.{self.digits}f}"
        return f"{self.scale * mean:.{self.digits}f}{band}"


BY_CLASSIFIER = {
    "accuracy": Measure(heading="accuracy", axis="accuracy, %"),
    "balanced_accuracy": Measure(heading="balanced", axis="balanced accuracy, %"),
    "balanced_accuracy_weighted": Measure(heading="balanced, weighted", axis="balanced accuracy, class-weighted, %"),
    "auc": Measure(heading="AUC", axis="AUC", scale=1, digits=4),
}
OF_TABLE = {
    "one_way": Measure(heading="one-way", axis="one-way distance, % (lower is better)", lower_is_better=True),
    "one_way_binned": Measure(
        heading="one-way, 20 bins", axis="one-way distance in 20 bins, % (lower is better)", lower_is_better=True
    ),
    "two_way": Measure(
        heading="two-way", axis="two-way distance in 20 bins, % (lower is better)", lower_is_better=True
    ),
    "three_way": Measure(
        heading="three-way", axis="three-way distance in 20 bins, % (lower is better)", lower_is_better=True
    ),
    "associations": Measure(
        heading="associations", axis="mean error of Cramer's V, % (lower is better)", lower_is_better=True
    ),
    "queries": Measure(
        heading="random queries", axis="mean error of random queries, % (lower is better)", lower_is_better=True
    ),
}


OF_ATTACKS = {
    name: Measure(heading=heading, axis=f"{heading}: gain, points (lower is better)", lower_is_better=True)
    for name, heading in (
        ("membership", "membership"),
        ("attribute_inference", "attribute inference"),
        ("singling_out", "singling out"),
        ("linkage", "linkage"),
    )
}
OF_TABLE |= OF_ATTACKS
MAIN = ("accuracy", "balanced_accuracy", "auc")
"""The measures that stand in the first table of a comparison; the rest follow below it."""
RARE_CLASSES = "Rare classes: balanced accuracy of class-weighted predictions, and recall of each class, in %"
DISTANCES = (
    "Distances of the published table from the training rows: margins, associations (Cramer's V) and answers to random "
    "queries, in % (lower is better)"
)
TARGETS = "Other attributes as the class"
RISKS = (
    "Attacks: success on people in the table minus success on others, in percentage points (lower is better; near "
    "zero is sampling error)"
)
SECTIONS = ("", RARE_CLASSES, DISTANCES, RISKS, TARGETS)


def section_of(name: str, target: str = "") -> str:
    """The section of a comparison's page in which a measure stands, and that of a target; empty for the first."""
    if target:
        return TARGETS
    if name in OF_ATTACKS:
        return RISKS
    return "" if name in MAIN else DISTANCES if name in OF_TABLE else RARE_CLASSES


def measure_named(name: str) -> Measure:
    """How a measure is shown."""
    if name.startswith(RECALL):
        label = name.removeprefix(RECALL)
        return Measure(heading=f"recall of {label}", axis=f"recall of {label}, %")
    return {**BY_CLASSIFIER, **OF_TABLE}[name]
