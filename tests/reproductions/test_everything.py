"""All figures at once: claims are counted, finished figures are not repeated, one that fails does not end the run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import scumble

from scumble.charts import Chart, Panel, Point, Series
from scumble.errors import InputError
from scumble.reproductions import FIGURES, everything
from scumble.reproductions.everything import TimeLeft, reproduce_all
from scumble.reproductions.figure import Claim, Figure, Request

CLAIMS = tuple(
    Claim(text=f"claim {number}", paper="", ours="3", holds=holds)
    for number, holds in enumerate((True, True, False, None))
)
Made = dict[str, Callable[[Request], Figure]]


@pytest.fixture
def made() -> list[Request]:
    return []


@pytest.fixture
def figures(made: list[Request]) -> Made:
    panel = Panel(title="", x_label="x", y_label="y", series=(Series(label="a", points=(Point(x=0, y=1),)),))

    def good(request: Request) -> Figure:
        made.append(request)
        return Figure(title="T", rows=[{"x": 1}], claims=CLAIMS, chart=Chart(title="T", panels=(panel,)))

    def bad(request: Request) -> Figure:
        raise InputError("The data set is missing. Download it.")

    return {"one": good, "two": bad, "three": good}


def test_claims_are_counted_and_finished_figures_kept(tmp_path: Path, figures: Made, made: list[Request]) -> None:
    seen: list[tuple[str, int, int]] = []
    request = Request(cache=tmp_path / "cache", quick=True)
    outcomes = reproduce_all(figures, request, tmp_path, lambda *step: seen.append(step[:3]))
    assert [(each.agree, len(each.differ), each.without_verdict) for each in outcomes] == [
        (2, 1, 1),
        (0, 0, 0),
        (2, 1, 1),
    ]
    assert "Download it" in outcomes[1].problem
    assert seen == [("one", 1, 3), ("two", 2, 3), ("three", 3, 3)]
    assert [each.runs for each in made] == [1, 1], "figures without a quick form have one run"
    page = (tmp_path / "summary.md").read_text("utf-8")
    assert "4 claims agree, 2 differ. Not made: two." in page and "- claim 2 (3)" in page
    assert json.loads((tmp_path / "summary.json").read_text("utf-8"))["figures"][0]["agree"] == 2
    again = reproduce_all(figures, request, tmp_path, lambda *step: seen.append(step[:3]))
    assert len(made) == 2 and [each.again for each in again] == [False, True, False]
    assert [each.agree for each in again] == [each.agree for each in outcomes]


def test_what_changed_is_made_again(
    tmp_path: Path, figures: Made, made: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(request: Request) -> int:
        before = len(made)
        reproduce_all({"one": figures["one"]}, request, tmp_path, lambda *step: None)
        return len(made) - before

    request = Request(cache=tmp_path / "cache")
    assert (run(request), run(request)) == (1, 0)
    assert run(Request(cache=tmp_path / "cache", runs=3)) == 1, "another number of runs"
    (tmp_path / "one.svg").unlink()
    assert run(request) == 1, "its file is gone"
    monkeypatch.setattr(everything, "digest_of_sources", lambda *modules: "other code")
    assert run(request) == 1


def test_the_estimate_follows_the_pace() -> None:
    request = Request(cache=Path("cache"), jobs=2)
    fresh = TimeLeft(("as-fig5", "as-fig6"), request).left()
    assert fresh == pytest.approx(sum(everything.CPU_SECONDS[name][0] for name in ("as-fig5", "as-fig6")) / 2)
    slow = TimeLeft(("as-fig5", "as-fig6"), request)
    slow.took("as-fig5", 10 * everything.CPU_SECONDS["as-fig5"][0] / 2)
    assert 5 < slow.left() / (everything.CPU_SECONDS["as-fig6"][0] / 2) < 10


def test_every_figure_has_an_estimate_of_its_own() -> None:
    assert set(everything.CPU_SECONDS) == set(FIGURES)
    assert all(full >= quick > 0 for full, quick in everything.CPU_SECONDS.values())


def test_make_reproduce_makes_every_figure() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    assert "FIGURES ?= all\n" in makefile


def test_the_command(tmp_path: Path, figures: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.reproductions.FIGURES", figures)
    ended = scumble("reproduce", "all", "--quick", "--jobs", "1", "--out", tmp_path)
    assert ended.code == 0
    assert "4 claims agree, 2 differ. Not made: two." in ended.out
    assert "one, 1 of 3. About" in ended.err and "min left" in ended.err
    listed = scumble("reproduce", "all", "--quick", "--jobs", "1", "--out", tmp_path, "--json").json
    assert [each["again"] for each in listed["figures"]] == [False, True, False]
