"""What the report says is computed correctly: totals, intervals, beliefs and shares of the budget."""

import math

import numpy as np
import pytest
from fine_releases import made

from scumble.files.report.attributes import described_attributes
from scumble.files.report.cells import BANDS, cell_contents
from scumble.files.report.guarantee import promise


def test_attributes_are_described_in_the_order_of_the_counts_file() -> None:
    age, weight, ward, ill = described_attributes(made().schema)
    assert [each.name for each in (age, weight, ward, ill)] == ["age", "weight", "ward", "ill"]
    assert (age.numeric, age.size, age.range, age.labels[0][0]) == (True, 2, "[0,90)|?", "[0,40)")
    assert age.missing == age.labels[1][0]
    assert (weight.size, weight.missing) == (1, None)
    assert ward.labels == [("North", 2), ("South", 2)]
    assert (ill.numeric, ill.labels) == (False, [("no", 1), ("yes", 1)])


def test_totals_add_up_the_measured_counts_with_their_noise() -> None:
    release = made()
    no, yes, both = cell_contents(release)["totals"]
    measured = release.measured / release.resolution
    assert (no.name, yes.name, both.name) == ("no", "yes", "all classes")
    assert no.measured == pytest.approx(measured[:, 0].sum())
    assert both.measured == pytest.approx(measured.sum())
    assert both.published == release.count.sum()
    assert yes.either_side == pytest.approx(1.96 * math.sqrt(4 * release.variance))
    assert both.either_side == pytest.approx(1.96 * math.sqrt(8 * release.variance))


def test_the_largest_cells_come_first_and_bands_cover_all_of_them() -> None:
    release = made()
    contents = cell_contents(release)
    sizes = [cell.size for cell in contents["plot"].cells]
    wanted = np.sort(release.count.sum(axis=1))[::-1]
    assert sizes == wanted[wanted > 0].tolist()
    assert contents["plot"].left_out == 0
    bands = contents["bands"]
    assert len(bands) == len(BANDS) + 1
    assert sum(band.cells for band in bands) == pytest.approx(1)
    assert sum(band.rows for band in bands) == pytest.approx(1)


def test_beliefs_follow_bayes_rule_and_shares_add_up() -> None:
    release = made()
    page = promise(release, {"spent": "2"})
    epsilon = float(release.plan.guarantee.epsilon)
    for belief in page["beliefs"]:
        odds = belief.before / (1 - belief.before)
        assert belief.highest / (1 - belief.highest) == pytest.approx(odds * math.exp(epsilon))
        assert belief.lowest / (1 - belief.lowest) == pytest.approx(odds * math.exp(-epsilon))
    assert page["account"].highest == pytest.approx(1 / (1 + math.exp(-2)))
    assert sum(share.share for share in page["spends"]) == pytest.approx(1)
    assert page["epsilon"] == release.plan.guarantee.epsilon
