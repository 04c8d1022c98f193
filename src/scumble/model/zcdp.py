"""Zero-concentrated differential privacy (zCDP): how much of it an (epsilon, delta) allows.

A mechanism is rho-zCDP if, between neighbouring tables, its Renyi divergence of every order a > 1 is at most rho a
(Bun & Steinke 2016). Rhos add up over answers, even if each is chosen by looking at the earlier ones. At the end the
sum is converted once: rho-zCDP implies (epsilon, delta)-DP (Canonne, Kamath & Steinke 2020) with, for any a > 1,

    delta = exp((a - 1) (a rho - epsilon)) / (a - 1) * (1 - 1/a)^a.

For given epsilon, delta and a this is solved for rho. Every a gives a valid rho; the search for the best one need not
be exact. The rho itself is computed from correctly rounded logarithms of exact fractions and rounded down. No float is
used, so it is the same on every machine. Proof: `scumble/privacy/PROOF.md`, section 8.
"""

from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

SEARCH = Context(prec=28)
EXACT = Context(prec=80)
"""`Decimal.ln` rounds correctly: its relative error is below 10^-79."""
MARGIN = Fraction(1, 10**60)
"""Subtracted in units of the largest term. It exceeds all rounding errors by far."""
DIGITS = 12
"""A rho is rounded down to this many significant digits, so that it can be written out."""
EPSILON_BITS = 30
STEPS = 60
LEAST, MOST = Decimal(-40), Decimal(90)
"""The range of ln(a - 1) that is searched."""


@lru_cache(maxsize=256)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, to twelve digits and rounded down, such that rho-zCDP implies (epsilon, delta)-DP.

    >>> float(rho_within(Fraction(1), Fraction(1, 10**9)))
    0.0149730576735
    """
    return _rounded_down(rho_bound(_best_excess(epsilon, delta), epsilon, delta))


def epsilon_within(rho: Fraction, delta: Fraction) -> Fraction:
    """The largest epsilon, rounded down to nine digits, with `rho_within(epsilon, delta) <= rho`.

    >>> rho = rho_within(Fraction(1), Fraction(1, 10**9))
    >>> 0 <= 1 - epsilon_within(rho, Fraction(1, 10**9)) < Fraction(1, 10**8)
    True
    """
    # Between powers of two first, then by halves. `rho_within` grows with epsilon, and any result is checked anyway.
    low = Fraction(1, 2**40)
    while rho_within(2 * low, delta) <= rho:
        low *= 2
    step = low / 2
    for _ in range(EPSILON_BITS):
        if rho_within(low + step, delta) <= rho:
            low += step
        step /= 2
    return _rounded_down(low, digits=9)


def _best_excess(epsilon: Fraction, delta: Fraction) -> Fraction:
    """About the order, minus 1, that allows the largest rho, by golden-section search.

    The bound on rho first rises and then falls in the order: section 8 of the proof.
    """
    with localcontext(SEARCH):
        golden = (Decimal(5).sqrt() - 1) / 2
        low, high = LEAST, MOST
        for _ in range(STEPS):
            left, right = high - golden * (high - low), low + golden * (high - low)
            if _approximate(left, epsilon, delta) < _approximate(right, epsilon, delta):
                low = left
            else:
                high = right
        return Fraction(((low + high) / 2).exp())


def rho_bound(excess: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """A lower bound on the rho for which the conversion at order a = 1 + `excess` gives exactly (epsilon, delta)."""
    order = 1 + excess
    terms = (_ln(delta), _ln(excess), -order * (_ln(excess) - _ln(order)))
    slack = MARGIN * (1 + sum(map(abs, terms)) + 400 * order)
    return (epsilon + (sum(terms, Fraction(0)) - slack) / excess) / order


def _approximate(log_excess: Decimal, epsilon: Fraction, delta: Fraction) -> Decimal:
    """`rho_bound` without a margin, with the precision of the current context."""
    excess = log_excess.exp()
    order = excess + 1
    logs = _decimal(delta, SEARCH).ln() + log_excess + order * (order / excess).ln()
    return (_decimal(epsilon, SEARCH) + logs / excess) / order


def _ln(number: Fraction) -> Fraction:
    """ln of a fraction, with a relative error below 10^-78 of each of two logarithms."""
    top, bottom = EXACT.ln(Decimal(number.numerator)), EXACT.ln(Decimal(number.denominator))
    return Fraction(top) - Fraction(bottom)


def _decimal(number: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(number.numerator), Decimal(number.denominator))


def _rounded_down(number: Fraction, digits: int = DIGITS) -> Fraction:
    down = Context(prec=digits, rounding=ROUND_FLOOR)
    return Fraction(_decimal(number, down))
