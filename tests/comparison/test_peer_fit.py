"""The script that runs peers in their environments, with a library that only records how it is called."""

import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "peers" / "fit.py"


class RecordedBoosting:
    """Takes the place of interpret's classifier."""

    settings: dict[str, Any]
    rows: Any

    def __init__(self, **settings: Any) -> None:
        type(self).settings = settings

    def fit(self, rows: Any, labels: Any) -> None:
        type(self).rows = rows
        self.classes_ = np.unique(labels)

    def predict_proba(self, rows: Any) -> Any:
        return np.full((len(rows), len(self.classes_)), 1 / len(self.classes_))


@pytest.mark.parametrize("labels", [[0, 1, 0], [1, 1, 1]])
def test_boosting_gets_types_and_bounds_from_the_public_sizes(
    labels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not given, the library reads from the rows, which its guarantee does not cover."""
    module = ModuleType("interpret.privacy")
    module.DPExplainableBoostingClassifier = RecordedBoosting  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "interpret", ModuleType("interpret"))
    monkeypatch.setitem(sys.modules, "interpret.privacy", module)
    rows = np.array([[3, 1, 5], [4, 0, 6], [3, 1, 5]])
    job = {
        "train": np.column_stack([rows, labels]),
        "test": np.column_stack([rows[:2], [0, 1]]),
        "sizes": np.array([80, 4, 20, 2]),
        "in_order": np.array([1, 0, 1, 0]),
    }
    fit = runpy.run_path(str(SCRIPT))["PEERS"]["dpebm"]
    result = fit(job, {"epsilon": 0.5, "delta": 1e-5, "seed": 3})["probabilities"]
    settings = RecordedBoosting.settings
    assert settings["feature_types"] == ["continuous", "nominal", "continuous"]
    assert settings["privacy_bounds"] == {0: (-0.5, 79.5), 2: (-0.5, 19.5)}
    assert (settings["epsilon"], settings["delta"]) == (0.5, 1e-5)
    assert (RecordedBoosting.rows == rows).all()
    assert result.shape == (2, 2), "a class without training rows has a column, too"
    assert result.sum(axis=1).tolist() == [1, 1]
