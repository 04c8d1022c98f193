"""The reports of `scumble audit` as self-contained HTML pages: one for audits, one for attacks."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from scumble.auditing.attacks import ATTACK_COLUMNS, Attack
from scumble.auditing.audit import Finding
from scumble.model.budget import budget_text


class _Shown(NamedTuple):
    """A finding with the texts and the chart that the page shows."""

    finding: Finding
    method: str
    settings: str
    declared: str
    confidence: str
    bar: Markup


def audit_page(findings: Sequence[Finding]) -> str:
    """The findings as one HTML page, which loads nothing from elsewhere."""
    shown = [
        _Shown(
            finding=each,
            method=each.method,
            settings=settings_text(each),
            declared=each.declared_text,
            confidence=budget_text(100 * each.confidence),
            bar=_bar(each),
        )
        for each in findings
    ]
    return _environment().get_template("audit.html").render(findings=shown)


def attack_page(release: str, attacks: Sequence[Attack]) -> str:
    """The results of attacks on a release as one HTML page, for the data owner."""
    allowed = next((each.most_allowed for each in attacks if each.most_allowed is not None), None)
    template = _environment().get_template("attacks.html")
    return template.render(release=release, columns=ATTACK_COLUMNS, attacks=attacks, most_allowed=allowed)


def settings_text(finding: Finding) -> str:
    """The parameters that differ from their defaults, without epsilon."""
    return words_of(finding.parameters)


def words_of(parameters: Mapping[str, Any]) -> str:
    """Parameters as text, without epsilon, which is shown separately.

    >>> words_of({"epsilon": "1", "leaves": True, "rounds": 2})
    'leaves, rounds 2'
    """
    shown = ((name, value) for name, value in parameters.items() if name != "epsilon")
    return ", ".join(name if value is True else f"{name} {value}" for name, value in shown)


def _bar(finding: Finding) -> Markup:
    """A bar for the lower bound, a line for the declared epsilon, and a dashed line for the power."""
    declared = float(finding.declared)
    power = finding.smallest_violation
    reach = 1.15 * max(declared, finding.found, power if math.isfinite(power) else 0.0)
    style = "over" if finding.refuted else "found"
    shapes = [
        '<rect class="rail" x="0" width="100%" y="25" height="4"/>',
        f'<rect class="{style}" x="0" width="{100 * finding.found / reach:.2f}%" y="19" height="16"/>',
        _line("declared", declared / reach, 9, f"declared {declared:g}"),
    ]
    if math.isfinite(power):
        shapes.append(_line("power", power / reach, 57, f"detectable from {power:.3g}"))
    label = f"declared {budget_text(finding.declared)}, lower bound {finding.found:.3f}"
    return Markup(f'<svg role="img" aria-label="{escape(label)}">{"".join(shapes)}</svg>')


def _line(style: str, place: float, height: int, label: str) -> str:
    """A line across the bar, with its label on the side that has room."""
    anchor = "end" if place > 1 / 2 else "start"
    return (
        f'<line class="{style}" x1="{100 * place:.2f}%" x2="{100 * place:.2f}%" y1="12" y2="42"/>'
        f'<text x="{100 * place:.2f}%" y="{height}" text-anchor="{anchor}">{escape(label)}</text>'
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("scumble.auditing", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
