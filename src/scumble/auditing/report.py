"""The audit as one self-contained page: a bar for what was found, a line for what was declared."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from scumble.auditing.audit import Finding
from scumble.model.budget import budget_text


class _Shown(NamedTuple):
    """A finding with what the page makes of it."""

    finding: Finding
    method: str
    settings: str
    declared: str
    confidence: str
    bar: Markup


def audit_page(findings: Sequence[Finding]) -> str:
    """One HTML file that fetches nothing."""
    shown = [
        _Shown(
            finding=each,
            method=each.method,
            settings=settings_text(each),
            declared=budget_text(each.declared),
            confidence=budget_text(100 * each.confidence),
            bar=_bar(each),
        )
        for each in findings
    ]
    return _environment().get_template("audit.html").render(findings=shown)


def settings_text(finding: Finding) -> str:
    """The parameters that were set, epsilon apart."""
    return ", ".join(f"{name} {value}" for name, value in finding.parameters.items() if name != "epsilon")


def _bar(finding: Finding) -> Markup:
    """Found as a bar, declared as a line, the smallest violation that would be seen as a dashed one."""
    declared = float(finding.declared)
    power = finding.smallest_violation
    reach = 1.15 * max(declared, finding.found, power if math.isfinite(power) else 0.0)
    style = "over" if finding.refuted else "found"
    shapes = [
        '<rect class="rail" x="0" width="100%" y="15" height="4"/>',
        f'<rect class="{style}" x="0" width="{100 * finding.found / reach:.2f}%" y="9" height="16"/>',
        _line("declared", declared / reach),
    ]
    if math.isfinite(power):
        shapes.append(_line("power", power / reach))
    label = f"declared {budget_text(finding.declared)}, found at least {finding.found:.3f}"
    return Markup(f'<svg role="img" aria-label="{escape(label)}">{"".join(shapes)}</svg>')


def _line(style: str, place: float) -> str:
    return f'<line class="{style}" x1="{100 * place:.2f}%" x2="{100 * place:.2f}%" y1="2" y2="32"/>'


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("scumble.auditing", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
