"""The files of a survey's pages, for the server and for a static folder: HTML, style sheet, scripts and data.

Nothing is fetched from elsewhere. The scripts are plain files that people can read; texts of the owner enter the HTML
escaped, and data enter as JSON.
"""

import json
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from scumble.errors import InputError
from scumble.mining.tree_model import TreeModel
from scumble.model.grid import Grid
from scumble.model.suspicion import suspicion_text
from scumble.survey.definition import Survey

SCRIPTS = ("perturber.js", "questions.js", "kept.js", "page.js")
TREE_SCRIPTS = ("tree.js", "apply.js")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; form-action 'none'; "
    "base-uri 'none'"
)
"""The content security policy of the pages. A server adds that no other site may frame them."""
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def page_files(survey: Survey, *, served: bool, tree: TreeModel | None = None) -> dict[str, bytes]:
    """Every file by name, except description.js of a served survey, which says whether it is open."""
    if tree is not None:
        check_tree(tree, survey)
    context = {
        "texts": survey.texts,
        "guarantee": survey.noise.guarantee.sentence,
        "meaning": suspicion_text(survey.noise.guarantee),
        "truths": bool(survey.truths),
        "closes": _closing_text(survey.closes),
        "invited": survey.invited,
        "served": served,
        "tree": tree is not None,
        "policy": POLICY,
    }
    files = {name: _asset(name) for name in ("style.css", *SCRIPTS)}
    files["index.html"] = _rendered("index.html", context)
    files["description.js"] = description_script(survey, served=served, is_open=True)
    if tree is not None:
        files |= {name: _asset(name) for name in TREE_SCRIPTS}
        files["apply.html"] = _rendered("apply.html", context)
        files["model.js"] = _script("surveyModel", tree.to_json())
    return files


def _closing_text(closes: datetime | None) -> str | None:
    if closes is None:
        return None
    if closes.time() == time():
        return f"at the end of {closes - timedelta(days=1):%Y-%m-%d} (UTC)"
    return f"on {closes:%Y-%m-%d at %H:%M} UTC"


def description_script(survey: Survey, *, served: bool, is_open: bool) -> bytes:
    """The survey as data for the browser."""
    return _script(
        "surveyDescription",
        {
            **survey.questions,
            "survey": survey.identity,
            "questions": survey.texts.questions,
            "truths": list(survey.truths),
            "required": list(survey.required),
            "invited": survey.invited,
            "served": served,
            "open": is_open,
        },
    )


def check_tree(tree: TreeModel, survey: Survey) -> None:
    """Refuse a tree that was not learned from this survey's attributes."""
    schema = survey.noise.schema
    for feature in tree.features:
        domain = schema[feature.name].domain if feature.name in schema.names else None
        labels = None if isinstance(domain, Grid) else domain and domain.labels
        if domain is None or feature.values != labels:
            raise InputError(
                f"The tree tests {feature.name!r}, which this survey does not ask in this form. Give the tree that "
                "`scumble mine train` learned from this survey."
            )


def content_type(name: str) -> str:
    return f"{TYPES[name.rpartition('.')[2]]}; charset=utf-8"


def _script(name: str, data: Mapping[str, Any]) -> bytes:
    return f"globalThis.{name} = {json.dumps(data)};\n".encode()


def _rendered(name: str, context: Mapping[str, Any]) -> bytes:
    return _environment().get_template(name).render(context).encode()


def _asset(name: str) -> bytes:
    """A file of the package as it is: nothing in it is a template."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].encode()


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("scumble.survey", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
