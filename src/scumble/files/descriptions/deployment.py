"""`deployment.yaml`: the start of an entry for the OpenDP registry of deployments, with what a release knows.

Fields and values follow `schemas/deployments-schema.yaml` of https://github.com/opendp/deployments-registry-data, as of
commit 057e5d81. What the data owner must add (who publishes, for which purpose, when) is written as comments.
"""

import json
import math
from fractions import Fraction

from scumble.files.kinds import kind_of
from scumble.model.budget import budget_text
from scumble.model.guarantee import Guarantee, JointDP, LocalDP, Unit, Unproven, delta_of, epsilon_of, persons_of
from scumble.model.release import Release

UNITS = {
    Unit.ADD_REMOVE: "One record, added or removed",
    Unit.REPLACE: "One record, changed; the number of records is public",
}
PRODUCTS = {
    "cells": "Summary statistics",
    "records": "Synthetic data",
    "blurred": "Dataset",
    "classifier": "Machine learning model",
}
"""What the registry calls each kind of release that has an epsilon."""
OTHER_PRODUCT = "Dataset"


def deployment(release: Release) -> str:
    """The text of deployment.yaml."""
    guarantee = release.plan.guarantee
    epsilon, delta = epsilon_of(guarantee), delta_of(guarantee)
    assert epsilon is not None
    exact = f"epsilon is exactly {budget_text(epsilon)}" + (f", delta {float(delta)!r}" if delta else "")
    lines = [
        "# The start of an entry for the OpenDP registry of deployments. Fill in the lines that are comments.",
        "# url_slug: name-curator-year",
        "deployment:",
        "  basic:",
        "    # name: of the data product",
        "    # data_curators: [{data_curator_name: who publishes it, data_curator_type: Government}]",
        "    # intended_use: what it is for",
        f"    description: {_text(f'A table published with scumble, method {release.method}.')}",
        f"    data_product_type: {PRODUCTS.get(kind_of(release).name, OTHER_PRODUCT)}",
        "    # data_product_region: where the people live",
        "    # publication_date: 'YYYY-MM-DD'",
        "  dp_variant:",
        f"    variant_name: {_variant(guarantee)}",
        "  privacy_loss:",
        f"    privacy_unit: {_text(_unit(release))}",
        f"    privacy_unit_details: {_text(guarantee.sentence)}",
        "    privacy_parameters:",
        f"      epsilon: {_number_above(epsilon)!r}",
        *([f"      delta: {_number_above(delta)!r}"] if delta else []),
        f"    privacy_parameters_details: {_text(exact)}",
        "  deployment_model:",
        f"    model_name: {_model(guarantee)}",
        "    release_type: One release",
        "    data_source_type: Static",
        "    access_type: Non-interactive",
        "  implementation:",
        f"    mechanisms: {_text('The spends in release.json name the mechanism of each.')}",
        f"    composition: {_text('The spends in release.json add up to the privacy parameters.')}",
        "  administrative:",
        "    status: Draft",
        "    # registry_authors: [who fills in this entry]",
        "    tier: 2",
    ]
    return "\n".join(lines) + "\n"


def _variant(guarantee: Guarantee) -> str:
    if isinstance(guarantee, Unproven):
        return "Custom"
    return "Approximate DP" if delta_of(guarantee) else "Pure DP"


def _unit(release: Release) -> str:
    guarantee = release.plan.guarantee
    persons = persons_of(guarantee)
    if persons is not None:
        return f"All rows of one person, at most {persons.rows_each_at_most}"
    return "One report of a record" if isinstance(guarantee, LocalDP) else UNITS[release.plan.unit]


def _model(guarantee: Guarantee) -> str:
    """The registry has no name for computations on secret shares: the owners keep their rows, as in `Federated`."""
    return "Local" if isinstance(guarantee, LocalDP) else "Federated" if isinstance(guarantee, JointDP) else "Central"


def _number_above(exact: Fraction) -> float:
    """The nearest number that YAML can write and that does not promise more privacy.

    >>> _number_above(Fraction(1, 3)) >= Fraction(1, 3)
    True
    """
    found = float(exact)
    return found if found >= exact else math.nextafter(found, math.inf)


def _text(text: str) -> str:
    """A text in double quotes, as YAML and JSON write it."""
    return json.dumps(text, ensure_ascii=False)
