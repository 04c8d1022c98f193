"""What the OpenDP registry of deployments accepts, written down from its documented schema.

Source: `schemas/deployments-schema.yaml` in https://github.com/opendp/deployments-registry-data at commit
057e5d81cf60150dd3307e0cf4504b957802fb3b. Only the facts are here: names of fields, kinds of values, which are required.
"""

import datetime
from collections.abc import Mapping
from typing import Any

TEXT, NUMBER = str, (int, float)
FIELDS: Mapping[str, Any] = {
    "url_slug": TEXT,
    "deployment": {
        "basic": {
            "name": TEXT,
            "data_curators": [
                {
                    "data_curator_name": TEXT,
                    "data_curator_type": {"Government", "Industry", "Nonprofit"},
                }
            ],
            "description": TEXT,
            "intended_use": TEXT,
            "data_product_type": {
                "Summary statistics",
                "Machine learning model",
                "Dataset",
                "Synthetic data",
                "Interactive API",
                "SQL queries",
            },
            "data_product_region": TEXT,
            "data_product_sector": {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"},
            "publication_date": datetime.date,
        },
        "dp_variant": {
            "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
            "data_domain": TEXT,
            "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "number_of_privacy_units": int,
            "privacy_parameters": {"epsilon": NUMBER, "delta": NUMBER, "rho": NUMBER},
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            "model_name_details": TEXT,
            "trust_assumptions": TEXT,
            "release_type": {"One release", "Many releases"},
            "data_source_type": {"Static", "Dynamic"},
            "access_type": {"Interactive", "Non-interactive"},
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT,
            "mechanisms": TEXT,
            "composition": TEXT,
            "post_processing": TEXT,
            "justification": TEXT,
        },
        "administrative": {
            "status": {"Draft", "Pending", "Approved"},
            "registry_authors": [TEXT],
            "tier": {1, 2, 3},
        },
    },
}
REQUIRED = {
    "url_slug",
    "deployment/basic/name",
    "deployment/basic/data_curators",
    "deployment/basic/description",
    "deployment/basic/intended_use",
    "deployment/basic/data_product_type",
    "deployment/basic/data_product_region",
    "deployment/basic/publication_date",
    "deployment/administrative/status",
    "deployment/administrative/registry_authors",
    "deployment/administrative/tier",
}


def faults(value: Any, allowed: Any = FIELDS, place: str = "") -> list[str]:
    """Where an entry has a field that the registry does not know, or a value of another kind."""
    if isinstance(allowed, Mapping):
        if not isinstance(value, Mapping):
            return [f"{place}: not an object"]
        inner = {name: f"{place}/{name}".lstrip("/") for name in value}
        unknown = [f"{inner[name]}: unknown" for name in value if name not in allowed]
        known = [name for name in value if name in allowed]
        return unknown + [fault for name in known for fault in faults(value[name], allowed[name], inner[name])]
    if isinstance(allowed, list):
        if not isinstance(value, list) or not value:
            return [f"{place}: not a list with entries"]
        return [fault for each in value for fault in faults(each, allowed[0], place)]
    if isinstance(allowed, set):
        return [] if value in allowed else [f"{place}: {value!r} is not one of {sorted(map(str, allowed))}"]
    if allowed is datetime.date:
        return [] if isinstance(value, str) and _is_date(value) else [f"{place}: {value!r} is no date as text"]
    return (
        [] if isinstance(value, allowed) and not isinstance(value, bool) else [f"{place}: {value!r} is of a wrong kind"]
    )


def missing(value: Mapping[str, Any]) -> set[str]:
    """The required fields that an entry does not have."""
    return {path for path in REQUIRED if not _has(value, path.split("/"))}


def _has(value: Any, names: list[str]) -> bool:
    for name in names:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True
