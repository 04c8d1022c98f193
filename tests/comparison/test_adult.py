"""Releases of Adult have the documented accuracy. `make accuracy` prints the means of forty runs.

Bounds are six standard errors or more from the means of 40 runs (81.9 and 84.4, deviations of one run 0.8 and 0.3).
"""

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from scumble.comparison.trials import CodedTable, random_split, trial
from scumble.files.schema_file import read_schema
from scumble.mining.benchmark.scores import majority_accuracy, score
from scumble.sources import open_source

RUNS = 6
TRAINING_ROWS = 30_162


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> CodedTable:
    schema = read_schema(data_folder / "adult.schema.yaml")
    return CodedTable.read(open_source(data_folder / "adult.csv"), schema)


def test_raw_rows_give_the_usual_baselines(adult: CodedTable) -> None:
    train, test = adult.part(np.arange(TRAINING_ROWS)), adult.part(np.arange(TRAINING_ROWS, adult.rows))
    learned, judged = train.sample(adult.schema), test.sample(adult.schema)
    assert adult.rows == 45_222
    assert majority_accuracy(learned, judged) == pytest.approx(11_360 / 15_060)
    assert score(learned, judged, adult.schema, classifiers=("tree",))["tree"]["accuracy"] > 0.853


def test_published_mode_is_as_good_as_the_paper_says(adult: CodedTable) -> None:
    train, test = adult.part(np.arange(TRAINING_ROWS)), adult.part(np.arange(TRAINING_ROWS, adult.rows))
    parameters = {"epsilon": "1", "selection": "published", "score": "max", "rounds": 10}
    runs = [trial(train, test, method="diffgen", parameters=parameters)["tree"]["accuracy"] for _ in range(RUNS)]
    assert 0.80 < fmean(runs) < 0.84


@pytest.mark.audit
def test_the_default_is_better(adult: CodedTable) -> None:
    runs = []
    for seed in range(RUNS):
        train, test = (adult.part(rows) for rows in random_split(adult.rows, seed))
        runs.append(trial(train, test, method="diffgen", parameters={"epsilon": "1"})["tree"]["accuracy"])
    # One run has a mean of 0.843 and a deviation of 0.0035; the published mode has 0.819.
    assert fmean(runs) > 0.832
