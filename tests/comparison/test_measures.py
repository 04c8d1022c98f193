"""How the measures of a comparison are shown."""

from dataclasses import fields

import pytest

from scumble.comparison.compare import TrialOutcome
from scumble.comparison.measures import BY_CLASSIFIER, OF_TABLE, SECTIONS, measure_named, section_of

NAMES = (*BY_CLASSIFIER, *OF_TABLE, "recall:yes, often")


def test_every_measure_is_a_field_of_an_outcome() -> None:
    assert {*BY_CLASSIFIER, *OF_TABLE} <= {each.name for each in fields(TrialOutcome)}


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_has_a_section_and_says_which_direction_is_better(name: str) -> None:
    measure = measure_named(name)
    assert section_of(name) in SECTIONS
    assert measure.lower_is_better == ("lower is better" in measure.axis) == (name in OF_TABLE)
    assert measure.lower_is_better == ("lower is better" in section_of(name))


def test_values_are_shown_with_their_bands() -> None:
    assert measure_named("auc").text(0.87654) == "0.8765"
    assert measure_named("recall:yes").text(0.5, 0.0123) == "50.00 ± 1.23"
    assert measure_named("recall:yes").heading == "recall of yes"
