"""What the delta of one row becomes for the rows of one person.

A mechanism that is (e, d)-differentially private for one row is (k e, d (1 + e^e + ... + e^((k-1) e)))-differentially
private for k rows. Proof: section 10 of `joint/PROOF.md`.
"""

from fractions import Fraction
from math import ceil, factorial

from scumble.model.persons import Persons

PRECISION = 320
"""Binary digits to which powers are rounded upwards."""
TERMS = 40


def delta_factor(epsilon: Fraction, persons: Persons | None) -> int:
    """An upper bound of 1 + e^e + ... + e^((k-1) e), where `epsilon` is that of a person and e = epsilon / k.

    The sum is at most the integral of e^(e x) from 0 to k, which is k (e^epsilon - 1) / epsilon.

    >>> delta_factor(Fraction(1), None), delta_factor(Fraction(1), Persons(column="id", rows_each_at_most=3))
    (1, 6)
    """
    rows = 1 if persons is None else persons.rows_each_at_most
    return 1 if rows == 1 else ceil(rows * (power_upper_bound(epsilon) - 1) / epsilon)


def power_upper_bound(exponent: Fraction) -> Fraction:
    """A close upper bound of e^exponent, for a positive exponent.

    The exponent is divided into parts of at most 1. There the terms of the series after x^n / n! add up to at most
    twice the next one, because each is at most half of the one before.

    >>> 0 < power_upper_bound(Fraction(1)) - Fraction("2.718281828459045235360287471352662497") < Fraction(1, 10**35)
    True
    """
    parts = ceil(exponent)
    part = exponent / parts
    series = sum((part**n / factorial(n) for n in range(TERMS)), Fraction(0)) + 2 * part**TERMS / factorial(TERMS)
    one = 1 << PRECISION
    base = ceil(series * one)
    power = one
    for _ in range(parts):
        power = -(-power * base // one)
    return Fraction(power, one)
