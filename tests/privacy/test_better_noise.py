"""Which noise is smaller, and what a plan says about it."""

from fractions import Fraction

import pytest

from scumble.model.guarantee import Unit
from scumble.privacy.better_noise import better_noise

ONE = Fraction(1)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["1e-9", "1e-5"])
@pytest.mark.parametrize("unit", list(Unit))
def test_gaussian_noise_is_smaller_from_some_number_of_tables_on(epsilon: str, delta: str, unit: Unit) -> None:
    first = better_noise(1, epsilon=Fraction(epsilon), delta=Fraction(delta), unit=unit).from_tables
    better = [
        better_noise(tables, epsilon=Fraction(epsilon), delta=Fraction(delta), unit=unit).gaussian_is_better
        for tables in range(1, 60)
    ]
    assert better == [tables >= first for tables in range(1, 60)]
    assert (2 if delta == "1e-5" else 5) < first <= (13 if delta == "1e-5" else 22)


def test_the_note_says_what_to_do() -> None:
    few, many = better_noise(3, epsilon=ONE), better_noise(60, epsilon=ONE)
    assert few.note(approximate=True) == (
        "For 3 tables at epsilon 1, pure epsilon has 58 % less noise than Gaussian noise under delta 1e-9 and is the "
        "stronger guarantee: leave out --delta. Gaussian noise is smaller from 17 tables on."
    )
    assert "if a delta is acceptable: --delta 1e-9. Gaussian" in many.note(approximate=False)
    assert "Gaussian noise under delta 1e-9 has 47 % less noise than pure epsilon;" in many.note(approximate=True)
    assert "--delta" not in many.note(approximate=True) + few.note(approximate=False)
