"""`deployment.yaml`: the start of an entry for the OpenDP registry of deployments, with what a release knows.

What the data owner must add (who publishes, for which purpose, when) is written as comments.
"""

import json

from scumble.model.budget import budget_text
from scumble.model.guarantee import JointDP, LocalDP, Unit, delta_of, epsilon_of, persons_of
from scumble.model.release import Release

UNITS = {
    Unit.ADD_REMOVE: "One record, added or removed",
    Unit.REPLACE: "One record, changed; the number of records is public",
}


def deployment(release: Release) -> str:
    """The text of deployment.yaml."""
    guarantee = release.plan.guarantee
    epsilon, delta, persons = epsilon_of(guarantee), delta_of(guarantee), persons_of(guarantee)
    assert epsilon is not None
    local = isinstance(guarantee, LocalDP)
    unit = "One report of a record" if local else UNITS[release.plan.unit]
    if persons is not None:
        unit = f"All rows of one person, at most {persons.rows_each_at_most}"
    model = "Local" if local else "Multi-party" if isinstance(guarantee, JointDP) else "Central"
    lines = [
        "# The start of an entry for the OpenDP registry of deployments. Fill in the lines that are comments.",
        "status: Draft",
        "# url_slug: name-curator-year",
        "deployment:",
        "  product:",
        "    # name: of the data product",
        "    # data_curators: [who publishes it]",
        "    # intended_use: what it is for",
        "    data_product_type: Synthetic or aggregated table",
        "    # data_product_region: where the people live",
        f"    description: {_text(guarantee.sentence)}",
        "    # publication_date: 'YYYY-MM-DD'",
        "  dp_flavor:",
        f"    name: {_text('Pure DP' if not delta else 'Approximate DP')}",
        "  privacy_loss:",
        f"    privacy_unit: {_text(unit)}",
        f"    privacy_unit_description: {_text(unit)}",
        "    privacy_parameters:",
        f"      epsilon: {_number(budget_text(epsilon))}",
        *([f"      delta: {float(delta)!r}"] if delta else []),
        "  model:",
        f"    model_name: {model}",
        "    release_type: One release",
        "    data_source_type: Static",
        "    access_type: Non-interactive",
        "  accounting:",
        "    composition: The spends in release.json add up to the privacy parameters.",
        "  implementation:",
        f"    mechanisms: {_text(f'scumble, method {release.method}; the spends are listed in release.json')}",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """A text in double quotes, as YAML and JSON write it."""
    return json.dumps(text, ensure_ascii=False)


def _number(text: str) -> str:
    """An exact decimal as a number; a fraction, which YAML has not, as text."""
    return _text(text) if "/" in text else text
