"""The table of what a user waits for: medians, and its place in the page of benchmarks."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts import each other as `python benchmarks/waiting.py` does."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def test_figures_are_medians_beside_reading() -> None:
    from waiting import Cost, middle, shown

    costs = [Cost(cpu=cpu, megabytes=memory) for cpu, memory in ((3, 50), (1, 70), (2, 60))]
    assert shown(middle(costs), Cost(cpu=4, megabytes=1)) == "2.00 s (0.50x), 60 MB"


def test_the_section_is_replaced_and_outlives_a_new_page() -> None:
    from waiting import kept_section, with_section

    page = with_section("# Benchmarks\n", ["## One"])
    assert with_section(page, ["## Two"]) == page.replace("## One", "## Two")
    assert kept_section("# Benchmarks\n") == ""
    assert with_section("# Anew\n" + kept_section(page), ["## Three"]).count("## ") == 1


def test_the_cost_of_a_process_is_its_own() -> None:
    from waiting import run

    program = "x = bytearray(200_000_000)\nfor _ in range(3_000_000): pass"
    cost = run([sys.executable, "-c", program], BENCHMARKS.parent)
    assert cost.megabytes > 190 and 0.01 < cost.cpu < 20
