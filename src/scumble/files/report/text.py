"""Formatting of numbers and names on the pages of a release folder, and the template environment."""

import json
import math
import re
from fractions import Fraction
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from scumble.model.budget import budget_text, delta_text, short_delta


@cache
def environment() -> Environment:
    """The Jinja environment of the templates, with the filters below."""
    made = Environment(
        loader=PackageLoader("scumble.files.report", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "budget": budget_text,
        "delta": delta_text,
        "short_delta": lambda text: short_delta(Fraction(text)),
        "percent": percent,
        "whole": whole,
        "significant": significant,
        "with_code": with_code,
        "code": markdown_code,
        "plain": markdown_text,
        "python": lambda text: json.dumps(text, ensure_ascii=False),
    }
    return made


def percent(share: float) -> str:
    """A share as a percentage, never rounded to 0 % or 100 %.

    >>> [percent(share).replace(chr(160), " ") for share in (0.7311, 0.5, 1e-9, 0.99999, 1.0)]
    ['73.1 %', '50 %', '< 0.1 %', '> 99.9 %', '100 %']
    """
    if 0 < share < 0.0005:
        return "<\N{NO-BREAK SPACE}0.1\N{NO-BREAK SPACE}%"
    if 0.9995 <= share < 1:
        return ">\N{NO-BREAK SPACE}99.9\N{NO-BREAK SPACE}%"
    return f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def whole(number: float) -> str:
    """A number rounded to an integer.

    >>> whole(45086.43), whole(-1234), whole(-0.2)
    ('45,086', '−1,234', '0')
    """
    return f"{round(number):,}".replace("-", "\N{MINUS SIGN}")


def significant(number: float) -> str:
    """Any number to three digits, or more if its whole part has more.

    >>> significant(2.7992), significant(-56.567), significant(12345.6), significant(0.0)
    ('2.80', '−56.6', '12,346', '0')
    >>> significant(math.nan), significant(-math.inf)
    ('undefined', '−∞')
    """
    if math.isnan(number):
        return "undefined"
    if math.isinf(number):
        return "∞" if number > 0 else "\N{MINUS SIGN}∞"
    digits = max(0, 2 - math.floor(math.log10(abs(number)))) if number else 0
    return f"{number:,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def with_code(text: str) -> Markup:
    """Text as HTML; text between backticks becomes code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def markdown_code(text: str) -> str:
    """A Markdown code span for any text, including backticks and line ends.

    >>> markdown_code("age"), markdown_code("a`b")
    ('`age`', '``a`b``')
    """
    line = " ".join(text.split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    space = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"


def markdown_text(text: str) -> str:
    """Text with all characters escaped that Markdown or HTML would interpret."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", " ".join(text.split()))
