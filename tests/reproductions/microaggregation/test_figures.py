"""The paper's figures and claims for a few group sizes, and the violation of S-MDAV's privacy claim."""

from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scumble.methods.mdav.queries import GroupingRule, GroupSums
from scumble.model.guarantee import Unit
from scumble.privacy.noise import PaidNoise
from scumble.reproductions.microaggregation.figures import (
    FigurePoint,
    NumericTable,
    figure_4,
    figure_5_or_6,
    judged_claims,
    noise_shares,
)
from scumble.reproductions.microaggregation.violation import (
    Verdict,
    claimed_distance,
    distance_apart,
    distinguish,
    exact_centres,
    framework,
    grid_schema,
    pair_distance,
    pair_sums,
    square,
)


def test_the_figures_of_the_paper_hold_on_census(data_folder: Path) -> None:
    """Sizes away from the ties at k = sqrt n and k = 2, where three runs would only compare noise with noise."""
    table = NumericTable.load("census")
    sizes = (2, 5, 20, 50, 100)
    lines = [*figure_4(table, sizes), *figure_5_or_6(table, sizes=sizes, epsilons=(Fraction(1, 10), Fraction(1)))]
    judged = judged_claims(lines, len(table.codes))
    assert len(judged) == 1 + 2 * 6
    assert all(judged.values()), [claim for claim, holds in judged.items() if not holds]
    shares = noise_shares(lines)
    assert set(shares) == {(method, epsilon) for method in ("i-mdav", "s-mdav") for epsilon in ("0.1", "1")}
    assert all(low > 0.5 for low, _ in shares.values()), "noise, not microaggregation, dominates the loss"


def test_the_share_of_noise_is_what_exceeds_the_loss_of_the_groups() -> None:
    lines = [
        FigurePoint(dataset="invented", method="mdav", k=2, il1s=1.0, clamped=1.0),
        FigurePoint(dataset="invented", method="mdav", k=5, il1s=3.0, clamped=3.0),
        FigurePoint(dataset="invented", method="s-mdav", k=2, epsilon="1", il1s=10.0, clamped=1.0),
        FigurePoint(dataset="invented", method="s-mdav", k=5, epsilon="1", il1s=4.0, clamped=1.0),
    ]
    assert noise_shares(lines) == {("s-mdav", "1"): (0.25, 0.9)}


def test_figure_4_holds_on_eia(data_folder: Path) -> None:
    table = NumericTable.load("eia")
    assert all(judged_claims([*figure_4(table, (2, 10, 50, 100))], len(table.codes)).values())


def test_the_claims_can_fail() -> None:
    fields = {"dataset": "invented", "epsilon": "1"}
    lines = [
        FigurePoint(**fields, method="eps-dp", il1s=5, clamped=4),
        *(FigurePoint(**fields, method="i-mdav", k=k, il1s=i, clamped=i) for k, i in ((2, 9.0), (20, 3.0))),
        *(FigurePoint(**fields, method="s-mdav", k=k, il1s=i, clamped=i) for k, i in ((2, 4.0), (20, 2.0))),
        FigurePoint(**fields, method="microaggregate", il1s=1, clamped=1),
        FigurePoint(dataset="invented", method="constant", il1s=1, clamped=1),
    ]
    assert all(judged_claims(lines, 100).values())
    for place, loss in ((0, 1.0), (1, 3.0), (2, 6.0), (4, 3.5), (5, 2.0)):
        changed = [*lines[:place], replace(lines[place], il1s=loss), *lines[place + 1 :]]
        assert not all(judged_claims(changed, 100).values()), place


def test_one_record_changes_all_groups_of_s_mdav() -> None:
    k = 100
    one, other = square(k)
    assert int((one != other).any(axis=1).sum()) == 1
    apart = distance_apart(exact_centres(one, k), exact_centres(other, k))
    assert apart > 40 * claimed_distance(2, k), "even under the best matching"
    assert pair_distance(one, len(one) - 1, other[-1], k) <= claimed_distance(2, k), (
        "Algorithm 1 with both tables satisfies the claim"
    )


@given(
    table=arrays(np.int64, (14, 2), elements=st.integers(0, 1000)),
    row=st.integers(0, 13),
    replacement=arrays(np.int64, 2, elements=st.integers(0, 1000)),
)
def test_figure_3_satisfies_the_claim_for_the_pair_it_receives(
    table: np.ndarray, row: int, replacement: np.ndarray
) -> None:
    query = GroupSums(schema=grid_schema(14, 2), grouping=GroupingRule.STABLE, k=4)
    one, other = pair_sums(query, table, row, replacement)
    assert int(np.abs(one - other).sum()) <= query.sensitivity(Unit.REPLACE).bound
    x, y = framework(table, row, replacement, k=4, epsilon=Fraction(1), noise=PaidNoise())
    assert x.shape == y.shape == (3, 2) and (x >= 0).all() and (x <= 1000).all()


@pytest.mark.parametrize(("epsilon", "runs"), [("0.5", 150), ("1", 150)])
def test_a_distinguisher_wins_more_often_than_the_claim_allows(epsilon: str, runs: int) -> None:
    """At 150 runs the lower bound on the ratio is near 10, wrong with probability at most one in a million."""
    verdict = distinguish(*square(100), k=100, epsilon=Fraction(epsilon), runs=runs)
    assert verdict.violated and verdict.ratio > exp(Fraction(epsilon)) * 2


def test_the_verdict_needs_evidence() -> None:
    def verdict(*yes: int, runs: int = 200) -> Verdict:
        return Verdict(epsilon=Fraction(1), runs=runs, yes=yes, error=1e-6)  # type: ignore[arg-type]

    assert not verdict(100, 100).violated and verdict(100, 100).ratio < 1
    assert not verdict(60, 30).violated, "a ratio of 2 is allowed at epsilon 1"
    assert not verdict(3, 0).violated and not verdict(0, 0).violated
    assert verdict(200, 0).violated and verdict(0, 200).violated
    assert not verdict(200, 200).violated
