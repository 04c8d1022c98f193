"""The benchmark of exploring: its page, its goals, and that a run resumes."""

from pathlib import Path
from typing import Any

import pytest

from scumble.comparison.compare import TrialOutcome

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other as `python benchmarks/exploring.py` does."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def outcomes(contender: str, distances: tuple[float, ...], *, cpu: float = 1.0, **changes: Any) -> list[TrialOutcome]:
    """One outcome for each split, with the same distance at one, two and three ways."""
    return [
        TrialOutcome(
            **{
                "table": "t",
                "contender": contender,
                "epsilon": "1",
                "split": split,
                "classifier": "boosting",
                "accuracy": 0.8,
                "auc": None,
                "cpu_seconds": cpu,
                "one_way_binned": distance,
                "two_way": distance,
                "three_way": distance,
                **changes,
            }
        )
        for split, distance in enumerate(distances)
    ]


def case(*parts: list[TrialOutcome]) -> Any:
    from exploring_page import Case

    found = tuple(each for part in parts for each in part)
    return Case(table="t", records=100, attributes=5, targets=("sex",), outcomes=found)


def test_goals_are_judged_against_the_better_peer_on_the_same_splits() -> None:
    from exploring_page import APPROXIMATE, PURE, goals

    found = goals(
        [
            case(
                outcomes(APPROXIMATE, (0.10, 0.12, 0.11, 0.9)),
                outcomes(PURE, (0.20, 0.22, 0.21)),
                outcomes("aim:delta=1e-9", (0.5, 0.5)),
                outcomes("aim-20:delta=1e-9", (0.10, 0.12, 0.11)),
                outcomes("mst-20:delta=1e-9", (0.2, 0.2, 0.2)),
            )
        ],
        ["1"],
    )
    assert {(goal.contender, goal.peer) for goal in found} == {
        (APPROXIMATE, "aim-20:delta=1e-9"),
        (PURE, "aim-20:delta=1e-9"),
    }
    verdicts = {goal.contender: goal.verdict for goal in found}
    assert verdicts == {APPROXIMATE: "reached", PURE: "missed"}
    ratios = {goal.contender: goal.ratio for goal in found}
    assert ratios == pytest.approx({APPROXIMATE: 1.0, PURE: 0.21 / 0.11}), "the fourth split has no peer"


def test_the_page_shows_every_figure() -> None:
    from exploring_page import APPROXIMATE, DEFAULT, exploring_page

    page = exploring_page(
        [
            case(
                outcomes(DEFAULT, (0.3, 0.3)),
                outcomes(APPROXIMATE, (0.1, 0.1), cpu=2.0),
                outcomes("mst:delta=1e-9", (0.2, 0.2)),
                outcomes("aim:delta=1e-9", (0.25, 0.25), cpu=300.0),
                outcomes("raw", (0.0,), epsilon="", one_way_binned=None, two_way=None, three_way=None),
                outcomes("independent", (0.05,), epsilon=""),
                outcomes(DEFAULT, (0.0,), target="sex", accuracy=0.654, one_way_binned=None, two_way=None),
            )
        ],
        ["1"],
        ["dpebm: not installed."],
    )
    lines = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("| t ")]
    distances = next(line for line in lines if "100" in line)
    assert distances[5:11] == [
        "30.0 (0.0) / 30.0 (0.0) / 30.0 (0.0)",
        "",
        "10.0 (0.0) / 10.0 (0.0) / 10.0 (0.0)",
        "25.0 (0.0) / 25.0 (0.0) / 25.0 (0.0)",
        "20.0 (0.0) / 20.0 (0.0) / 20.0 (0.0)",
        "5.0 / 5.0 / 5.0",
    ]
    assert next(line for line in lines if "sex" in line)[4] == "65.4"
    assert "150x" in page
    assert "| t | 1 | explore, delta 1e-9 | two-way | mst | 2 | -10.00 (0.00) | 0.50 | 1.1 | reached |" in page
    assert "- `aim`: 1,000 iterations. Splits at eps 1: t 2." in page
    assert "- `mst-20`: did not run." in page
    assert "Reached: 3 of 3" in page
    assert "- left out: dpebm: not installed." in page


def test_contenders_that_do_not_exist_are_left_out_with_a_note() -> None:
    from exploring import available

    found, notes = available(["histograms", "crystal-ball", "aim:delta=1e-9"])
    assert found == ["histograms", "aim:delta=1e-9"]
    assert len(notes) == 1
    assert "crystal-ball" in notes[0]


def test_iterations_are_given_for_each_peer() -> None:
    from exploring import stated_options, with_iterations

    both = [f"aim-20:delta=1e-9,iterations={number}" for number in (200, 1000)]
    assert with_iterations("aim-20", ["aim=200,1000", "mst=1000"]) == both
    assert with_iterations("mst", ["aim=200"]) == ["mst:delta=1e-9"]
    assert stated_options(["--cache", "here", "--splits", "3", "--page", "page.md"]) == "--splits 3"


def test_fits_that_are_not_cached_are_left_out(tmp_path: Path) -> None:
    from exploring import fitted

    assert not fitted("three-together:600", "aim-20:delta=1e-9", "1", 0, tmp_path)


def test_a_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import exploring

    monkeypatch.setattr(exploring, "OURS", {"histograms": "histograms"})
    monkeypatch.setattr(exploring, "TARGETS", {"three-together": ("site",)})
    page = tmp_path / "page.md"
    options = ["--tables", "three-together:600", "--epsilons", "1", "--peers", "none"]
    options += ["--cache", str(tmp_path / "cache"), "--page", str(page)]
    exploring.main([*options, "--splits", "1"])
    first = page.read_text(encoding="utf-8")
    assert "| three-together:600 | site | 1 |" in first
    kept = sorted((tmp_path / "cache").rglob("*.json"))
    assert len(kept) == 6, "histograms, raw and independent: the class and one target"
    exploring.main([*options, "--splits", "1"])
    assert page.read_text(encoding="utf-8") == first
    assert sorted((tmp_path / "cache").rglob("*.json")) == kept
    exploring.main([*options, "--splits", "2", "--scored-splits", "1"])
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 9, "distances only, and none of raw rows"
    lines = [line.split("|") for line in page.read_text(encoding="utf-8").splitlines()]
    site = next(line for line in lines if [cell.strip() for cell in line[2:4]] == ["site", "1"])
    assert "(" not in site[-2], "one split has classifiers"
