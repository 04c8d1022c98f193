"""Bars for the pages of a release folder: SVG without text, as wide as its container."""

from markupsafe import Markup, escape


def drawing(label: str, *shapes: str) -> Markup:
    """A drawing with a text alternative for screen readers."""
    return Markup(f'<svg role="img" aria-label="{escape(label)}">{"".join(shapes)}</svg>')


def box(style: str, left: float, width: float, *, top: int = 0, height: int = 14) -> str:
    """A rectangle. Horizontal positions are fractions of the drawing's width, vertical ones pixels."""
    return f'<rect class="{style}" x="{100 * left:.3f}%" width="{100 * width:.3f}%" y="{top}" height="{height}"/>'


def line(left: float, right: float, *, top: int, bottom: int) -> str:
    """A line, in the same units."""
    return f'<line x1="{100 * left:.3f}%" x2="{100 * right:.3f}%" y1="{top}" y2="{bottom}"/>'
