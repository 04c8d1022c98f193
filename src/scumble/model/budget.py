"""Exact budgets: every epsilon, delta and rho is a `Fraction`, read from text and written back without loss."""

from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction

from scumble.errors import InputError
from scumble.foreign.numbers import LONGEST, shown

Budget = str | int | float | Decimal | Fraction
"""What `parse_budget` reads, for type checkers."""
LARGEST = Fraction(1000)
SMALLEST = Fraction(1, 10**9)
LARGEST_DELTA, SMALLEST_DELTA = Fraction(1, 1000), Fraction(1, 10**30)
SHORT = 12
FAR = 100
"""Larger powers of ten cannot be budgets, and exact arithmetic with them would be very slow."""


def parse_budget(value: object, *, name: str = "epsilon") -> Fraction:
    """Read an epsilon from text, a whole number, a `Decimal`, a `Fraction`, or a float through its repr.

    >>> parse_budget("0.1") * 10 == 1
    True
    >>> parse_budget("1/3") * 3 == parse_budget(1)
    True
    """
    if isinstance(value, bool) or not isinstance(value, Budget):
        raise InputError(
            f"{name} is {shown(value)}, not a number. Give a decimal such as 0.5 or a fraction such as 1/3."
        )
    try:
        budget = _exactly(value)
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation) as error:
        raise InputError(
            f"{name} is {shown(value)}, not a finite number. Give a decimal such as 0.5 or a fraction such as 1/3."
        ) from error
    text = shown(value, plain=True)
    usual = " Common values lie between 0.1 and 3." if name == "epsilon" else ""
    if budget <= 0:
        raise InputError(f"{name} is {text}, but must be above zero.{usual}")
    if budget > LARGEST:
        raise InputError(f"{name} is {text}: above {LARGEST} it protects nobody.{usual}")
    if budget < SMALLEST:
        raise InputError(f"{name} is {text}: below {float(SMALLEST):g} only noise is left. Try 0.01 or more.")
    return budget


def parse_delta(value: object, *, name: str = "delta") -> Fraction:
    """Read a delta as exactly as an epsilon.

    >>> parse_delta("1e-9") == Fraction(1, 10**9)
    True
    """
    if isinstance(value, bool) or not isinstance(value, Budget):
        raise InputError(f"{name} is {value!r}, not a number. Give one such as 1e-9.")
    try:
        delta = _exactly(value)
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation) as error:
        raise InputError(f"{name} is {value!r}, not a finite number. Give one such as 1e-9.") from error
    if delta <= 0:
        raise InputError(f"{name} is {value}, but must be above zero. For pure epsilon without a delta, leave it out.")
    if delta > LARGEST_DELTA:
        raise InputError(
            f"{name} is {value}: above {delta_text(LARGEST_DELTA)} it does not protect everybody. Choose one far below "
            "1 divided by the number of records, such as 1e-9."
        )
    if delta < SMALLEST_DELTA:
        raise InputError(f"{name} is {value}: below {delta_text(SMALLEST_DELTA)}, leave it out for pure epsilon.")
    return delta


def _exactly(value: Budget) -> Fraction:
    """The number itself, except that 1e999999999 is cut to another absurd one that can be written out."""
    number = repr(value) if isinstance(value, float) else value
    if isinstance(number, str) and len(number) > LONGEST:
        raise ValueError(f"more than {LONGEST} characters")
    if isinstance(number, str) and "/" not in number:
        number = Decimal(number)
    if isinstance(number, Decimal) and not number:
        return Fraction(0)  # also for 0e999999999
    if isinstance(number, Decimal) and abs(number.adjusted()) > FAR:
        number = Decimal((number.as_tuple().sign, (1,), FAR if number.adjusted() > 0 else -FAR))
    return Fraction(number)


def budget_text(budget: Fraction) -> str:
    """Write a budget exactly: as a decimal where one exists, else as a fraction.

    >>> budget_text(Fraction(1, 8)), budget_text(Fraction(1, 3)), budget_text(Fraction(2))
    ('0.125', '1/3', '2')
    """
    denominator, digits = budget.denominator, 0
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        digits = max(digits, power)
    if denominator != 1 or digits > 18:
        return str(budget)
    scaled = budget.numerator * 10**digits // budget.denominator
    if digits == 0:
        return str(scaled)
    sign, whole = ("-", -scaled) if scaled < 0 else ("", scaled)
    return f"{sign}{whole // 10**digits}.{whole % 10**digits:0{digits}d}"


def delta_text(delta: Fraction) -> str:
    """Write a delta exactly, as a power of ten where that is short.

    >>> delta_text(Fraction(1, 10**9)), delta_text(Fraction(25, 10**8)), delta_text(Fraction(1, 3))
    ('1e-9', '2.5e-7', '1/3')
    """
    if 10**60 % delta.denominator:
        return budget_text(delta)
    digits = str(delta.numerator * 10**60 // delta.denominator)
    significant = digits.rstrip("0")
    if delta == 0 or len(significant) > 18:
        return budget_text(delta)
    point = "." if len(significant) > 1 else ""
    return f"{significant[0]}{point}{significant[1:]}e{len(digits) - 61}"


def short_delta(delta: Fraction) -> str:
    """A delta for display: exact if that is short, else rounded up to three digits.

    >>> short_delta(Fraction(1, 10**9)), short_delta(Fraction(1, 2**80))
    ('1e-9', '8.28e-25')
    """
    exact = delta_text(delta)
    if len(exact) <= SHORT:
        return exact
    up = Context(prec=3, rounding=ROUND_CEILING)
    return delta_text(Fraction(up.divide(Decimal(delta.numerator), Decimal(delta.denominator))))
