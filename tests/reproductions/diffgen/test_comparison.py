"""Figure 4, Table 2, the examples, and accuracy by the number of specializations: claims, folds, and their tests."""

from pathlib import Path

import numpy as np
import pytest

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes import RECIPES
from scumble.comparison.summary import Mean
from scumble.comparison.trials import CodedTable, own_scores, trial
from scumble.methods import METHODS, method_named
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
from scumble.reproductions.diffgen.specializations import CONTINGENCY, ROUNDS, claims_of_depths
from scumble.reproductions.diffgen.table_2 import PAPER, characteristics_of, marks_of, table_2
from scumble.reproductions.figure import Request, write_figure


def mean(value: float) -> Mean:
    return Mean(number=10, mean=value, error=0.1, band=0.2)


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


def test_accuracy_that_rises_and_falls_is_told_from_other_curves() -> None:
    def claims(means: list[float], table: float) -> list[bool | None]:
        by_h = {("1", h): mean(value) for h, value in zip(ROUNDS, means, strict=True)}
        both = {**by_h, ("1", CONTINGENCY): mean(table)}
        return [claim.holds for claim in claims_of_depths({**both, **{("0.1", h): m for (_, h), m in both.items()}})]

    rising = [float(80 + place) for place in range(len(ROUNDS))]
    peaked = [80.0, 81.0, 82.0, 83.0, 82.0, 81.0, 80.0, 79.0]
    assert claims(peaked, 78.0) == [True] * 4
    assert claims(rising, 90.0) == [False] * 4
    assert claims(rising[::-1], 90.0) == [False] * 4


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
