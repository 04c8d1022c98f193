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
from math import inf
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
from scumble.methods.diffgen import settings
from scumble.methods.diffgen.detail import measure, shrinkage, spends
from scumble.methods.diffgen.detail.calibration import Calibration
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.rows import RowSampler
from scumble.methods.diffgen.detail.terms import LogOddsModel, class_probabilities
from scumble.methods.diffgen.division import EpsilonShares, best_bins, best_division
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import accuracy, area_under_curve, score
from scumble.model.counts import Floats, Integers
from scumble.model.domain import Domain
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
    options: dict[str, Any] | None = None
    rows_each: int = FINE_ROWS_EACH
    replaced: Mapping[tuple[Any, str], Any] = field(default_factory=dict)
    """What replaces a part of DiffGen, by the module or class and the name of that part."""

    @property
    def without_odds(self) -> bool:
        """Whether the variant has no odds, or the same odds as the default."""
        return self.rows_each != FINE_ROWS_EACH or (self.options or {}).get("detail") == "no"


def _not_calibrated(table: Integers, *_: Any) -> Calibration:
    return Calibration(slope=LOG_ODDS_UNIT, offsets=np.zeros(table.shape[1], dtype=np.int32))


def _equal_shares(schema: Schema, _: int) -> dict[str, Fraction]:
    return {each.name: Fraction(1, len(schema.predictors)) for each in schema.predictors}


def _even_values(domain: Domain, *_: Any) -> Floats:
    return np.full(domain.size, 1 / domain.size)


def _by_weight(counts: Integers, prior: Floats, deviation: float, **_: Any) -> Floats:
    """Shrinkage towards a prior with the weight of a fixed number of records."""
    counts = np.maximum(counts, 0)
    return (counts + deviation * prior) / (counts.sum(axis=-1, keepdims=True) + deviation)


def _all_tables(information: float, values: tuple[int, ...], classes: int = 2) -> EpsilonShares:
    best = best_division(information, values, classes)
    return replace(best, tables=len(values), choice=0.0, calibration=max(best.calibration, 0.03))


def _bins(factor: float) -> Callable[[float, EpsilonShares], int]:
    return lambda information, shares: int(factor * best_bins(information, shares))


VARIANTS = (
    Variant(name="default"),
    Variant(name="one fine row per record, not four", rows_each=1),
    Variant(name="cells alone", options={"detail": "no"}),
    Variant(name="a fifth of epsilon for the cells", replaced={(settings, "CELLS"): 0.2}),
    Variant(name="up to 10,000 cells", replaced={(settings, "cells_that_stand_out"): lambda *_: 10_000}),
    Variant(name="values taken as even, not counted", replaced={(measure, "value_shares"): _even_values}),
    Variant(name="all tables, none chosen", replaced={(settings, "best_division"): _all_tables}),
    Variant(name="half as many bins", replaced={(settings, "best_bins"): _bins(0.5)}),
    Variant(name="twice as many bins", replaced={(settings, "best_bins"): _bins(2.0)}),
    Variant(name="equal budgets for all tables", replaced={(spends, "table_shares"): _equal_shares}),
    Variant(name="one group", replaced={(measure, "LEAST_INFORMATION"): inf}),
    Variant(name="a fixed weight for the prior estimate", replaced={(shrinkage, "shrunk"): _by_weight}),
    Variant(name="no calibration", replaced={(measure, "calibrate"): _not_calibrated}),
    Variant(name="no combinations", replaced={(measure, "NO_FALSE_COMBINATION"): 1e6}),
    Variant(name="no weights", replaced={(measure, "weighted"): lambda model, *_: model}),
    Variant(name="without raking", replaced={(RowSampler, "resample"): lambda *_: None}),
    Variant(name="public number of records, not counted", options={"records": "rows"}),
)


@cache
def table_named(name: str, seed: int) -> CodedTable:
    if name != "adult":
        return RECIPES[name].table(seed=seed)
    dataset = load("adult")
    return CodedTable.read(open_source(dataset.path), dataset.schema)


def score_of_odds(model: LogOddsModel, test: Sample) -> tuple[float, ...]:
    """How well the model's odds predict test rows: accuracy and AUC in percent."""
    found = class_probabilities(model.log_odds([np.ascontiguousarray(column) for column in test.codes.T]))
    area = area_under_curve(found, test.labels, test.counts)
    return 100 * accuracy(found.argmax(axis=1), test.labels, test.counts), 100 * (area or 0)


def one_run(job: tuple[str, str, int, str, bool]) -> tuple[float, ...]:
    """One release by one variant: accuracies and AUC in percent."""
    data, epsilon, seed, name, by_odds = job
    variant = next(each for each in VARIANTS if each.name == name)
    table = table_named(data, seed if data != "adult" else 0)
    train, test = (table.part(part) for part in random_split(table.rows, seed))

    given = {key: train.rows if value == "rows" else value for key, value in (variant.options or {}).items()}
    method = DiffGenMethod()
    parameters = method.parameters(**{"epsilon": epsilon, **given})
    models, detail = [], measure._Measuring.detail

    def recorded(measuring: measure._Measuring) -> measure.Detail:
        models.append(measuring.model)
        return detail(measuring)

    with ExitStack() as changes:
        for (owner, part), value in variant.replaced.items():
            changes.enter_context(patch.object(owner, part, value))
        changes.enter_context(patch.object(measure._Measuring, "detail", recorded))
        engine, plan = MemoryEngine([train.columns], train.schema), method.plan(train.schema, parameters)
        made = run(method, train.schema, parameters, engine, PaidNoise(), plan=plan)
    if by_odds:
        return score_of_odds(models[-1], test.sample(train.schema))
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
