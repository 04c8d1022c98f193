"""Series can be told apart: by colour for most colour-blind people, by marker, pattern and width in print."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from scumble.charts.looks import REFERENCE_COLOURS, looks_of, reference_looks_of
from scumble.picture_style import COLOURS, PAPER

SIMULATED = {
    # Vienot, Brettel & Mollon (1999): linear RGB as dichromats see it.
    "protan": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deutan": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
    "usual": np.eye(3).tolist(),
}
JUST_APART = 12.0
"""A difference in CIELAB that is seen at a glance; about 2.3 can be seen side by side."""


def lab(colour: str, seen_by: str) -> np.ndarray:
    rgb = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIMULATED[seen_by]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ seen
    ratio = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("seen_by", SIMULATED)
def test_colours_differ_for_the_colour_blind(seen_by: str) -> None:
    for palette in (COLOURS, REFERENCE_COLOURS):
        apart = {
            pair: float(np.linalg.norm(lab(pair[0], seen_by) - lab(pair[1], seen_by)))
            for pair in combinations([*palette, PAPER], 2)
        }
        assert min(apart.values()) > JUST_APART, min(apart, key=lambda pair: apart[pair])


def test_the_measure_of_colours_finds_red_and_green() -> None:
    assert np.linalg.norm(lab("#a05a2c", "deutan") - lab("#6a7a2c", "deutan")) < JUST_APART
    assert np.linalg.norm(lab("#a05a2c", "usual") - lab("#6a7a2c", "usual")) > 2 * JUST_APART


def test_series_differ_without_colours_and_an_earlier_one_surrounds_a_later_one() -> None:
    looks = list(looks_of([str(number) for number in range(8)]).values())
    assert len({look.marker for look in looks}) == len({look.hatch for look in looks}) == len(looks)
    assert [look.place for look in looks] == list(range(8))
    for earlier, later in pairwise(looks):
        assert earlier.line_width > later.line_width
        assert earlier.marker_size > later.marker_size


def test_reference_lines_differ_by_colour_and_by_dashes() -> None:
    looks = list(reference_looks_of(["raw", "best", "constant", "noisy mean", "ours"]).values())
    assert len({look.colour for look in looks}) == len({look.dashes for look in looks}) == len(looks)
