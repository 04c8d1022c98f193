"""Statements of the paper's sections as figures: the credit risk, when to stop, what training costs, discretization.

Each figure's claims hold on our results, and fail on results that contradict them.
"""

from pathlib import Path

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.mining.reconstruction.iteration import reconstruct_shares
from scumble.model.local.noise_model import for_privacy
from scumble.reproductions.figure import Claim, Request, write_figure
from scumble.reproductions.perturbation import costs, discretization, stopping
from scumble.reproductions.perturbation.credit_risk import APPLICANTS, PRINTED, credit_risk_figure, credit_tree, rules
from scumble.reproductions.perturbation.people import agrawal_schema
from scumble.reproductions.perturbation.shapes import perturbed_shapes


def verdicts(claims: list[Claim]) -> list[bool | None]:
    return [claim.holds for claim in claims]


def test_the_credit_risk_tree_is_the_one_of_figure_3(tmp_path: Path) -> None:
    assert rules(credit_tree()) == PRINTED
    young_and_safe = tuple((age, salary, "Low" if age < 25 else risk) for age, salary, risk in APPLICANTS)
    assert rules(credit_tree(young_and_safe)) != PRINTED
    figure = credit_risk_figure(Request(cache=tmp_path))
    assert verdicts(list(figure.claims)) == [True, True]
    write_figure("as-fig3", figure, tmp_path)
    assert "High risk" in (tmp_path / "as-fig3.svg").read_text("utf-8")


def test_steps_continue_where_the_last_ones_ended() -> None:
    each = next(perturbed_shapes(1_000, 1))
    rows = stopping.steps(each, (1, 7, 30))
    for row in rows:
        whole = reconstruct_shares(each.observed, each.part.kernel, stop_share=0.0, most=row["steps"]).shares
        assert row[stopping.ORIGINAL] == pytest.approx(np.abs(whole - each.original / 1_000).sum() / 2)


def test_accepted_estimates_are_near_or_far(tmp_path: Path) -> None:
    figure = stopping.stopping_figure(Request(cache=tmp_path))
    assert set(verdicts(list(figure.claims))) == {True, None}
    papers = {(row["shape"], row["noise"]): 0.1 for row in figure.rows}
    reliable = [{**row, stopping.ORIGINAL: 0.1} for row in figure.rows]
    assert set(verdicts(stopping.stopping_claims(reliable, papers))) == {False, None}
    never = [{**row, "accepted": False} for row in figure.rows]
    assert verdicts(stopping.stopping_claims(never, papers)) == [False]


def test_costs_are_counted_and_compared() -> None:
    rows = costs.costs(1, "uniform", training=6_000, times=1)
    counted = {row["algorithm"]: row["reconstructed"] for row in rows}
    assert counted["global"] == 9 and counted["byclass as printed"] == counted["byclass"] == 18
    assert counted["local as printed"] > 2 * counted["byclass"]
    claims = costs.cost_claims(rows)
    assert verdicts(claims)[:2] == [True, True]
    cheap_local = [
        {**row, "reconstructed": 1, "cpu_seconds": 0.01 if "local" in row["algorithm"] else 1} for row in rows
    ]
    assert verdicts(costs.cost_claims(cheap_local))[:4] == [False, False, False, True]


def test_discretized_values_teach_less() -> None:
    rows = [
        row
        for level in discretization.LEVELS
        for row in discretization.accuracies(2, 0, level, training=6_000, testing=1_000)
    ]
    assert verdicts(discretization.discretization_claims(rows)) == [True] * len(discretization.LEVELS)
    swapped = [{**r, "noise": "uniform" if r["noise"] == "discretized" else "discretized"} for r in rows]
    assert not any(verdicts(discretization.discretization_claims(swapped)))
    with pytest.raises(InputError, match="cannot hide a value"):
        for_privacy(agrawal_schema(), privacy="100%", noise="discretized")
