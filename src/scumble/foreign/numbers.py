"""Exact numbers from elsewhere, bounded in length and in magnitude.

Python computes `Fraction("1e999999999")` exactly, which takes hours. No number of scumble needs more than a few hundred
digits.
"""

from decimal import Decimal, InvalidOperation
from fractions import Fraction

LONGEST = 4000
"""Characters of a number as text. Fractions of divided budgets may have many digits."""
LARGEST_EXPONENT = 1000
"""Largest power of ten, and of one tenth."""


def parse_fraction(value: object) -> Fraction:
    """The exact value of a decimal such as 0.5, a fraction such as 1/3, or a whole number; of a float, its repr.

    Raises `ValueError` for anything else, and for a number beyond the bounds.

    >>> parse_fraction("1/3"), parse_fraction(2), parse_fraction("1e-3")
    (Fraction(1, 3), Fraction(2, 1), Fraction(1, 1000))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError(f"{shown(value)} is not a number")
    if isinstance(value, str) and "/" in value:
        return _quotient(value)
    return Fraction(parse_decimal(value))


def parse_decimal(value: str | int | float | Decimal) -> Decimal:
    """The exact value of a decimal number. Raises `ValueError`, as `parse_fraction` does."""
    text = str(value) if isinstance(value, Decimal) else value
    text = repr(text) if isinstance(text, float) else text
    if isinstance(text, str) and len(text) > LONGEST:
        raise ValueError(f"a number has more than {LONGEST:,} characters")
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{shown(value)} is not a number") from None
    if not number.is_finite():
        raise ValueError(f"{shown(value)} is not a finite number")
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        raise ValueError(f"{shown(value)} is beyond any number that is used here")
    exponent = number.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > 2 * LONGEST:
        number = Decimal(0)  # a zero with an absurd exponent, such as 0e999999999
    return number


def _quotient(text: str) -> Fraction:
    if len(text) > LONGEST:
        raise ValueError(f"a number has more than {LONGEST:,} characters")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(f"{shown(text)} divides by zero") from None


def shown(value: object, *, plain: bool = False, most: int = 40) -> str:
    """A value in a message, shortened; `plain` leaves out quotes."""
    text = str(value) if plain else repr(value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
