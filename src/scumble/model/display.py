"""How public values look when they are printed: one line, text, or HTML for notebooks.

A class describes itself once, as a `Summary`; `Displayed` derives `repr`, `str` and `_repr_html_` from it. All three
are short whatever the value contains: long tables and long texts are cut, and say so. Names come from users, so
characters that are not printable are escaped, and everything is escaped in HTML.

What is displayed is public or paid for: a class must not put anything else into its summary.
"""

from dataclasses import dataclass
from html import escape

MOST_ROWS = 12
"""A longer table is cut."""
LONGEST_CELL = 60
LONGEST_FACT = 400
LONGEST_LINE = 240


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A table of text, complete. It is cut only when it is displayed."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    heading: str = ""
    unit: str = "rows"
    """What the rows are, in the plural."""
    total: tuple[str, ...] = ()
    """A last row, which is displayed however many rows there are."""

    @property
    def complete(self) -> tuple[tuple[str, ...], ...]:
        """All rows, and the total if there is one."""
        return (*self.rows, self.total) if self.total else self.rows

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows that are displayed, their texts cut."""
        rows = (*self.rows[:MOST_ROWS], *([self.total] if self.total else []))
        return tuple(tuple(printable(cell, LONGEST_CELL) for cell in row) for row in rows)

    @property
    def rest(self) -> str:
        """How many rows are not displayed, as words; empty if all are."""
        more = len(self.rows) - MOST_ROWS
        return f"... and {more:,} more {self.unit}" if more > 0 else ""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What there is to display about a value: its kind, its size in a few words, facts by name, and tables."""

    kind: str
    size: str
    facts: tuple[tuple[str, str], ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def line(self) -> str:
        """One line, for `repr`.

        >>> Summary(kind="Schema", size="2 attributes").line
        '<Schema: 2 attributes>'
        """
        return f"<{self.kind}: {printable(self.size, LONGEST_LINE)}>"

    @property
    def text(self) -> str:
        """Facts and tables, for `print`.

        >>> ages = Listing(columns=("name", "codes"), rows=(("age", "80"),), unit="attributes")
        >>> print(Summary(kind="Schema", size="1 attribute", facts=(("target", "none"),), listings=(ages,)).text)
        Schema: 1 attribute
        target: none
        name  codes
        age   80
        """
        lines = [f"{self.kind}: {printable(self.size, LONGEST_LINE)}"]
        lines += [f"{name}: {printable(value, LONGEST_FACT)}" for name, value in self.facts]
        for listing in self.listings:
            lines += [printable(listing.heading, LONGEST_FACT)] if listing.heading else []
            lines += _aligned((listing.columns, *listing.shown))
            lines += [listing.rest] if listing.rest else []
        return "\n".join(lines)

    @property
    def html(self) -> str:
        """The same facts and tables, for notebooks.

        >>> Summary(kind="Schema", size="<b>", facts=(("unit", "replace"),)).html
        '<div><p><strong>Schema</strong>: &lt;b&gt;<br>unit: replace</p></div>'
        """
        facts = [f"<strong>{escape(self.kind)}</strong>: {_escaped(self.size, LONGEST_LINE)}"]
        facts += [f"{escape(name)}: {_escaped(value, LONGEST_FACT)}" for name, value in self.facts]
        return f"<div><p>{'<br>'.join(facts)}</p>{''.join(map(_html_table, self.listings))}</div>"


class Displayed:
    """A value with a `Summary`, which Python and notebooks display."""

    @property
    def summary(self) -> Summary:
        """What is displayed."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.summary.line

    def __str__(self) -> str:
        return self.summary.text

    def _repr_html_(self) -> str:
        return self.summary.html


def printable(text: str, longest: int) -> str:
    """A text in one line, with characters that are not printable escaped, cut to a length.

    >>> printable("two\\nlines", 20), printable("abcdefghij", 8)
    ('two\\\\nlines', 'abcde...')
    """
    cut = text if len(text) <= longest else text[: longest - 3] + "..."
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)
    return shown if len(shown) <= longest else shown[: longest - 3] + "..."


def plural(number: int, one: str, many: str = "") -> str:
    """A number with its unit.

    >>> plural(1, "class", "classes"), plural(1200, "attribute")
    ('1 class', '1,200 attributes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _aligned(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _escaped(text: str, longest: int) -> str:
    return escape(printable(text, longest))


def _html_table(listing: Listing) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        inner = "".join(f'<{tag} style="text-align: left">{escape(cell)}</{tag}>' for cell in cells)
        return f"<tr>{inner}</tr>"

    heading = f"<p>{_escaped(listing.heading, LONGEST_FACT)}</p>" if listing.heading else ""
    body = "".join(row(cells, "td") for cells in listing.shown)
    rest = f"<p>{escape(listing.rest)}</p>" if listing.rest else ""
    return f"{heading}<table><thead>{row(listing.columns, 'th')}</thead><tbody>{body}</tbody></table>{rest}"
