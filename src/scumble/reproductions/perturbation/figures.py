"""The data of Table 1 and Figures 5 and 6 of Agrawal & Srikant (SIGMOD 2000).

All people are synthetic, so the noise may be seeded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from scumble.comparison.summary import Mean
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel, for_privacy
from scumble.model.local.randomizers import Discretized, Gaussian, Uniform
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

Row = dict[str, Any]

CONFIDENCES = (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000))
PAPER_TABLE_1 = {"discretized": (0.5, 0.95, 0.999), "uniform": (0.5, 0.95, 0.999), "gaussian": (1.34, 3.92, 6.8)}
FIGURE_5_ALGORITHMS = ("randomized", "global", "byclass", "local")
ALGORITHM_NAMES = {"randomized": "uncorrected", "original": "uncorrected"}
TRUTH = "0%"
FIGURE_5_PRIVACY = (TRUTH, "25%", "50%", "100%")
"""Includes 50 %, which the paper mentions but does not plot."""
FIGURE_6_PRIVACY = (TRUTH, "10%", "25%", "50%", "100%", "150%", "200%")
NOISES = ("uniform", "gaussian")
TRAINING, TESTING = 100_000, 5_000
QUICK_TRAINING, QUICK_TESTING = 30_000, 3_000
STOPS = "original with a least gain"
"""The paper's Original does not split for a negligible gain, so it stops if it meets Function 2's XOR."""
LEAST_GAIN = 20
"""Its least decrease of the gini index, times the number of rows. Splits without effect seldom reach it by chance."""


def paper_claim(*, text: str, measured: str, holds: bool) -> Claim:
    """A statement of the paper that our measurement confirms or refutes."""
    return Claim(text=text, paper="claimed", ours=measured, holds=holds)


def table_1() -> list[Row]:
    """The privacy of each kind of noise, as a multiple of the interval width W, of 2a, or of sigma."""
    one: Mapping[str, Discretized | Uniform | Gaussian] = {
        "discretized": Discretized(edges=(Decimal(0), Decimal(1))),
        "uniform": Uniform(half_width=Fraction(1, 2)),
        "gaussian": Gaussian(sigma=Fraction(1)),
    }
    return [
        {
            "method": method,
            "confidence": float(confidence),
            "width": float(randomizer.width(confidence)),
            "paper": PAPER_TABLE_1[method][place],
        }
        for method, randomizer in one.items()
        for place, confidence in enumerate(CONFIDENCES)
    ]


def table_1_claims(rows: Sequence[Row]) -> list[Claim]:
    odd = [row for row in rows if abs(row["width"] - row["paper"]) > 0.0101]
    expected = [row for row in odd if row["method"] == "gaussian" and row["confidence"] == 0.999]
    text = "Table 1, except its last entry: 99.9 % lie within 3.2905 standard deviations on each side: 6.58, not 6.8."
    measured = ", ".join(f"{row['width']:.3f}" for row in rows if row["method"] == "gaussian")
    return [paper_claim(text=text, measured=measured, holds=odd == expected)]


def matrix(columns: Mapping[str, Integers]) -> Floats:
    """The true values of the nine attributes as a matrix."""
    return np.stack([columns[name] for name in RANGES], axis=1).astype(np.float64)


def published_matrix(
    model: NoiseModel, columns: Mapping[str, Integers], names: Iterable[str] = tuple(RANGES)
) -> Floats:
    """The perturbed codes of the named attributes, by default all nine, as a matrix of values."""
    result = []
    for name in names:
        grid = model.published[name].domain
        assert isinstance(grid, Grid)
        result.append(grid.edge_floats[columns[name]])
    return np.stack(result, axis=1)


def _scored(tree: PerturbedTreeClassifier, test: Floats, wanted: Integers) -> Row:
    return {"accuracy": float((tree.predict(test) == wanted).mean()), "leaves": tree.model_.leaves}


AS_PRINTED = {"byclass as printed": "byclass", "local as printed": "local"}
"""The two algorithms exactly as in the paper: leaves use the class counts of the associated records."""


def learner(model: NoiseModel | None, algorithm: str) -> PerturbedTreeClassifier:
    """A classifier by its name in the figures. Without a noise model it is the paper's Original."""
    if algorithm in AS_PRINTED:
        return PerturbedTreeClassifier(model, algorithm=AS_PRINTED[algorithm], leaves="associated")
    return PerturbedTreeClassifier(model, algorithm=ALGORITHM_NAMES.get(algorithm, algorithm))


def tree_accuracies(
    *,
    functions: Sequence[int] = (1, 2, 3, 4, 5),
    privacy: Sequence[str] = FIGURE_5_PRIVACY,
    noises: Sequence[str] = NOISES,
    algorithms: Sequence[str] = FIGURE_5_ALGORITHMS,
    runs: int = 10,
    training: int = TRAINING,
    testing: int = TESTING,
    seed: int = 0,
) -> Iterator[Row]:
    """One row for each tree: its settings, and its accuracy on the true values of new people. "0%" is Original."""
    schema = agrawal_schema()
    for run in range(runs):
        for function in functions:
            number = 1_000 * seed + 10 * run + function
            people, labels = generate(function, training, seed=2 * number)
            test, wanted = generate(function, testing, seed=2 * number + 1)
            known: Row = {"function": function, "run": run}
            tested = matrix(test), wanted
            if TRUTH in privacy:
                original = learner(None, "original").fit(matrix(people), labels)
                setting = {"noise": "none", "privacy": TRUTH, "algorithm": "original"}
                yield {**known, **setting, **_scored(original, *tested)}
                stopping = DecisionTreeClassifier(min_impurity_decrease=LEAST_GAIN / training).fit(
                    matrix(people), labels
                )
                accuracy = float((stopping.predict(tested[0]) == wanted).mean())
                yield {
                    **known,
                    **setting,
                    "algorithm": STOPS,
                    "accuracy": accuracy,
                    "leaves": int(stopping.get_n_leaves()),
                }
            cells = {**codes(people), "group": labels}
            for noise in noises:
                for level in privacy:
                    if level == TRUTH:
                        continue
                    model = for_privacy(schema, privacy=level, noise=noise)
                    reports = perturb_block(model, cells, words=SimulatedWords(simulation(number)))
                    values = published_matrix(model, reports)
                    for algorithm in algorithms:
                        tree = learner(model, algorithm).fit(values, labels)
                        setting = {"noise": noise, "privacy": level, "algorithm": algorithm}
                        yield {**known, **setting, **_scored(tree, *tested)}


def mean_accuracy(rows: Sequence[Row], **wanted: object) -> float:
    """The mean accuracy of the rows with the given values, in percent."""
    return accuracy_of(rows, **wanted).mean


def accuracy_of(rows: Sequence[Row], **wanted: object) -> Mean:
    """The same with its 95 % confidence interval, if there are several runs."""
    found = [row["accuracy"] for row in rows if all(row[key] == value for key, value in wanted.items())]
    return Mean.of([100 * value for value in found])
