"""The zoo's benchmark: its tests, its pages, and that an interrupted run resumes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from scumble.comparison import cached_runs
from scumble.comparison.compare import TrialOutcome
from scumble.comparison.recipes import RECIPES

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other as `python benchmarks/zoo.py` does."""
    monkeypatch.syspath_prepend(BENCHMARKS)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trials each call of `run_all` still had to run."""
    from scumble.comparison import compare

    found: list[int] = []

    def counted(original: Callable[..., Any]) -> Callable[..., Any]:
        def run_all(pieces: list[Any], jobs: int) -> Any:
            found.append(len(pieces))
            return original(pieces, jobs)

        return run_all

    for module in (compare, cached_runs):
        monkeypatch.setattr(module, "run_all", counted(module.run_all))
    return found


def test_holm_s_correction_on_a_worked_example() -> None:
    """Sorted: 0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, 0.04 x 1 = 0.04, raised to 0.06."""
    from zoo_statistics import holm

    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.9]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def test_holm_keeps_the_family_wise_error_rate() -> None:
    from zoo_statistics import holm

    draw = np.random.default_rng(1)
    wrong = sum(min(holm(draw.random(20).tolist())) <= 0.05 for _ in range(4_000))
    assert 0.04 < wrong / 4_000 < 0.06


def test_behind_by_more_than_the_margin() -> None:
    from zoo_statistics import probability_behind, worse

    differences = [-0.012, -0.008, -0.011, -0.007, -0.013]
    expected = ttest_1samp(differences, -0.003, alternative="less").pvalue
    assert probability_behind(differences) == pytest.approx(float(expected))
    assert probability_behind([0.01 + each for each in differences]) > 0.05  # within the margin
    assert probability_behind([-0.5]) == 1.0
    assert probability_behind([-0.01, -0.01]) == 0.0
    assert probability_behind([0.0, 0.0]) == 1.0
    assert worse(differences)
    assert not worse([-0.012, 0.012, -0.001])
    assert not worse([0.0, 0.0])


def outcome(contender: str, epsilon: str, split: int, accuracy: float) -> TrialOutcome:
    return TrialOutcome(
        table="xor",
        contender=contender,
        epsilon=epsilon,
        split=split,
        classifier="boosting",
        accuracy=accuracy,
        auc=accuracy,
        cpu_seconds=1.0,
        balanced_accuracy=accuracy,
        balanced_accuracy_weighted=accuracy,
        one_way_binned=1 - accuracy,
    )


def test_the_page_names_what_is_behind() -> None:
    from zoo_pages import CELLS, CONTENDERS, DEFAULT, HISTOGRAMS, RAW, compared, results_page, values_of

    means = dict.fromkeys(CONTENDERS, 0.7) | {CELLS: 0.75, RAW: 0.9, HISTOGRAMS: 0.701}
    shifts = [0.001, -0.001, 0.002, -0.002, 0.0]
    outcomes = [
        outcome(name, "" if name == RAW else "1", split, mean + (split + 2 * len(name)) % 3 / 1_000 + shift)
        for name, mean in means.items()
        for split, shift in enumerate(shifts)
    ]
    values = values_of(outcomes, ["1"])
    tests = compared(values, ["xor"], ["1"])
    assert len(tests) == 9
    assert {(test.other, test.measure) for test in tests if test.behind} == {
        (CELLS, measure) for measure in ("accuracy", "balanced_accuracy", "auc")
    }
    page = results_page(values, {"xor": 0.52}, ["xor"], ["1"], "5 splits.")
    assert "Significantly behind by more than 0.3 points: 3." in page
    assert "Mean differences below -0.3 points, significant or not: 3 of 9." in page
    line = next(line for line in page.splitlines() if line.startswith("| xor | S | 1 |"))
    gap = 100 * (np.mean(values["xor", RAW, "1"]["accuracy"]) - np.mean(values["xor", DEFAULT, "1"]["accuracy"]))
    assert line.endswith(f"| 52.0 | {gap:.1f} |")


def test_a_run_resumes_and_adds_splits(tmp_path: Path, runs: list[int]) -> None:
    import zoo

    options = ["--tables", "study", "--epsilons", "1", "--jobs", "1", "--out", str(tmp_path)]
    zoo.main([*options, "--splits", "1"])
    first = (tmp_path / "zoo-results.md").read_text(encoding="utf-8")
    zoo.main([*options, "--splits", "1"])
    assert (tmp_path / "zoo-results.md").read_text(encoding="utf-8") == first
    zoo.main([*options, "--splits", "2"])
    assert runs == [5, 0, 5]
    assert "| study | S | 1 |" in first


def test_interrupted_runs_keep_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[int]) -> None:
    import zoo
    import zoo_trials

    calls: list[int] = []
    original = zoo_trials.trial_of

    def interrupted(facts: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(facts)

    options = ["--monotone", "--tables", "study", "--epsilons", "0.5", "1", "--splits", "2", "--jobs", "1"]
    options += ["--out", str(tmp_path)]
    monkeypatch.setattr(zoo_trials, "trial_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        zoo.main(options)
    monkeypatch.setattr(zoo_trials, "trial_of", original)
    zoo.main(options)
    # Six settings (two epsilons with a quarter, a half and all records) on two splits.
    assert runs == [12, 10]
    page = (tmp_path / "zoo-monotone.md").read_text(encoding="utf-8")
    assert "| study | S | 0.5 → 1 | 333 |" in page
    assert "| study | S | 1 | 83 → 166 |" in page
    assert "times measures: 15" in page


def test_few_records_are_compared_with_the_commonest_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zoo

    monkeypatch.setattr(zoo, "FEW_RECORDS", (100, 200))
    monkeypatch.setattr(zoo, "FEW_ROWS", 600)
    zoo.main(["--few", "--tables", "study", "--epsilons", "1", "--splits", "2", "--jobs", "1", "--out", str(tmp_path)])
    page = (tmp_path / "zoo-few.md").read_text(encoding="utf-8")
    assert page.count("| study") == 2
    assert "commonest class" in (tmp_path / "zoo-few.svg").read_text(encoding="utf-8")


def test_the_page_of_the_zoo_lists_every_recipe() -> None:
    """docs/zoo.md states of each recipe whether it settles defaults, its records, attributes and summary."""
    from zoo_pages import table_list

    page = (BENCHMARKS.parent / "docs" / "zoo.md").read_text(encoding="utf-8")
    for line in table_list(list(RECIPES)):
        assert line in page


def test_settling_tables_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import zoo

    with pytest.raises(SystemExit):
        zoo.main(["--settling", "--tables", "applicants", "--out", str(tmp_path)])
    assert "None of these tables settles defaults" in capsys.readouterr().err
