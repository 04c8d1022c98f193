"""Compares the noise-aware tree with the standard pruned tree on the cells of the same releases.

python benchmarks/noisy_tree.py                                  Adult, eps 0.1 and 1, 10 random splits
python benchmarks/noisy_tree.py --data generated --runs 5        all generated tables
python benchmarks/noisy_tree.py --levels 0.05 0.25 --keep shares records

The standard tree is trained on `table.csv`, the noise-aware tree on the measured counts; both are scored on the same
raw rows. Differences are paired by release and have standard errors. Adult is read from the folder SCUMBLE_DATA.
"""

import argparse
from collections.abc import Iterator
from itertools import product
from statistics import fmean, stdev

import numpy as np

from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable, random_split
from scumble.datasets import load
from scumble.engines.memory import MemoryEngine
from scumble.flows.evaluate import training_sample
from scumble.flows.release import run
from scumble.methods import method_named
from scumble.mining.benchmark.encoding import encode
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import accuracy, area_under_curve, score
from scumble.mining.noisy_cells.classifier import NoisyCellsClassifier
from scumble.model.release import CellRelease
from scumble.privacy.noise import PaidNoise
from scumble.sources import open_source

Scores = tuple[float, float]
"""Accuracy and AUC, in percent."""


def table_named(name: str, seed: int) -> CodedTable:
    if name != "adult":
        return RECIPES[name].table(seed=seed)
    dataset = load("adult")
    return CodedTable.read(open_source(dataset.path), dataset.schema)


def cells_of(train: CodedTable, epsilon: str) -> CellRelease:
    method = method_named("diffgen")
    parameters = method.parameters(epsilon=epsilon, detail="no")
    plan = method.plan(train.schema, parameters)
    made = run(method, train.schema, parameters, MemoryEngine([train.columns], train.schema), PaidNoise(), plan=plan)
    assert isinstance(made, CellRelease)
    return made


def standard(release: CellRelease, test: Sample) -> tuple[Scores, int]:
    scores = score(training_sample(release, "table"), test, release.schema, classifiers=("tree",))
    return _per_cent(scores["tree"]["accuracy"], scores["tree"]["auc"]), scores["pruning"]["leaves"]


def noise_aware(release: CellRelease, test: Sample, *, level: float, keep: str) -> tuple[Scores, int]:
    tree = NoisyCellsClassifier(level=level, keep=keep).fit_release(release)
    order = np.searchsorted(tree.classes_, release.schema.classes)
    shares = tree.predict_proba(encode(test.codes, release.schema))[:, order]
    labels = test.labels.astype(np.int64)
    right = accuracy(shares.argmax(axis=1), labels, test.counts)
    return _per_cent(right, area_under_curve(shares, labels, test.counts)), tree.model_.leaves


def _per_cent(right: float, area: float | None) -> Scores:
    return 100 * right, 100 * (float("nan") if area is None else area)


def lines(data: str, epsilon: str, runs: int, settings: list[tuple[float, str]]) -> Iterator[str]:
    """A table row for each setting, all on the same releases."""
    base: list[tuple[Scores, int]] = []
    found: dict[tuple[float, str], list[tuple[Scores, int]]] = {setting: [] for setting in settings}
    for seed in range(runs):
        table = table_named(data, seed)
        train, test = random_split(table.rows, seed)
        release = cells_of(table.part(train), epsilon)
        test_rows = table.part(test).sample(release.schema)
        base.append(standard(release, test_rows))
        for level, keep in settings:
            found[level, keep].append(noise_aware(release, test_rows, level=level, keep=keep))
    for (level, keep), ours in found.items():
        cells = [data, epsilon, str(level), keep]
        for place in (0, 1):
            paired = [mine[0][place] - other[0][place] for mine, other in zip(ours, base, strict=True)]
            error = stdev(paired) / len(paired) ** 0.5 if len(paired) > 1 else float("nan")
            cells.append(f"{fmean(each[0][place] for each in base):.2f}")
            cells.append(f"{fmean(each[0][place] for each in ours):.2f}")
            cells.append(f"{fmean(paired):+.2f} ± {error:.2f}")
        cells += [f"{fmean(leaves for _, leaves in base):.0f}", f"{fmean(leaves for _, leaves in ours):.0f}"]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--data", nargs="*", default=["adult"], help="adult, a generated table's name, or `generated`")
    reader.add_argument("--epsilons", nargs="*", default=["0.1", "1"])
    reader.add_argument("--runs", type=int, default=10)
    defaults = NoisyCellsClassifier()
    reader.add_argument("--levels", nargs="*", type=float, default=[defaults.level])
    reader.add_argument("--keep", nargs="*", default=[defaults.keep])
    given = reader.parse_args()
    data = [name for each in given.data for name in (RECIPES if each == "generated" else [each])]
    print(
        "| data | eps | level | keep | accuracy, standard | noise-aware | difference ± standard error "
        "| AUC, standard | noise-aware | difference ± standard error | leaves, standard | noise-aware |"
    )
    print("|---" * 4 + "|---:" * 8 + "|")
    for name, epsilon in product(data, given.epsilons):
        for line in lines(name, epsilon, given.runs, list(product(given.levels, given.keep))):
            print(line, flush=True)


if __name__ == "__main__":
    main()
