"""Ablation of the default release: changes one ingredient at a time, on the same splits with the same classifiers.

python benchmarks/ingredients.py                                   Adult, eps 0.1 and 1, 10 random splits
python benchmarks/ingredients.py --data xor five-classes --runs 5  generated tables
python benchmarks/ingredients.py --only default "one group"
python benchmarks/ingredients.py --odds --runs 40                  faster and more precise: scores the class odds

Differences to the default are paired by split, in points, with standard errors. AUC is in points too. With `--odds` no
classifier is trained: the calibrated class odds, from which the fine rows get their classes, predict the raw test rows.
"""

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable, random_split
from scumble.datasets import load
from scumble.engines.memory import MemoryEngine
from scumble.flows.evaluate import training_sample
from scumble.flows.release import run
from scumble.methods.diffgen import levels
from scumble.methods.diffgen.detail import measure, shrinkage
from scumble.methods.diffgen.detail.calibration import Calibration
from scumble.methods.diffgen.detail.groups import (
    LOG_ODDS_UNIT,
    LogOdds,
    LogOddsModel,
    class_probabilities,
    means_by_key,
    to_log_odds,
)
from scumble.methods.diffgen.detail.rows import RowSampler
from scumble.methods.diffgen.detail.shrinkage import USUAL_VARIANCE, shrunk
from scumble.methods.diffgen.levels import Level
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.scores import Score
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import accuracy, area_under_curve, score
from scumble.model.counts import Floats, Integers
from scumble.model.fine_rows import FINE_ROWS_EACH
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise
from scumble.sources import open_source

COLUMNS = ("tree", "boosting", "AUC")
COLUMNS_OF_ODDS = ("accuracy", "AUC")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The default with one change."""

    name: str
    level: Callable[[Level], Level] = lambda level: level
    options: dict[str, Any] | None = None
    rows_each: int = FINE_ROWS_EACH
    replaced: Mapping[tuple[Any, str], Any] = field(default_factory=dict)
    """What replaces a part of DiffGen, by the module or class and the name of that part."""

    @property
    def without_odds(self) -> bool:
        """Whether the variant has no odds, or the same odds as the default."""
        return self.rows_each != FINE_ROWS_EACH or (self.options or {}).get("detail") == "no"


def _other(score_: Score) -> Score:
    return Score.ACCURACY if score_ is Score.GINI else Score.GINI


def _not_calibrated(table: Integers, *_: Any) -> Calibration:
    return Calibration(slope=LOG_ODDS_UNIT, offsets=np.zeros(table.shape[1], dtype=np.int32))


def _equal_shares(schema: Schema, _: int) -> dict[str, Fraction]:
    return {each.name: Fraction(1, len(schema.predictors)) for each in schema.predictors}


PRIOR = RowSampler.prior_probabilities
PRIOR_NAME = PRIOR.__name__


def _prior_of_groups(rows: RowSampler, groups: int, place: int) -> Floats:
    """The class probabilities of each group, the same for all bins of the attribute."""
    of_rows = class_probabilities(rows.log_odds)
    of_groups = means_by_key(of_rows, rows.groups, np.tile(of_rows.mean(axis=0), (groups, 1)))
    return np.repeat(of_groups[:, np.newaxis], PRIOR(rows, groups, place).shape[1], axis=1)


def _by_weight(counts: Integers, prior: Floats, deviation: float, **_: Any) -> Floats:
    """Shrinkage towards a prior with the weight of a fixed number of records."""
    counts = np.maximum(counts, 0)
    return (counts + deviation * prior) / (counts.sum(axis=-1, keepdims=True) + deviation)


def _cell_by_cell(measured: Integers, deviation: float, *_: Any) -> LogOdds:
    totals = np.maximum(measured.sum(axis=0), 1)
    return to_log_odds(shrunk(measured, totals / totals.sum(), deviation, usual_variance=USUAL_VARIANCE))


VARIANTS = (
    Variant(name="default"),
    Variant(name="one fine row per record, not four", rows_each=1),
    Variant(name="cells alone", options={"detail": "no"}),
    Variant(name="no cells: one round at a twentieth", level=lambda a: replace(a, rounds=1, cells=Fraction(1, 20))),
    Variant(name="half of epsilon for the cells", level=lambda a: replace(a, cells=Fraction(1, 2))),
    Variant(name="one group", level=lambda a: replace(a, groups=1)),
    Variant(name="twice as many groups", level=lambda a: replace(a, groups=2 * a.groups)),
    Variant(name="half as many tables", level=lambda a: replace(a, tables=a.tables // 2)),
    Variant(name="equal budgets for all tables", replaced={(measure, "table_shares"): _equal_shares}),
    Variant(name="tables not shrunk toward what cells imply", replaced={(RowSampler, PRIOR_NAME): _prior_of_groups}),
    Variant(name="a fixed weight for the prior estimate", replaced={(shrinkage, "shrunk"): _by_weight}),
    Variant(name="cells without sums over cells", replaced={(measure, "log_odds_of_cells"): _cell_by_cell}),
    Variant(name="up to 10,000 cells", replaced={(levels, "cells_that_stand_out"): lambda *_: 10_000}),
    Variant(name="12 bins at least", level=lambda a: replace(a, fewest_bins=12)),
    Variant(name="24 bins at least", level=lambda a: replace(a, fewest_bins=24)),
    Variant(name="no calibration", replaced={(measure, "calibrate"): _not_calibrated}),
    Variant(name="calibration at a hundredth", level=lambda a: replace(a, calibration=Fraction(1, 100))),
    Variant(name="the other score", level=lambda a: replace(a, score=_other(a.score))),
    Variant(name="public number of records, not counted", options={"records": "rows"}),
)


@cache
def table_named(name: str, seed: int) -> CodedTable:
    if name != "adult":
        return RECIPES[name].table(seed=seed)
    dataset = load("adult")
    return CodedTable.read(open_source(dataset.path), dataset.schema)


class Recorder:
    """Records the model and the calibration that a release ends with."""

    model: LogOddsModel
    calibration: Calibration

    def __init__(self) -> None:
        self._measure, self._calibrate = measure._measure, measure.calibrate

    def measure(self, model: LogOddsModel, *rest: Any) -> Integers:
        self.model = model
        return self._measure(model, *rest)

    def calibrate(self, *given: Any) -> Calibration:
        self.calibration = self._calibrate(*given)
        return self.calibration

    def score(self, test: Sample) -> tuple[float, ...]:
        odds, _ = self.model.log_odds_and_groups([np.ascontiguousarray(column) for column in test.codes.T])
        found = class_probabilities(self.calibration.apply(odds))
        area = area_under_curve(found, test.labels, test.counts)
        return 100 * accuracy(found.argmax(axis=1), test.labels, test.counts), 100 * (area or 0)


def one_run(job: tuple[str, str, int, str, bool]) -> tuple[float, ...]:
    """One release by one variant: accuracies and AUC in percent."""
    data, epsilon, seed, name, by_odds = job
    variant = next(each for each in VARIANTS if each.name == name)
    table = table_named(data, seed if data != "adult" else 0)
    train, test = (table.part(part) for part in random_split(table.rows, seed))

    class Changed(DiffGenMethod):
        levels = tuple(variant.level(level) for level in DiffGenMethod.levels)

    given = {key: train.rows if value == "rows" else value for key, value in (variant.options or {}).items()}
    method = Changed()
    settings = method.parameters(**{"epsilon": epsilon, **given})
    with ExitStack() as changes:
        for (owner, part), value in variant.replaced.items():
            changes.enter_context(patch.object(owner, part, value))
        recorder = Recorder()
        changes.enter_context(patch.object(measure, "_measure", recorder.measure))
        changes.enter_context(patch.object(measure, "calibrate", recorder.calibrate))
        engine, plan = MemoryEngine([train.columns], train.schema), method.plan(train.schema, settings)
        made = run(method, train.schema, settings, engine, PaidNoise(), plan=plan)
    if by_odds:
        return recorder.score(test.sample(train.schema))
    schema = made.tables[made.recommended]
    sample = _fewer(training_sample(made), FINE_ROWS_EACH // variant.rows_each if made.recommended == "fine" else 1)
    scores = score(sample, test.sample(schema), schema, classifiers=("tree", "boosting"))
    boosting = scores["boosting"]
    return 100 * scores["tree"]["accuracy"], 100 * boosting["accuracy"], 100 * boosting["auc"]


def _fewer(sample: Sample, step: int) -> Sample:
    """Every `step`-th row."""
    weights = None if sample.weights is None else sample.weights[::step]
    return Sample(codes=sample.codes[::step], labels=sample.labels[::step], weights=weights)


def shown(name: str, found: npt.NDArray[np.float64], base: npt.NDArray[np.float64] | None) -> str:
    """A table row: means for the default, differences to the default for the others."""
    values = found if base is None else found - base
    errors = values.std(axis=0, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.full(found.shape[1], np.nan)
    sign = "" if base is None else "+"
    cells = [f"{mean:{sign}.2f} ({error:.2f})" for mean, error in zip(values.mean(axis=0), errors, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--data", nargs="*", default=["adult"], choices=["adult", *RECIPES])
    reader.add_argument("--epsilons", nargs="*", default=["0.1", "1"])
    reader.add_argument("--runs", type=int, default=10)
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    reader.add_argument("--odds", action="store_true")
    reader.add_argument("--only", nargs="*", default=[each.name for each in VARIANTS])
    given = reader.parse_args()
    columns = COLUMNS_OF_ODDS if given.odds else COLUMNS
    without_odds = {each.name for each in VARIANTS if given.odds and each.without_odds}
    with ProcessPoolExecutor(given.jobs) as pool:
        for data in given.data:
            for epsilon in given.epsilons:
                print(f"\n{data}, eps {epsilon}, {given.runs} splits\n", flush=True)
                print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}", flush=True)
                base = None
                for name in ["default", *(name for name in given.only if name not in {"default", *without_odds})]:
                    jobs = [(data, epsilon, seed, name, given.odds) for seed in range(given.runs)]
                    found = np.array(list(pool.map(one_run, jobs)))
                    print(shown(name, found, base), flush=True)
                    base = found if base is None else base


if __name__ == "__main__":
    sys.exit(main())
