"""Audits of several reports of one person: fixed noise covers an unchanged value, and nothing covers a change.

Error rates: a bound exceeds the true epsilon with probability at most 1e-6 for each audit. The bounds that must be
reached are at least ten standard errors below the bounds to be expected: 0.90 for a loss of 1, with a standard error of
0.015, and 1.79 for a loss of 2, with one of 0.034.
"""

from fractions import Fraction

import numpy as np

from scumble.auditing.audit import Finding, audit_subject
from scumble.auditing.neighbours import Pair
from scumble.auditing.reports_over_time import ReportsOverTime, reports_over_time

EPSILON = Fraction(1)
RUNS = 20_000


def found(first: list[int], second: list[int], *, fixed: bool, declared: Fraction = EPSILON) -> Finding:
    subject = reports_over_time(EPSILON, first, second, fixed=fixed, declared=declared)
    return audit_subject(subject, runs=RUNS, confidence="0.999999", workers=1)


def test_one_report_and_repeated_fixed_reports_of_an_unchanged_value_cost_epsilon() -> None:
    for reports in (1, 2, 5):
        finding = found([0] * reports, [1] * reports, fixed=True)
        assert not finding.refuted, finding.sentence
        assert finding.found > 0.7


def test_repeated_fresh_reports_add_up() -> None:
    twice = found([0, 0], [1, 1], fixed=False)
    assert twice.refuted and twice.found > 1.3
    assert not found([0, 0], [1, 1], fixed=False, declared=2 * EPSILON).refuted


def test_two_changed_histories_under_fixed_noise_add_up() -> None:
    """Each of the four values has its own word, so two reports cost twice epsilon, like fresh ones."""
    changed = found([0, 1], [1, 0], fixed=True, declared=2 * EPSILON)
    assert not changed.refuted, changed.sentence
    assert changed.found > 1.3


def test_a_change_is_visible_through_fixed_noise_whatever_epsilon_is_declared() -> None:
    """Unchanged, the reports never differ. Changed, they do with probability 0.7. No epsilon covers this pair, and the
    audit finds as much as 20,000 runs can show: a bound between 6 and 7."""
    visible = found([0, 0], [0, 1], fixed=True, declared=2 * EPSILON)
    assert visible.refuted and visible.found > 4
    mechanism = reports_over_time(EPSILON, [0, 0], [0, 1], fixed=True).mechanism
    assert isinstance(mechanism, ReportsOverTime)
    differ = []
    for rows in (((0,), (0,)), ((0,), (1,))):
        draws = mechanism.draw(Pair(first=rows, second=rows, why=""), rows, RUNS)
        differ.append(
            sum(n for (one, two), n in draws.sizes().items() if one.split(" is ")[1] != two.split(" is ")[1]) / RUNS
        )
    truth, other = np.e / (np.e + 2), 1 / (np.e + 2)
    expected = 1 - 2 * truth * other - other**2
    assert differ[0] == 0
    assert abs(differ[1] - expected) < 6 * np.sqrt(expected * (1 - expected) / RUNS)
