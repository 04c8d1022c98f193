"""Figure 4, Table 2, the examples, and accuracy by the number of specializations: claims, folds, and their tests."""

from pathlib import Path

import numpy as np
import pytest

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes import RECIPES
from scumble.comparison.trials import CodedTable, own_scores, release_of, trial
from scumble.methods import METHODS, method_named
from scumble.privacy.noise import simulation
from scumble.reproductions import FIGURES
from scumble.reproductions.diffgen import cross_validation, specializations
from scumble.reproductions.diffgen.cross_validation import (
    DEFAULT,
    DIFFGEN,
    DIFFP,
    DIFFP_DEFAULT,
    EPSILONS,
    LINES,
    RAW,
    TDS_AT,
    claims_of_4,
    difference,
    fold_rows,
)
from scumble.reproductions.diffgen.examples import TABLE_C, TABLE_D, counts_at, example_schema, examples_figure
from scumble.reproductions.diffgen.significance import EFFECT, LEVEL, mean_above
from scumble.reproductions.diffgen.specializations import (
    CONTINGENCY,
    ROUNDS,
    DepthRun,
    Depths,
    claims_of_depths,
    specializations_of,
)
from scumble.reproductions.diffgen.table_2 import PAPER, characteristics_of, marks_of, table_2
from scumble.reproductions.figure import Request, write_figure


def test_the_folds_of_a_run_divide_the_rows() -> None:
    tested = [fold_rows(103, 0, fold)[1] for fold in range(10)]
    assert sorted(np.concatenate(tested).tolist()) == list(range(103))
    for fold in range(10):
        train, test = fold_rows(103, 0, fold)
        assert sorted([*train.tolist(), *test.tolist()]) == list(range(103))
    assert fold_rows(103, 1, 0)[1].tolist() != tested[0].tolist()


def found(diffgen: float, diffp: float, tds: float, ours: float) -> dict[tuple[str, str], list[float]]:
    lines = {DIFFGEN: diffgen, DIFFP: diffp, DIFFP_DEFAULT: diffp, DEFAULT: ours}
    means = {(line, epsilon): value for line, value in lines.items() for epsilon in EPSILONS}
    falling = {(line, ""): tds - place for place, line in enumerate(TDS_AT.values())}
    return {place: [value - 0.1, value, value + 0.1] for place, value in {**means, **falling, (RAW, ""): 86.0}.items()}


def test_the_claims_of_figure_4_hold_for_the_papers_order_and_for_no_other() -> None:
    assert all(claim.holds for claim in claims_of_4(found(83.0, 81.0, 82.0, 84.0)))
    other = {claim.text: claim.holds for claim in claims_of_4(found(81.0, 83.0, 82.0, 80.0))}
    assert not any(holds for text, holds in other.items() if not text.startswith("TDS"))


def test_a_difference_within_two_standard_errors_is_no_order() -> None:
    varied = {**found(83.0, 81.0, 82.0, 84.0), (DIFFGEN, "1"): [79.0, 83.0, 87.0]}
    assert difference(varied, DIFFGEN, DIFFP, "1").mean == pytest.approx(2.0)
    holds = {claim.text: claim.holds for claim in claims_of_4(varied)}
    assert not holds["DiffGen is clearly better than DiffP-C4.5 at eps 1"]
    assert holds["DiffGen is clearly better than DiffP-C4.5 at eps 2"]


def test_figure_4_runs_every_line_on_the_folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small generated table, with fewer specializations, at one epsilon."""
    table = RECIPES["xor"].table(rows=600, seed=1)
    assert isinstance(RECIPES["xor"], Recipe)
    monkeypatch.setattr(cross_validation, "table_named", lambda name: table)
    monkeypatch.setattr(cross_validation, "digest_of_table", lambda name: "small")
    parts = {**cross_validation.LINES, DIFFGEN: ("diffgen", {"selection": "published", "score": "max", "rounds": 3})}
    monkeypatch.setattr(cross_validation, "LINES", parts)
    request = Request(cache=tmp_path, quick=True)
    accuracies = cross_validation.accuracies(request)
    assert {line for line, _ in accuracies} == {*LINES, RAW}
    assert all(len(folds) == 2 and 0 <= min(folds) <= max(folds) <= 100 for folds in accuracies.values())
    monkeypatch.setattr(cross_validation, "trial", None)
    assert cross_validation.accuracies(request) == accuracies  # from the cache
    summary = write_figure("diffgen-fig4", cross_validation.figure_4(request), tmp_path / "out")
    assert {row["line"] for row in summary["rows"]} == {*LINES, RAW}


def test_a_published_classifier_is_scored_as_it_is() -> None:
    table = RECIPES["xor"].table(rows=400, seed=2)
    half = CodedTable(schema=table.schema, columns=tuple(column[:200] for column in table.columns))
    scores = trial(half, table, method="diffp-c45", parameters={"epsilon": "1"}, classifiers=["c45"])
    assert set(scores) == {"own"}
    leaf = {"feature": [-1], "threshold": [0.0], "left": [-1], "right": [-1], "missing_left": [False]}
    model = {
        "scumble": "tree/1",
        "features": [{"name": attribute.name} for attribute in table.schema.predictors],
        "classes": list(table.schema.classes),
        "nodes": {**leaf, "shares": [[1.0] + [0.0] * (len(table.schema.classes) - 1)]},
    }
    first = float((table.columns[table.schema.names.index(str(table.schema.target))] == 0).mean())
    assert own_scores(model, half, table)["accuracy"] == pytest.approx(first)


def depths_at(means: dict[int, float], *, spread: float, runs: int = 10) -> dict[tuple[str, int], list[DepthRun]]:
    """Runs whose accuracies alternate around the means."""
    return {
        (epsilon, h): [DepthRun(value + spread * (-1) ** run, h, 2**h) for run in range(runs)]
        for epsilon in ("0.1", "1")
        for h, value in means.items()
    }


PEAKED = {1: 79.0, 2: 80.0, 4: 81.0, 8: 83.0, 12: 82.0, 16: 80.0, 24: 79.0, CONTINGENCY: 78.0}


def verdicts(found: Depths, lower: float = 75.4) -> list[bool | None]:
    return [claim.holds for claim in claims_of_depths(found, lower)]


def test_accuracy_that_rises_and_falls_is_told_from_other_curves() -> None:
    assert set(PEAKED) == {CONTINGENCY, *ROUNDS}
    assert verdicts(depths_at(PEAKED, spread=0.5)) == [True] * 6
    rising = {h: 75.0 + place for place, h in enumerate(ROUNDS)} | {CONTINGENCY: 90.0}
    assert verdicts(depths_at(rising, spread=0.5)) == [True, False, False] * 2
    falling = {h: 75.0 - place for place, h in enumerate(ROUNDS)} | {CONTINGENCY: 60.0}
    assert verdicts(depths_at(falling, spread=0.5)) == [False, True, True] * 2


def test_a_curve_that_noise_explains_has_no_verdict() -> None:
    """The differences of `PEAKED` are there, but runs vary by 20 points, or there are too few of them."""
    assert verdicts(depths_at(PEAKED, spread=20.0)) == [None] * 6
    assert verdicts(depths_at(PEAKED, spread=1.0, runs=1)) == [None] * 6


def test_the_test_of_means_has_its_level_and_its_power() -> None:
    """2,000 times ten runs each: equal means are accepted as different at the level, means two points apart as often as
    the power says. Both rates are within four standard errors."""
    draw = simulation(21)
    equal = found_above = 0
    power = 0.0
    trials = 2000
    for _ in range(trials):
        one, two = draw.normal(80, 1.5, 10).tolist(), draw.normal(80, 1.5, 10).tolist()
        equal += mean_above(one, two).verdict is True
        apart = mean_above([value + EFFECT for value in one], two)
        found_above += apart.verdict is True
        power += apart.power / trials
    assert abs(equal / trials - LEVEL) < 4 * (LEVEL / trials) ** 0.5
    assert abs(found_above / trials - power) < 0.06
    assert 0.5 < power < 0.8


def test_the_specializations_that_were_made_are_counted() -> None:
    """On eight small attributes a million cells are enough for three, and two cells for one alone."""
    table = RECIPES["xor"].table(rows=300, seed=3)
    published = {"epsilon": "1", "selection": "published", "score": "max", "rounds": 3}
    assert specializations_of(release_of(table, "diffgen", published)) == 3
    assert specializations_of(release_of(table, "diffgen", {**published, "max_cells": 2})) == 1


@pytest.mark.real_data
def test_one_run_on_adult_is_near_the_means_of_many() -> None:
    """At eps 1, one run deviates by less than 0.2 points (standard deviation of ten), and the means differ by 2.8.

    This order is not the paper's: the coarsened table is better, as docs/diffgen-figures.md says.
    """
    facts = {"epsilon": "1", "classifier": "c45"}
    for rounds, usual in ((1, 79.44), (CONTINGENCY, 82.29)):
        assert specializations.run_depth({**facts, "rounds": rounds})["accuracy"] == pytest.approx(usual, abs=1.2)


def test_the_examples_of_the_paper_are_reproduced(tmp_path: Path) -> None:
    schema = example_schema()
    assert counts_at(schema, ("Engineer", "Lawyer", "Dancer", "Writer")) == TABLE_C
    assert counts_at(schema, ("Professional", "Artist")) == TABLE_D
    figure = examples_figure(Request(cache=tmp_path, quick=True))
    assert all(claim.holds for claim in figure.claims)


def test_table_2_is_what_methods_declare(tmp_path: Path) -> None:
    figure = table_2(Request(cache=tmp_path))
    assert all(claim.holds is not False for claim in figure.claims)
    assert len(figure.claims) == len(PAPER)
    declaring = [method.name for method in METHODS if characteristics_of(method) is not None]
    assert [row["method"] for row in figure.rows] == declaring
    assert "partition-based privacy" in marks_of(method_named("tds"))
    assert "differential privacy" in marks_of(method_named("diffp-c45"))
    assert {"diffgen-fig4", "diffgen-table2", "diffgen-examples", "diffgen-h"} <= set(FIGURES)
